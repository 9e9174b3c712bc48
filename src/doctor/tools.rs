//! The tools around: what builds the workloads, and the outside engines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Finding;

const TOOLS: &str = "tools";

/// The file that marks the top of a checkout.
const MARK: &str = "workloads/build.py";

pub(super) fn findings(root: Option<PathBuf>) -> Vec<Finding> {
    let Some(root) = root.or_else(checkout) else {
        return vec![Finding::partly(
            TOOLS,
            "checkout",
            "not inside one: no suites, no outside engines",
            "run from the project's folder, or name it with --root",
        )];
    };
    let tools = root.join(".tools");
    vec![
        Finding::yes(TOOLS, "checkout", root.display().to_string()),
        zig(&tools),
        suites(&root),
        wasmtime(&tools),
        node(&tools),
        browser(),
    ]
}

/// The nearest folder upwards which holds the project.
fn checkout() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .find(|folder| folder.join(MARK).is_file())
        .map(Path::to_path_buf)
}

fn zig(tools: &Path) -> Finding {
    let remedy = "make setup (installs the pinned ziglang into .tools)";
    let zig = tools.join("zig/ziglang/zig");
    let outcome = match zig.is_file() {
        true => version(&zig, &["version"]),
        false => Err("not installed: no suite can be built".into()),
    };
    let outcome = outcome.map(|v| format!("{v}: compiles the workloads, to Wasm and natively"));
    Finding::tried(TOOLS, "zig", outcome, remedy)
}

fn suites(root: &Path) -> Finding {
    let built = root.join("workloads/polybench/build");
    match built.is_dir() {
        true => Finding::yes(TOOLS, "suites", "polybench is built"),
        false => Finding::no(TOOLS, "suites", "polybench is not built", "make workloads"),
    }
}

fn wasmtime(tools: &Path) -> Finding {
    let runner = tools.join("engines/wasmtime/runner");
    match runner.is_file() {
        true => Finding::yes(TOOLS, "wasmtime", runner.display().to_string()),
        false => Finding::no(
            TOOLS,
            "wasmtime",
            "not installed: its rows are left out",
            "make setup",
        ),
    }
}

fn node(tools: &Path) -> Finding {
    let own = tools.join("node/bin/node");
    let program = if own.is_file() {
        own
    } else {
        PathBuf::from("node")
    };
    Finding::tried(
        TOOLS,
        "node",
        version(&program, &["--version"]),
        "its rows are left out: apt-get install nodejs",
    )
}

fn browser() -> Finding {
    Finding::tried(
        TOOLS,
        "chromium",
        version(Path::new("chromium"), &["--version"]),
        "only the report's own tests need it: apt-get install chromium",
    )
}

/// The first line a program prints.
fn version(program: &Path, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "not on this machine".to_owned(),
            _ => format!("{}: {error}", program.display()),
        })?;
    if !output.status.success() {
        return Err(format!(
            "{} ended with {}",
            program.display(),
            output.status
        ));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .next()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .ok_or_else(|| format!("{} says no version", program.display()))
}
