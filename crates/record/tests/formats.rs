//! The formats do not change behind anybody's back.
//!
//! `golden/*.jsonl` hold one line for each kind of record, request and event,
//! as they are written today. A line that comes out otherwise fails the test:
//! either it is a mistake, or a reader elsewhere has to follow. Then bless it
//! with `FATHOM_BLESS=1 cargo test -p fathom-record`.
//!
//! `golden/old/` holds files of earlier formats, which must go on being read;
//! they are never blessed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_record::campaign::{
    self, AbsentNote, Config, Counts, CpuTime, FORMAT_VERSION, Failure, InForce, ModuleNote,
    ProbeRecord, Process, Resumed, Sample, Seen, ShardNote, Tail, Threads, Traced, Window,
    WorkloadNote,
};
use fathom_record::host::Features;
use fathom_record::protocol::{
    Call, CallOutcome, Event, Hello, Iteration, Load, Measure, PROTOCOL_VERSION, Probe, Request,
};
use fathom_record::{
    Cell, CellId, Checks, Compared, Estimator, Experiment, Fact, FailureKind, Guarantee, Header,
    Host, Metric, Phase, Record, Sandbox, Setting, Settings, Span, Variant, Writer, Yardstick,
};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

fn check(name: &str, written: &str) {
    let path = golden(name);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        fs::write(&path, written).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    for (number, (line, golden)) in (1..).zip(written.lines().zip(expected.lines())) {
        assert_eq!(line, golden, "{name}, line {number}");
    }
    assert_eq!(written.lines().count(), expected.lines().count(), "{name}");
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn cell() -> Cell {
    Cell {
        sandbox: Sandbox {
            version: Some(text("48.0.8")),
            ..Sandbox::new("wasmtime", "guard").with(Setting::Codegen, "cranelift")
        },
        suite: text("polybench"),
        workload: text("gemm"),
        variant: Variant::WasmSimd,
        size: text("medium"),
        threads: 2,
        control_of: None,
    }
}

fn host() -> Host {
    Host {
        cpu_model: Fact::Known(text("A CPU")),
        cpu_kind: Fact::Known("GenuineIntel family 6 model 207 stepping 2".to_owned()),
        cpu_flags: Fact::absent("why not"),
        arch: Fact::Known(text("x86_64")),
        cpus_logical: Fact::Known(2),
        cores_physical: Fact::Known(1),
        sockets: Fact::Known(1),
        kernel: Fact::Known(text("Linux 6.18")),
        os: Fact::Known(text("Debian")),
        memory_bytes: Fact::Known(1 << 33),
        page_bytes: Fact::Known(4096),
        hypervisor: Fact::Known(text("KVM")),
        microcode: Fact::absent("not in /proc/cpuinfo"),
        governor: Fact::absent("no cpufreq"),
        turbo: Fact::absent("no cpufreq"),
        clock_source: Fact::Known(text("tsc")),
        map_count_max: Fact::Known(65_530),
        mitigations: Fact::Known(BTreeMap::from([(text("meltdown"), text("Not affected"))])),
        features: Features {
            pku: Fact::absent("pkey_alloc: EINVAL"),
            pmu: Fact::absent("perf_event_open: ENOENT"),
            userfaultfd: Fact::Known(text("yes, with SIGBUS")),
            bpf: Fact::Known(text("yes")),
            thp: Fact::Known(text("madvise")),
        },
        load_average: Fact::Known([0.5, 0.25, 0.125]),
    }
}

fn config() -> Config {
    Config {
        experiment: Experiment::Growth,
        compared: Compared::Kernel,
        estimator: Estimator::FasterHalf,
        rounds: 5,
        warmup: 1,
        iterations: 3,
        limit_ms: 60_000,
        cpus: vec![0, 1],
        seed: 7,
        layout_varies: true,
        replays: true,
        layouts: [(Variant::Wasm, 0), (Variant::Native, 8)].into(),
        engines: [(text("wasmtime"), text("0123"))].into(),
        shard: Some(ShardNote {
            index: 2,
            count: 3,
            workloads: 30,
            list: text("4567"),
            anchors: vec![text("polybench:gemm")],
        }),
        baseline: Some(cell().sandbox.id()),
        module: Some(ModuleNote {
            path: PathBuf::from("/app.wasm"),
            bytes: 1234,
            digest: text("c0ffee"),
            args: vec![text("-v")],
        }),
        any_output: true,
        folder: Some(PathBuf::from("/home")),
        budget_ms: Some(90_000),
        absent: vec![AbsentNote {
            engine: text("node"),
            why: text("not installed"),
            install: None,
        }],
        uncounted: Some(text("no strace")),
        counter: Some(text("callgrind of valgrind-3.19.0")),
        other: BTreeMap::from([(text("note"), text("first"))]),
    }
}

fn header() -> Header {
    Header {
        format: FORMAT_VERSION,
        tool: text("0.1.0"),
        name: text("golden"),
        date: text("2026-11-20T12:00:00Z"),
        command: vec![text("fathom"), text("bench")],
        request: Some(serde_json::json!({"subject": {"suite": "polybench"}, "rounds": 5})),
        host: host(),
        config: config(),
        workloads: vec![WorkloadNote {
            suite: text("polybench"),
            name: text("gemm"),
            why: text("dense matrix product"),
            answer: Some(text("dead")),
            category: None,
            bytes: Some(1234),
            trips: Some(5678),
            builds: [(Variant::WasmSwitch, 1234)].into(),
        }],
        cells: vec![cell(), cell().control()],
    }
}

fn hello() -> Hello {
    Hello {
        engine: text("wasmtime"),
        version: text("48.0.8"),
        backend: text("cranelift"),
        tier: text("optimising"),
        checks: Checks::GuardPages,
        evidence: text("asked"),
    }
}

fn span(wall_ns: u64) -> Span {
    Span {
        wall_ns,
        cpu_ns: Some(wall_ns - 1),
    }
}

fn process(id: CellId) -> Record {
    Record::Process(Process {
        cell: id,
        round: 0,
        phases: BTreeMap::from([(Phase::Load, span(1)), (Phase::Compile, span(2))]),
        metrics: Metric::ALL.iter().copied().zip(1..).collect(),
        warmup_ns: None,
        wall_ns: Some(9),
        cpu_ns: Some(8),
        cpu_host: Some(CpuTime {
            user_ms: 1,
            system_ms: 2,
            hardirq_ms: 3,
            softirq_ms: 4,
            idle_ms: 5,
            steal_ms: 6,
        }),
        cpu_pinned: Some(CpuTime::default()),
        window: Some(Box::new(Window {
            wall_ns: 1,
            iterations: 2,
            cpu_host: Some(CpuTime::default()),
            cpu_pinned: None,
            cpu_ns: Some(3),
            faults: Some(4),
            rss_mean_bytes: Some(5),
            virtual_mean_bytes: Some(6),
            host_used_mean_bytes: Some(7),
            host_used_before_bytes: Some(8),
            readings: 9,
        })),
        seed: Some(11),
    })
}

fn counts(id: CellId) -> Record {
    Record::Counts(Counts {
        cell: id,
        instances: 20,
        calls: BTreeMap::from([(text("mmap"), 40), (text("mprotect"), 0)]),
        how: text("strace -c"),
    })
}

fn traced(id: CellId) -> Record {
    let seen = Seen {
        count: 3,
        total_ns: 900,
        each_ns: -20.5,
    };
    Record::Traced(Traced {
        cell: id,
        repeat: 1,
        wasi: Some(seen),
        calls: Some(BTreeMap::from([(text("writev"), seen)])),
        functions: Some(BTreeMap::from([(text("fd_write"), seen)])),
        threads: Some(Threads {
            count: 2,
            calls: BTreeMap::from([(text("futex"), seen)]),
            waits: 7,
        }),
    })
}

fn records() -> Vec<Record> {
    let id = cell().id();
    let phases = BTreeMap::from([
        (Phase::Instantiate, span(3)),
        (Phase::Run, span(4)),
        (
            Phase::Teardown,
            Span {
                wall_ns: 5,
                cpu_ns: None,
            },
        ),
    ]);
    vec![
        Record::InForce(InForce {
            cell: id.clone(),
            hello: hello(),
            runner: vec![text("runner")],
        }),
        Record::Probe(ProbeRecord {
            sandbox: cell().sandbox.id(),
            claimed: Guarantee::Exact,
            observed: Guarantee::Contained,
            accesses: 5_000,
            violations: 1,
            needless: 0,
            examples: vec![text("i32.load offset=0 at 65536 returned 0")],
            without: vec![text("vector instructions")],
            date: Some(text("2026-11-19T13:00:00Z")),
            part_percent: None,
        }),
        Record::Sample(Sample {
            cell: id.clone(),
            round: 0,
            thread: 1,
            index: 2,
            kernel_ns: Some(u64::MAX),
            phases,
        }),
        process(id.clone()),
        counts(id.clone()),
        traced(id.clone()),
        Record::Failure(Failure {
            cell: Some(id),
            round: Some(1),
            kind: FailureKind::WrongAnswer,
            message: text("dead, not beef"),
        }),
        Record::Failure(Failure {
            cell: None,
            round: None,
            kind: FailureKind::Io,
            message: text("disk full"),
        }),
        Record::Resumed(Resumed {
            date: text("2026-11-20T13:00:00Z"),
            command: vec![text("fathom")],
            rounds: None,
        }),
    ]
}

#[test]
fn campaign_files() {
    let mut writer = Writer::create(Vec::new(), &header()).unwrap();
    writer.append_all(&records()).unwrap();
    let written = String::from_utf8(writer.into_inner()).unwrap();
    check("campaign.jsonl", &written);
    let campaign = campaign::parse(written.as_bytes()).unwrap();
    assert_eq!(campaign.header, header());
    assert_eq!(campaign.tail, Tail::Whole);
}

fn requests() -> Vec<Request> {
    let measure = Measure {
        module: PathBuf::from("/abs/x.wasm"),
        args: vec![text("a")],
        env: vec![(text("K"), text("V"))],
        dirs: vec![(PathBuf::from("/host"), text("/guest"))],
        stdin: None,
        strategy: text("guard"),
        settings: Settings::new(),
        threads: 1,
        cpus: vec![0],
        warmup: 1,
        iterations: 3,
        scratch: PathBuf::from("/dev/shm/fathom"),
        seed: 7,
        cache: None,
        cycle: false,
        stack_bytes: None,
        load: None,
        unsafe_no_bounds: false,
    };
    let probe = Probe {
        module: PathBuf::from("/abs/probe.wasm"),
        strategy: text("trap"),
        settings: Settings::new()
            .with(Setting::Opt, "none")
            .with(Setting::Codegen, "winch"),
        unsafe_no_bounds: true,
        calls: vec![Call {
            export: text("load_i32_o0"),
            args: vec![text("i32:65532")],
        }],
    };
    vec![measure.into(), everything_said().into(), probe.into()]
}

/// A request that leaves nothing to a default.
fn everything_said() -> Measure {
    Measure {
        module: PathBuf::from("/abs/x.wasm"),
        args: Vec::new(),
        env: Vec::new(),
        dirs: Vec::new(),
        stdin: Some(PathBuf::from("/abs/in")),
        strategy: text("trap"),
        settings: Settings::new()
            .with(Setting::Opt, "none")
            .with(Setting::Codegen, "cranelift")
            .with(Setting::Elide, "off")
            .with(Setting::Spectre, "off"),
        threads: 2,
        cpus: vec![0, 1],
        warmup: 0,
        iterations: 1,
        scratch: PathBuf::from("/dev/shm/fathom"),
        seed: 0,
        cache: Some(PathBuf::from("/abs/cache")),
        cycle: true,
        stack_bytes: Some(65_536),
        load: Some(Box::new(Load {
            generator: PathBuf::from("/abs/oha"),
            connections: 1000,
            rate: Some(20_000),
            seconds: 10,
            cpus: vec![2],
        })),
        unsafe_no_bounds: true,
    }
}

fn events() -> Vec<Event> {
    let phases = BTreeMap::from([(Phase::Run, span(4))]);
    let mut events = vec![
        Event::Hello(hello()),
        Event::Phase {
            phase: Phase::Load,
            span: span(1),
        },
        Event::Iteration(Iteration {
            thread: 0,
            index: 0,
            counted: false,
            phases,
            exit: -1,
            stdout: Some(PathBuf::from("/dev/shm/fathom/0")),
        }),
        Event::Call {
            index: 0,
            outcome: CallOutcome::Result(vec![text("i32:5")]),
        },
        Event::Call {
            index: 1,
            outcome: CallOutcome::Trap(text("out of bounds memory access")),
        },
        Event::Process {
            metrics: BTreeMap::from([(Metric::RssPeakBytes, 1)]),
        },
    ];
    events.extend(FailureKind::ALL.iter().map(|kind| Event::Error {
        kind: *kind,
        message: text(kind.help()),
    }));
    events.push(Event::Done);
    events
}

#[test]
fn protocol_lines() {
    assert_eq!(
        PROTOCOL_VERSION, 1,
        "a new version needs golden files of its own"
    );
    let lines: String = requests().iter().map(Request::to_line).collect();
    check("requests.jsonl", &lines);
    let read: Vec<Request> = lines
        .lines()
        .map(|line| Request::parse(line.as_bytes()).unwrap())
        .collect();
    assert_eq!(read, requests());
    let lines: String = events().iter().map(Event::to_line).collect();
    check("events.jsonl", &lines);
    let read: Vec<Event> = lines
        .lines()
        .map(|line| Event::parse(line.as_bytes()).unwrap())
        .collect();
    assert_eq!(read, events());
}

#[test]
fn names_of_closed_sets() {
    fn list<T: Copy>(
        set: &str,
        all: &[T],
        name: fn(T) -> &'static str,
        help: fn(T) -> &'static str,
    ) -> String {
        all.iter()
            .map(|one| format!("{set}\t{}\t{}\n", name(*one), help(*one)))
            .collect()
    }
    let settings = || -> String {
        let values = |setting: &Setting| -> String {
            let choices = setting.choices().iter();
            choices
                .map(|one| format!("{setting}\t{}\t{}\n", one.name, one.help))
                .collect()
        };
        Setting::ALL.iter().map(values).collect()
    };
    let names = [
        list("phase", Phase::ALL, Phase::name, Phase::help),
        list("metric", Metric::ALL, Metric::name, Metric::help),
        list("variant", Variant::ALL, Variant::name, Variant::help),
        list("setting", Setting::ALL, Setting::name, Setting::help),
        settings(),
        list("checks", Checks::ALL, Checks::name, Checks::help),
        list(
            "guarantee",
            Guarantee::ALL,
            Guarantee::name,
            Guarantee::help,
        ),
        list("compared", Compared::ALL, Compared::name, Compared::help),
        list(
            "yardstick",
            Yardstick::ALL,
            Yardstick::name,
            Yardstick::help,
        ),
        list(
            "experiment",
            Experiment::ALL,
            Experiment::name,
            Experiment::help,
        ),
        list(
            "failure",
            FailureKind::ALL,
            FailureKind::name,
            FailureKind::help,
        ),
    ]
    .concat();
    check("names.tsv", &names);
}

#[test]
fn files_of_earlier_formats_are_still_read() {
    let mut count = 0;
    for entry in fs::read_dir(golden("old")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let campaign = campaign::parse(&bytes[..])
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(campaign.tail, Tail::Whole, "{}", path.display());
        assert!(!campaign.samples.is_empty(), "{}", path.display());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // The others are named by what they are about.
        let experiment = match stem.strip_prefix("format-") {
            Some(_) => Experiment::Module,
            None => stem.parse().unwrap(),
        };
        let config = &campaign.header.config;
        assert_eq!(config.experiment, experiment, "{}", path.display());
        if stem == experiment.name() {
            assert!(config.other.is_empty(), "{stem}: {:?}", config.other);
        }
        count += 1;
    }
    assert_eq!(
        count, 12,
        "one of each that was written in format 1 is kept"
    );
}

/// A file of format 1 about this.
fn old(experiment: Experiment) -> Header {
    let path = golden("old").join(format!("{experiment}.jsonl"));
    let bytes = fs::read(path).unwrap();
    campaign::parse(&bytes[..]).unwrap().header
}

#[test]
fn what_format_1_remarked_is_in_fields() {
    let suite = old(Experiment::Suite).config;
    assert_eq!(suite.budget_ms, Some(60_000));
    assert_eq!(suite.folder, Some(PathBuf::from("/tmp/house")));
    assert!(!suite.any_output && old(Experiment::Module).config.any_output);
    let spec = old(Experiment::LeapsAndBoundsSpec).config;
    assert!(spec.uncounted.unwrap().starts_with("not counted: SPEC"));
    let absent: Vec<&str> = spec.absent.iter().map(|one| one.engine.as_str()).collect();
    assert_eq!(absent, ["508.namd_r", "525.x264_r", "wavm"]);
    let startup = old(Experiment::Startup);
    let lengths: Vec<_> = startup.workloads.iter().map(|note| note.bytes).collect();
    let (tiny, large) = (Some(156), Some(434_803));
    assert_eq!(lengths, [tiny, tiny, large, large]);
}
