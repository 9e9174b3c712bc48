//! `fathom bench` on programs of a user's own, good ones and bad ones: what it
//! prints, what it leaves behind, how it ends.

#[path = "common/prints.rs"]
mod prints;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use fathom_bench::results::Results;
use fathom_engine::Bounds;
use prints::prints;

/// Works for a while, for interrupting it.
const SLOW: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "_start") (local i64)
    (loop $again
      (local.set 0 (i64.add (local.get 0) (i64.const 1)))
      (br_if $again (i64.lt_u (local.get 0) (i64.const 100000000))))))"#;
const HANG: &str = r#"(module (memory (export "memory") 1) (func (export "_start") (loop br 0)))"#;
const TRAP: &str = r#"(module (memory (export "memory") 1) (func) (func) (func)
  (func (export "_start") unreachable) (func) (func) (func) (func) (func) (func) (func) (func)) ;; shuffled in rounds"#;
const LINK: &str = r#"(module (import "env" "nope" (func)) (memory (export "memory") 1)
  (func (export "_start") call 0))"#;
const EXIT: &str = r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
  (memory (export "memory") 1) (func (export "_start") (call 0 (i32.const 9))))"#;

/// Prints the time of day in seconds.
const SECONDS: &str = r#"(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $left i64) (local $at i32)
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 0)))
    (local.set $left (i64.div_u (i64.load (i32.const 0)) (i64.const 1000000000)))
    (local.set $at (i32.const 63))
    (i32.store8 (i32.const 63) (i32.const 10))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 48)
        (i32.wrap_i64 (i64.rem_u (local.get $left) (i64.const 10)))))
      (local.set $left (i64.div_u (local.get $left) (i64.const 10)))
      (br_if $digit (i64.ne (local.get $left) (i64.const 0))))
    (i32.store (i32.const 100) (local.get $at))
    (i32.store (i32.const 104) (i32.sub (i32.const 64) (local.get $at)))
    (drop (call $write (i32.const 1) (i32.const 100) (i32.const 1) (i32.const 108)))))"#;

/// Says on standard error what it lacks, and fails.
const SAID: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\12\00\00\00")
  (data (i32.const 16) "in.txt: not found\n")
  (func (export "_start")
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $exit (i32.const 1))))"#;

/// A home without engines and suites.
fn bare_home() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    for folder in ["engines", "workloads"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    home
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    fn bench(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        // No home: our engine alone, whatever is installed where this runs.
        command
            .env("FATHOM_HOME", bare_home())
            .env_remove("FATHOM_CLANG")
            .current_dir(self.0.path());
        command
            .args(["bench", "--wait-idle", "0s"])
            .args(words)
            .stdin(Stdio::null());
        command
    }

    fn measure(&self, program: &Path, words: &[&str]) -> Output {
        let program = program.to_string_lossy();
        let fixed = [
            "--no-probe",
            "--rounds",
            "1",
            "--iterations",
            "1",
            "--warmup",
            "0",
        ];
        let all: Vec<_> = [&program, "--out", "r"]
            .into_iter()
            .chain(fixed)
            .chain(words.iter().copied())
            .collect();
        self.bench(&all).output().unwrap()
    }
}

/// Runs it to its end, which it has to come to by itself.
fn in_time(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{command:?} waits");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_pipe_in_place_of_a_file_is_said_and_waited_for_by_nobody() {
    let place = Place::new();
    place.program("hello.wat", prints("hello"));
    fs::create_dir_all(place.path("results")).unwrap();
    fs::create_dir_all(place.path("home/engines/x")).unwrap();
    fs::create_dir_all(place.path("home/workloads")).unwrap();
    let pipes = [
        "module.wasm",
        "input",
        "results/samples.jsonl",
        "home/engines/x/engine.toml",
    ];
    for pipe in pipes {
        let made = Command::new("mkfifo").arg(place.path(pipe)).status();
        assert!(made.unwrap().success());
    }
    let fathom = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.current_dir(place.0.path()).stdin(Stdio::null());
        command.env("FATHOM_HOME", bare_home()).args(words);
        command
    };
    for words in [
        &["bench", "module.wasm", "--rounds", "1"][..],
        &["bench", "hello.wat", "--stdin", "input", "--rounds", "1"],
        &["bench", "--resume", "results"],
        &["report", "results"],
        &["compare", "results", "results"],
    ] {
        let output = in_time(&mut fathom(words));
        let said = stderr(&output);
        assert!(!output.status.success(), "{words:?}: {said}");
        assert!(said.contains("regular file"), "{words:?}: {said}");
    }
    // A description that is none describes no engine.
    let mut named = fathom(&["bench", "hello.wat", "--engines", "x"]);
    let output = in_time(named.env("FATHOM_HOME", place.path("home")));
    assert!(
        stderr(&output).contains("no engine `x`"),
        "{}",
        stderr(&output)
    );
    // The folder's own settings.
    let made = Command::new("mkfifo")
        .arg(place.path("fathom.toml"))
        .status();
    assert!(made.unwrap().success());
    let said = stderr(&in_time(&mut fathom(&["bench", "hello.wat"])));
    assert!(said.contains("fathom.toml: a pipe"), "{said}");
}

#[test]
fn a_module_of_a_long_name_has_a_folder() {
    let place = Place::new();
    // 249 bytes, of which no character ends at the 200th.
    let name = format!("a{}.wat", "é".repeat(122));
    let name = place.program(&name, prints("hello"));
    let name = name.to_string_lossy();
    let words = ["--no-probe", "--rounds", "1", "--engines", "fathom:trap"];
    let output = place
        .bench(&[&[&*name], &words[..]].concat())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let made: Vec<_> = fs::read_dir(place.path("results")).unwrap().collect();
    assert_eq!(made.len(), 1);
}

#[test]
fn a_program_that_prints_the_second_is_measured_without_comparing() {
    let place = Place::new();
    let program = place.program("seconds.wat", SECONDS);
    let program = program.to_string_lossy();
    let words = ["--no-probe", "--rounds", "2", "--engines", "fathom:trap"];
    let mut bench = place.bench(&[&[&*program, "--out", "r"], &words[..]].concat());
    let output = bench.output().unwrap();
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("changes from run to run"), "{said}");
    assert!(said.contains("--any-output"), "{said}");
    // Of what was not asked for nothing is missing.
    assert!(!said.contains("absent: fathom"), "{said}");
    let campaign = Results::read(&place.path("r")).unwrap();
    assert!(campaign.header.config.absent.is_empty());
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_program_is_measured_under_every_strategy_and_reported() {
    let place = Place::new();
    let output = place.measure(&place.program("hello.wat", prints("hello")), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = Results::read(&place.path("r")).unwrap();
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    // Seven strategies, perhaps one by protection keys and the first in tiers, and a control.
    let with_keys = usize::from(Bounds::Pkeys.missing().is_none());
    let with_tiers = usize::from(cfg!(target_arch = "x86_64"));
    assert_eq!(campaign.processes.len(), 8 + with_keys + with_tiers);
    assert_eq!(
        campaign.header.config.module.as_ref().unwrap().path,
        place.path("hello.wat")
    );
    for name in ["report.html", "report.md", "report.csv", "output.stdout"] {
        assert!(place.path("r").join(name).exists(), "{name}");
    }
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("fathom guard"), "{table}");
}

#[test]
fn a_program_that_does_not_run_ends_the_campaign_before_it_begins() {
    let text = |text: &str| text.as_bytes().to_vec();
    for (name, contents, parts) in [
        (
            "hang.wat",
            text(HANG),
            &["did not end within 500ms", "--time-limit"][..],
        ),
        ("trap.wat", text(TRAP), &["in _start (function 3) at 0x"]),
        (
            "link.wat",
            text(LINK),
            &["'env' 'nope' is missing", "WASI preview 1"],
        ),
        ("exit.wat", text(EXIT), &["status 9", "after `--`"]),
        (
            "said.wat",
            text(SAID),
            &["  | in.txt: not found\n", "status 1", "--dir HOST::GUEST"],
        ),
        (
            "component.wasm",
            b"\0asm\x0d\0\x01\0".to_vec(),
            &["a component, but no command", "wasi:cli/run@0.2"],
        ),
        (
            "short.wasm",
            b"\0asm\x01\0\0\0\x01".to_vec(),
            &["invalid module"],
        ),
    ] {
        let place = Place::new();
        let program = place.program(name, contents);
        let words = ["--bounds", "guard,trap", "--time-limit", "500ms"];
        let output = place.measure(&program, &words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        for part in parts {
            assert!(said.contains(part), "{name}: {part}: {said}");
        }
        let last = said.lines().last().unwrap();
        assert!(last.starts_with("fathom: "), "{name}: {said}");
        let others = said.lines().filter(|line| !line.starts_with("  | "));
        assert_eq!(others.count(), 1, "{name}: {said}");
        assert!(!place.path("r").exists(), "{name}: nothing is left");
    }
}

#[test]
fn what_cannot_begin_is_one_line_and_leaves_nothing() {
    let place = Place::new();
    let hello = place.program("hello.wat", prints("hello"));
    let hello = hello.to_string_lossy();
    let junk = place.program("junk.wasm", b"\x7fELF no wasm");
    let junk = junk.to_string_lossy();
    for (words, part) in [
        (&["missing.wasm"][..], "missing.wasm"),
        (&[&*junk], "not WebAssembly"),
        (&["polybench"], "`polybench` is neither a suite nor a file"),
        (&[&*hello, "--engines", "nowhere"], "no engine `nowhere`"),
        (&["growth", "--env", "A=b"], "--env: `growth` runs programs"),
        (&[&*hello, "--dir", "/no/such/folder"], "/no/such/folder"),
        (&[&*hello, "--size", "mini"], "--size is for suites"),
        (&["--resume", "nothing"], "nothing: there is no campaign"),
    ] {
        let output = place.bench(words).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
    assert!(!place.path("results").exists());
}

#[test]
fn an_earlier_campaign_is_not_touched() {
    let place = Place::new();
    let hello = place.program("hello.wat", prints("hello"));
    place.measure(&hello, &["--bounds", "guard"]);
    let before = fs::read(place.path("r/samples.jsonl")).unwrap();
    let output = place.measure(&hello, &["--bounds", "guard"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("holds a campaign already"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read(place.path("r/samples.jsonl")).unwrap(), before);
}

#[test]
fn an_interrupted_campaign_is_kept_and_gone_on_with() {
    let place = Place::new();
    let program = place.program("slow.wat", SLOW);
    let words = [
        &*program.to_string_lossy(),
        "--out=r",
        "--no-probe",
        "--rounds=3",
        "--iterations=1",
        "--warmup=0",
        "--bounds=guard,trap",
        "--codegen=cranelift",
    ];
    let child = place
        .bench(&words)
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let sealed = || Results::read(&place.path("r")).map_or(0, |read| read.processes.len());
    let deadline = Instant::now() + Duration::from_secs(120);
    while sealed() < 2 {
        assert!(Instant::now() < deadline, "nothing is measured");
        sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));

    let output = place.bench(&["--resume", "r"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = Results::read(&place.path("r")).unwrap();
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    for process in &campaign.processes {
        *counts
            .entry((process.cell.clone(), process.round))
            .or_default() += 1;
    }
    assert_eq!(counts.len(), 9, "3 cells (one a control) in 3 rounds");
    assert!(counts.values().all(|&count| count == 1));
    assert_eq!(campaign.resumed.len(), 1);
}

#[test]
fn more_rounds_and_more_time_are_measured_when_asked_for() {
    let place = Place::new();
    let hello = place.program("hello.wat", prints("hello"));
    assert!(
        place
            .measure(&hello, &["--bounds", "guard", "--codegen", "cranelift"])
            .status
            .success()
    );
    let rounds = |words: &[&str]| {
        let words = [&["--resume", "r"], words].concat();
        let output = place.bench(&words).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let campaign = Results::read(&place.path("r")).unwrap();
        let begun = campaign.processes.iter().map(|one| one.round + 1).max();
        (begun.unwrap(), campaign.header.config.rounds)
    };
    assert_eq!(rounds(&[]), (1, 1));
    assert_eq!(rounds(&["--rounds", "3"]), (3, 3));
    // What was asked for last holds, and nothing that was measured is forgotten.
    assert_eq!(rounds(&[]), (3, 3));
    assert_eq!(rounds(&["--rounds", "2"]), (3, 3));
    assert_eq!(rounds(&["--budget", "5m"]), (30, 30));

    // Two builds of an engine are two engines.
    let file = place.path("r/samples.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    let built = fathom_bench::probe::kept::this_program();
    let campaign = Results::read(&place.path("r")).unwrap();
    let hash = campaign.header.config.engines["fathom"].clone();
    assert_eq!(Some(hash.len()), built.map(|own| own.len()));
    fs::write(&file, lines.replacen(&hash, "0123", 1)).unwrap();
    let output = place.bench(&["--resume", "r"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said =
        "measured with another build of fathom; begin a new campaign, or say --resume-anywhere";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn what_was_probed_before_is_not_probed_again() {
    let place = Place::new();
    let hello = place.program("hello.wat", prints("hello"));
    let measure = |words: &str| {
        let hello = hello.to_string_lossy();
        let words: Vec<&str> = std::iter::once(&*hello).chain(words.split(' ')).collect();
        let mut command = place.bench(&words);
        let output = command.env("XDG_CACHE_HOME", place.path("cache")).output();
        stderr(&output.unwrap())
    };
    let few = "--engines fathom:trap --rounds 1 --out";
    let kept = "1 verdict as found on 20";
    let said = measure(&format!("{few} a"));
    assert!(
        said.contains("probe: fathom/trap/speed: exact") && !said.contains(kept),
        "{said}"
    );
    let said = measure(&format!("{few} b"));
    assert!(said.contains(kept) && !said.contains("accesses"), "{said}");
    let of = |name| Results::read(&place.path(name)).unwrap().probes;
    assert_eq!(of("a"), of("b"));
    assert!(of("a")[0].date.is_some());
    // Another configuration has a verdict of its own; here it has no time for one.
    let said = measure("--engines fathom:guard --rounds 1 --no-probe --out c");
    assert!(!said.contains(kept), "{said}");
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_nothing_behind() {
    let place = Place::new();
    // Files may have a block, which is less than the first line.
    let script = "ulimit -f 1; exec \"$0\" bench calls --out r --no-probe --rounds 1 \
                  --bounds guard";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_fathom")])
        .env("FATHOM_HOME", bare_home())
        .current_dir(place.0.path())
        .output()
        .unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("nothing was measured") && !said.contains("kept"),
        "{said}"
    );
    assert!(!place.path("r").exists(), "{said}");
}

#[test]
fn a_folder_that_is_only_read_stays_as_it_is() {
    let place = Place::new();
    fs::create_dir(place.path("data")).unwrap();
    // Makes a folder in its folder, and says so by its status.
    let wat = r#"(module
      (import "wasi_snapshot_preview1" "path_create_directory"
        (func $make (param i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "path_remove_directory"
        (func $remove (param i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1) (data (i32.const 0) "made")
      (func (export "_start")
        (drop (call $remove (i32.const 3) (i32.const 0) (i32.const 4)))
        (call $exit (call $make (i32.const 3) (i32.const 0) (i32.const 4)))))"#;
    let program = place.program("make.wat", wat);
    let dir = |word| place.measure(&program, &["--bounds", "guard", "--dir", word]);
    let output = dir("data::.:ro");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!place.path("data/made").exists());
    fs::remove_dir_all(place.path("r")).unwrap();
    let output = dir("data::.:rw");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.path("data/made").exists());
}

#[test]
fn calls_are_made_and_have_a_table() {
    let place = Place::new();
    let words = "calls --out r --no-probe --rounds 1 --warmup 0 --bounds guard --opt speed";
    let words: Vec<&str> = words.split(' ').collect();
    let output = place.bench(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = Results::read(&place.path("r")).unwrap();
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("Calls: medians"), "{table}");
    let csv = fs::read_to_string(place.path("r/calls.csv")).unwrap();
    let line: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    let numbers = line[1..].iter().map(|field| field.parse::<f64>());
    assert_eq!((line[0], line.len()), ("fathom guard", 5));
    assert!(numbers.into_iter().all(|number| number.is_ok()), "{csv}");
    for (words, part) in [
        (&["calls", "--size", "mini"][..], "calls has no sizes"),
        (&["calls", "--kernels", "cal"], "it has: loop call indirect"),
    ] {
        let said = stderr(&place.bench(words).output().unwrap());
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_campaign_is_gone_on_with_from_anywhere() {
    let place = Place::new();
    place.program("hello.wat", prints("hello"));
    let words = "hello.wat --dir . --out r --no-probe --rounds 2 --iterations 1 --warmup 0 \
                 --bounds guard";
    let words: Vec<&str> = words.split_whitespace().collect();
    let output = place.bench(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = Results::read(&place.path("r")).unwrap();
    assert_eq!(
        whole.header.config.folder,
        Some(place.0.path().canonicalize().unwrap())
    );
    // The second round is taken away, as if it had been stopped before it.
    let samples = place.path("r/samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    let kept = text.lines().filter(|line| !line.contains("\"round\":1"));
    fs::write(&samples, kept.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let folder = place.path("r");
    let resume = ["--resume", &*folder.to_string_lossy()];
    let output = place.bench(&resume).current_dir("/").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = Results::read(&folder).unwrap();
    assert_eq!(campaign.processes.len(), whole.processes.len());
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
}

#[test]
fn a_campaign_goes_on_by_what_was_asked_and_not_by_how_it_was_typed() {
    let place = Place::new();
    let hello = place.program("hello.wat", prints("hello"));
    let output = place.measure(&hello, &["--bounds", "guard"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let samples = place.path("r/samples.jsonl");
    // What is written of the header is changed, and a round more is measured.
    let resume = |rounds: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let text = fs::read_to_string(&samples).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let mut header = serde_json::from_str(header).unwrap();
        change(&mut header);
        fs::write(&samples, format!("{header}\n{rest}")).unwrap();
        let output = place.bench(&["--resume", "r", "--rounds", rounds]);
        let output = { output }.output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let words = |header: &mut serde_json::Value, line: &str| {
        header["command"] = line.split(' ').collect();
    };
    let (code, said) = resume("2", &|header| words(header, "bench --of-a-later-version"));
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = resume("3", &|header| header["request"]["new"] = 1.into());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("unknown field `new`"), "{said}");
    // A campaign of before there were requests goes on by its words.
    let (code, said) = resume("3", &|header| {
        header.as_object_mut().unwrap().remove("request");
    });
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no longer understood"), "{said}");
    let line = "bench hello.wat --bounds guard --no-probe --iterations 1 --warmup 0";
    let (code, said) = resume("3", &|header| words(header, line));
    assert_eq!(code, Some(0), "{said}");
    let campaign = Results::read(&place.path("r")).unwrap();
    let rounds: BTreeSet<u32> = campaign.processes.iter().map(|one| one.round).collect();
    assert_eq!(rounds, BTreeSet::from([0, 1, 2]));
}
