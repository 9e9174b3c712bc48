//! `fathom objdump --engines`, `--native`: the code of one function, side by side.
//!
//! What is not installed here is said to be skipped.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const MODULE: &str = r#"(module
  (memory (export "memory") 1)
  (func $triple (param i32) (result i32)
    (i32.store (i32.const 8) (local.get 0))
    (i32.mul (i32.load (i32.const 8)) (i32.const 3)))
  (func (export "_start") (drop (call $triple (i32.const 2)))))"#;

const PROGRAM: &str = "int kept;
    __attribute__((noinline)) int triple(int x) { __asm__ volatile(\"\"); kept = x; return kept * 3; }
    int main(int argc, char **argv) { (void)argv; return triple(argc) == 0; }";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.wat"), MODULE).unwrap();
    folder
}

fn objdump(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .current_dir(folder)
        .args(["--root", env!("CARGO_MANIFEST_DIR"), "objdump", "app.wat"])
        .args(words)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_x86() -> bool {
    let is_x86 = cfg!(target_arch = "x86_64");
    if !is_x86 {
        eprintln!("SKIPPED: code of others is read on x86-64 only");
    }
    is_x86
}

/// The code of one engine, which is there.
fn code_of(folder: &Path, engine: &str) -> Option<Value> {
    let output = objdump(folder, &["--func", "triple", "--engines", engine, "--json"]);
    if said(&output).contains("not installed") {
        eprintln!("SKIPPED: {engine}: {}", said(&output).trim_end());
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let beside = answer["functions"][0]["beside"][0].clone();
    assert_eq!(beside["engine"], engine);
    Some(beside)
}

#[test]
fn engines_that_write_their_code_down_are_shown() {
    if !is_x86() {
        return;
    }
    let folder = folder();
    for engine in ["fathom:guard:direct", "wasmtime", "node", "deno"] {
        let Some(code) = code_of(folder.path(), engine) else {
            continue;
        };
        let number = |name: &str| code[name].as_u64().unwrap();
        let shown = code["code"].as_array().unwrap();
        let instructions = shown.iter().filter(|line| line["is_data"] == false);
        assert_eq!(
            instructions.count() as u64,
            number("instructions"),
            "{code}"
        );
        // It stores and loads, and multiplies by a lea or an imul.
        assert!(number("accesses") >= 1, "{code}");
        let texts = shown.iter().map(|line| line["text"].as_str().unwrap());
        let multiplies = texts.filter(|text| text.contains("imul") || text.contains("lea"));
        assert!(multiplies.count() >= 1, "{code}");
        assert!(
            code["called"].as_str().unwrap().contains("triple"),
            "{code}"
        );
    }
    assert!(!folder.path().join("jit-1.dump").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_program_of_this_machine_stands_beside() {
    if !is_x86() {
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("app.c"), PROGRAM).unwrap();
    let built = Command::new("cc")
        .current_dir(folder.path())
        .args(["-O1", "-o", "app", "app.c"])
        .status();
    assert!(built.unwrap().success());
    let output = objdump(folder.path(), &["--func", "triple", "--native", "app"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rows = text.lines();
    assert!(
        rows.next()
            .unwrap()
            .ends_with("bytes  instructions  memory accesses  branches  calls")
    );
    assert!(rows.next().unwrap().starts_with("fathom  "), "{text}");
    let native = rows.next().unwrap();
    assert!(
        native.starts_with("native  ") && native.ends_with("  triple"),
        "{text}"
    );
    let columns = rows.nth(1).unwrap();
    assert!(
        columns.starts_with("fathom ") && columns.ends_with("│ native"),
        "{text}"
    );
    assert!(text.contains("│     0  "), "{text}");
}

#[test]
fn what_is_not_there_is_a_line_and_the_others_are_shown() {
    if !is_x86() {
        return;
    }
    let folder = folder();
    let shown = |words: &[&str]| {
        let output = objdump(folder.path(), &[&["--func", "triple"], words].concat());
        (output.status.code(), said(&output), output.stdout.len())
    };
    let (status, line, bytes) = shown(&["--native", "/bin/true"]);
    assert_eq!(status, Some(1));
    assert_eq!(
        line.split_once("true: ").map(|(_, why)| why),
        Some("no function 'triple': inlined, or the symbols are stripped\n")
    );
    assert!(bytes > 100);
    let (status, line, bytes) =
        shown(&["--native", "./missing", "--engines", "fathom:guard:direct"]);
    assert_eq!(status, Some(1));
    assert!(
        line.starts_with("fathom: native: ") && line.lines().count() == 1,
        "{line}"
    );
    assert!(bytes > 100);
    let (status, line, _) = shown(&["--engines", "native"]);
    assert_eq!(
        (status, line.as_str()),
        (
            Some(1),
            "fathom: native: name the program: --native PROGRAM\n"
        )
    );
    let (status, line, _) = shown(&["--engines", "wasmi"]);
    if !line.contains("not installed") {
        let why = "fathom: wasmi: it does not write down the code that it makes (jitdump)\n";
        assert_eq!((status, line.as_str()), (Some(1), why));
    }
    let output = objdump(folder.path(), &["--engines", "wasmtime"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--func"), "{}", said(&output));
}
