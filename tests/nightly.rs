//! The examples of a campaign each night, as they stand in `docs/examples`: the steps of the
//! workflow and the commands of the service are run here, night after night, on a program of a
//! line. What a night measures is said by a variable, as in the examples; the rest is theirs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const WORKFLOW: &str = include_str!("../docs/examples/history.yml");
const SERVICE: &str = include_str!("../docs/examples/fathom-history.service");
const TIMER: &str = include_str!("../docs/examples/fathom-history.timer");

/// What is measured instead of an hour of a suite.
const CAMPAIGN: &str = "hello.wat --engines fathom:guard --rounds 5 --iterations 1 --warmup 0 \
                        --no-probe --wait-idle 0s";

/// A folder with the program in `bin`, a home without engines, and what is measured in `at`.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for folder in ["bin", "home/engines", "home/workloads", "at"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_fathom"), place.path("bin/fathom")).unwrap();
        let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/hello.wat");
        fs::copy(hello, place.path("at/hello.wat")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command as a shell is given it, in `at`.
    fn run(&self, shell: &[&str], script: &str) -> Output {
        let bin = self.path("bin");
        let path = std::env::var("PATH").unwrap();
        Command::new(shell[0])
            .args(&shell[1..])
            .arg(script)
            .current_dir(self.path("at"))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("FATHOM_HOME", self.path("home"))
            .env("CAMPAIGN", CAMPAIGN)
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn must(&self, shell: &[&str], script: &str) -> String {
        let output = self.run(shell, script);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// As GitHub runs a step.
const STEP: [&str; 6] = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];

/// The scripts of a workflow's steps: what is behind `run: |`, as far as it is indented.
fn steps(workflow: &str) -> Vec<String> {
    let mut lines = workflow.lines().peekable();
    let mut steps = Vec::new();
    let indent = |line: &str| line.len() - line.trim_start().len();
    while let Some(line) = lines.next() {
        if line.trim() != "run: |" {
            assert!(!line.contains("run:"), "not read: {line}");
            continue;
        }
        let mut script = String::new();
        while let Some(inner) = lines.next_if(|inner| indent(inner) > indent(line)) {
            script.push_str(inner.trim_start());
            script.push('\n');
        }
        steps.push(script);
    }
    steps
}

/// How many campaigns a site has.
fn campaigns(site: &Path) -> usize {
    let history = fs::read_to_string(site.join("history.json")).unwrap();
    let history: Value = serde_json::from_str(&history).unwrap();
    history["campaigns"].as_array().unwrap().len()
}

#[test]
fn the_workflow_adds_a_campaign_to_the_site_each_night() {
    let place = Place::new();
    let git = "git init --quiet --bare ../origin && git init --quiet && git remote add origin \"$PWD/../origin\" \
               && git add hello.wat && git -c user.name=a -c user.email=a commit --quiet -m a";
    place.must(&STEP, git);
    let steps = steps(WORKFLOW);
    assert_eq!(steps.len(), 4);
    assert!(WORKFLOW.contains("\n  CAMPAIGN: "), "{WORKFLOW}");
    for night in 1..=3 {
        for step in &steps {
            place.must(&STEP, step);
        }
        // As others see it.
        let clone = "rm -rf ../seen && git clone --quiet --branch gh-pages ../origin ../seen";
        place.must(&STEP, clone);
        assert_eq!(campaigns(&place.path("seen")), night);
        if night == 2 {
            // The next runner knows nothing of the branch but what is published.
            place.must(
                &STEP,
                "rm -rf public && git worktree prune && git branch -D gh-pages",
            );
        }
    }
    let summary = fs::read_to_string(place.path("summary.md")).unwrap();
    assert!(summary.starts_with("# History"), "{summary}");
}

/// The values of a key of a unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    let lines = unit.lines();
    lines
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .collect()
}

#[test]
fn the_service_adds_a_campaign_to_the_site_each_night() {
    let place = Place::new();
    let state = place.path("at").display().to_string();
    assert_eq!(values(SERVICE, "WorkingDirectory"), ["/var/lib/fathom"]);
    assert!(values(SERVICE, "Environment")[0].starts_with("\"CAMPAIGN="));
    for night in 1..=2 {
        for command in values(SERVICE, "ExecStart") {
            let command = command.trim_start_matches('-');
            let here = command
                .replace("/usr/local/bin/", "")
                .replace("/var/lib/fathom", &state);
            let said = place.must(&["sh", "-c"], &here);
            let is_last = command.contains(" history ");
            assert!(
                !is_last || said.contains("hello.wat · 1 instance"),
                "{said}"
            );
        }
        assert_eq!(campaigns(&place.path("at/public")), night);
    }
}

#[test]
fn systemd_understands_the_units() {
    let place = Place::new();
    let is_there = |output: std::io::Result<Output>| output.is_ok_and(|one| one.status.success());
    if !is_there(Command::new("systemd-analyze").arg("--version").output()) {
        println!("SKIPPED: no systemd-analyze");
        return;
    }
    let bin = place.path("bin/fathom").display().to_string();
    let service = SERVICE.replace("/usr/local/bin/fathom", &bin);
    fs::write(place.path("fathom-history.service"), service).unwrap();
    fs::write(place.path("fathom-history.timer"), TIMER).unwrap();
    let when = values(TIMER, "OnCalendar")[0];
    for words in [
        &["verify", "fathom-history.service", "fathom-history.timer"][..],
        &["calendar", when],
    ] {
        let output = Command::new("systemd-analyze")
            .args(words)
            .current_dir(place.0.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // What it says of the machine's own units is not ours.
        let ours: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("fathom-history"))
            .collect();
        assert!(
            output.status.success() && ours.is_empty(),
            "{words:?}: {said}"
        );
    }
}
