//! The tools around: what builds the workloads, and the outside engines.

use std::path::Path;
use std::process::{Command, Stdio};

use fathom_bench::engines::{self, EngineSpec};
use fathom_bench::home::Home;

use super::Finding;
use crate::engines::doctor::{Verdict, judge, releases};
use crate::engines::{State, states};

const TOOLS: &str = "tools";
const ENGINES: &str = "outside engines";

pub(super) fn findings(home: Option<Home>) -> Vec<Finding> {
    let Some(home) = home else {
        return vec![Finding::partly(
            TOOLS,
            "checkout",
            "not inside one: no suites, no outside engines",
            "run it in a checkout, name one by --root, or set HOME",
        )];
    };
    let mut all = vec![place(&home), zig(&home), suites(&home), browser()];
    let (mut engines, errors) = engines::all(&home);
    // Without Python nothing was installed, either.
    let states = states(&home).unwrap_or_default();
    engines.extend(releases(&engines, &states, &home));
    all.extend(engines.iter().map(|spec| engine(spec, &states)));
    all.extend(errors.iter().map(|error| {
        let remedy = "mend its description";
        Finding::no(ENGINES, "unreadable", error.to_string(), remedy)
    }));
    all
}

/// The same verdict as `fathom engines doctor` gives.
fn engine(spec: &EngineSpec, states: &[State]) -> Finding {
    let name = &spec.id();
    let state = states.iter().find(|state| state.name == *name);
    match judge(spec, state) {
        Verdict::Works(says) => Finding::yes(ENGINES, name, says),
        Verdict::Absent(_) => {
            let why = "not installed: its rows are left out";
            Finding::no(ENGINES, name, why, &spec.absent)
        }
        Verdict::Broken(why) => {
            let why = format!("installed, but {why}: its rows are left out");
            Finding::no(ENGINES, name, why, &spec.absent)
        }
    }
}

/// Where engines and workloads are.
fn place(home: &Home) -> Finding {
    let name = match home.is_of_user() {
        true => "data folder",
        false => "checkout",
    };
    Finding::yes(TOOLS, name, home.root().display().to_string())
}

fn zig(home: &Home) -> Finding {
    let remedy = match home.is_of_user() {
        true => "nothing: it is fetched when a suite is measured",
        false => "make setup (installs the pinned ziglang into .tools)",
    };
    let zig = home.tools().join("zig/ziglang/zig");
    let outcome = match zig.is_file() {
        true => version(&zig, &["version"]),
        false => Err("not installed: no suite can be built".into()),
    };
    let outcome = outcome.map(|v| format!("{v}: compiles the workloads, to Wasm and natively"));
    Finding::tried(TOOLS, "zig", outcome, remedy)
}

fn suites(home: &Home) -> Finding {
    match home.suite("polybench").join("build").is_dir() {
        true => Finding::yes(TOOLS, "suites", "polybench is built"),
        false => {
            let remedy = match home.is_of_user() {
                true => "nothing: a suite is built when it is measured",
                false => "make workloads",
            };
            Finding::no(TOOLS, "suites", "polybench is not built", remedy)
        }
    }
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
