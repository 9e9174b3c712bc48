//! `fathom compare` looks again: a slowdown counts where a run of its own finds it too.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// Works for a while, and says so.
const WORK: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\06\00\00\00")
  (data (i32.const 16) "hello\n")
  (func (export "_start") (local i64)
    (loop $again
      (local.set 0 (i64.add (local.get 0) (i64.const 1)))
      (br_if $again (i64.lt_u (local.get 0) (i64.const 3000000))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

/// A house without engines and suites.
fn bare_house() -> PathBuf {
    let house = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    for folder in ["engines", "workloads"] {
        fs::create_dir_all(house.join(folder)).unwrap();
    }
    house
}

fn fathom(words: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .env("FATHOM_HOME", bare_house())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The campaign `measured`, in which all runs took a time of our choice, but for what a
/// quiet machine varies by.
fn took(folder: &Path, name: &str, ns: f64) {
    let mut lines = String::new();
    let measured = fs::read_to_string(folder.join("measured/samples.jsonl")).unwrap();
    for (at, line) in measured.lines().enumerate() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if let Some(run) = record.pointer_mut("/phases/run/wall_ns") {
            let off = [0.0, 0.004, -0.002, 0.001, -0.003, 0.002, -0.001][at % 7];
            *run = Value::from((ns * (1.0 + off)) as u64);
        }
        lines.push_str(&record.to_string());
        lines.push('\n');
    }
    fs::create_dir(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("samples.jsonl"), lines).unwrap();
}

/// A campaign's lines as another build of our engine would have written them.
fn of_another_build(lines: &str) -> String {
    let (header, rest) = lines.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["config"]["engines"]["fathom"] = Value::from("0123");
    format!("{header}\n{rest}")
}

/// What a run took in the middle of the campaign `measured`.
fn typical_ns(folder: &Path) -> f64 {
    let lines = fs::read_to_string(folder.join("measured/samples.jsonl")).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let runs = records.filter_map(|record| record.pointer("/phases/run/wall_ns")?.as_u64());
    let mut runs: Vec<u64> = runs.collect();
    runs.sort_unstable();
    runs[runs.len() / 2] as f64
}

#[test]
fn a_slowdown_is_confirmed_refuted_or_left_unconfirmed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("work.wat"), WORK).unwrap();
    let bench = "bench work.wat --engines fathom:guard --rounds 8 --iterations 7 --no-probe \
                 --wait-idle 0s --out measured";
    let output = fathom(&bench.split(' ').collect::<Vec<_>>(), at);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let ns = typical_ns(at);
    took(at, "usual", ns * 2.0);
    took(at, "slower", ns * 100.0);
    took(at, "faster", ns / 100.0);
    let compare = |words: &[&str]| {
        let words: Vec<&str> = ["compare"].iter().chain(words).copied().collect();
        let output = fathom(&words, at);
        let said = String::from_utf8(output.stdout).unwrap();
        (
            output.status.code(),
            said + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let check = |words: &[&str], status: i32, parts: &[&str]| {
        let (code, said) = compare(words);
        assert_eq!(code, Some(status), "{words:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{words:?}: no {part} in {said}");
        }
    };
    // What is slow on paper alone does not come again; what really is as it was does.
    let refuted = ["to be confirmed: ", "accepted: not confirmed by a second"];
    check(&["usual", "slower"], 0, &refuted);
    assert!(at.join("slower/confirmation-1/samples.jsonl").exists());
    check(
        &["faster", "measured"],
        1,
        &["refused: a second measurement confirmed 2 of 2"],
    );
    check(
        &["usual", "slower", "--no-confirm"],
        1,
        &["refused: 2 slowdowns past"],
    );
    assert!(!at.join("slower/confirmation-2").exists());
    // Nor does another build of the engine.
    let file = at.join("slower/samples.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    fs::write(&file, of_another_build(&lines)).unwrap();
    let unconfirmed = ["another build of fathom", "refused, unconfirmed: "];
    check(&["usual", "slower"], 3, &unconfirmed);
    fs::write(&file, lines).unwrap();
    // Another module says nothing of this one.
    fs::write(at.join("work.wat"), WORK.replace("3000000", "3000001")).unwrap();
    let unconfirmed = ["the module has changed", "refused, unconfirmed: "];
    check(&["usual", "slower"], 3, &unconfirmed);
    assert!(
        !at.join("slower/confirmation-2").exists(),
        "nothing was left behind"
    );
}
