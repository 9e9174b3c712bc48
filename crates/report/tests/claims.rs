//! What a report claims, on campaigns that do not carry the claim.

mod common;

use common::data;
use fathom_report::{Format, Report, Style};
use serde_json::Value;

/// The report's text of the made-up module's campaign with some of its lines changed or
/// left out.
fn report(change: impl Fn(&mut Value) -> bool) -> (Report, String) {
    let lines = std::fs::read_to_string(data("module.jsonl")).unwrap();
    let mut kept = String::new();
    for line in lines.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if change(&mut record) {
            kept.push_str(&format!("{record}\n"));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.jsonl");
    std::fs::write(&file, kept).unwrap();
    let report = Report::open(&file).unwrap();
    let text = report.render(Format::Terminal, Style::default()).unwrap();
    (report, text)
}

/// Keeps the rows whose `engine/strategy` is one of these.
fn only(rows: &'static [&'static str]) -> impl Fn(&mut Value) -> bool {
    move |record| {
        if let Some(cells) = record.get_mut("cells").and_then(Value::as_array_mut) {
            cells.retain(|cell| {
                let part = |name: &str| cell[name].as_str().unwrap_or_default().to_owned();
                let row = format!("{}/{}/{}", part("engine"), part("strategy"), part("opt"));
                rows.contains(&row.as_str())
            });
        }
        let named = record["cell"].as_str().or(record["sandbox"].as_str());
        named.is_none_or(|name| rows.iter().any(|row| name.starts_with(row)))
    }
}

#[test]
fn who_has_no_rival_is_called_nothing() {
    let (report, text) = report(only(&["fathom/guard/speed"]));
    for claim in ["fastest", "Fastest", "Smallest", "Soonest", "nobody"] {
        assert!(!text.contains(claim), "{claim}: {text}");
    }
    let said = &report.view.headline;
    let is_its_time = said.contains(", fathom: 458 ms");
    assert!(
        is_its_time && said.ends_with(". No other sandbox was measured."),
        "{said}"
    );
}

#[test]
fn who_has_rivals_of_its_own_engine_alone_is_the_fastest_of_these() {
    let (report, _) = report(only(&["fathom/guard/speed", "fathom/trap/speed"]));
    let said = &report.view.headline;
    assert!(
        said.contains("fathom guard is the fastest of fathom's configurations"),
        "{said}"
    );
}

#[test]
fn the_headline_and_the_advice_name_the_same_row() {
    // Guard is the faster in the mean of rounds, wasmtime in their median.
    let (report, text) = report(|record| {
        let keep = only(&["fathom/guard/speed", "wasmtime/default/speed"])(record);
        let round = record["round"].as_u64().unwrap_or(0);
        let ns = match record["cell"].as_str() {
            Some(cell) if cell.starts_with("wasmtime") && round >= 4 => 150_000_000,
            Some(cell) if cell.starts_with("wasmtime") => 99_000_000,
            _ => 100_000_000,
        };
        if record["record"] == "sample" {
            record["phases"]["run"]["wall_ns"] = Value::from(ns);
        }
        keep
    });
    let first = report.view.groups[0].rows[0].name.clone();
    let advice = text.lines().find(|line| line.contains("Fastest:")).unwrap();
    assert!(
        report.view.headline.contains(&format!(", {first} ")),
        "{text}"
    );
    assert!(advice.contains(&format!("Fastest: {first}")), "{text}");
}

#[test]
fn the_start_is_the_same_in_the_chart_and_in_the_table() {
    // The medians of the parts are of different rounds than that of their sum.
    let (report, _) = report(|record| {
        let keep = only(&["fathom/guard/speed", "fathom/trap/speed"])(record);
        if record["record"] == "process" {
            let slow = record["round"].as_u64().unwrap_or(0) < 4;
            let (load, compile) = if slow {
                (9_000_000, 1_000_000)
            } else {
                (1_000_000, 30_000_000)
            };
            record["phases"]["load"]["wall_ns"] = Value::from(load);
            record["phases"]["compile"]["wall_ns"] = Value::from(compile);
        }
        keep
    });
    let page = report.render(Format::Html, Style::default()).unwrap();
    let chart = page.split("<h3>Start-up</h3>").nth(1).unwrap();
    let chart = chart.split("</figure>").next().unwrap();
    let row = &report.view.groups[0].rows[0];
    let start = fathom_report::figures::time(row.costs[&fathom_stats::Figure::Start]);
    assert!(chart.contains(&format!(">{start}<")), "{start}: {chart}");
}

#[test]
fn a_control_of_too_few_rounds_is_not_called_missing() {
    let (report, text) = report(|record| record["round"].as_u64().unwrap_or(0) == 0);
    assert!(!text.contains("No control was measured"), "{text}");
    assert!(
        text.contains("The noise floor is not known yet: it takes 5 rounds."),
        "{text}"
    );
    let page = report.render(Format::Html, Style::default()).unwrap();
    assert!(!page.contains("no control was measured"));
    let (_, text) = self::report(|record| {
        if let Some(cells) = record.get_mut("cells").and_then(Value::as_array_mut) {
            cells.retain(|cell| cell.get("control_of").is_none());
        }
        !record["cell"]
            .as_str()
            .unwrap_or_default()
            .ends_with("control")
    });
    assert!(
        text.contains("No control was measured, so no noise floor is known."),
        "{text}"
    );
}
