//! Campaign files: whole, cut short, damaged and of another version.

use std::io::{self, Write};

use proptest::prelude::*;

use super::*;
use crate::cell::Sandbox;
use crate::host::Host;
use crate::vocabulary::{Checks, Variant};

fn header() -> Header {
    let cell = Cell {
        sandbox: Sandbox::new("fathom", "guard"),
        suite: "polybench".to_owned(),
        workload: "gemm".to_owned(),
        variant: Variant::Wasm,
        size: "mini".to_owned(),
        threads: 1,
        control_of: None,
    };
    Header {
        format: FORMAT_VERSION,
        tool: "0.1.0".to_owned(),
        name: "test".to_owned(),
        date: "2026-11-20T12:00:00Z".to_owned(),
        command: vec!["fathom".to_owned(), "bench".to_owned()],
        request: None,
        host: Host::default(),
        config: Config {
            rounds: 2,
            iterations: 1,
            ..Config::default()
        },
        workloads: Vec::new(),
        cells: vec![cell.clone(), cell.control()],
    }
}

fn records() -> Vec<Record> {
    let cell = header().cells[0].id();
    let span = Span {
        wall_ns: 7,
        cpu_ns: Some(6),
    };
    vec![
        Record::InForce(InForce {
            cell: cell.clone(),
            hello: Hello {
                engine: "fathom".to_owned(),
                version: "0.1.0".to_owned(),
                backend: "cranelift".to_owned(),
                tier: "optimising".to_owned(),
                checks: Checks::GuardPages,
                evidence: "ours".to_owned(),
            },
            runner: vec!["fathom".to_owned()],
        }),
        Record::Sample(Sample {
            cell: cell.clone(),
            round: 0,
            thread: 0,
            index: 0,
            kernel_ns: Some(5),
            phases: BTreeMap::from([(Phase::Run, span)]),
        }),
        Record::Process(Process {
            phases: BTreeMap::from([(Phase::Compile, span)]),
            metrics: BTreeMap::from([(Metric::CodeBytes, 1)]),
            wall_ns: Some(9),
            cpu_host: Some(CpuTime {
                user_ms: 3,
                idle_ms: 1,
                ..CpuTime::default()
            }),
            seed: Some(1),
            ..Process::new(cell.clone(), 0)
        }),
        Record::Failure(Failure {
            cell: Some(cell),
            round: Some(1),
            kind: FailureKind::Timeout,
            message: "10 s passed".to_owned(),
        }),
        Record::Resumed(Resumed {
            date: "2026-11-20T13:00:00Z".to_owned(),
            command: Vec::new(),
            rounds: None,
        }),
    ]
}

fn written() -> Vec<u8> {
    let mut writer = Writer::create(Vec::new(), &header()).unwrap();
    writer.append_all(&records()).unwrap();
    assert_eq!(writer.valid_bytes(), writer.into_inner().len() as u64);
    let mut writer = Writer::create(Vec::new(), &header()).unwrap();
    for record in records() {
        writer.append(&record).unwrap();
    }
    writer.into_inner()
}

#[test]
fn what_is_written_is_read() {
    let bytes = written();
    let campaign = parse(&bytes[..]).unwrap();
    let mut expected = Campaign::new(header());
    expected.valid_bytes = bytes.len() as u64;
    records()
        .into_iter()
        .for_each(|record| expected.push(record));
    assert_eq!(campaign, expected);
    let id = header().cells[0].id();
    assert!(campaign.is_sealed(&id, 0) && !campaign.is_sealed(&id, 1));
    assert!(campaign.is_done(&id, 1) && !campaign.is_done(&id, 2));
}

#[test]
fn a_cut_anywhere_after_the_header_is_tolerated_and_can_be_mended() {
    let bytes = written();
    let header_end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in header_end..bytes.len() {
        let campaign = parse(&bytes[..cut]).unwrap();
        let mut mended = bytes[..campaign.valid_bytes as usize].to_vec();
        let mut writer = Writer::resume(&mut mended, &campaign).unwrap();
        writer.append(records().last().unwrap()).unwrap();
        let whole = parse(&mended[..]).unwrap();
        assert_eq!(whole.tail, Tail::Whole);
        assert_eq!(whole.resumed.len(), campaign.resumed.len() + 1);
    }
}

#[test]
fn a_cut_header_is_no_campaign() {
    let bytes = written();
    for cut in [0, 1, 50] {
        assert!(
            matches!(parse(&bytes[..cut]), Err(ReadError::Empty)),
            "{cut}"
        );
    }
}

fn error_after(line: &str) -> String {
    let mut bytes = written();
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    parse(&bytes[..]).unwrap_err().to_string()
}

#[test]
fn anything_else_is_refused_with_its_line() {
    assert!(error_after("{").starts_with("line 7: "));
    // The place in the line would be a second one.
    assert!(
        !error_after("{").contains(" column "),
        "{}",
        error_after("{")
    );
    assert!(error_after(r#"{"record":"song"}"#).contains("unknown variant `song`"));
    assert_eq!(
        error_after(r#"{"record":"sample","cell":"x","round":0,"thread":0,"index":0,"phases":{}}"#),
        "line 7: unknown cell 'x'"
    );
    let second = String::from_utf8(written()).unwrap();
    assert_eq!(
        error_after(second.lines().next().unwrap()),
        "line 7: a second header"
    );
}

#[test]
fn a_newer_format_is_refused_in_one_line() {
    let error = parse(&b"{\"record\":\"campaign\",\"format\":99,\"shape\":\"unheard of\"}\n"[..])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "written in format 99, this version reads up to 2: use a newer fathom"
    );
}

#[test]
fn another_file_is_no_campaign() {
    assert!(matches!(
        parse(&b"hello\n"[..]),
        Err(ReadError::NotACampaign { .. })
    ));
    let error = parse(&b"{\"record\":\"sample\",\"format\":1}\n"[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not a campaign: the first record is 'sample', not 'campaign'"
    );
}

#[test]
fn a_header_must_name_each_cell_once_and_know_what_controls_repeat() {
    let mut twice = header();
    twice.cells.push(twice.cells[0].clone());
    let bytes = Writer::create(Vec::new(), &twice).unwrap().into_inner();
    assert!(
        parse(&bytes[..])
            .unwrap_err()
            .to_string()
            .contains("is there twice")
    );
    let mut lost = header();
    lost.cells.remove(0);
    let bytes = Writer::create(Vec::new(), &lost).unwrap().into_inner();
    assert!(
        parse(&bytes[..])
            .unwrap_err()
            .to_string()
            .contains("control of an unknown cell")
    );
}

#[test]
fn a_failed_write_is_the_last() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(taken)
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::create(Full(1 << 12), &header()).unwrap();
    let valid = loop {
        let before = writer.valid_bytes();
        match writer.append(&records()[0]) {
            Ok(()) => {}
            Err(WriteError::Io(_)) => break before,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(matches!(
        writer.append(&records()[0]),
        Err(WriteError::Broken)
    ));
    assert_eq!(writer.valid_bytes(), valid);
}

#[test]
fn utilisation_follows_the_paper() {
    let time = CpuTime {
        user_ms: 50,
        system_ms: 20,
        hardirq_ms: 3,
        softirq_ms: 2,
        idle_ms: 25,
        // No use of ours.
        steal_ms: 40,
    };
    assert_eq!(time.utilisation(), Some(0.75));
    assert_eq!(CpuTime::default().utilisation(), None);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes[..]);
    }

    #[test]
    fn no_damage_panics(at in any::<prop::sample::Index>(), with in proptest::collection::vec(any::<u8>(), 0..8), cut in 0usize..8) {
        let mut bytes = written();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with);
        if let Ok(campaign) = parse(&bytes[..]) {
            prop_assert!(campaign.valid_bytes <= bytes.len() as u64);
        }
    }
}
