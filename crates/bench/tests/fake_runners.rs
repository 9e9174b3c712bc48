//! Campaigns over runners that are shell scripts: each behaves badly in one
//! way, and the others must not notice.

use std::{
    path::Path,
    sync::{atomic::AtomicBool, mpsc},
    thread,
    time::{Duration, Instant},
};

use fathom_bench::{
    check::Expected,
    driver::{Driver, ProcessDriver},
    plan::{Input, Plan, Task},
    results::Results,
    session::{Ended, Pace, Session},
};
use fathom_record::{
    Campaign, Cell, FailureKind, Header, Host, Sandbox, Variant,
    campaign::{Config, FORMAT_VERSION},
};

/// No measurement: a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers well: `events` expects `$scratch`; every script begins with this.
const GOOD: &str = r#"
request=$(cat)
scratch=$(printf %s "$request" | sed 's/.*"scratch":"\([^"]*\)".*/\1/')
events() {
  echo '{"event":"hello","engine":"fake"}' >&3
  echo '{"event":"phase","phase":"compile","wall_ns":5,"cpu_ns":5}' >&3
  echo "fathom: answer=$1 kernel_ns=9" > "$scratch/out"
  for index in 0 1; do
    echo '{"event":"iteration","thread":0,"index":'$index',"counted":true,"exit":0,"phases":{"run":{"wall_ns":10,"cpu_ns":10}},"stdout":"'$scratch'/out"}' >&3
  done
}
finish() { echo '{"event":"done"}' >&3; }
"#;

/// As a good answer, without an output.
const EVENTS_ALONE: &str = r#"
echo '{"event":"hello","engine":"fake"}' >&3
for index in 0 1; do
  echo '{"event":"iteration","thread":0,"index":'$index',"counted":true,"exit":0,"phases":{"run":{"wall_ns":10,"cpu_ns":10}},"stdout":"'$scratch'/out"}' >&3
done
finish"#;

/// Name, script, and the failure it must come to.
const BAD: &[(&str, &str, FailureKind, &str)] = &[
    (
        "hangs",
        "events a1; while :; do sleep 1; done",
        FailureKind::Timeout,
        "did not end within",
    ),
    (
        "crashes",
        "events a1; kill -SEGV $$",
        FailureKind::Crash,
        "segmentation fault",
    ),
    (
        "gives-up",
        "echo no memory >&2; exit 3",
        FailureKind::Crash,
        "status 3 without a result: no memory",
    ),
    (
        "garbage",
        "echo '{\"event\":' >&3; finish",
        FailureKind::Protocol,
        "event 1 is not understood",
    ),
    (
        "silent",
        "exit 0",
        FailureKind::Protocol,
        "without a result",
    ),
    (
        "wrong",
        "events b2; finish",
        FailureKind::WrongAnswer,
        "answer b2 instead of a1",
    ),
    (
        "refuses",
        "echo '{\"event\":\"error\",\"kind\":\"unsupported\",\"message\":\"no SIMD\"}' >&3; exit 1",
        FailureKind::Unsupported,
        "no SIMD",
    ),
];

struct Bench {
    folder: tempfile::TempDir,
    plan: Plan,
    drivers: Vec<Box<dyn Driver>>,
}

fn sandbox(engine: &str) -> Sandbox {
    Sandbox::new(engine, "guard")
}

impl Bench {
    /// One cell per script, one round of two iterations.
    fn new(scripts: &[(&str, String)], rounds: u32) -> Self {
        let (mut tasks, mut drivers) = (Vec::new(), Vec::<Box<dyn Driver>>::new());
        for (driver, (name, script)) in scripts.iter().enumerate() {
            let text = format!("{GOOD}\n{script}");
            drivers.push(Box::new(ProcessDriver::new("sh", ["-c", &text])));
            tasks.push(Task {
                cell: Cell {
                    sandbox: sandbox(name),
                    suite: "suite".to_owned(),
                    workload: "w".to_owned(),
                    variant: Variant::Wasm,
                    size: String::new(),
                    threads: 1,
                    control_of: None,
                },
                driver,
                artifact: "/w.wasm".into(),
                args: Vec::new(),
                expected: Expected::Answer("a1".to_owned()),
                folder: None,
                is_cached: false,
                stack_bytes: None,
                load: None,
            });
        }
        let config = Config {
            rounds,
            iterations: 2,
            limit_ms: 1500,
            seed: 1,
            ..Config::default()
        };
        let plan = Plan {
            config,
            workloads: Vec::new(),
            tasks,
            input: Input::default(),
            cycles: false,
            cache: None,
            exits_allowed: Vec::new(),
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            plan,
            drivers,
        }
    }

    fn run(&mut self) -> (Ended, Campaign) {
        let header = Header {
            format: FORMAT_VERSION,
            tool: "0".to_owned(),
            name: "fake".to_owned(),
            date: String::new(),
            command: Vec::new(),
            request: None,
            host: Host::default(),
            config: self.plan.config.clone(),
            workloads: Vec::new(),
            cells: self.plan.cells(),
        };
        let mut results = Results::create(self.folder.path(), header).unwrap();
        let ended = Session {
            plan: &self.plan,
            drivers: &mut self.drivers,
            results: &mut results,
            pace: Pace {
                budget: None,
                cell_target: None,
                rounds_wanted: 0,
                iterations_max: 2,
                is_by_cell: false,
                width: None,
                detect: None,
                spares_warmup: false,
            },
            stopping: &(),
            stop: &AtomicBool::new(false),
            observer: &mut (),
        }
        .run()
        .unwrap();
        (ended, Results::read(self.folder.path()).unwrap())
    }
}

#[test]
fn every_kind_of_misbehaviour_is_one_line_and_the_others_go_on() {
    let mut scripts = vec![("good", "events a1; finish".to_owned())];
    scripts.extend(
        BAD.iter()
            .map(|(name, script, ..)| (*name, (*script).to_owned())),
    );
    let mut bench = Bench::new(&scripts, 2);
    let (ended, campaign) = bench.run();
    assert_eq!(ended, Ended::Complete);
    for (name, _, kind, part) in BAD {
        let prefix = format!("{name}/");
        let mut of_cell = campaign.failures.iter().filter(|failure| {
            failure
                .cell
                .as_ref()
                .is_some_and(|cell| cell.as_str().starts_with(&prefix))
        });
        let failure = of_cell
            .next()
            .unwrap_or_else(|| panic!("{name} did not fail"));
        assert_eq!(failure.kind, *kind, "{name}: {}", failure.message);
        assert!(
            failure.message.contains(part),
            "{name}: {}",
            failure.message
        );
        assert!(!failure.message.contains('\n'));
        assert!(of_cell.next().is_none(), "{name} failed twice");
    }
    assert_eq!(campaign.processes.len(), 2, "the good one, twice");
    assert!(
        campaign
            .samples
            .iter()
            .all(|sample| sample.cell.as_str().starts_with("good/"))
    );
    assert_eq!(campaign.samples[0].kernel_ns, Some(9));
    assert!(campaign.processes[0].wall_ns.is_some() && campaign.processes[0].cpu_ns.is_some());
}

#[test]
fn noise_on_both_streams_does_no_harm() {
    let noise = "seq 1 100000; seq 1 100000 >&2; events a1; seq 1 100000; finish";
    let (_, campaign) = Bench::new(&[("noisy", noise.to_owned())], 1).run();
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    assert_eq!(campaign.samples.len(), 2);
}

#[test]
fn what_a_runner_leaves_behind_is_gone_before_the_next_cell() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!(
        "(sleep 300 & echo $! >> {0}; setsid sleep 300 & echo $! >> {0}; sleep 0.1); events a1; finish",
        pids.display()
    );
    let started = Instant::now();
    let (_, campaign) = Bench::new(&[("leaver", script)], 1).run();
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    assert!(started.elapsed() < Duration::from_secs(30));
    let text = std::fs::read_to_string(&pids).unwrap();
    assert_eq!(text.lines().count(), 2);
    let runs = |pid: &str| {
        std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while text.lines().any(runs) {
        assert!(Instant::now() < deadline, "still running: {text}");
    }
}

#[test]
fn a_runner_that_names_what_is_no_file_keeps_nobody_waiting() {
    for (made, said) in [
        (
            "mkfifo $scratch/out",
            "a pipe, where a regular file is needed",
        ),
        ("mkdir $scratch/out", "Is a directory"),
        (
            "ln -s /dev/zero $scratch/out",
            "a device, where a regular file is needed",
        ),
    ] {
        // What it prints goes elsewhere.
        let script = format!("{made}\n{EVENTS_ALONE}");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || drop(sender.send(Bench::new(&[("odd", script)], 1).run().1)));
        let campaign = receiver.recv_timeout(PATIENCE);
        let campaign = campaign.unwrap_or_else(|_| panic!("somebody waits: {made}"));
        let [failure] = &campaign.failures[..] else {
            panic!("{made}: {:?}", campaign.failures)
        };
        assert!(failure.message.contains(said), "{}", failure.message);
    }
}

#[test]
fn no_scratch_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let noted = folder.path().join("scratch");
    let script = format!("echo $scratch > {}; events a1; finish", noted.display());
    Bench::new(&[("x", script)], 1).run();
    let scratch = std::fs::read_to_string(noted).unwrap();
    assert!(
        scratch.starts_with('/') && !Path::new(scratch.trim()).exists(),
        "{scratch}"
    );
}
