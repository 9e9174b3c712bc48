//! `fathom reproduce ewapa` on a suite of one program: measured, traced, gone on with, written
//! down, and explained.

mod common;

use std::fs;
use std::process::Output;

use common::Home;
use fathom_record::Campaign;

/// Reads 700 times from an empty input, then answers.
const PROGRAM: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\2d\00\00\00")
  (data (i32.const 64) "fathom: answer=00000000600dc0de kernel_ns=5000")
  (func (export "_start") (local $n i32)
    (loop $again
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16))
        (then unreachable))
      (br_if $again (i32.lt_u
        (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 700))))
    (i32.store (i32.const 4) (i32.const 46))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

const NATIVE: &str = "#!/bin/sh\necho 'fathom: answer=00000000600dc0de kernel_ns=4000'\n";

const SUITE: &str = r#"name = "wasi-io"
[[workload]]
name = "freads-2000"
category = "reads"
why = "one that asks often"
program = "freads"
args = ["60"]
passes = { mini = 41940 }
answer = "00000000600dc0de"
writes = true
"#;

impl Home {
    fn new() -> Home {
        let home = Home::bare();
        home.write("workloads/wasi-io/suite.toml", SUITE);
        let wasm = wat::parse_str(PROGRAM).unwrap();
        home.write("workloads/wasi-io/build/wasm/freads.wasm", wasm);
        home
    }

    fn with_native(self) -> Home {
        self.program("workloads/wasi-io/build/native-gcc/freads", NATIVE);
        self
    }

    fn reproduce(&self, more: &[&str]) -> Output {
        let words = "reproduce ewapa --size mini --no-probe --wait-idle 0s --rounds 3 --out r";
        let words: Vec<&str> = words.split(' ').collect();
        self.fathom(&[&words, more].concat())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether system calls can be traced here.
fn sees_the_kernel(campaign: &Campaign) -> bool {
    let sees = campaign.traced.iter().any(|one| one.threads.is_some());
    if !sees {
        eprintln!("SKIPPED: system calls cannot be traced here");
    }
    sees
}

#[test]
fn the_study_is_measured_gone_on_with_and_written_down() {
    let home = Home::new().with_native();
    let output = home.reproduce(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let whole = home.campaign("r");
    // Two rows, five times each.
    assert_eq!(whole.traced.len(), 10);
    let own: Vec<_> = whole
        .traced
        .iter()
        .filter(|one| one.functions.is_some())
        .collect();
    assert_eq!(own.len(), 5);
    for one in &own {
        let functions = one.functions.as_ref().unwrap();
        assert_eq!(functions["fd_read"].count, 700);
        assert!(functions["fd_read"].total_ns > 0);
    }
    let page = fs::read_to_string(home.path("r/ewapa.md")).unwrap();
    assert!(page.contains("| published: native "), "{page}");
    assert!(home.path("r/ewapa-start.svg").exists());
    if sees_the_kernel(&whole) {
        for one in &own {
            let threads = one.threads.as_ref().unwrap();
            assert!(threads.calls["read"].count >= 700, "{threads:?}");
        }
        // 700 freads of 60 bytes, one WASI call each.
        assert!(page.contains("fathom: 1.00 : 1 : 1.0"), "{page}");
        let explained = home.fathom(&["explain", "r/traces"]);
        let said = text(&explained.stdout);
        assert!(said.starts_with("2 traces on 2 engines"), "{said}");
    }
    // As if it had been stopped in the middle of its traced runs, and of its rounds.
    let samples = home.path("r/samples.jsonl");
    let lines = fs::read_to_string(&samples).unwrap();
    let is_kept = |line: &&str| !line.contains("\"round\":2") && !line.contains("\"repeat\":4");
    let kept: Vec<&str> = lines.lines().filter(is_kept).collect();
    fs::write(&samples, kept.join("\n") + "\n").unwrap();
    let output = home.reproduce(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let again = home.campaign("r");
    assert_eq!(again.traced.len(), 10);
    assert_eq!(again.processes.len(), whole.processes.len());
    let output = home.reproduce(&["--page-only", "--page", "docs"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(home.path("docs/ewapa.md").exists());
}

#[test]
fn what_is_not_built_is_said_with_what_builds_it() {
    let home = Home::new();
    let output = home.reproduce(&[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("native-gcc") && said.contains("build.py"),
        "{said}"
    );
    assert!(!home.path("r/samples.jsonl").exists());
    let output = home.fathom(&["reproduce", "ewapa", "--workloads", "nothing"]);
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
}
