//! What is asked for, through the header of a campaign and back: every experiment.
//!
//! `tests/golden/requests.jsonl` has a line for each kind, as it is written today; campaigns
//! have such lines, so a line that comes out otherwise needs a reader of the old form. Then
//! bless it with `FATHOM_BLESS=1`.

use std::{collections::BTreeSet, fs, path::Path};

use fathom_record::{Setting, Yardstick};
use serde_json::json;

use super::*;
use crate::{
    experiment::{ALL, Apart, Environment},
    plan::Dir,
};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/requests.jsonl");

/// Every kind of subject, and each experiment at least once.
fn subjects() -> Vec<Subject> {
    let module = || OwnModule {
        path: "/home/app.wat".into(),
        wasm: Vec::new(),
        is_made: false,
        args: vec!["--size".to_owned(), "é \n".to_owned()],
        library: Library::default(),
    };
    let mut subjects = vec![
        Subject::word("polybench"),
        Subject::module(module()),
        Subject::apart(Apart::Workload {
            suite: "polybench".to_owned(),
            name: "gemm".to_owned(),
        }),
    ];
    for native in [None, Some("/home/app".into())] {
        let module = module();
        subjects.push(Subject::apart(Apart::Module { module, native }));
    }
    for command in [Command::Bench, Command::Suite, Command::Reproduce] {
        for design in of_command(command) {
            let subject = Subject::named(command, design.name()).unwrap();
            subjects.extend(subject.clone().on_spec("ref"));
            subjects.push(subject);
        }
    }
    subjects
}

/// One of each kind.
fn kinds() -> Vec<Subject> {
    let mut seen = Vec::new();
    let mut subjects = subjects();
    subjects.retain(|subject| {
        let of = serde_json::to_value(subject).unwrap()["of"].clone();
        let is_new = !seen.contains(&of);
        seen.push(of);
        is_new
    });
    subjects
}

/// With something in every field: a new one must be named here.
fn full(subject: Subject) -> Request {
    let settings = Setting::ALL.iter().copied();
    let settings = settings.fold(Choices::default(), |all, setting| {
        all.with(setting, &[setting.default()])
    });
    Request {
        subject,
        args: vec!["-x".to_owned()],
        size: Some("mini".to_owned()),
        workloads: vec!["gemm".to_owned()],
        variants: vec![Variant::WasmSimd, Variant::Wasm],
        engines: vec!["fathom:guard64:shift".parse().unwrap(), Wanted::own()],
        strategies: ["all", "forms", "auto", "uffd+pool"]
            .map(|word| word.parse().unwrap())
            .to_vec(),
        settings: settings.exact().unwrap(),
        threads: vec![1, 8],
        shard: Some("2/3".parse().unwrap()),
        anchors: Some(4),
        input: Input {
            env: vec![("K".to_owned(), "a=b".to_owned())],
            dirs: vec![Dir {
                host: "/home/data".into(),
                guest: ".".to_owned(),
                is_read_only: true,
            }],
            stdin: Some("/home/in".into()),
        },
        any_output: true,
        exits_allowed: vec![-1, 7],
        metric: Yardstick::Instructions,
        duration: Length {
            rounds: Some(9),
            iterations: Some(2),
            warmup: Some(0),
            budget: Some(Duration::from_micros(1_500)),
            limit: Some(Duration::MAX),
            wait_idle: Some(Duration::ZERO),
            is_quick: true,
            width: Some(0.1 / 3.0),
            detect: None,
            rounds_wanted: 6,
        },
        seed: Some(u64::MAX),
        skips_probe: true,
        probes_again: true,
        // These are the place, not the request.
        out: None,
        against: Vec::new(),
        folder: "/home".into(),
        home: None,
        results: "/home/results".into(),
    }
}

fn of_text(text: &str) -> Result<Request, RequestError> {
    let value: Value = serde_json::from_str(text).unwrap();
    Request::of_record(&value, "/home".into())
}

#[test]
fn every_request_is_read_as_it_was_asked() {
    let mut seen = BTreeSet::new();
    for subject in subjects() {
        seen.insert(subject.design().name());
        for shard in ["1/1", "auto", "auto/7"] {
            let request = Request {
                shard: Some(shard.parse().unwrap()),
                ..full(subject.clone())
            };
            for request in [request, Request::new(subject.clone(), "/home".into())] {
                let text = request.recorded().unwrap().to_string();
                let again = of_text(&text).unwrap();
                // That shows all there is.
                assert_eq!(format!("{again:?}"), format!("{request:?}"));
            }
        }
    }
    let all: BTreeSet<&str> = ALL.iter().map(|design| design.name()).collect();
    assert_eq!(seen, all, "every experiment can be gone on with");
}

#[test]
fn requests_are_written_as_ever() {
    let empty = kinds().into_iter();
    let empty = empty.map(|subject| Request::new(subject, "/home".into()));
    let full = Request {
        settings: Choices::default().with(Setting::Opt, &["none", "speed"]),
        ..full(Subject::word("polybench"))
    };
    let all = empty.chain([full]);
    let written: String = all
        .map(|request| request.recorded().unwrap().to_string() + "\n")
        .collect();
    if std::env::var_os("FATHOM_BLESS").is_some() {
        fs::write(GOLDEN, &written).unwrap();
    }
    let golden = fs::read_to_string(GOLDEN).unwrap_or_default();
    for (line, golden) in written.lines().zip(golden.lines()) {
        assert_eq!(line, golden);
        assert!(of_text(golden).is_ok(), "{golden}");
    }
    assert_eq!(written.lines().count(), golden.lines().count());
}

#[test]
fn what_this_version_does_not_know_is_refused_in_a_line() {
    let known = full(Subject::word("polybench")).recorded().unwrap();
    for (place, value, said) in [
        ("/new", json!(1), "unknown field `new`"),
        ("/duration/new", json!(1), "unknown field `new`"),
        ("/settings/named/new", json!([]), "`new`"),
        ("/strategies", json!(["magic"]), "magic"),
        ("/variants", json!(["wasm128"]), "wasm128"),
        ("/shard", json!("4/3"), "a shard is i/n"),
        ("/subject/experiment", json!("song"), "song"),
        ("/subject/of", json!("song"), "song"),
        ("/duration/budget/secs", json!(-1), "-1"),
        ("/threads", json!("8"), "invalid type"),
    ] {
        let mut request = known.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        request.pointer_mut(parent).unwrap()[name] = value;
        let error = Request::of_record(&request, "/".into()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(said), "{place}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    for other in [json!(null), json!([]), json!({}), json!("bench")] {
        assert!(Request::of_record(&other, "/".into()).is_err(), "{other}");
    }
}

/// A file that was changed may have any experiment of anything.
#[test]
fn no_subject_of_another_experiment_panics() {
    for experiment in ALL.iter().map(|design| design.name()) {
        for kind in kinds() {
            let mut subject = serde_json::to_value(kind).unwrap();
            subject["experiment"] = experiment.into();
            let subject = Subject::deserialize(subject).unwrap();
            let request = Request::new(subject, Path::new("/nowhere").to_owned());
            let env = Environment {
                request: &request,
                home: None,
                outside: &[],
            };
            let _ = (request.subject.design().measured)(&env);
        }
    }
}
