//! clang below `fathom run`: however that ends, nothing of clang is left, no process and no file; and
//! what clang fails on is said.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// No measurement: a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A compiler that writes down its number and then takes its time.
fn compiler(folder: &Path) {
    let pid = folder.join("pid");
    let pid = pid.display();
    stand_in(
        folder,
        &format!("echo $$ >{pid}.new && mv {pid}.new {pid}\nexec sleep 600"),
    );
}

/// A program that says that it is the right clang.
fn stand_in(folder: &Path, does: &str) {
    let script =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo clang version 20.1.2 && exit\n{does}\n");
    let path = folder.join("clang");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// Starts `fathom run` with it, and waits until it compiles.
fn started(folder: &Path, args: &[&str]) -> (Child, Pid) {
    compiler(folder);
    let wat =
        "(module (memory 1) (func (export \"_start\") (i32.store (i32.const 0) (i32.const 1))))";
    std::fs::write(folder.join("m.wat"), wat).unwrap();
    std::fs::create_dir(folder.join("temporary")).unwrap();
    // What a shell has in the background ignores interrupts, and so does what it starts.
    let child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_fathom")])
        .args(["run", "--codegen", "llvm"])
        .args(args)
        .arg(folder.join("m.wat"))
        .env("FATHOM_CLANG", folder.join("clang"))
        .env("TMPDIR", folder.join("temporary"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(folder.join("pid")) {
            break pid;
        }
        assert!(start.elapsed() < PATIENCE, "clang was not started");
        std::thread::sleep(Duration::from_millis(5));
    };
    let pid = pid.trim().parse().unwrap();
    (child, Pid::from_raw(pid).unwrap())
}

#[test]
fn what_it_fails_on_is_said_and_compiled_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    stand_in(
        folder.path(),
        "cat >&2\necho '<stdin>:7:3: error: unheard of' >&2\nexit 1",
    );
    let wat = "(module (func (export \"_start\")) (func (result i32) (i32.const 1)))";
    std::fs::write(folder.path().join("m.wat"), wat).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["run", "--codegen", "llvm"])
        .arg(folder.path().join("m.wat"))
        .env("FATHOM_CLANG", folder.path().join("clang"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let all: Vec<&str> = said.lines().collect();
    assert_eq!(all.len(), 1, "{said}");
    assert!(
        all[0].starts_with("fathom: llvm failed on 2 functions, first on 0: "),
        "{said}"
    );
    assert!(all[0].contains("unheard of"), "{said}");
    assert!(
        all[0].ends_with("; compiled by cranelift instead"),
        "{said}"
    );
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn runs(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z"));
    test_kill_process(pid).is_ok() && !is_zombie
}

fn leaves_nothing(args: &[&str], signal: Option<Signal>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, clang) = started(folder.path(), args);
    assert!(runs(clang) || signal.is_none());
    if let Some(signal) = signal {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    assert!(!child.wait().unwrap().success());
    let start = Instant::now();
    while runs(clang) {
        assert!(start.elapsed() < PATIENCE, "clang goes on after {signal:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    let left = std::fs::read_dir(folder.path().join("temporary")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn killed() {
    leaves_nothing(&[], Some(Signal::KILL));
}

#[test]
fn terminated() {
    leaves_nothing(&[], Some(Signal::TERM));
}

#[test]
fn interrupted() {
    leaves_nothing(&[], Some(Signal::INT));
}

#[test]
fn hung_up() {
    leaves_nothing(&[], Some(Signal::HUP));
}

#[test]
fn out_of_time() {
    leaves_nothing(&["--timeout", "3s"], None);
}
