//! `fathom bench --metric instructions`: counts that are the same each time.
//!
//! `tests/counts/before/sum.wat` and `tests/counts/after/sum.wat` differ by 1 % of their steps.
//! Without valgrind, and without counters of the processor, what a user is told is tested alone.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use fathom_bench::instructions::Counter;

fn fathom(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Measures a module in two rounds; each count that was made.
fn count(module: &str, out: &Path) -> Vec<f64> {
    let out = out.to_str().unwrap();
    let words = ["bench", module, "--metric", "instructions", "--no-probe"];
    let more = ["--engines", "fathom:guard", "--out", out];
    let output = fathom(&[&words[..], &more].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{output:?}");
    assert!(said.contains("compared by instructions"), "{said}");
    let samples = std::fs::read_to_string(Path::new(out).join("samples.jsonl")).unwrap();
    let lines = samples.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["phases"].as_object().is_none_or(|all| all.is_empty()));
        line
    });
    lines
        .filter_map(|line| line["metrics"]["instructions"].as_f64())
        .collect()
}

#[test]
fn one_per_cent_is_found_in_two_rounds_and_nothing_is_not() {
    if let Err(why) = Counter::find() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Counts are the same beside one another.
    let (before, after) = std::thread::scope(|scope| {
        let before = scope.spawn(|| count("tests/counts/before/sum.wat", &at("before")));
        let after = count("tests/counts/after/sum.wat", &at("after"));
        (before.join().unwrap(), after)
    });
    // A cell and its control, twice.
    assert_eq!((before.len(), after.len()), (4, 4));
    for counts in [&before, &after] {
        let (least, most) = (
            counts.iter().copied().fold(f64::INFINITY, f64::min),
            counts.iter().copied().fold(0.0, f64::max),
        );
        assert!(most / least < 1.001, "{counts:?}");
    }
    let compared = |before: &Path, after: &Path| {
        let both = [before.to_str().unwrap(), after.to_str().unwrap()];
        let words = ["compare", "--no-confirm", "--threshold", "0.5%"];
        fathom(&[&words[..], &both].concat())
    };
    let found = compared(&at("before"), &at("after"));
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let back = compared(&at("after"), &at("before"));
    assert_eq!(back.status.code(), Some(0), "{back:?}");
    let same = compared(&at("before"), &at("before"));
    assert_eq!(same.status.code(), Some(0), "{same:?}");
}

#[test]
fn what_cannot_be_counted_is_said_in_one_line() {
    let out = tempfile::tempdir().unwrap();
    let at = out.path().join("out");
    let module = "tests/counts/before/sum.wat";
    let words = ["bench", module, "--metric", "instructions", "--out"];
    let words = [&words[..], &[at.to_str().unwrap()]].concat();
    let output = fathom(&[&words[..], &["--threads", "2"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(
        said,
        "fathom: --metric instructions: of one instance at once, --threads 1\n"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let nowhere = command.args(&words).env("PATH", "").output().unwrap();
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(said.starts_with("fathom: instructions cannot be counted: by the processor: "));
    assert!(
        said.ends_with("(Debian: apt-get install valgrind)\n"),
        "{said}"
    );
    assert!(!at.exists());
}
