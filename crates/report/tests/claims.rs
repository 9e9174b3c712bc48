//! What a report claims, on campaigns that do not carry the claim.

mod common;

use common::data;
use fathom_report::chart::stack;
use fathom_report::view::Totals;
use fathom_report::{Format, Report, Style};
use fathom_stats::Figure;
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
    for claim in ["fastest", "Fastest", "Smallest", "overtake"] {
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
fn who_rested_has_no_place_however_fast_it_seemed() {
    let (report, text) = report(|record| {
        let keep = only(&["fathom/guard/speed", "wasmtime/default/speed"])(record);
        let round = record["round"].as_u64().unwrap_or(0);
        let is_fast = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("wasmtime"));
        if is_fast && record["record"] == "sample" {
            record["phases"]["run"]["wall_ns"] = 1_000.into();
        }
        keep && !(is_fast && round >= 3)
    });
    let said = &report.view.headline;
    assert!(
        said.contains("fathom") && !said.contains("wasmtime"),
        "{said}"
    );
    assert!(
        text.contains("too few rounds for a rank: it takes 5"),
        "{text}"
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
    // Of few rounds nothing is told, and that is told once.
    let (early, text) = report(|record| record["round"].as_u64().unwrap_or(0) < 4);
    let page = early.render(Format::Html, Style::default()).unwrap();
    for told in [&text, &page] {
        let told = told.to_lowercase();
        assert!(!told.contains("no control was measured"), "{told}");
        assert!(!told.contains("noise floor is not known"), "{told}");
    }
    let said = "too few rounds to say anything; it takes 5.";
    assert_eq!(text.matches(said).count(), 1, "{text}");
    // Only the control has few.
    let (behind, text) = report(|record| {
        let cell = record["cell"].as_str().unwrap_or_default();
        !cell.ends_with("control") || record["round"].as_u64().is_none_or(|round| round < 4)
    });
    assert!(!behind.view.groups[0].is_early());
    assert!(
        text.contains("The noise floor is not known yet: it takes 5 rounds."),
        "{text}"
    );
    let page = behind.render(Format::Html, Style::default()).unwrap();
    for told in [text, page] {
        let told = told.to_lowercase();
        assert!(!told.contains("no control was measured"), "{told}");
    }
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

#[test]
fn a_control_that_rested_is_not_a_cell_that_was_forgotten() {
    let (_, text) = report(|record| {
        let cell = record["cell"].as_str().unwrap_or_default();
        !cell.ends_with("control")
    });
    let line = text
        .lines()
        .find(|line| line.contains("too slow for the budget"));
    assert!(line.is_some_and(|line| line.contains("control")), "{text}");
    assert!(!text.contains("no round was completed"), "{text}");
}

#[test]
fn no_total_is_told_below_five_rounds() {
    let kept = |record: &mut Value| {
        let of_trap = record["cell"]
            .as_str()
            .is_some_and(|id| id.starts_with("fathom/trap/"));
        !of_trap || record["round"].as_u64().is_none_or(|round| round < 4)
    };
    let (report, text) = report(kept);
    let totals = report.view.groups[0].totals.clone().unwrap();
    for row in &totals.rows {
        let is_few = row.fields().iter().all(|field| field == "too few");
        assert_eq!(is_few, row.name == "fathom trap", "{}: {text}", row.name);
    }
    let said = &totals.sentence;
    assert!(
        said.contains("for one run fathom guard") && said.ends_with("to place fathom trap."),
        "{said}"
    );
    // Where no row has five, there is neither a sentence nor a table.
    let (report, text) = self::report(|record| record["round"].as_u64().is_none_or(|at| at < 4));
    assert_eq!(report.view.groups[0].totals, None);
    let forms = [Format::Html, Format::Markdown, Format::Json];
    let forms = forms.map(|form| report.render(form, Style::default()).unwrap());
    for told in forms.iter().chain([&text]) {
        assert!(!told.contains(Totals::TITLE), "{told}");
    }
    // Where one has, it is told of no other.
    let (report, _) = self::report(|record| {
        let is_guard = record["cell"]
            .as_str()
            .is_some_and(|id| id.starts_with("fathom/guard/speed/"));
        is_guard || record["round"].as_u64().is_none_or(|at| at < 4)
    });
    let totals = report.view.groups[0].totals.clone().unwrap();
    let known = totals.rows.iter().filter(|row| row.ns.is_some());
    assert!(known.map(|row| &row.name).eq(["fathom guard"]));
    assert!(totals.sentence.contains("too few rounds to name"));
}

/// How much of a figure's width its bars take, in per cent.
fn drawn(figure: &str) -> f64 {
    let bars = figure.split("<rect class=\"part").skip(1);
    let width = |bar: &str| {
        let (_, rest) = bar.split_once(" width=\"")?;
        rest.split_once('%')?.0.parse::<f64>().ok()
    };
    bars.filter_map(width).sum()
}

#[test]
fn one_slow_start_does_not_flatten_the_others() {
    let mut report = Report::open(&data("suite.jsonl")).unwrap();
    let group = &mut report.view.groups[0];
    let slow = group.rows.iter_mut().find(|row| row.engine == "node");
    slow.unwrap().costs.insert(Figure::Start, 60e9);
    let chart = stack::start(group);
    for row in &chart.rows {
        assert_eq!(
            row.figure.contains('»'),
            row.engine == "node",
            "{}",
            row.figure
        );
        let is_seen =
            row.engine == "native" || row.detail.contains("none") || drawn(&row.figure) > 20.0;
        assert!(is_seen, "{} {}: {}", row.engine, row.detail, row.figure);
    }
    let slow = chart.rows.iter().find(|row| row.engine == "node");
    assert_eq!(slow.unwrap().value, "60.0 s");
    assert!(chart.caption.contains('»'), "{}", chart.caption);
}

#[test]
fn every_bar_within_the_axis_has_its_interval() {
    let report = Report::open(&data("suite.jsonl")).unwrap();
    let group = &report.view.groups[0];
    for chart in [stack::start(group), stack::memory(group)] {
        for row in &chart.rows {
            let has = row.figure.contains("class=\"whisker\"");
            assert!(has || row.figure.contains('»'), "{}", row.figure);
            assert!(row.figure.contains("(95 %: "), "{}", row.figure);
        }
    }
    let (report, _) = self::report(|record| record["round"].as_u64().is_none_or(|at| at < 4));
    let chart = stack::start(&report.view.groups[0]);
    assert!(chart.rows.iter().all(|row| !row.figure.contains("whisker")));
}

/// What a record's program took, times something.
fn slower(record: &mut Value, by: f64) {
    if record["record"] == "sample" {
        let ns = record["phases"]["run"]["wall_ns"].as_f64().unwrap();
        record["phases"]["run"]["wall_ns"] = ((ns * by) as u64).into();
    }
}

fn by(record: &mut Value, estimator: &str) {
    if let Some(config) = record.get_mut("config") {
        config["estimator"] = estimator.into();
    }
}

#[test]
fn how_many_children_were_slowed_is_in_the_answer() {
    let headline = |estimator: &'static str, rounds: u64| {
        let (report, _) = report(move |record| {
            by(record, estimator);
            if record["round"].as_u64().is_some_and(|round| round < rounds) {
                slower(record, 1.5);
            }
            true
        });
        report.view.headline
    };
    let said = headline("faster-half", 1);
    let counted = " 17 % of children were slowed from outside; each cell counts its faster half.";
    assert!(said.contains(counted), "{said}");
    assert!(!said.contains("disturbed"), "{said}");
    let said = headline("faster-half", 2);
    let again = " 33 % of children were slowed from outside; each cell counts its faster half. \
                 The machine was disturbed: run again, or with a longer --budget.";
    assert!(said.contains(again), "{said}");
    let said = headline("mean", 2);
    assert!(
        said.contains("outside; the mean counts them all."),
        "{said}"
    );
    assert!(!headline("faster-half", 0).contains("slowed"));
}

#[test]
fn a_row_that_is_slow_by_itself_is_told_and_is_not_the_machine_s() {
    let (report, text) = report(|record| {
        by(record, "faster-half");
        let is_trap = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("fathom/trap/"));
        if is_trap && record["round"].as_u64().is_some_and(|round| round >= 2) {
            slower(record, 1.3);
        }
        true
    });
    let told = "fathom trap is slow by itself in part of its rounds: 67 % of its children were \
                slowed, and 0.0 % of those of rows about as fast in the same rounds.";
    assert!(text.contains(told), "{text}");
    assert!(!report.view.headline.contains("slowed"), "{text}");
    assert!(text.contains("slow half"), "{text}");
    // Nobody else is, and without it there is no such column on a terminal.
    assert_eq!(text.matches("slow by itself").count(), 1, "{text}");
    let (_, text) = self::report(|_| true);
    assert!(!text.contains("slow half"), "{text}");
}

#[test]
fn who_compiles_in_another_process_is_not_called_the_smallest() {
    let lines = std::fs::read_to_string(data("module.jsonl")).unwrap();
    let lines = lines.replace("wasm3", "wasm2c");
    let small = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let is_small = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("wasm2c"));
        if is_small && record["record"] == "process" {
            record["metrics"]["rss_peak_bytes"] = 6_000_000.into();
        }
        format!("{record}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.jsonl");
    std::fs::write(&file, lines.lines().map(small).collect::<String>()).unwrap();
    let report = Report::open(&file).unwrap();
    let advice = &report.view.groups[0].advice;
    let smallest = advice.iter().find(|line| line.starts_with("Smallest"));
    let smallest = smallest.unwrap();
    assert!(smallest.starts_with("Smallest: fathom guard"), "{smallest}");
    assert!(
        smallest.ends_with(" wasm2c needs 6.00 MB without its C compiler."),
        "{smallest}"
    );
    let text = report.render(Format::Terminal, Style::default()).unwrap();
    let caveat = "its memory is without that of its C compiler, a process of its own";
    assert!(text.contains(caveat), "{text}");
}

#[test]
fn the_first_is_told_of_whom_and_who_is_not_told_apart_is_named() {
    let (report, text) = report(|_| true);
    let said = &report.view.headline;
    for part in [
        "fathom guard came out first of 9 sandboxes: 458 ms (95 %: ",
        "; fathom uffd is equivalent within 2.0 %; no difference from wasmtime was shown; ",
        " would have been found.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(text.starts_with(said.as_str()), "{text}");
    let (report, _) = self::report(only(&["fathom/guard/speed", "wasm3/trap/speed"]));
    let said = &report.view.headline;
    assert!(
        said.contains(", fathom is the fastest exact sandbox: 458 ms"),
        "{said}"
    );
    let (report, _) = self::report(only(&["bun/guard/speed", "wasm3/trap/speed"]));
    let said = &report.view.headline;
    assert!(
        said.contains(", bun is the fastest sandbox, though it is not exact: 487 ms"),
        "{said}"
    );
}

#[test]
fn a_program_reads_what_the_sentences_say_of_the_first_and_the_others() {
    let (report, _) = report(|_| true);
    let json = report.render(Format::Json, Style::default()).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let group = &json["groups"][0];
    assert_eq!(group["first"], "fathom guard");
    let over = group["over_first"].as_array().unwrap();
    let ranked = report.view.groups[0]
        .rows
        .iter()
        .filter(|row| row.is_ranked());
    assert_eq!(over.len(), ranked.count() - 1);
    let mut verdicts: Vec<&str> = Vec::new();
    for one in over {
        let (row, verdict) = (
            one["row"].as_str().unwrap(),
            one["verdict"].as_str().unwrap(),
        );
        let said = match verdict {
            "undecided" => format!("fathom guard / {row}: undecided"),
            verdict => format!("fathom guard / {row} are {verdict}"),
        };
        let findings = &report.view.groups[0].findings;
        let of_row = format!("fathom guard / {row}");
        // Of an engine's rows the first alone has a sentence.
        if let Some(found) = findings.iter().find(|found| {
            let rest = found.text.strip_prefix(of_row.as_str());
            rest.is_some_and(|rest| rest.starts_with(':') || rest.starts_with(" are"))
        }) {
            assert!(
                found.text.starts_with(said.as_str()),
                "{one}: {}",
                found.text
            );
            verdicts.push(verdict);
        }
        let of = |end: &str| one["ratio"][end].as_f64().unwrap();
        assert!(
            of("low_95") < of("value") && of("value") < of("high_95"),
            "{one}"
        );
        assert!(verdict != "different" || of("low_95") > 1.0, "{one}");
    }
    assert!(
        verdicts.contains(&"different") && verdicts.contains(&"undecided"),
        "{verdicts:?}"
    );
    for row in group["rows"].as_array().unwrap() {
        let mean = row["ratio_to_baseline"]["value"].as_f64();
        assert_eq!(mean == Some(1.0), row["name"] == group["baseline"], "{row}");
        // What is ranked has one.
        let is_over = over.iter().any(|one| one["row"] == row["name"]);
        assert!(mean.is_some() || !is_over, "{row}");
    }
}

#[test]
fn without_a_control_nothing_would_have_been_found() {
    let (report, _) = report(only(&["fathom/clamp/speed", "wasm3/trap/speed"]));
    let said = &report.view.headline;
    assert!(said.contains("came out first of 2 sandboxes"), "{said}");
    assert!(!said.contains("would have been found"), "{said}");
}

#[test]
fn who_is_first_for_one_run_is_told_only_where_it_is_shown() {
    // Guard and uffd take the same in every second round the other way round.
    let (report, _) = report(|record| {
        let keep = only(&[
            "fathom/guard/speed",
            "fathom/uffd/speed",
            "wasm3/trap/speed",
        ])(record);
        let is_odd = record["round"].as_u64().unwrap_or(0) % 2 == 1;
        let is_uffd = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("fathom/uffd/"));
        if is_odd == is_uffd {
            slower(record, 1.02);
        }
        keep
    });
    let totals = report.view.groups[0].totals.clone().unwrap();
    let said = &totals.sentence;
    assert!(said.contains(", not told apart from fathom "), "{said}");
    assert!(!said.contains("wasm3"), "{said}");
}

#[test]
fn two_releases_alone_are_the_newer_over_the_older_whichever_is_first() {
    let (_, text) = report(|record| {
        let keep = only(&["fathom/guard/speed", "wasmtime/default/speed"])(record);
        let renamed = record
            .to_string()
            .replace("fathom/guard/speed", "x@10.0/guard/speed")
            .replace("wasmtime/default/speed", "x@9.1/guard/speed")
            .replace("\"strategy\":\"default\"", "\"strategy\":\"guard\"");
        *record = serde_json::from_str(&renamed).unwrap();
        for cell in record["cells"].as_array_mut().into_iter().flatten() {
            let version = match cell["engine"].as_str() {
                Some("fathom") => "10.0",
                _ => "9.1",
            };
            cell["version"] = version.into();
            cell["engine"] = "x".into();
        }
        keep
    });
    let said = text.lines().find(|line| line.contains("New / old: "));
    let said = said.unwrap_or_else(|| panic!("{text}"));
    assert!(said.contains("New / old: x 10.0 / 9.1 = 0."), "{said}");
    assert!(said.contains(" × (95 %: 0."), "{said}");
    let (_, text) = report(only(&["fathom/guard/speed", "wasmtime/default/speed"]));
    assert!(!text.contains("New / old"), "{text}");
}

#[test]
fn builds_that_are_called_old_and_new_are_compared_so() {
    let (_, text) = report(|record| {
        let keep = only(&["fathom/guard/speed", "wasmtime/default/speed"])(record);
        let renamed = record
            .to_string()
            .replace("fathom/guard/speed", "new/guard/speed")
            .replace("wasmtime/default/speed", "old/guard/speed")
            .replace("\"engine\":\"fathom\"", "\"engine\":\"new\"")
            .replace("\"engine\":\"wasmtime\"", "\"engine\":\"old\"")
            .replace("\"strategy\":\"default\"", "\"strategy\":\"guard\"");
        *record = serde_json::from_str(&renamed).unwrap();
        keep
    });
    assert!(text.contains("New / old = 0."), "{text}");
}
