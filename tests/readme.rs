//! The commands of README and guide, as a user types them: each is run here, in a folder with
//! what it names, or stands on a closed list with who runs it instead. Transcripts (`console`)
//! are run by `tests/cli.rs`. `make test-readme` runs those that measure for a minute each, too.

use fathom_sys::sampling::Sampler;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The README and the tour that it leads to.
const PAGES: [&str; 2] = [
    include_str!("../README.md"),
    include_str!("../docs/GUIDE.md"),
];

/// Commands that this test does not run, and who does.
const ELSEWHERE: [(&str, &str); 7] = [
    (
        "make bench",
        "it measures for ten minutes; `bench --quick` is the same in one",
    ),
    ("make test", "this test is a part of it"),
    ("cargo install --path . --locked", "make test-install"),
    ("fathom engines install all", "make test-engines"),
    (
        "python3 workloads/build.py --suite libsodium",
        "make test and `make test-readme`, before the tests",
    ),
    (
        "python3 workloads/build.py --suite fibers,http",
        "it compiles for a minute; `make test-readme`, before the tests",
    ),
    ("make test-programs", "tests/programs.rs, in make test"),
];

/// Commands that take a minute or more each: run where `FATHOM_README` is `all`.
const MEASURING: [&str; 8] = [
    "fathom bench --quick",
    "fathom suite bounds --quick",
    "fathom suite libsodium --quick",
    "fathom suite fibers --quick",
    "fathom suite http --quick",
    "fathom suite scaling --quick",
    "fathom reproduce leaps-and-bounds --quick",
    "fathom probe",
];

/// A program that prints, with a function of the name that the guide has.
const APP: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\03\00\00\00")
  (data (i32.const 16) "hi\n")
  (func $resize (export "resize") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "_start")
    (drop (call $resize (i32.const 0)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The commands of a page's blocks for a shell, without comments, and those of its tables.
fn commands_of(page: &'static str) -> Vec<&'static str> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    for line in page.lines() {
        match line {
            "```sh" => is_shell = true,
            "```" => is_shell = false,
            line if is_shell => {
                let command = line.split("  #").next().unwrap_or(line);
                commands.extend(Some(command.trim()).filter(|command| !command.is_empty()));
            }
            line => commands.extend(in_table(line)),
        }
    }
    // Behind one word of several spaces a comment is of one.
    let bare = |command: &'static str| command.split(" # ").next().unwrap_or(command).trim_end();
    commands.into_iter().map(bare).collect()
}

/// A command that is a cell of a table.
fn in_table(line: &'static str) -> Option<&'static str> {
    let cells = line.strip_prefix("| ")?.split(" | ");
    let code = cells.filter_map(|cell| cell.strip_prefix('`')?.strip_suffix('`'));
    code.into_iter().find(|code| code.starts_with("fathom "))
}

/// Each command once, in the order of the pages.
fn commands() -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    let all = PAGES.into_iter().flat_map(commands_of);
    all.filter(|command| seen.insert(*command)).collect()
}

/// A user's folder: a program, its input, campaigns, and few engines and rounds asked for.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("home")).unwrap();
        fs::write(place.path("app.wasm"), wat::parse_str(APP).unwrap()).unwrap();
        fs::write(place.path("input.txt"), "input\n").unwrap();
        let campaign = root().join("crates/report/tests/data/suite.jsonl");
        let words = PAGES.into_iter().flat_map(str::split_whitespace);
        let named = words.filter(|word| word.starts_with("results/"));
        for folder in named {
            fs::create_dir_all(place.path(folder)).unwrap();
            fs::copy(&campaign, place.path(folder).join("samples.jsonl")).unwrap();
        }
        fs::write(
            place.path("fathom.toml"),
            "engines = [\"fathom:guard\"]\nrounds = 1\nwait-idle = \"0s\"\n",
        )
        .unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, command: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_fathom")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        // What goes on until something is found takes up to half an hour on a noisy machine.
        let bounded = if command.contains(" --detect ") {
            format!("{command} --budget 10s")
        } else {
            command.to_owned()
        };
        Command::new("bash")
            .args(["-o", "pipefail", "-c", &bounded])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("HOME", self.path("home"))
            .env("FATHOM_HOME", root())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

/// What keeps a command from being run here, beside the project itself.
fn lack(command: &str) -> Option<&'static str> {
    let is_there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let built = |suite: &str| root().join("workloads").join(suite).join("build").is_dir();
    match command {
        _ if command.contains("| man") && !is_there("man") => Some("no man here"),
        "fathom trace -- ls" if !rustix::process::geteuid().is_root() => Some("it needs root"),
        _ if command.starts_with("fathom profile") && Sampler::of_children(1_000_000).is_err() => {
            Some("no samples can be taken here")
        }
        _ if command.contains("--engines wasmtime")
            && !root().join(".tools/engines/wasmtime").is_dir() =>
        {
            Some("wasmtime is not installed")
        }
        _ if command.starts_with("fathom sql")
            && !root().join("sql/target/release/fathom-sql").is_file() =>
        {
            Some("it takes long to build")
        }
        _ if command.contains("libsodium") && !built("libsodium") => Some("it is not built"),
        _ if command.contains("suite fibers") && !built("fibers") => Some("it is not built"),
        _ if command.contains("suite http") && !built("http") => Some("it is not built"),
        _ if command.contains("--quick") && !built("polybench") => Some("no suite is built"),
        _ => None,
    }
}

#[test]
fn every_command_of_the_readme_and_the_guide_works() {
    let all = commands();
    assert!(all.len() > 20, "{all:?}");
    for (command, _) in ELSEWHERE {
        assert!(
            all.contains(&command),
            "neither page has any longer: {command}"
        );
    }
    for command in MEASURING {
        assert!(
            all.contains(&command),
            "neither page has any longer: {command}"
        );
    }
    let runs_all = std::env::var("FATHOM_README").is_ok_and(|value| value == "all");
    let place = Place::new();
    let mut wrong = Vec::new();
    for command in all {
        let is_elsewhere = ELSEWHERE.iter().any(|(other, _)| *other == command);
        if is_elsewhere || MEASURING.contains(&command) && !runs_all {
            continue;
        }
        if let Some(why) = lack(command) {
            println!("SKIPPED {command}: {why}");
            continue;
        }
        let began = std::time::Instant::now();
        let output = place.run(command);
        println!("{command}: {:.1} s", began.elapsed().as_secs_f64());
        // An engine that is broken or outdated here is no fault of the command.
        let is_fine = output.status.success() || command == "fathom engines doctor";
        if !is_fine {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            wrong.push(format!("{command}: {}: {said}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_seen_in_blocks_and_in_tables() {
    let page =
        "| why | `fathom probe` | [x](y) |\n| `fathom` | two |\n```sh\nmake test   # all\n```\n";
    assert_eq!(commands_of(page), ["fathom probe", "make test"]);
}
