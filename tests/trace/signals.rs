//! Signals: for the program that is traced, which ends; then its trace is told.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};

use serde_json::Value;

use super::{Files, fathom};

#[test]
fn a_signal_ends_the_program_and_the_trace_is_still_told() {
    let files = Files::new();
    let answer = files.path("answer.json");
    let script = "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = fathom(&[
        "trace",
        "--out",
        answer.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        script,
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    send("-TERM", &child.id().to_string());
    assert_eq!(lines.next().unwrap().unwrap(), "told");
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let text = std::fs::read_to_string(answer).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["status"], 5);
    // What is ignored stays ignored.
    let script = format!(
        "trap '' HUP; {} trace --out {} -- sh -c 'kill -HUP $$; echo on'",
        env!("CARGO_BIN_EXE_fathom"),
        files.path("other.json").display()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, b"on\n", "{output:?}");
}

/// A trace on a terminal, and what becomes of it once it runs: `end` is given the terminal's
/// input and the trace's process. What it prints, and its status; none where there is no
/// script(1).
fn on_a_terminal(traced: &str, end: fn(&mut ChildStdin, &str)) -> Option<(String, Option<i32>)> {
    // Jobs in the background ignore what a terminal sends, and whom they start cannot undo it.
    let command = format!(
        "echo $$; exec env --default-signal=INT,QUIT {} trace {traced}",
        env!("CARGO_BIN_EXE_fathom")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]);
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = match script.spawn() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        script => script.unwrap(),
    };
    let mut input = script.stdin.take().unwrap();
    let mut lines = BufReader::new(script.stdout.take().unwrap()).lines();
    let pid = lines.next().unwrap().unwrap();
    let mut all = String::new();
    for line in lines {
        let line = line.unwrap_or_default();
        if line.trim() == "ready" {
            end(&mut input, pid.trim());
        }
        all += &(line + "\n");
    }
    Some((all, script.wait().unwrap().code()))
}

fn send(signal: &str, pid: &str) {
    let done = Command::new("kill").args([signal, pid]).status();
    assert!(done.unwrap().success());
}

#[test]
fn a_signal_to_a_trace_on_a_terminal_ends_the_program_once() {
    let told = |all: &str| all.matches("exit status").count() == 1;
    let program = "-- sh -c 'echo ready; exec sleep 60'";
    let Some((all, status)) = on_a_terminal(program, |_, pid| send("-TERM", pid)) else {
        return eprintln!("SKIPPED: no script (apt-get install bsdutils)");
    };
    assert!(told(&all) && status == Some(143), "{status:?}: {all}");
    // What the terminal tells everybody is not told again: two that came by a trace would end
    // the program, and of two that come at once it hears one.
    let counting = "-- sh -c 'n=0; i=0; trap \"n=$((n+1)); echo heard\" INT; echo ready; \
                    while [ $n -lt 2 ] && [ $i -lt 200 ]; do i=$((i+1)); sleep 0.05; done; exit 7'";
    let interrupted = on_a_terminal(counting, |input, _| {
        input.write_all(b"\x03").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        input.write_all(b"\x03").unwrap();
    });
    let (all, status) = interrupted.unwrap();
    let heard = all
        .lines()
        .filter(|line| line.trim().trim_start_matches("^C") == "heard");
    assert_eq!(heard.count(), 2, "{all}");
    assert!(told(&all) && status == Some(7), "{status:?}: {all}");
    // One that does not want to hear is ended by the second.
    let deaf = "-- sh -c 'trap \"\" TERM; echo ready; while :; do sleep 0.05; done'";
    let twice = on_a_terminal(deaf, |_, pid| {
        send("-TERM", pid);
        std::thread::sleep(std::time::Duration::from_millis(200));
        send("-TERM", pid);
    });
    let (all, status) = twice.unwrap();
    assert!(told(&all) && status == Some(137), "{status:?}: {all}");
}

#[test]
fn a_signal_ends_a_rewritten_program_and_its_trace_too() {
    let files = Files::new();
    let endless = r#"(module
      (import "wasi_snapshot_preview1" "fd_write" (func $w (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func (export "_start") (loop $again (br $again))))"#;
    let module = files.module(endless);
    let answer = files.path("answer.json");
    let mut child = fathom(&["trace", "--by", "rewriting", "--out"]);
    let mut child = child.arg(&answer).arg(module).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    send("-TERM", &child.id().to_string());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let text = std::fs::read_to_string(answer).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["status"], 143);
    let missing = answer["missing"].to_string();
    assert!(missing.contains("stopped before its end"), "{missing}");
}
