//! `fathom trace`: counts against what programs are known to do, on every engine that is
//! installed; against strace; and what happens where something is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

#[path = "trace/native.rs"]
mod native;
#[path = "trace/picture.rs"]
mod picture;
#[path = "trace/signals.rs"]
mod signals;
#[path = "trace/symbols.rs"]
mod symbols;

/// Makes so many calls, known by its text: 300 writes of 7 bytes, 20 of them in two
/// ranges; 5 times a descriptor that is not there; 11 clocks; 3 times 16 random bytes;
/// then ends with a status.
const PROGRAM: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $never (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 64) "fathom\n")
  (data (i32.const 0) "\40\00\00\00\07\00\00\00\47\00\00\00\00\00\00\00")
  (func $times (param $n i32) (param $what i32)
    (loop $again
      (if (i32.eqz (local.get $what)) (then
        (drop (call $write (i32.const 1) (i32.const 0)
          (select (i32.const 2) (i32.const 1) (i32.le_u (local.get $n) (i32.const 20)))
          (i32.const 128)))))
      (if (i32.eq (local.get $what) (i32.const 1)) (then (drop (call $close (i32.const 77)))))
      (if (i32.eq (local.get $what) (i32.const 2)) (then
        (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 128)))))
      (if (i32.eq (local.get $what) (i32.const 3)) (then
        (drop (call $random (i32.const 256) (i32.const 16)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "_start")
    (call $times (i32.const 300) (i32.const 0))
    (call $times (i32.const 5) (i32.const 1))
    (call $times (i32.const 11) (i32.const 2))
    (call $times (i32.const 3) (i32.const 3))
    (call $exit (i32.const 0))))"#;

/// What [`PROGRAM`] calls: name, calls, failed, bytes.
const KNOWN: [(&str, u64, u64, u64); 5] = [
    ("clock_time_get", 11, 0, 0),
    ("fd_close", 5, 5, 0),
    ("fd_write", 300, 0, 2100),
    ("proc_exit", 1, 0, 0),
    ("random_get", 3, 0, 48),
];

/// Four threads of 250 clocks each, and the main one, which waits for them and clocks 100
/// times itself.
const THREADS: &str = r#"(module
  (import "env" "memory" (memory 1 4 shared))
  (export "memory" (memory 0))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (func $clocks (param $n i32) (param $at i32)
    (loop $again
      (drop (call $clock (i32.const 1) (i64.const 1) (local.get $at)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "wasi_thread_start") (param $tid i32) (param $at i32)
    (call $clocks (i32.const 250) (local.get $at))
    (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
    (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))
  (func (export "_start") (local $n i32)
    (if (i32.ne (memory.size) (i32.const 1)) (then (unreachable)))
    (loop $more
      (drop (call $spawn (i32.add (i32.const 64) (i32.shl (local.get $n) (i32.const 3)))))
      (br_if $more (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 4))))
    (call $clocks (i32.const 100) (i32.const 512))
    (loop $wait
      (if (i32.lt_u (local.tee $n (i32.atomic.load (i32.const 0))) (i32.const 4)) (then
        (drop (memory.atomic.wait32 (i32.const 0) (local.get $n) (i64.const 1000000000)))
        (br $wait))))))"#;

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Files {
        Files {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn module(&self, text: &str) -> PathBuf {
        let path = self.path("program.wat");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs `fathom trace` with these words, and reads its answer.
    fn trace(&self, words: &[&str]) -> (Output, Value) {
        let answer = self.path("answer.json");
        let output = fathom(&["trace", "--out", answer.to_str().unwrap()])
            .args(words)
            .output()
            .unwrap();
        let text = std::fs::read_to_string(answer).unwrap_or_else(|_| panic!("{output:?}"));
        (output, serde_json::from_str(&text).unwrap())
    }
}

fn fathom(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(words).stdin(Stdio::null());
    command
}

/// Name, calls, failed and bytes of what was called at all.
fn called(answer: &Value) -> Vec<(String, u64, u64, u64)> {
    let functions = answer["wasi"]["functions"].as_object().unwrap();
    let row = |(name, function): (&String, &Value)| {
        let results = function["results"].as_array().unwrap();
        let results: Vec<u64> = results.iter().map(|n| n.as_u64().unwrap()).collect();
        let failed = results[1..].iter().sum();
        let bytes = function["bytes"].as_u64().unwrap();
        (name.clone(), results.iter().sum(), failed, bytes)
    };
    functions.iter().map(row).filter(|row| row.1 > 0).collect()
}

fn known() -> Vec<(String, u64, u64, u64)> {
    let rows = KNOWN.iter();
    rows.map(|(name, calls, failed, bytes)| (name.to_string(), *calls, *failed, *bytes))
        .collect()
}

fn engines() -> Vec<String> {
    let output = fathom(&["engines", "list", "--json"])
        .env("FATHOM_HOME", env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else {
        eprintln!("SKIPPED: outside engines: {output:?}");
        return Vec::new();
    };
    let name = |engine: &Value| engine["name"].as_str().unwrap().to_owned();
    // Releases beside the pinned ones are somebody's own.
    let engines = answer["engines"].as_array().unwrap().iter();
    let engines = engines.filter(|engine| !name(engine).contains('@'));
    let (here, gone): (Vec<_>, Vec<_>) =
        engines.partition(|engine| engine["state"]["installed"] == true);
    for engine in gone {
        eprintln!("SKIPPED: {} is not installed", name(engine));
    }
    here.into_iter().map(name).collect()
}

#[test]
fn a_rewritten_program_counts_exactly_on_every_engine() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    for engine in engines().iter().map(String::as_str).chain(["fathom"]) {
        let module = module.to_str().unwrap();
        let words = ["--engines", engine, "--by", "rewriting", module];
        let (output, answer) = files.trace(&words);
        assert_eq!(output.status.code(), Some(0), "{engine}: {output:?}");
        assert_eq!(output.stdout, "fathom\n".repeat(300).as_bytes(), "{engine}");
        assert_eq!(called(&answer), known(), "{engine}");
        assert_eq!(answer["missing"], serde_json::json!([]), "{engine}");
    }
}

#[test]
fn a_rewritten_program_times_its_calls_on_every_engine() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    for engine in engines() {
        let (output, answer) = files.trace(&[
            "--engines",
            &engine,
            "--by",
            "rewriting",
            "--times",
            module.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{engine}: {output:?}");
        assert_eq!(called(&answer), known(), "{engine}");
        let functions = answer["wasi"]["functions"].as_object().unwrap();
        let times = functions
            .iter()
            .map(|(name, one)| (name.as_str(), one["total_ns"].as_u64()));
        let times: BTreeMap<&str, Option<u64>> = times.collect();
        // 300 writes take some time on any clock.
        assert!(times["fd_write"].unwrap() > 0, "{engine}: {times:?}");
        assert!(
            answer["wasi"]["cost"]["least_ns"].as_f64().unwrap() > 0.0,
            "{engine}"
        );
    }
}

#[test]
fn our_engine_counts_and_times_exactly() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    let words = ["--by", "process", module.to_str().unwrap()];
    let (output, answer) = files.trace(&words);
    assert_eq!(output.stdout, "fathom\n".repeat(300).as_bytes());
    assert_eq!(called(&answer), known());
    for (name, calls, ..) in KNOWN {
        let times = &answer["wasi"]["functions"][name]["times"];
        assert_eq!(times["count"].as_u64(), Some(calls), "{name}");
        let number = |key: &str| times[key].as_u64().unwrap();
        assert!(number("total_ns") >= calls * number("min_ns"), "{name}");
        assert!(number("total_ns") <= calls * number("max_ns"), "{name}");
    }
}

#[test]
fn threads_are_counted_by_both_ways() {
    let files = Files::new();
    let module = files.module(THREADS);
    let (output, answer) = files.trace(&["--by", "process", module.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = ("clock_time_get".to_owned(), 1100, 0, 0);
    assert_eq!(called(&answer), [expected]);
    // Rewritten to a file, for any engine; here for ours.
    let counting = files.path("counting.wasm");
    let words = ["trace", "--rewrite", counting.to_str().unwrap()];
    let output = fathom(&words).arg(&module).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = fathom(&["run"]).arg(&counting).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = String::from_utf8(output.stderr).unwrap();
    let line: Value = serde_json::from_str(line.trim()).unwrap();
    assert_eq!(line["calls"]["clock_time_get"][1], 1100, "{line}");
    assert_eq!(line["calls"]["thread-spawn"][1], 4, "{line}");
}

/// Whether the kernel can be asked; else why not.
fn kernel(answer: &Value) -> Option<BTreeMap<String, u64>> {
    let Some(calls) = answer["kernel"]["calls"].as_array() else {
        eprintln!("SKIPPED: {}", answer["missing"]);
        return None;
    };
    let mut counts = BTreeMap::new();
    for call in calls {
        let name = call["name"].as_str().unwrap().to_owned();
        *counts.entry(name).or_default() += call["count"].as_u64().unwrap();
    }
    assert_eq!(
        answer["kernel"]["lost"],
        serde_json::json!({"tasks": 0, "calls": 0, "threads": 0})
    );
    Some(counts)
}

/// What strace counts of a command, by name.
fn strace(files: &Files, command: &[&str]) -> Option<BTreeMap<String, u64>> {
    let table = files.path("strace");
    let run = Command::new("strace")
        .args(["-c", "-f", "-qq", "-U", "calls,name", "-o"])
        .arg(&table)
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if run.is_err() {
        eprintln!("SKIPPED: no strace (apt-get install strace)");
        return None;
    }
    Some(counted(&std::fs::read_to_string(table).unwrap()))
}

/// The rows of strace's table.
fn counted(table: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let count = words.next()?.parse().ok()?;
        let name = words.next().filter(|name| *name != "total")?;
        Some((name.to_owned(), count))
    };
    table.lines().filter_map(row).collect()
}

#[test]
fn system_calls_are_those_that_strace_counts() {
    let files = Files::new();
    let script = "dd if=/dev/zero of=/dev/null bs=1 count=5000 2>/dev/null; \
                  (ls / >/dev/null); for i in 1 2 3; do cat /dev/null; done; cat /no/such/file";
    for command in [&["/bin/true"][..], &["/bin/sh", "-c", script]] {
        let (_, answer) = files.trace(&[&["--"], command].concat());
        let Some(ours) = kernel(&answer) else { return };
        let Some(theirs) = strace(&files, command) else {
            return;
        };
        assert_eq!(ours, theirs, "{command:?}");
    }
}

/// Writes 2000 times in two ranges, through an engine's own file.
const PAIRS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "\40\00\00\00\20\00\00\00\60\00\00\00\20\00\00\00")
  (func (export "_start") (local $n i32)
    (local.set $n (i32.const 2000))
    (loop $again
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 2) (i32.const 128)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"#;

#[test]
fn traces_of_all_engines_are_explained() {
    let files = Files::new();
    let module = files.module(PAIRS);
    let folder = files.path("traces");
    let output = fathom(&["trace", "--engines", "all", "--out"])
        .args([&folder, &module])
        .env("FATHOM_HOME", env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let explain = |words: &[&str]| {
        let output = fathom(&["explain"]).args(words).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            output.stderr,
        )
    };
    let folder = folder.to_str().unwrap();
    let (status, text, _) = explain(&[folder]);
    assert_eq!(status, Some(0));
    let traces = std::fs::read_dir(folder).unwrap().count();
    // Those that are out of date run, too.
    assert!(traces > engines().len(), "{traces}");
    assert!(
        text.starts_with(&format!("{traces} traces on {traces} engines: ")),
        "{text}"
    );
    let (status, json, _) = explain(&["--json", folder]);
    assert_eq!(status, Some(0));
    let findings: Value = serde_json::from_str(&json).unwrap();
    // wazero, where it is: a write for each range.
    let is_split = |f: &Value| {
        let causes = f["causes"].as_array().unwrap().iter();
        f["engine"] == "wazero" && causes.clone().any(|c| c["name"] == "split vectors")
    };
    let text = std::fs::read_to_string(Path::new(folder).join("program-wazero-1.json"));
    if text.is_ok_and(|text| text.contains("\"kernel\"")) {
        assert!(
            findings.as_array().unwrap().iter().any(is_split),
            "{findings}"
        );
    }
    // What is no trace is passed over, and that is said.
    std::fs::write(Path::new(folder).join("notes.json"), "{}").unwrap();
    let (status, again, stderr) = explain(&[folder]);
    assert_eq!(status, Some(0));
    assert!(
        again.starts_with(&format!("{traces} traces on ")),
        "{again}"
    );
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(
        stderr.starts_with("passed over: ") && stderr.contains("notes.json"),
        "{stderr}"
    );
    let (status, _, stderr) = explain(&[module.to_str().unwrap()]);
    assert_eq!(status, Some(1));
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(
        stderr.contains("not a trace") && stderr.lines().count() == 1,
        "{stderr}"
    );
}

/// What strace's own child calls before it is the traced program.
const BEFORE: [&str; 9] = [
    "chdir",
    "close",
    "geteuid",
    "getpid",
    "gettid",
    "kill",
    "pause",
    "ptrace",
    "set_robust_list",
];

#[test]
fn of_many_threads_strace_counts_the_same_in_the_same_run() {
    let files = Files::new();
    let module = files.module(THREADS);
    let table = files.path("table");
    let words = ["--", "strace", "-c", "-f", "-qq", "-U", "calls,name", "-o"];
    let traced = [
        env!("CARGO_BIN_EXE_fathom"),
        "run",
        module.to_str().unwrap(),
    ];
    let table_of = [table.to_str().unwrap()];
    let (output, answer) = files.trace(&[&words[..], &table_of, &traced].concat());
    if output.status.code() != Some(0) || kernel(&answer).is_none() {
        return eprintln!("SKIPPED: {output:?}");
    }
    // strace is the process that uses ptrace more than once, as its child does.
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let number = |value: &Value, key: &str| value[key].as_u64().unwrap();
    let threads = answer["kernel"]["threads"].as_array().unwrap();
    let calls = answer["kernel"]["calls"].as_array().unwrap();
    let tracer = calls
        .iter()
        .find(|c| c["name"] == "ptrace" && number(c, "count") > 3);
    let tracer = number(tracer.unwrap(), "thread");
    assert!(threads.len() >= 7, "{threads:?}");
    let mut ours = BTreeMap::<String, u64>::new();
    for call in calls.iter().filter(|call| number(call, "thread") != tracer) {
        *ours.entry(text(call, "name")).or_default() += number(call, "count");
    }
    let mut theirs = counted(&std::fs::read_to_string(table).unwrap());
    for name in BEFORE {
        ours.remove(name);
        theirs.remove(name);
    }
    // A thread that is ended with its process may be between the two that look at its last
    // call: one of them has counted it. Threads before that have no such call.
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let of = |counts: &BTreeMap<String, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
    let apart: u64 = names
        .iter()
        .map(|name| of(&ours, name).abs_diff(of(&theirs, name)))
        .sum();
    assert!(apart < threads.len() as u64, "{ours:?}\n{theirs:?}");
}

#[test]
fn a_command_keeps_its_output_and_its_status() {
    let files = Files::new();
    let script = "echo out; echo err >&2; exit 7";
    let (output, answer) = files.trace(&["--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(
        (&output.stdout[..], &output.stderr[..]),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!(answer["status"], 7);
    let (output, answer) = files.trace(&["--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(output.status.code(), Some(137));
    // One that leaves somebody behind.
    let (_, left) = files.trace(&["--", "sh", "-c", "sleep 1 & exit 0"]);
    if kernel(&answer).is_some() {
        let threads = left["kernel"]["threads"].as_array().unwrap();
        let running = threads.iter().filter(|t| t["is_running"] == true);
        assert_eq!(running.count(), 1, "{left}");
    }
}

#[test]
fn what_cannot_be_traced_is_said_in_a_line() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    let module = module.to_str().unwrap();
    let trap = files.path("trap.wat");
    let text = r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#;
    std::fs::write(&trap, text).unwrap();
    let trap = trap.to_str().unwrap();
    let library = files.path("library.wat");
    std::fs::write(&library, "(module)").unwrap();
    for (words, status, said) in [
        (vec!["--", "/no/such/program"], 1, "No such file"),
        (vec!["/no/such/module.wasm"], 1, "No such file"),
        (
            vec!["--out", "/no/such/trace", module],
            1,
            "/no/such/trace: No such file",
        ),
        (vec![], 2, "name a MODULE"),
        (vec!["--engines", "nosuch", module], 1, "no engine nosuch"),
        (vec!["--by", "process", "--", "true"], 1, "--by"),
        (
            vec!["--engines", "fathom,wasmtime", module],
            1,
            "--out FOLDER",
        ),
        (
            vec!["--by", "process,rewriting", module],
            1,
            "name one of them",
        ),
        (
            vec!["--engines", "wasm3", "--by", "symbols,rewriting", module],
            1,
            "symbol",
        ),
        (vec!["--by", "symbols", "--", "true"], 1, "--symbols"),
        (vec!["--discover", "fathom"], 1, "outside engines"),
        (vec!["--by", "rewriting", trap], 1, "trap"),
        (
            vec!["--by", "rewriting", library.to_str().unwrap()],
            1,
            "no function to run",
        ),
        (
            vec!["--by", "process", library.to_str().unwrap()],
            1,
            "no function",
        ),
    ] {
        let output = fathom(&["trace"])
            .args(&words)
            .env("FATHOM_HOME", env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {stderr}");
        assert!(stderr.contains(said), "{words:?}: {stderr}");
        let is_other = !words.iter().any(|word| word.starts_with("/no/such"));
        assert!(is_other || stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn a_module_that_is_refused_did_not_begin() {
    let files = Files::new();
    let path = files.path("invalid.wat");
    let text = r#"(module (memory (export "memory") 1) (func (export "_start") i32.add))"#;
    std::fs::write(&path, text).unwrap();
    let (output, answer) = files.trace(&["--by", "process", Path::new(&path).to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let missing = answer["missing"][0].as_str().unwrap_or_default();
    assert!(missing.ends_with("did not begin"), "{missing}");
}

#[test]
fn without_privilege_the_next_level_is_used_and_said() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    let answer = files.path("answer.json");
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let unprivileged = |words: &[&str]| {
        Command::new("setpriv")
            .args([
                "--bounding-set",
                "-bpf,-perfmon,-sys_admin",
                fathom,
                "trace",
            ])
            .args(words)
            .stdin(Stdio::null())
            .output()
    };
    let words = ["--out", answer.to_str().unwrap(), module.to_str().unwrap()];
    let Ok(output) = unprivileged(&words) else {
        return eprintln!("SKIPPED: no setpriv");
    };
    if !output.status.success() {
        return eprintln!("SKIPPED: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(&answer).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(called(&answer), known());
    let missing = answer["missing"][0].as_str().unwrap_or_default();
    assert!(missing.contains("setcap cap_bpf,cap_perfmon"), "{missing}");
    let output = unprivileged(&["--by", "kernel", "--", "true"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_trapping_program_has_no_counts_and_that_is_said() {
    let files = Files::new();
    let path = files.path("trap.wat");
    let text = r#"(module (memory (export "memory") 1)
      (import "wasi_snapshot_preview1" "sched_yield" (func $y (result i32)))
      (func (export "_start") (drop (call $y)) unreachable))"#;
    // Imports come first.
    let text = text.replace("(memory (export \"memory\") 1)", "");
    let text = text.replace(
        "(func (export",
        "(memory (export \"memory\") 1) (func (export",
    );
    std::fs::write(&path, text).unwrap();
    let (output, answer) = files.trace(&["--by", "process", Path::new(&path).to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(134));
    // In the engine it is seen up to the trap.
    assert_eq!(called(&answer), [("sched_yield".to_owned(), 1, 0, 0)]);
}
