//! A record cut to what an engine is still wrong on. The engine is a script: our own engine,
//! but for modules that have some bytes in them.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fathom_replay::record::event::{Event, Range, write};
use fathom_replay::record::{Given, Record};

const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// The constant has the bytes `FUNC`. Whoever is called with an odd number asks its host, and
/// another function of it where `square` is empty.
const MODULE: &str = r#"(module
  (import "env" "ask" (func $ask (param i32) (result i32)))
  (import "env" "other" (func $other (param i32) (result i32)))
  (memory (export "memory") 1)
  (func $square (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
  (func $needed (param i32) (result i32)
    (i32.add (i32.reinterpret_f32 (f32.const 0x1.9caa8cp+7)) (call $square (local.get 0))))
  (func $kept (param i32) (i32.store (i32.const 1024) (local.get 0)))
  (func $read (result i32) (i32.load (i32.const 64)))
  (func (export "run") (param i32) (result i32)
    (call $kept (i32.add (call $read) (call $needed (local.get 0))))
    (if (result i32) (i32.and (local.get 0) (i32.const 1))
      (then (if (result i32) (i32.and (call $square (local.get 0)) (i32.const 1))
        (then (call $ask (local.get 0))) (else (call $other (local.get 0)))))
      (else (local.get 0))))
  (func (export "unused") (call $kept (i32.const 1))))"#;
const RUN: u32 = 6;

/// A folder with a record of calls with these four letters, among others.
struct Case(tempfile::TempDir);

impl Case {
    fn new(calls: usize, letters: &[(usize, &[u8; 4])]) -> Case {
        let wasm = wat::parse_str(MODULE).unwrap();
        let mut events = vec![Event::Begin];
        for at in 0..calls {
            let named = letters.iter().find(|(place, _)| *place == at);
            let arg = named.map_or(at as u32, |(_, letters)| u32::from_le_bytes(**letters));
            events.push(Event::Write {
                memory: 0,
                address: 64,
                bytes: b"sees",
            });
            let args = vec![u64::from(arg)];
            events.push(Event::Call { func: RUN, args });
            if arg % 2 == 1 {
                let results = vec![5];
                events.push(Event::Imported { func: 0, hash: 0 });
                events.push(Event::Return { results });
            }
            events.push(Event::Returned { hash: 0 });
        }
        let ranges = vec![Range {
            memory: 0,
            start: 0,
            bytes: 1 << 16,
        }];
        events.push(Event::End { ranges, hash: 0 });
        let mut bytes = Vec::new();
        events.iter().for_each(|event| write(event, &mut bytes));
        let count = events.len() as u64;
        let record = Record::new(&wasm, "a host".to_owned(), Given::default(), bytes, count);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.record"), record.to_bytes().unwrap()).unwrap();
        fs::write(folder.path().join("a.record.wasm"), wasm).unwrap();
        Case(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// An engine that does this with modules that have all of these words in them.
    fn engine(&self, words: &str, wrong: &str) -> String {
        let file = self.path("engine");
        let text = format!(
            "#!/bin/sh\nfor word in {words}; do grep -qa \"$word\" \"$1\" || exec {FATHOM} run \"$1\"; done\n{wrong}\n"
        );
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        format!("wrong on mine={} {{}}", file.display())
    }

    fn command(&self, words: &[&str]) -> Command {
        // What a shell has in the background ignores interrupts, and so does what it starts.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", FATHOM]);
        command.current_dir(self.0.path()).args(words);
        command.env("FATHOM_HOME", env!("CARGO_MANIFEST_DIR"));
        command
    }

    fn reduce(&self, keep: &str, more: &[&str]) -> Output {
        let words = [&["reduce", "a.record", "--keep", keep], more].concat();
        self.command(&words).output().unwrap()
    }

    /// What the result prints on our engine, where it ends well.
    fn answer(&self) -> String {
        let output = self.command(&["run", "a.reduced.wasm"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        text(&output.stdout)
    }

    fn has(&self, word: &[u8]) -> bool {
        let wasm = fs::read(self.path("a.reduced.wasm")).unwrap();
        wasm.windows(word.len()).any(|some| some == word)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_is_left_is_what_the_engine_is_wrong_on() {
    let case = Case::new(40, &[(7, b"BASE"), (31, b"TIDE")]);
    let keep = case.engine("BASE TIDE FUNC", "echo wrong");
    let output = case.reduce(&keep, &[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("fathom: calls 40 → 2, functions 6 → 1, "),
        "{said}"
    );
    assert!(
        said.ends_with("fathom: mine: it prints 'wrong' and ends with status 0\n"),
        "{said}"
    );
    let answer = case.answer();
    assert!(
        answer.starts_with("fathom replay: 2 calls in, 0 out, answer "),
        "{answer}"
    );
    assert!(said.contains(answer.trim_end()), "{said}");
    for word in [b"BASE", b"TIDE", b"FUNC"] {
        assert!(case.has(word));
    }
    assert!(!case.has(b"sees"));
    let wrong = Command::new(case.path("engine"))
        .arg(case.path("a.reduced.wasm"))
        .output();
    assert_eq!(text(&wrong.unwrap().stdout), "wrong\n");
}

/// Imports answer in order, so that who asks its host, and whom it asks, is needed.
#[test]
fn however_an_engine_is_wrong_it_stays_wrong_that_way() {
    for (wrong, said) in [
        ("kill -SEGV $$", "mine: ended by signal 11"),
        ("exit 3", "mine: it prints '' and ends with status 3"),
    ] {
        let case = Case::new(4, &[(1, b"ODDS"), (2, b"TIDE")]);
        // Where there is less of it, it fails in another way.
        let otherwise = match wrong {
            "exit 3" => "kill -SEGV $$",
            _ => "exit 3",
        };
        let wrong = format!("grep -qa ODDS \"$1\" || {{ {otherwise}; }}; {wrong}");
        let output = case.reduce(&case.engine("TIDE", &wrong), &[]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("calls 4 → 2, functions 6 → 2, "), "{told}");
        assert!(told.contains(said), "{told}");
        let answer = case.answer();
        assert!(
            answer.starts_with("fathom replay: 2 calls in, 1 out, answer "),
            "{answer}"
        );
    }
}

/// An engine that computes something else, here with another constant, is told so by the program.
#[test]
fn the_program_says_that_an_answer_is_not_ours() {
    let case = Case::new(6, &[]);
    let wrong = format!("sed s/FUNC/FUND/ \"$1\" > \"$1.wasm\"; exec {FATHOM} run \"$1.wasm\"");
    let output = case.reduce(&case.engine("FUNC", &wrong), &[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("calls 6 → 1, functions 6 → 3, "), "{said}");
    case.answer();
    let engine = Command::new(case.path("engine"))
        .arg(case.path("a.reduced.wasm"))
        .output();
    let engine = engine.unwrap();
    assert_eq!(engine.status.code(), Some(1), "{engine:?}");
    let said = "fathom replay: return to the host 2 of 2 is not as recorded: ";
    assert!(text(&engine.stderr).starts_with(said), "{engine:?}");
}

#[test]
fn what_cannot_be_reduced_is_said_in_a_line() {
    let case = Case::new(2, &[]);
    let mine = case.engine("TIDE", "echo wrong");
    let cut = fs::read(case.path("a.record")).unwrap();
    fs::write(case.path("cut.record"), &cut[..cut.len() - 2]).unwrap();
    let same = "the engine's answer is ours: nothing to keep";
    let input = "which is read: write to another file";
    for (record, keep, more, status, said) in [
        ("a.record", "wrong on fathom:trap", "", 1, same),
        ("a.record", &mine, "", 1, same),
        (
            "a.record",
            "wrong on nothing",
            "",
            1,
            "no engine nothing (there are: fathom, ",
        ),
        (
            "a.record",
            "wrong on mine=/bin/false {}",
            "",
            1,
            "this build does not work",
        ),
        (
            "cut.record",
            &mine,
            "--module=a.record.wasm",
            1,
            "cut.record: cut off: it has ",
        ),
        ("a.record", &mine, "--module=engine", 1, "engine: "),
        ("gone.record", &mine, "", 1, "gone.record: No such file"),
        ("a.record", &mine, "--out=a.record", 1, input),
        ("a.record", &mine, "--output=a.record.wasm", 1, input),
        (
            "a.record",
            "slow on node",
            "",
            2,
            "what can be kept is 'wrong on ENGINE'",
        ),
        (
            "a.record",
            "wrong on",
            "",
            2,
            "what can be kept is 'wrong on ENGINE'",
        ),
        ("a.record", "wrong on a:", "", 2, "an engine is NAME, "),
    ] {
        let words = ["reduce", record, "--keep", keep, more];
        let words = words.iter().filter(|word| !word.is_empty()).copied();
        let output = case.command(&Vec::from_iter(words)).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{keep} {more}: {told}");
        assert!(told.contains(said), "{keep} {more}: {told}");
        assert!(status == 2 || told.lines().count() == 1, "{told}");
        assert!(!case.path("a.reduced.wasm").exists(), "{keep} {more}");
        assert!(fs::read(case.path("a.record")).unwrap() == cut);
    }
}

#[test]
fn an_engine_that_does_not_end_has_a_limit_and_all_of_it_a_budget() {
    let case = Case::new(2, &[]);
    let keep = case.engine("FUNC", "exec sleep 100");
    let output = case.reduce(&keep, &["--time-limit", "3s", "--budget", "1s"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("mine: did not end within 3s"), "{said}");
    assert!(
        said.ends_with("fathom: --budget is over: it is the smallest so far\n"),
        "{said}"
    );
    case.answer();
}

#[test]
fn the_smallest_so_far_is_written_where_it_is_stopped() {
    let case = Case::new(16, &[(2, b"TIDE")]);
    let wrong =
        "echo . >> runs; [ $(wc -l < runs) -lt 5 ] && exit 3; echo $$ > slept; exec sleep 100";
    let wrong = wrong.replace("runs", &case.path("runs").display().to_string());
    let slept = case.path("slept");
    let wrong = wrong.replace("slept", &slept.display().to_string());
    let keep = case.engine("TIDE", &wrong);
    let mut fathom = case.command(&["reduce", "a.record", "--keep", &keep]);
    let mut fathom = fathom.stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    let child = loop {
        let number = fs::read_to_string(&slept).unwrap_or_default();
        if number.ends_with('\n') {
            break number.trim().to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    };
    let told = Command::new("kill")
        .args(["-INT", &fathom.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    assert_eq!(fathom.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    fathom.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(
        said.ends_with("fathom: stopped: it is the smallest so far\n"),
        "{said}"
    );
    assert!(!said.contains("calls 16 → 16"), "{said}");
    assert!(case.has(b"TIDE"));
    case.answer();
    let is_there = || {
        let stat = fs::read_to_string(Path::new("/proc").join(&child).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let ended = Instant::now();
    while is_there() {
        assert!(
            ended.elapsed() < Duration::from_secs(10),
            "{child} sleeps on"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
