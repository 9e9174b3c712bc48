//! What docs/COMMANDS.md says, held against the program: exit statuses by their
//! examples, the shapes of JSON, the configuration, and the places of an installed program.

#[path = "common/campaigns.rs"]
mod campaigns;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use campaigns::{Night, nights};
use fathom_sys::sampling::Sampler;
use serde_json::Value;
use tempfile::TempDir;

const DOC: &str = include_str!("../docs/COMMANDS.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with the files that the examples name, and a home without engines.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["home/engines", "home/workloads"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    for file in [
        "tests/cli/run.in/hello.wat",
        "tests/cli/run.in/exit.wat",
        "tests/cli/run.in/beyond.wat",
        "tests/cli/limits.in/spin.wat",
        "crates/report/tests/data/suite.jsonl",
    ] {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(root().join(file), place.path().join(name)).unwrap();
    }
    let suite = fs::read_to_string(place.path().join("suite.jsonl")).unwrap();
    let slower: String = suite.lines().map(|line| slower(line) + "\n").collect();
    fs::write(place.path().join("slower.jsonl"), slower).unwrap();
    for (index, gone) in [(1, "jacobi-2d"), (2, "floyd-warshall")] {
        let lines = suite.lines().filter_map(|line| shard(line, index, gone));
        let shard: String = lines.map(|line| line + "\n").collect();
        fs::write(place.path().join(format!("shard-{index}.jsonl")), shard).unwrap();
    }
    place
}

/// A line of a campaign as a shard without one of the workloads has it; gemm and cholesky are
/// in all shards.
fn shard(line: &str, index: u32, gone: &str) -> Option<String> {
    let mut record: Value = serde_json::from_str(line).unwrap();
    if let Some(cells) = record.pointer_mut("/cells") {
        cells
            .as_array_mut()
            .unwrap()
            .retain(|cell| cell["workload"] != gone);
        record["config"]["shard"] = serde_json::json!({
            "index": index, "count": 2, "workloads": 4, "list": "4567",
            "anchors": ["polybench:gemm", "polybench:cholesky"],
        });
    }
    let is_of_it = record["cell"]
        .as_str()
        .is_some_and(|cell| cell.contains(gone));
    (!is_of_it).then(|| record.to_string())
}

/// A line of a campaign in which our engine takes a fifth longer.
fn slower(line: &str) -> String {
    let mut record: Value = serde_json::from_str(line).unwrap();
    let is_ours = record["cell"]
        .as_str()
        .is_some_and(|cell| cell.starts_with("fathom"));
    for place in ["/kernel_ns", "/phases/run/wall_ns"] {
        if let Some(ns) = record.pointer_mut(place).filter(|_| is_ours)
            && let Some(number) = ns.as_u64()
        {
            *ns = Value::from(number * 6 / 5);
        }
    }
    record.to_string()
}

fn fathom(place: &Path, line: &str) -> Output {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("fathom"), "{line}");
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .current_dir(place)
        .env("FATHOM_HOME", place.join("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The rows of the first table after a heading, as cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let at = DOC
        .find(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no {heading}"));
    let lines = DOC[at..].lines().skip(2);
    lines
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let cells = line.trim_matches('|').split(" | ");
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

/// Statuses whose example needs more than a command line, and the test that has it.
const TESTED_ELSEWHERE: [(&str, &str); 5] = [
    ("0", "tests/replay.rs"),
    ("3", "tests/bisect.rs"),
    ("4", "tests/bisect.rs"),
    ("130", "tests/bench.rs"),
    ("141", "tests/run.rs"),
];

#[test]
fn every_exit_status_is_that_of_its_example() {
    let place = place();
    let rows = table("## Exit statuses");
    assert!(rows.len() >= 12, "{rows:?}");
    for row in rows {
        let (status, example) = (
            &row[0],
            row.get(2).map_or("", |cell| cell.trim_matches('|')),
        );
        let example = example.trim().trim_matches('`');
        if example.is_empty() {
            let (_, file) = TESTED_ELSEWHERE
                .iter()
                .find(|(other, _)| other == status)
                .unwrap_or_else(|| panic!("status {status} has no example"));
            let test = fs::read_to_string(root().join(file)).unwrap();
            assert!(
                test.contains(&format!("Some({status})")),
                "{status} in {file}"
            );
            continue;
        }
        let output = fathom(place.path(), example);
        let code = output.status.code().unwrap();
        // The program's own: what it exits with.
        let expected = match status.as_str() {
            "N" => 7,
            number => number.parse().unwrap(),
        };
        assert_eq!(code, expected, "{example}: {}", text(&output.stderr));
    }
}

/// Every path to a value: `a[].b`.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let inner = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                paths(field, &inner, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                paths(item, &format!("{path}[]"), found);
            }
        }
        _ => drop(found.insert(path.to_owned())),
    }
}

/// Holds the JSON that commands print to the table under a heading.
fn has_the_shape(place: &Path, heading: &str, examples: &[&str]) {
    let mut found = BTreeSet::new();
    for example in examples {
        let output = fathom(place, example);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{example}: {error}: {}", text(&output.stderr)));
        assert_eq!(answer["format"], 1, "{example}");
        paths(&answer, "", &mut found);
    }
    let rows = table(heading);
    let documented: BTreeSet<(String, bool)> = rows
        .iter()
        .map(|row| {
            let is_optional = row[0].ends_with('?');
            let path = row[0].trim_end_matches('?').trim_matches('`');
            (path.to_owned(), is_optional)
        })
        .collect();
    assert!(documented.len() > 3, "{heading}");
    for path in &found {
        let of = |documented: &str| {
            // A list of plain values, and what a list holds that is described elsewhere.
            path == documented
                || path
                    .strip_prefix(documented)
                    .is_some_and(|r| r.starts_with("[]"))
        };
        let is_documented = documented.iter().any(|(path, _)| of(path));
        assert!(is_documented, "{heading}: {path} is not documented");
    }
    for (path, is_optional) in documented {
        let is_there = found.iter().any(|found| {
            *found == path
                || found
                    .strip_prefix(&path)
                    .is_some_and(|rest| rest.starts_with("[]"))
        });
        assert!(is_there || is_optional, "{heading}: {path} is nowhere");
    }
}

#[test]
fn json_has_the_shape_that_is_documented() {
    let place = place();
    let place = place.path();
    nights(&place.join("nights"), 8, |at| Night {
        slower: if at < 4 { 1.0 } else { 1.2 },
        ..Night::of(at)
    });
    for (heading, examples) in [
        (
            "### `fathom report FOLDER --json`",
            &["fathom report suite.jsonl --json"][..],
        ),
        (
            "### `fathom compare BEFORE AFTER --json`",
            &[
                "fathom compare suite.jsonl suite.jsonl --json",
                "fathom compare suite.jsonl slower.jsonl --json",
            ],
        ),
        (
            "### `fathom history FOLDER… --json`",
            &["fathom history nights --json"],
        ),
        (
            "### `fathom merge FOLDER… --json`",
            &["fathom merge shard-1.jsonl shard-2.jsonl --json"],
        ),
        (
            "### `fathom objdump MODULE --json`",
            &[
                "fathom objdump hello.wat --json",
                "fathom objdump hello.wat --json --func 1",
            ],
        ),
        ("### `fathom doctor --json`", &["fathom doctor --json"]),
    ] {
        has_the_shape(place, heading, examples);
    }
    match Sampler::of_children(1_000_000) {
        Ok(_) => {
            let example = &["fathom profile hello.wat --json"];
            has_the_shape(place, "### `fathom profile MODULE --json`", example);
        }
        Err(why) => println!("SKIPPED: {why}"),
    }
    // Those of the engines are of the checkout, whatever is installed there.
    let of_checkout = |command: &str| format!("fathom --root {} {command}", root().display());
    let list = of_checkout("engines list --json");
    has_the_shape(place, "### `fathom engines list --json`", &[&list]);
    let doctor = of_checkout("engines doctor --json wasm3");
    has_the_shape(place, "### `fathom engines doctor --json`", &[&doctor]);
}

#[test]
fn the_configuration_of_the_document_is_understood_and_recorded() {
    let place = place();
    let file = DOC.split("```toml\n").nth(1).unwrap();
    let file = file.split("```").next().unwrap();
    fs::write(place.path().join("fathom.toml"), file).unwrap();
    let output = fathom(place.path(), "fathom run --max-memory 64M hello.wat");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let measure = "fathom bench hello.wat --no-probe --rounds 1 --engines fathom:guard --out r";
    let output = fathom(place.path(), measure);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.starts_with("fathom.toml: --time-limit 2m --wait-idle 0s\n"),
        "{said}"
    );
    let samples = fs::read_to_string(place.path().join("r/samples.jsonl")).unwrap();
    let header: Value = serde_json::from_str(samples.lines().next().unwrap()).unwrap();
    let words: Vec<&str> = header["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(words[..3], ["bench", "--time-limit", "2m"]);
    assert_eq!(words[3..6], ["--wait-idle", "0s", "hello.wat"]);
    // By which it goes on, whatever the file says then.
    let duration = &header["request"]["duration"];
    assert_eq!(duration["limit"]["secs"], 120);
    assert_eq!(duration["wait_idle"]["secs"], 0);
    fs::write(
        place.path().join("fathom.toml"),
        "rounds = 3\nengins = []\n",
    )
    .unwrap();
    let output = fathom(place.path(), "fathom bench hello.wat");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("fathom: fathom.toml: line 2: unknown field `engins`"),
        "{said}"
    );
}

#[test]
fn a_status_that_is_allowed_is_no_failure() {
    let place = place();
    let measure =
        "fathom bench exit.wat --no-probe --wait-idle 0s --rounds 1 --engines fathom:guard --out r";
    let output = fathom(place.path(), measure);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("--allow-exit"), "{said}");
    let output = fathom(place.path(), &format!("{measure} --allow-exit 7"));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn arguments_after_the_module_reach_it() {
    let place = place();
    // Exits with the number of its arguments, its own name included.
    let wat = r#"(module
      (import "wasi_snapshot_preview1" "args_sizes_get"
        (func $sizes (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (func (export "_start")
        (drop (call $sizes (i32.const 0) (i32.const 4)))
        (call $exit (i32.load (i32.const 0)))))"#;
    fs::write(place.path().join("count.wat"), wat).unwrap();
    for (words, count) in [
        ("", 1),
        ("one two", 3),
        ("-- --root x", 3),
        ("one -- --json", 4),
        ("--version --root x", 4),
    ] {
        let output = fathom(place.path(), &format!("fathom run count.wat {words}"));
        assert_eq!(output.status.code(), Some(count), "run {words}");
    }
    let measure = "fathom bench --no-probe --wait-idle 0s --rounds 1 --engines fathom:guard";
    for (words, allowed) in [("one two", 3), ("-- --quick -x", 3)] {
        let line = format!("{measure} --allow-exit {allowed} count.wat {words}");
        let output = fathom(place.path(), &line);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
}

#[test]
fn shells_and_man_get_what_they_need() {
    let place = place();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = fathom(place.path(), &format!("fathom completions {shell}"));
        let script = text(&output.stdout);
        assert!(
            script.contains("objdump") && script.contains("root"),
            "{shell}"
        );
    }
    let output = fathom(place.path(), "fathom manual bench");
    assert!(text(&output.stdout).contains(".SH OPTIONS"));
    let output = fathom(place.path(), "fathom manual --out man");
    assert!(output.status.success(), "{}", text(&output.stderr));
    for page in ["fathom.1", "fathom-run.1", "fathom-engines.1"] {
        let page = fs::read_to_string(place.path().join("man").join(page)).unwrap();
        assert!(page.contains(".TH fathom"), "{page}");
    }
    assert!(!place.path().join("man/fathom-runner.1").exists());
    let output = fathom(place.path(), "fathom manual nosuch");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn measuring_needs_no_package_of_the_tests() {
    let place = tempfile::tempdir().unwrap();
    // Only what the script itself uses: every package is missing.
    let find = |name: &str| {
        let folders = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
        folders.into_iter().find(|path| path.exists()).unwrap()
    };
    for tool in ["bash", "env", "id", "awk"] {
        std::os::unix::fs::symlink(find(tool), place.path().join(tool)).unwrap();
    }
    let named = |purpose: &str| {
        let output = Command::new(root().join(".ci/packages"))
            .arg(purpose)
            .env("PATH", place.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "a compiler is needed");
        text(&output.stderr)
    };
    let (bench, test) = (named("bench"), named("test"));
    assert!(
        bench.contains("clang-19") && test.contains("clang-19"),
        "{bench}{test}"
    );
    for package in ["qemu", "aarch64", "riscv64", "chromium", "g++"] {
        assert!(!bench.contains(package), "{bench}");
        assert!(test.contains(package), "{test}");
    }
}

/// This program outside of every checkout, as `cargo install` leaves it, and a home.
struct Installed {
    folder: TempDir,
    program: PathBuf,
}

impl Installed {
    fn new() -> Installed {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin-fathom");
        // By a process of its own: what another test starts meanwhile would inherit the file
        // open for writing, and the program could not be started as long as that lives.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_fathom"))
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        for name in ["work", "home"] {
            let made = folder.path().join(name);
            fs::create_dir(&made).unwrap();
        }
        fs::copy(
            root().join("tests/cli/run.in/hello.wat"),
            folder.path().join("work/hello.wat"),
        )
        .unwrap();
        Installed { folder, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words.split_whitespace())
            .current_dir(self.path("work"))
            .env_remove("FATHOM_HOME")
            .env_remove("XDG_DATA_HOME")
            .env("HOME", self.path("home"))
            .stdin(Stdio::null());
        command
    }

    fn data(&self) -> PathBuf {
        self.path("home/.local/share/fathom")
    }
}

#[test]
fn an_installed_program_has_its_engines_and_suites_with_it() {
    let installed = Installed::new();
    let measure = "bench hello.wat --no-probe --wait-idle 0s --rounds 1 --engines fathom:guard";
    let output = installed.command(measure).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("are unpacked into").count(), 1, "{said}");
    let results = fs::read_dir(installed.path("work/results")).unwrap();
    assert_eq!(results.count(), 1, "results are in the working folder");
    let output = installed.command("engines list --json").output().unwrap();
    assert_eq!(text(&output.stderr), "", "it is unpacked once");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let described = fs::read_dir(root().join("engines")).unwrap().flatten();
    let described = described.filter(|entry| entry.path().join("engine.toml").is_file());
    assert_eq!(
        answer["engines"].as_array().unwrap().len(),
        described.count()
    );
    // An option for all commands names another place.
    let home = root().display();
    let output = installed
        .command(&format!("doctor --root {home}"))
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains(&home.to_string()));
    let output = installed.command("--root /nowhere engines list").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("/nowhere: not a checkout"));
}

#[test]
fn an_installed_program_builds_a_suite_that_it_measures() {
    let tools = root().join(".tools");
    if !tools.join("zig").is_dir() {
        println!("SKIPPED: no C compiler in .tools (make tools)");
        return;
    }
    let installed = Installed::new();
    fs::create_dir_all(installed.data()).unwrap();
    std::os::unix::fs::symlink(tools, installed.data().join("tools")).unwrap();
    let measure = "bench polybench --wait-idle 0s --workloads gemm,atax --size mini --engines fathom:guard,native \
                   --no-probe --rounds 1";
    let output = installed.command(measure).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("building what is missing of polybench"),
        "{said}"
    );
    assert!(text(&output.stdout).contains("polybench · mini"));
}

#[test]
fn who_may_not_write_to_a_checkout_has_the_data_folder() {
    let installed = Installed::new();
    for folder in ["clone/engines", "clone/workloads"] {
        fs::create_dir_all(installed.path(folder)).unwrap();
    }
    let open = |path: &Path, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&installed.path("clone"), 0o555);
    open(installed.folder.path(), 0o755);
    open(&installed.path("home"), 0o777);
    let mut command =
        installed.command("bench ../work/hello.wat --no-probe --wait-idle 0s --rounds 1");
    command.args(["--engines", "fathom:guard"]);
    command.current_dir(installed.path("clone"));
    // Permissions are nothing to root: then somebody else does it.
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    open(&installed.path("clone"), 0o755);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("clone is not yours to write to: engines and workloads are those in"),
        "{said}"
    );
    let results = fs::read_dir(installed.data().join("results")).unwrap();
    assert_eq!(results.count(), 1, "{said}");
}
