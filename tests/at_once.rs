//! Processes at once that want one campaign or one folder: one of them measures, and nothing of
//! what it wrote is lost. And a program of the user's own, measured in threads at once.

mod common;

use std::fs;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::Home;
use rustix::process::{Pid, Signal, kill_process};

/// Works for a while.
const SLOW: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "_start") (local i64)
    (loop $again
      (local.set 0 (i64.add (local.get 0) (i64.const 1)))
      (br_if $again (i64.lt_u (local.get 0) (i64.const 100000000))))))"#;

/// Words of a short campaign of it.
const FEW: &[&str] = &[
    "bench",
    "slow.wat",
    "--out=r",
    "--no-probe",
    "--wait-idle=0s",
    "--iterations=1",
    "--warmup=0",
    "--bounds=guard",
    "--codegen=cranelift",
];

fn home() -> Home {
    let home = Home::bare();
    home.write("slow.wat", SLOW);
    home
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until that holds of what a process does.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(5));
    }
}

/// Starts a campaign of many rounds, and waits until some is measured.
fn measuring(home: &Home) -> Child {
    let mut command = home.command(&[FEW, &["--rounds=100"]].concat());
    let command = command.stderr(Stdio::piped()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    until("nothing is measured", || {
        home.path("r/samples.jsonl").exists() && !home.campaign("r").processes.is_empty()
    });
    child
}

fn stop(child: Child) {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
}

#[test]
fn a_campaign_that_is_being_measured_is_not_gone_on_with() {
    let home = home();
    let child = measuring(&home);
    for resume in [
        &["--resume", "r"][..],
        &["--resume", "r", "--rounds", "200"],
    ] {
        let words = [&["bench", "--wait-idle", "0s"], resume].concat();
        let output = home.fathom(&words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let line = "r: this campaign is being measured by another process: wait for it or stop it";
        assert!(said.trim_end().ends_with(line), "{said}");
    }
    stop(child);
    // One process wrote it, and it can be gone on with now.
    let before = home.campaign("r");
    assert!(before.resumed.is_empty(), "{:?}", before.resumed);
    let rounds = before.processes.iter().map(|one| one.round + 1).max();
    let rounds = rounds.unwrap().to_string();
    let output = home.fathom(&[
        "bench",
        "--resume",
        "r",
        "--wait-idle",
        "0s",
        "--rounds",
        &rounds,
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(home.campaign("r").resumed.len(), 1);
}

#[test]
fn of_two_campaigns_in_one_folder_the_second_takes_nothing_away() {
    let home = home();
    let words = [FEW, &["--rounds=1"]].concat();
    let start = || {
        let mut command = home.command(&words);
        let command = command.stderr(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    // Both find no folder there, or the second finds the first's.
    let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
    let codes = both.each_ref().map(|output| output.status.code());
    let said = both.each_ref().map(stderr);
    assert!(
        codes.contains(&Some(0)) && codes.contains(&Some(1)),
        "{said:?}"
    );
    let refused = &said[usize::from(codes[1] == Some(1))];
    assert!(refused.contains("r holds a campaign already"), "{refused}");
    for file in ["samples.jsonl", "output.stdout"] {
        assert!(home.path("r").join(file).exists(), "{file} is gone");
    }
    assert!(!home.campaign("r").processes.is_empty());
    assert!(fs::read_dir(home.path("r")).unwrap().count() > 2);
}

#[test]
fn a_program_of_the_users_own_is_measured_in_threads() {
    let home = home();
    let output = home.fathom(&[FEW, &["--rounds=1", "--threads=1,2"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = home.campaign("r");
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    let of_two = campaign
        .header
        .cells
        .iter()
        .filter(|cell| cell.threads == 2);
    assert!(of_two.count() > 0);
    // The trial is of the first row; alone, that is one of two threads.
    let words: Vec<&str> = FEW
        .iter()
        .copied()
        .filter(|word| *word != "--out=r")
        .collect();
    let output = home.fathom(&[&words[..], &["--rounds=1", "--threads=2", "--out=two"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(home.campaign("two").failures.is_empty());
}
