//! Small programs that ask for much: each is refused or ended, in little memory, by
//! what `fathom run` limits when nothing is said.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fathom_sys::spawn::spawn_traced;
use fathom_sys::usage::{Ended, wait_with_memory};

/// What the process may have had in the machine's memory.
const RESIDENT_BYTES_MAX: u64 = 256 << 20;

/// The same where instances reach what they may have, which is as much: beside it the process
/// itself.
const WITH_INSTANCES_BYTES_MAX: u64 = RESIDENT_BYTES_MAX + (64 << 20);

/// No measurement: only whether it ends by itself, on a machine that is busy, built
/// without optimisation.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a program and returns what it says.
fn run(wat: &str, args: &[&str]) -> String {
    run_within(RESIDENT_BYTES_MAX, wat, args)
}

/// The same with at most so many bytes in the machine's memory.
fn run_within(bytes_max: u64, wat: &str, args: &[&str]) -> String {
    run_with(bytes_max, wat, args, &[])
}

/// The same with variables of the environment.
#[expect(
    clippy::zombie_processes,
    reason = "waited for by its number, for its usage"
)]
fn run_with(bytes_max: u64, wat: &str, args: &[&str], vars: &[(&str, &OsStr)]) -> String {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("bomb.wasm");
    std::fs::write(&path, wat::parse_str(wat).unwrap()).unwrap();
    let said = std::fs::File::create(temp.path().join("said")).unwrap();
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .arg("run")
        .args(args)
        .envs(vars.iter().copied())
        .arg(&path)
        .arg("100000000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said);
    let child = spawn_traced(&mut command).unwrap();
    let (ended, _, memory) = wait_with_memory(child.id()).unwrap();
    let text = std::fs::read_to_string(temp.path().join("said")).unwrap();
    assert!(matches!(ended, Ended::Exited(_)), "{ended:?}: {text}");
    assert!(start.elapsed() < PATIENCE, "{text}");
    let peak = memory.rss_peak_bytes.expect("children can be traced");
    assert!(peak <= bytes_max, "{} MiB: {text}", peak >> 20);
    text
}

fn of(head: &str, n: usize, item: &str, tail: &str) -> String {
    format!("(module {head} {} {tail})", item.repeat(n))
}

#[test]
fn tables() {
    let table = "(table 10000000 (ref null func) (ref.null func))";
    let start = "(func (export \"_start\"))";
    let text = run(&of("", 40, table, start), &[]);
    let refused = "400000000 table elements are beyond the limit of 10000000";
    assert!(text.contains(refused), "{text}");
    // As many as there may be, filled; and grown one by one.
    run(&of("", 1, table, start), &[]);
    let wat = r#"(module (table 1 funcref)
      (func (export "go") (param i32)
        (loop $l (br_if $l (i32.ge_s (table.grow (ref.func 0) (i32.const 997)) (i32.const 0)))))
      (elem declare func 0))"#;
    run(wat, &["--invoke", "go"]);
}

#[test]
fn exceptions() {
    let wat = include_str!("cli/limits.in/chain.wat");
    let text = run(wat, &["--invoke", "go"]);
    assert!(
        text.contains("bytes of exceptions are beyond the limit of 67108864 bytes"),
        "{text}"
    );
}

#[test]
fn many_of_everything() {
    let start = "(func (export \"_start\"))";
    for (n, item) in [
        (100, "(memory 655)"),
        (99_000, "(table 1 funcref)"),
        (200_000, "(global v128 (v128.const i64x2 1 1))"),
        (200_000, "(tag)"),
    ] {
        run(&of("", n, item, start), &[]);
    }
}

#[test]
fn segments_of_many_threads() {
    // 1 MB of a module, and 4 MB in each of its instances: 1.2 GB, were it not for their limit.
    let elements = format!("(elem func {})", "0 ".repeat(500_000));
    let wat = format!(
        r#"(module
          (import "env" "memory" (memory 1 1 shared))
          (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
          {elements}
          (func (export "wasi_thread_start") (param i32 i32)
            (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
          (func (export "go") (param i32) (local $n i32)
            (loop $l
              (drop (call $spawn (i32.const 0)))
              (local.set $n (i32.add (local.get $n) (i32.const 1)))
              (br_if $l (i32.lt_u (local.get $n) (i32.const 300))))
            ;; Until one of them has no room.
            (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))"#
    );
    let text = run_within(WITH_INSTANCES_BYTES_MAX, &wat, &["--invoke", "go"]);
    assert!(
        text.contains("of instances are beyond the limit of 256 MiB"),
        "{text}"
    );
}

#[test]
fn recursion_in_every_thread() {
    let wat = r#"(module
      (import "env" "memory" (memory 1 1 shared))
      (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
      (func $deep (param i32) (result i32)
        (if (result i32) (local.get 0)
          (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))
          (else (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const 100000000)))))
      (func (export "wasi_thread_start") (param i32 i32) (drop (call $deep (i32.const 8000))))
      (func (export "go") (param i32) (local $n i32)
        (loop $l
          (drop (call $spawn (i32.const 0)))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $l (i32.lt_u (local.get $n) (i32.const 2000))))))"#;
    run(wat, &["--invoke", "go"]);
}

/// Runs a program by LLVM; nothing without `.tools/zig`.
fn run_by_llvm(wat: &str, args: &[&str]) -> Option<String> {
    let zig = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/zig/ziglang/zig");
    if !zig.is_file() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
        return None;
    }
    let all = [&["--verbose", "--codegen", "llvm", "--invoke", "go"], args];
    let clang = [("FATHOM_CLANG", zig.as_os_str())];
    Some(run_with(RESIDENT_BYTES_MAX, wat, &all.concat(), &clang))
}

/// A loop of so many blocks, each of which comes back to a table of all of them.
fn ways_back(n: usize) -> String {
    let entries: String = (0..n).map(|k| format!(" {k}")).collect();
    let step = |k: usize| {
        let (set, one, two) = (k % 30 + 1, k * 7 % 31, k * 11 % 31);
        format!(
            ") (local.set {set} (i32.add (local.get {one}) (i32.load (local.get {two})))) (br $l)"
        )
    };
    let steps: String = (0..n).map(step).collect();
    let blocks = "(block ".repeat(n);
    format!(
        r#"(module (memory 2) (func (export "go") (param i32)) (func (param i32) (local {})
            (loop $l {blocks}(br_table{entries} (local.get 0)){steps})))"#,
        "i32 ".repeat(30)
    )
}

#[test]
fn ways_back_to_a_table_by_llvm() {
    // 12 kB, which took clang a minute and 1.2 GB.
    let started = Instant::now();
    let Some(text) = run_by_llvm(&ways_back(700), &[]) else {
        return;
    };
    assert!(text.contains("too many ways back to a br_table"), "{text}");
    assert!(started.elapsed() < PATIENCE, "{text}");
}

#[test]
fn a_chain_of_accesses_by_llvm() {
    // 60 kB, which took clang a minute.
    let wat = of(
        "(memory 1) (func (export \"go\") (param i32) (result i32) local.get 0",
        20_000,
        "i32.load ",
        ")",
    );
    let Some(text) = run_by_llvm(&wat, &["--bounds", "trap"]) else {
        return;
    };
    // Rewriting alone would make too much of it.
    assert!(text.contains("beyond the budget for optimising"), "{text}");
}

#[test]
fn what_clang_is_late_with_is_bounded() {
    // Functions of which each is short enough for LLVM, and all together are not.
    let func = format!(
        "(func (param i32) (result i32) local.get 0 {})",
        "i32.load ".repeat(2_500)
    );
    let wat = of(
        "(memory 1) (func (export \"go\") (param i32))",
        8,
        &func,
        "",
    );
    let started = Instant::now();
    if run_by_llvm(&wat, &["--bounds", "trap"]).is_some() {
        assert!(started.elapsed() < PATIENCE);
    }
}
