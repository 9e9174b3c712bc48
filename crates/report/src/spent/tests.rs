//! That every nanosecond of a child is in one part, and none in two.

use std::path::Path;

use serde_json::Value;

use super::*;

/// A campaign of a file of this crate, some of its records changed.
fn campaign(name: &str, change: impl Fn(&mut Value)) -> Campaign {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let mut lines = String::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        change(&mut record);
        lines.push_str(&format!("{record}\n"));
    }
    fathom_record::campaign::parse(lines.as_bytes()).unwrap()
}

#[test]
fn parts_add_up_to_what_children_took() {
    for name in ["suite.jsonl", "module.jsonl"] {
        let campaign = campaign(name, |_| {});
        let spent = Spent::of(&campaign);
        let walls = campaign.processes.iter().map(|process| process.wall_ns);
        let walls: f64 = walls.map(|ns| ns.unwrap() as f64).sum();
        let lines = || spent.lines.iter().chain([&spent.all]);
        for line in lines() {
            let parts = Part::ALL.map(|part| line.part(part).unwrap());
            let sum: f64 = parts.iter().sum();
            assert!((sum / line.whole.unwrap() - 1.0).abs() < 1e-9, "{line:?}");
        }
        assert!((spent.all.whole.unwrap() / walls - 1.0).abs() < 1e-9);
        assert_eq!(spent.all.children, campaign.processes.len());
        assert!(spent.all.part(Part::Kernel).unwrap() > 0.0 || name == "module.jsonl");
    }
}

#[test]
fn what_was_not_recorded_is_not_guessed() {
    let campaign = campaign("module.jsonl", |record| {
        let is_of_trap = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("fathom/trap/"));
        if is_of_trap && record["record"] == "process" && record["round"] == 2 {
            record.as_object_mut().unwrap().remove("wall_ns");
        }
    });
    let spent = Spent::of(&campaign);
    for line in &spent.lines {
        let is_known = line.name != "fathom trap";
        assert_eq!(line.whole.is_some(), is_known, "{line:?}");
        assert_eq!(line.part(Part::Rest).is_some(), is_known, "{line:?}");
        assert!(line.part(Part::Compile).unwrap() > 0.0, "{line:?}");
    }
    assert_eq!((spent.all.whole, spent.all.part(Part::Rest)), (None, None));
    let text = spent.render(Format::Terminal, Style::default()).unwrap();
    assert!(
        text.contains("The whole time of some children was not recorded"),
        "{text}"
    );
    assert!(
        text.contains("Not recorded, and in no figure here: probing"),
        "{text}"
    );
    let csv = spent.render(Format::Csv, Style::default()).unwrap();
    assert!(csv.contains("fathom trap,false,6,rest,,\r\n"), "{csv}");
}

#[test]
fn warm_up_is_apart_where_it_was_timed() {
    let text = |campaign: &Campaign| {
        let spent = Spent::of(campaign);
        (
            spent.all.clone(),
            spent.render(Format::Terminal, Style::default()).unwrap(),
        )
    };
    let (old, said) = text(&campaign("suite.jsonl", |_| {}));
    assert!(said.contains("start, end, warm-up"), "{said}");
    let (new, said) = text(&campaign("suite.jsonl", |record| {
        if record["record"] == "process" {
            record["warmup_ns"] = 1000.into();
        }
    }));
    assert!(
        said.contains("warm-up") && !said.contains("start, end, warm-up"),
        "{said}"
    );
    let warmup = 1000.0 * new.children as f64;
    assert_eq!(new.part(Part::Warmup), Some(warmup));
    let rest = |line: &Line| line.part(Part::Rest).unwrap();
    assert!((rest(&old) - rest(&new) - warmup).abs() < 1.0);
}

#[test]
fn a_record_that_was_written_twice_is_counted_once() {
    let whole = campaign("module.jsonl", |_| {});
    let mut twice = whole.clone();
    for process in whole.processes.clone() {
        twice.push(fathom_record::Record::Process(process));
    }
    for sample in whole.samples.clone() {
        twice.push(fathom_record::Record::Sample(sample));
    }
    assert_eq!(Spent::of(&twice), Spent::of(&whole));
}

#[test]
fn instances_at_once_share_the_clock() {
    let spent = Spent::of(&campaign("suite.jsonl", |_| {}));
    let two = spent
        .lines
        .iter()
        .filter(|line| line.name.ends_with(", 2 at once"));
    assert!(two.clone().count() > 2);
    for line in two {
        let counted = line.part(Part::Kernel).unwrap() + line.part(Part::Run).unwrap();
        assert!(counted < line.whole.unwrap(), "{line:?}");
    }
}

#[test]
fn forms_are_those_that_are_named() {
    let spent = Spent::of(&campaign("suite.jsonl", |_| {}));
    let text = spent.render(Format::Terminal, Style::default()).unwrap();
    assert!(text.contains("Of it controls: "), "{text}");
    for format in [Format::Html, Format::Json] {
        let error = spent.render(format, Style::default()).unwrap_err();
        assert!(
            error.to_string().ends_with("terminal, markdown or csv"),
            "{error}"
        );
    }
    let page = spent.render(Format::Markdown, Style::default()).unwrap();
    assert!(
        page.starts_with("# polybench-medium: where the time went\n\n| row  "),
        "{page}"
    );
}
