//! `docs/PROTOCOL.md` says what the golden lines and the types say.
//!
//! Its examples are golden lines, every kind of line has one, its tables hold the
//! names of the closed sets with their help, and every field is told of.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fathom_record::protocol::{Event, Request};
use fathom_record::{Checks, FailureKind, Metric, Phase};
use serde_json::Value;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn page() -> String {
    read("../../docs/PROTOCOL.md")
}

fn golden() -> Vec<String> {
    let lines = read("tests/golden/requests.jsonl") + &read("tests/golden/events.jsonl");
    lines.lines().map(str::to_owned).collect()
}

/// The lines of the page's blocks of JSON.
fn examples(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            "```json" => inside = true,
            "```" => inside = false,
            line if inside => found.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

/// What a line is, without its contents: which event, and which of its two outcomes.
fn kind(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    let of = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let outcome = ["result", "trap"].map(|key| value.get(key).is_some());
    format!("{} {} {outcome:?}", of("mode"), of("event"))
}

#[test]
fn examples_are_golden_lines_and_each_kind_has_one() {
    let (page, golden) = (page(), golden());
    let examples = examples(&page);
    for line in &examples {
        assert!(golden.contains(line), "not a golden line: {line}");
        let read = Request::parse(line.as_bytes()).is_ok() || Event::parse(line.as_bytes()).is_ok();
        assert!(read, "{line}");
    }
    let shown: BTreeSet<String> = examples.iter().map(|line| kind(line)).collect();
    let there: BTreeSet<String> = golden.iter().map(|line| kind(line)).collect();
    assert_eq!(shown, there);
}

#[test]
fn each_field_is_told_of() {
    fn fields(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    found.insert(key.clone());
                    fields(value, found);
                }
            }
            Value::Array(all) => all.iter().for_each(|one| fields(one, found)),
            _ => {}
        }
    }
    let page = page();
    let mut found = BTreeSet::new();
    for line in golden() {
        fields(&serde_json::from_str(&line).unwrap(), &mut found);
    }
    assert!(found.contains("spectre") && found.contains("cycle"));
    // What is in a line of JSON only is not explained.
    let prose: String = page.lines().filter(|l| !l.starts_with('{')).collect();
    for field in found {
        let told = prose.contains(&format!("`{field}`"));
        assert!(told, "the page says nothing of the field {field}");
    }
}

#[test]
fn tables_hold_the_closed_sets() {
    let page = page();
    let mut rows: Vec<(&str, &str)> = Vec::new();
    rows.extend(Checks::ALL.iter().map(|one| (one.name(), one.help())));
    rows.extend(Phase::ALL.iter().map(|one| (one.name(), one.help())));
    rows.extend(Metric::ALL.iter().map(|one| (one.name(), one.help())));
    rows.extend(FailureKind::ALL.iter().map(|one| (one.name(), one.help())));
    for (name, help) in rows {
        let row = format!("\n| `{name}` | {help} |\n");
        assert!(page.contains(&row), "the page has no row {row}");
    }
}
