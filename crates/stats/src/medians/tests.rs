//! Medians of a made-up cell of two whole rounds and what a break left.

use fathom_record::campaign::{Config, CpuTime, FORMAT_VERSION, Failure};
use fathom_record::{FailureKind, Header, Host, Record, Sandbox, Span, Variant};

use super::*;

fn cell() -> Cell {
    Cell {
        sandbox: Sandbox::new("fathom", "guard"),
        suite: "wasi".to_owned(),
        workload: "grow-1-by-1".to_owned(),
        variant: Variant::Wasm,
        size: String::new(),
        threads: 2,
        control_of: None,
    }
}

fn sample(round: u32, thread: u32, run_ns: u64) -> Record {
    let span = |wall_ns| Span {
        wall_ns,
        cpu_ns: None,
    };
    Record::Sample(Sample {
        cell: cell().id(),
        round,
        thread,
        index: 0,
        kernel_ns: None,
        phases: BTreeMap::from([
            (Phase::Instantiate, span(10)),
            (Phase::Run, span(run_ns)),
            (Phase::Cycle, span(4_000)),
        ]),
    })
}

fn process(round: u32, compile_ns: u64) -> Record {
    Record::Process(Process {
        phases: BTreeMap::from([(
            Phase::Compile,
            Span {
                wall_ns: compile_ns,
                cpu_ns: None,
            },
        )]),
        metrics: BTreeMap::from([(Metric::FaultsMinor, 12), (Metric::CodeBytes, 64)]),
        cpu_ns: Some(7 * compile_ns),
        cpu_pinned: Some(CpuTime {
            user_ms: 1,
            system_ms: 3,
            ..CpuTime::default()
        }),
        ..Process::new(cell().id(), round)
    })
}

fn campaign() -> Campaign {
    let mut campaign = Campaign::new(Header {
        format: FORMAT_VERSION,
        tool: "test".to_owned(),
        name: "test".to_owned(),
        date: String::new(),
        command: Vec::new(),
        request: None,
        host: Host::default(),
        config: Config {
            warmup: 1,
            ..Config::default()
        },
        workloads: Vec::new(),
        cells: vec![cell(), cell().control()],
    });
    for record in [
        // The later one of the same iteration counts.
        sample(0, 0, 9_999),
        sample(0, 0, 20),
        sample(0, 1, 30),
        process(0, 100),
        sample(1, 0, 40),
        sample(1, 1, 90),
        process(1, 300),
        // Left by a break.
        sample(2, 0, 1_000_000),
    ] {
        campaign.push(record);
    }
    campaign
}

#[test]
fn medians_are_of_whole_rounds() {
    let campaign = campaign();
    let all = Medians::all(&campaign, &Summary::from_campaign(&campaign));
    let [one] = &all[..] else {
        panic!("the control has no line");
    };
    assert_eq!(one.rounds(), 2);
    assert_eq!(one.phase(Phase::Run), Some(35.0));
    assert_eq!(one.phase(Phase::Teardown), None);
    assert_eq!(one.once(Phase::Compile), Some(200.0));
    assert_eq!(one.cpu(), Some(1400.0));
    assert_eq!(one.metric(Metric::CodeBytes), Some(64.0));
    assert_eq!(one.kernel_share(), Some(0.75));
    // 24 faults; 2 counted and 2 uncounted instances in each of two rounds.
    assert_eq!(one.per_instance(&[Metric::FaultsMinor]), Some(3.0));
    let unknown = [Metric::FaultsMinor, Metric::CtxVoluntary];
    assert_eq!(one.per_instance(&unknown), None);
    // 4045 ns of two workers; a cycle of 4000 ns is a thousand instances.
    assert_eq!(one.per_second(), Some(2e9 / 4045.0));
    assert_eq!(one.cycled_per_second(), Some(5e8));
}

#[test]
fn what_has_no_time_has_no_medians() {
    let mut campaign = campaign();
    campaign.push(Record::Failure(Failure {
        cell: Some(cell().id()),
        round: Some(1),
        kind: FailureKind::WrongAnswer,
        message: "not what it should be".to_owned(),
    }));
    assert!(Medians::all(&campaign, &Summary::from_campaign(&campaign)).is_empty());
}
