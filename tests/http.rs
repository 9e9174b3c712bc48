//! `fathom suite http` on a server and a generator made here: a campaign like all others, in
//! which a request that fails is a failure, and of which nothing is left that was started.

mod common;

use std::{
    fs,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use common::Home;
use fathom_record::{FailureKind, Metric};
use rustix::process::{Pid, Signal, kill_process};

/// Answers each request, and ends at `/quit`.
const SERVER: &str = r#"(module
  (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 1)
  ;; Where to read to and to write from: 1024 bytes at 1024, 19 at 64.
  (data (i32.const 8) "\00\04\00\00\00\04\00\00\40\00\00\00\13\00\00\00")
  (data (i32.const 64) "HTTP/1.1 200 OK\0d\0a\0d\0a")
  (func (export "_start") (local $socket i32)
    (loop $next
      (br_if $next (call $accept (i32.const 3) (i32.const 0) (i32.const 0)))
      (local.set $socket (i32.load (i32.const 0)))
      (drop (call $read (local.get $socket) (i32.const 8) (i32.const 1) (i32.const 32)))
      (drop (call $write (local.get $socket) (i32.const 16) (i32.const 1) (i32.const 32)))
      (drop (call $close (local.get $socket)))
      ;; GET /q
      (br_if $next (i32.ne (i32.load8_u (i32.const 1029)) (i32.const 113))))))"#;

/// A generator that has seen a thousand answers, and what else `ERRORS` says.
const GENERATOR: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo 'oha 0.0.1'; exit; }
cat <<'END'
{"summary":{"total":2.0,"slowest":0.25},
 "latencyPercentiles":{"p50":0.001,"p90":0.0015,"p99":0.002,"p99.9":0.125},
 "statusCodeDistribution":{"200":1000},"errorDistribution":{ERRORS}}
END
"#;

impl Home {
    /// With both.
    fn new(generator: &str) -> Home {
        let home = Home::bare();
        for build in ["wasm-asyncify", "wasm-switch"] {
            let built = format!("workloads/http/build/{build}/server.wasm");
            home.write(&built, wat::parse_str(SERVER).unwrap());
        }
        home.generate_by(generator);
        home
    }

    fn generate_by(&self, script: &str) {
        self.program(".tools/oha/bin/oha", script);
    }

    fn line(&self, words: &str) -> Command {
        self.command(&words.split(' ').collect::<Vec<&str>>())
    }

    fn run(&self, words: &str) -> Output {
        self.fathom(&words.split(' ').collect::<Vec<&str>>())
    }
}

const SUITE: &str = "suite http --quick --rounds 1 --engines fathom --no-probe --wait-idle 0s \
                     --workloads peak,500 --out r";

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes))
        .join("\n")
}

#[test]
fn servers_are_measured_like_all_else() {
    let home = Home::new(&GENERATOR.replace("ERRORS", ""));
    let output = home.run(&format!("{SUITE} --codegen cranelift"));
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("HTTP on loopback"),
        "{}",
        text(&output)
    );
    let campaign = home.campaign("r");
    // Two rates, two builds, and the control of each.
    assert_eq!(
        (campaign.header.cells.len(), campaign.processes.len()),
        (8, 8)
    );
    assert_eq!(campaign.failures, []);
    for process in &campaign.processes {
        assert_eq!(process.metrics[&Metric::AnswersPerS], 500);
        assert_eq!(process.metrics[&Metric::LatencyP99Ns], 2_000_000);
        assert!(process.metrics[&Metric::RssPeakBytes] > 0);
        // Nobody was sent anything: there may be too little of it to be split.
        let own = process.metrics.get(&Metric::AnswerUserNs);
        assert!(own.is_none_or(|ns| *ns < 100_000), "{own:?}");
    }
    let evidence = &campaign.in_force[0].hello.evidence;
    assert!(evidence.ends_with("; driven by oha 0.0.1"), "{evidence}");
    let csv = fs::read_to_string(home.path("r/http.csv")).unwrap();
    assert!(
        csv.contains("\n500,1000,fathom guard · stack switching,1,500,1,"),
        "{csv}"
    );
    let again = home.run("report r");
    assert!(
        text(&again).contains("HTTP on loopback"),
        "{}",
        text(&again)
    );
}

/// As [`SERVER`], but that connections stay open on which `/held` is asked for.
fn keeping() -> String {
    let close = "(drop (call $close (local.get $socket)))";
    assert!(SERVER.contains(close));
    let held = "(i32.eq (i32.load8_u (i32.const 1029)) (i32.const 104))";
    SERVER.replace(close, &format!("(if {held} (then) (else {close}))"))
}

/// Holds as many connections as it is told at once.
const HOLDER: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo 'oha 0.0.1'; exit; }
python3 - "$@" <<'END' >&2 || exit 3
import socket, sys
count = int(sys.argv[sys.argv.index('-c') + 1])
host, port = sys.argv[-1][7:-1].split(':')
held = []
for _ in range(count):
    s = socket.create_connection((host, int(port)), 20)
    s.sendall(b"GET /held HTTP/1.1\r\n\r\n")
    assert s.recv(19)
    held.append(s)
END
cat <<'END'
{"summary":{"total":2.0,"slowest":0.25},
 "latencyPercentiles":{"p50":0.001,"p90":0.0015,"p99":0.002,"p99.9":0.125},
 "statusCodeDistribution":{"200":1100},"errorDistribution":{}}
END
"#;

/// A command under limits of descriptors.
fn limited(home: &Home, limits: &str, words: &str) -> Output {
    let line = home.line(words);
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(format!("{limits} && exec \"$0\" \"$@\""));
    shell.arg(line.get_program()).args(line.get_args());
    for (key, value) in line.get_envs() {
        shell.env(key, value.unwrap_or_default());
    }
    if let Some(folder) = line.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.output().unwrap()
}

#[test]
fn a_server_has_as_many_descriptors_as_connections_and_the_soft_limit_is_raised() {
    let home = Home::new(HOLDER);
    for build in ["wasm-asyncify", "wasm-switch"] {
        let built = format!("workloads/http/build/{build}/server.wasm");
        home.write(&built, wat::parse_str(keeping()).unwrap());
    }
    let suite = SUITE.replace("peak,500", "500@1100");
    let output = limited(
        &home,
        "ulimit -Sn 256",
        &format!("{suite} --variant wasm-switch"),
    );
    assert!(output.status.success(), "{}", text(&output));
    let csv = fs::read_to_string(home.path("r/http.csv")).unwrap();
    assert!(csv.contains("\n500,1100,fathom guard"), "{csv}");
}

#[test]
fn what_there_are_too_few_descriptors_for_is_absent_by_name() {
    let home = Home::new(&GENERATOR.replace("ERRORS", ""));
    let why = "2000 connections take 2064 descriptors, and this process may have 2000";
    let suite = SUITE.replace("peak,500", "500,500@2000");
    let output = limited(&home, "ulimit -n 2000", &suite);
    let said = text(&output);
    let line = format!("absent: http 500@2000: {why}");
    assert_eq!(
        said.lines().filter(|said| said.starts_with(&line)).count(),
        1,
        "{said}"
    );
    let campaign = home.campaign("r");
    assert_eq!(
        campaign.processes.len(),
        4,
        "one demand, two builds, and controls"
    );
    assert!(campaign.header.config.absent[0].why.starts_with(why));
    // Named and not measured.
    assert_eq!(output.status.code(), Some(1), "{said}");
    // Nothing else is asked for: nothing is begun.
    let suite = suite
        .replace("500,500@2000", "500@2000")
        .replace("--out r", "--out s");
    let output = limited(&home, "ulimit -n 2000", &suite);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains(&format!("fathom: http 500@2000: {why}")));
    assert!(!home.path("s").exists());
}

#[test]
fn a_request_that_fails_takes_the_servers_time_away() {
    let home = Home::new(&GENERATOR.replace("ERRORS", "\"connection refused\":2"));
    let output = home.run(SUITE);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let campaign = home.campaign("r");
    assert_eq!((campaign.failures.len(), campaign.processes.len()), (8, 0));
    for failure in &campaign.failures {
        assert_eq!(failure.kind, FailureKind::WrongAnswer);
        let words = "2 of 1002 requests failed: 2 × connection refused";
        assert!(failure.message.contains(words), "{}", failure.message);
    }
}

#[test]
fn what_was_started_ends_with_a_campaign_that_is_interrupted() {
    let script = "#!/bin/sh\n[ \"$1\" = --version ] || { echo $$ $PPID > PIDS; exec sleep 300; }\n";
    let home = Home::new("");
    let pids = home.path("pids");
    home.generate_by(&script.replace("PIDS", &pids.display().to_string()));
    let mut running = home.line(SUITE);
    let mut running = running
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let written = || fs::read_to_string(&pids).unwrap_or_default();
    while !written().ends_with('\n') {
        assert!(Instant::now() < deadline, "nothing was driven");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&running), Signal::INT).unwrap();
    running.wait().unwrap();
    let runs = |pid: &str| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    // The generator, and the runner that has the server in it.
    assert_eq!(written().split_whitespace().count(), 2);
    while written().split_whitespace().any(runs) {
        assert!(Instant::now() < deadline, "still running: {}", written());
        std::thread::sleep(Duration::from_millis(10));
    }
    // It goes on where it was.
    home.generate_by(&GENERATOR.replace("ERRORS", ""));
    let output = home.run("suite --resume r --wait-idle 0s");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(home.campaign("r").processes.len(), 8);
}
