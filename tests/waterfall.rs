//! `fathom waterfall`: a program's own parts on our engine, its files, how it goes on, and
//! what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fathom_bench::results::Results;
use fathom_record::Campaign;
use fathom_record::campaign::Seen;
use fathom_record::waterfall::{NOT_RUN, SUITE};
use fathom_stats::Summary;
use fathom_stats::waterfall::{Part, Waterfall};

/// Writes a line 2000 times to a file in its folder, then says so.
const PROGRAM: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\05\00\00\00")
  (data (i32.const 16) "done\n")
  (data (i32.const 32) "file")
  (func (export "_start") (local $n i32) (local $fd i32)
    (if (call $open (i32.const 3) (i32.const 0) (i32.const 32) (i32.const 4) (i32.const 9)
          (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 40))
      (then unreachable))
    (local.set $fd (i32.load (i32.const 40)))
    (loop $again
      (if (call $write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))
        (then unreachable))
      (br_if $again (i32.lt_u
        (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 2000))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

/// A native program that says the same.
const NATIVE: &str = "#!/bin/sh\necho done\n";

/// A folder to work in, with a home without engines.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for folder in ["home/engines", "home/workloads", "data"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        fs::write(place.path("program.wat"), PROGRAM).unwrap();
        place.script("native", NATIVE);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        let may_run = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), may_run).unwrap();
    }

    fn fathom(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.env("FATHOM_HOME", self.path("home"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.args(words).output().unwrap()
    }

    fn waterfall(&self, words: &[&str]) -> Output {
        let fixed = ["waterfall", "--no-probe", "--wait-idle", "0s"];
        self.fathom(&[&fixed, words].concat())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn campaign(folder: &Path) -> Campaign {
    Results::read(folder).unwrap()
}

#[test]
fn a_program_is_taken_apart_and_goes_on() {
    let place = Place::new();
    let output = place.waterfall(&[
        "program.wat",
        "--native",
        "native",
        "--dir",
        "data::.",
        "--rounds",
        "5",
        "--out",
        "r",
    ]);
    let (said, shown) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{said}{shown}");
    assert!(shown.starts_with("program.wat on fathom auto: "), "{shown}");
    for part in [
        "native",
        "format",
        "checks",
        "page faults",
        "instance",
        "compile",
        "start-up",
    ] {
        let mut lines = shown.lines();
        assert!(
            lines.any(|line| line.trim_start().starts_with(part)),
            "{part}: {shown}"
        );
    }
    assert!(shown.contains("The parts add up to "), "{shown}");
    for file in [
        "waterfall.html",
        "waterfall.svg",
        "waterfall.csv",
        "waterfall.md",
    ] {
        assert!(place.path("r").join(file).is_file(), "{file}");
    }
    let all = campaign(&place.path("r"));
    let waterfall = Waterfall::of(&all, &Summary::from_campaign(&all)).unwrap();
    assert_eq!((waterfall.rounds, waterfall.repeats), (5, 5));
    let sum: f64 = waterfall.parts.iter().map(|one| one.value.ns).sum();
    assert!(
        (sum / waterfall.sum.ns - 1.0).abs() < 1e-6,
        "{sum} {:?}",
        waterfall.sum
    );
    // What is in no part is the end of a process: not much.
    assert!(
        waterfall.unexplained.ns.abs() < 0.5 * waterfall.whole.ns,
        "{shown}"
    );
    counts_are_the_programs(&all, &waterfall);

    // One round more, and nothing is traced again.
    let traced = all.traced.len();
    let output = place.fathom(&["waterfall", "--resume", "r", "--rounds", "6"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let more = campaign(&place.path("r"));
    let waterfall = Waterfall::of(&more, &Summary::from_campaign(&more)).unwrap();
    assert_eq!((waterfall.rounds, more.traced.len()), (6, traced));
    // The report can be made again from the file alone.
    let again = place.fathom(&["report", "r"]);
    assert!(text(&again.stdout).starts_with("program.wat on fathom auto: "));
}

type Calls = BTreeMap<String, Seen>;

/// 2002 calls of WASI in the run, and as many system calls where those are seen.
fn counts_are_the_programs(campaign: &Campaign, waterfall: &Waterfall) {
    let engine = waterfall.cell.id();
    let run = campaign
        .traced
        .iter()
        .find(|one| one.cell == engine)
        .unwrap();
    assert_eq!(run.wasi.unwrap().count, 2002);
    let mut not_run = campaign.traced.iter().filter(|one| {
        let cell = campaign.cell(&one.cell).unwrap();
        cell.suite == SUITE && cell.workload == NOT_RUN && cell.sandbox == waterfall.cell.sandbox
    });
    let alone = not_run.next().unwrap();
    assert_eq!(alone.wasi.unwrap().count, 0);
    let (Some(calls), Some(before)) = (&run.calls, &alone.calls) else {
        eprintln!("SKIPPED: system calls are not seen here");
        return;
    };
    let written = |calls: &Calls| calls.get("writev").or(calls.get("write")).copied();
    let count = |calls| written(calls).map_or(0, |seen: Seen| seen.count);
    assert_eq!(count(calls) - count(before), 2001, "{calls:?}");
    let share = waterfall.parts.iter().find(|one| one.part == Part::Calls);
    let count = share.unwrap().count.unwrap();
    assert!((2002.0..2020.0).contains(&count.count), "{count:?}");
    let wasi = waterfall
        .parts
        .iter()
        .find(|one| one.part == Part::Wasi)
        .unwrap();
    assert!((1.0..1e9).contains(&wasi.value.ns), "{wasi:?}");
}

#[test]
fn without_native_code_a_bar_begins_with_the_programs_own() {
    let place = Place::new();
    let words = [
        "program.wat",
        "--dir",
        "data::.",
        "--engine",
        "fathom:trap",
        "--rounds",
        "1",
    ];
    let output = place.waterfall(&[&words[..], &["--out", "r"]].concat());
    let (said, shown) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{said}{shown}");
    assert!(shown.contains("\n code "), "{shown}");
    assert!(!shown.contains("\n native "), "{shown}");
    assert!(shown.contains("too few rounds to say more"), "{shown}");
}

#[test]
fn a_native_program_that_does_something_else_is_no_baseline() {
    let place = Place::new();
    place.script("native", "#!/bin/sh\necho something else\n");
    let output = place.waterfall(&[
        "program.wat",
        "--native",
        "native",
        "--dir",
        "data::.",
        "--rounds",
        "1",
        "--out",
        "r",
    ]);
    let (said, shown) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(shown.starts_with("No waterfall: native/none"), "{shown}");
    assert!(shown.contains("on native: wrong_answer"), "{shown}");
}

#[test]
fn what_a_program_leaves_running_is_gone_when_it_is_over() {
    let place = Place::new();
    let pids = place.path("pids");
    // One in its process group, and one that leaves it.
    let script = "#!/bin/sh\nsleep 300 & echo $! >> PIDS\n\
                  setsid sleep 300 & echo $! >> PIDS\nsleep 0.05\necho done\n";
    place.script("leaver", &script.replace("PIDS", pids.to_str().unwrap()));
    let dir = ["--dir", "data::.", "--rounds", "1", "--out", "r"];
    let words = ["program.wat", "--native", "leaver"];
    let output = place.waterfall(&[&words[..], &dir].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let traced = campaign(&place.path("r")).traced;
    let started = fs::read_to_string(&pids).unwrap();
    // The trial's, the round's, and those of traced runs where the kernel can be traced.
    assert!(started.lines().count() >= 4, "{started}");
    if traced.iter().any(|one| one.calls.is_some()) {
        assert!(started.lines().count() >= 6, "{started}");
    }
    let runs = |pid: &&str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while started.lines().any(|pid| runs(&pid)) {
        let left: Vec<_> = started.lines().filter(runs).collect();
        assert!(
            Instant::now() < deadline,
            "still running: {left:?} of {started}"
        );
    }
}

#[test]
fn what_cannot_be_taken_apart_is_refused_in_a_line() {
    let place = Place::new();
    let module = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    module("library.wat", "(module (memory 1) (func (export \"add\")))");
    module(
        "threads.wat",
        "(module (import \"env\" \"memory\" (memory 1 1 shared))
          (import \"wasi\" \"thread-spawn\" (func (param i32) (result i32)))
          (func (export \"wasi_thread_start\") (param i32 i32)) (func (export \"_start\")))",
    );
    module(
        "trap.wat",
        "(module (memory 1) (func (export \"_start\") unreachable))",
    );
    fs::write(place.path("text"), "no program").unwrap();
    for (words, said) in [
        (&["missing.wasm"][..], "missing.wasm: No such file"),
        (&["nonsense"], "`nonsense` is neither a file nor SUITE:NAME"),
        (&["moon:phase"], "`moon` is neither a suite nor a file"),
        (&["library.wat"], "library.wat: a library, not a program"),
        (&["threads.wat"], "threads.wat: it starts threads"),
        (&["trap.wat"], "trial run failed: fathom: trap"),
        (
            &["program.wat", "--native", "gone"],
            "--native gone: No such file",
        ),
        (
            &["program.wat", "--native", "data"],
            "--native data: not a program",
        ),
        (
            &["program.wat", "--native", "text"],
            "--native text: not a program",
        ),
        (
            &["moon:phase", "--native", "native"],
            "has its suite's native build",
        ),
        (
            &["program.wat", "--engine", "native"],
            "--engine native: native code is --native",
        ),
        (&["program.wat", "--engine", "moon"], "no engine `moon`"),
        (
            &["program.wat", "--engine", "fathom:moon"],
            "fathom:moon: unknown",
        ),
        (&["program.wat", "--format", "moon"], "no engine `moon`"),
        (&["program.wat", "--size", "small"], "--size is for suites"),
    ] {
        let output = place.waterfall(words);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {stderr}");
        let first = stderr.lines().find(|line| line.starts_with("fathom: "));
        let first = first.unwrap_or_else(|| panic!("{words:?}: {stderr}"));
        assert!(first.contains(said), "{words:?}: {first}");
        assert!(!place.path("results").exists(), "{words:?} left something");
    }
    let output = place.waterfall(&[]);
    assert_eq!(output.status.code(), Some(2));
}
