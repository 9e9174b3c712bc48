//! The page, from a campaign made of formulas.

use std::collections::BTreeMap;

use fathom_record::campaign::{Seen, Threads, Traced, WorkloadNote};
use fathom_record::waterfall::NOT_RUN;
use fathom_record::{Phase, Record, Span};

use super::*;
use crate::formula;

const LIBRARY: u64 = 68_000;
const READS: u64 = 10_000;

fn note(suite: &str, name: &str, trips: Option<u64>) -> WorkloadNote {
    WorkloadNote {
        suite: suite.to_owned(),
        name: name.to_owned(),
        trips,
        ..WorkloadNote::default()
    }
}

/// Calls that took so long, seen at a cost of 100 ns.
fn seen(count: u64, each_ns: u64) -> Seen {
    Seen {
        count,
        total_ns: count * (each_ns + 100),
        each_ns: 100.0,
    }
}

/// A cell's program, and by how much its file is smaller.
fn part(cell: &Cell) -> (&str, u64) {
    let smaller = cell.workload.split_once("-of-");
    smaller.map_or((&cell.workload, 1), |(program, _)| (program, 4))
}

/// What an engine asks for: once for each request, twice, or by another thread; one of them
/// does not let its calls be timed.
fn traced(cell: &Cell, repeat: u32) -> Option<Traced> {
    let is_native = !cell.variant.is_wasm();
    let (program, part) = part(cell);
    let (write, system) = match (program, is_native) {
        ("fwrites-60", true) => ("fd_write", 1000),
        ("fwrites-60", false) => ("fd_write", 4000),
        ("freads-4096", _) => ("fd_read", READS),
        ("opens", _) => ("path_open", 500),
        ("seeks", _) => ("fd_seek", 500),
        _ => return None,
    };
    let (system, off) = (system / part, u64::from(repeat));
    let (asked, made, futexes, each_ns) = match cell.sandbox.engine.as_str() {
        "wasmtime" => (2 * system, 2 * system, 9 * system + off, 9000 + off),
        "wasm3" => (system, 2 * system, 0, 3000 + off),
        "native" => (0, system, 0, 1000 + off),
        _ => (system, system, 0, 1100 + off),
    };
    let mut function = seen(asked, each_ns);
    if cell.sandbox.engine == "wasm3" {
        function = Seen {
            count: asked,
            ..Seen::default()
        };
    }
    let name = match write {
        "fd_write" => "writev",
        "fd_read" => "readv",
        "path_open" => "openat",
        _ => "lseek",
    };
    let calls = [(name, seen(made, 900 + off)), ("futex", seen(futexes, 500))];
    let calls = calls.into_iter().filter(|(_, seen)| seen.count > 0);
    Some(Traced {
        cell: cell.id(),
        repeat,
        wasi: None,
        calls: None,
        functions: (!is_native).then(|| BTreeMap::from([(write.to_owned(), function)])),
        threads: Some(Threads {
            count: 1,
            calls: calls.map(|(name, seen)| (name.to_owned(), seen)).collect(),
            waits: futexes / 2,
        }),
    })
}

/// How long a program takes.
fn seconds(cell: &Cell) -> f64 {
    let whole = match (cell.workload.as_str(), cell.sandbox.engine.as_str()) {
        (NOT_RUN, _) => 1e-9,
        (_, "native") => 0.1,
        (_, "fathom") => 0.12,
        (_, "wasm3") => 0.5,
        _ => 0.9,
    };
    whole / part(cell).1 as f64
}

fn campaign() -> Campaign {
    let notes = vec![
        note("wasi-io", "freads-4096", Some(READS)),
        note("wasi-io", "fwrites-60", Some(LIBRARY)),
        note("wasi-io", "fwrites-60-of-1020000", Some(LIBRARY / 4)),
        note("wasi-io", "opens", Some(500)),
        note("wasi-io", "seeks", Some(500)),
        note(SUITE, NOT_RUN, None),
    ];
    let rows = [
        ("fathom", "guard", Variant::Wasm),
        ("native", "none", Variant::NativeGcc),
        ("wasm3", "trap", Variant::Wasm),
        ("wasmtime", "guard", Variant::Wasm),
    ];
    let mut cells = Vec::new();
    for note in &notes {
        for (engine, strategy, variant) in rows {
            if note.suite == SUITE && !variant.is_wasm() {
                continue;
            }
            let mut cell = formula::cell(engine, strategy, variant, (&note.suite, &note.name));
            if note.suite == SUITE {
                cell.size = String::new();
            }
            cells.push(cell);
        }
    }
    // What is measured twice says what the noise is.
    let controls: Vec<Cell> = cells
        .iter()
        .filter(|cell| cell.sandbox.engine == "fathom" && cell.suite != SUITE)
        .map(Cell::control)
        .collect();
    cells.extend(controls);
    let mut campaign = formula::campaign("ewapa-mini", notes, &cells, seconds);
    let by_id: BTreeMap<_, _> = cells.iter().map(|cell| (cell.id(), cell)).collect();
    for process in &mut campaign.processes {
        let cell = by_id[&process.cell];
        let start = match cell.sandbox.engine.as_str() {
            "native" => 0.0,
            "fathom" => 10e6,
            "wasm3" => 1e6,
            _ => 200e6,
        };
        let span = Span {
            wall_ns: (start / 2.0) as u64,
            cpu_ns: None,
        };
        process.phases.insert(Phase::Compile, span);
        process.wall_ns = Some((start + 1e9 * seconds(cell)) as u64 + u64::from(process.round));
    }
    for repeat in 0..5 {
        for cell in cells.iter().filter(|cell| !cell.is_control()) {
            if let Some(traced) = traced(cell, repeat) {
                campaign.push(Record::Traced(traced));
            }
        }
    }
    campaign
}

fn study() -> Publication {
    publications::read(NAME, DATA).unwrap()
}

fn files(campaign: &Campaign) -> Vec<(String, String)> {
    let summary = Summary::from_campaign(campaign);
    Page::of(campaign, &summary).files(&study())
}

/// The lines of a section.
fn section<'a>(text: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let at = text
        .find(title)
        .unwrap_or_else(|| panic!("{title}: {text}"));
    let lines = text[at..].lines().skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| line.starts_with('|'));
    lines
        .map(|line| line.split('|').map(str::trim).collect())
        .collect()
}

fn line<'a>(section: &'a [Vec<&'a str>], begins: &str) -> &'a [&'a str] {
    let mut lines = section.iter();
    lines.find(|line| line[1] == begins).unwrap()
}

#[test]
fn what_the_study_states_is_data_that_can_be_read() {
    let study = study();
    assert_eq!((study.io.len(), study.each.len()), (2, 2));
    for each in &study.each {
        assert_eq!(each.functions.len(), each.system.len());
        assert_eq!(each.functions.len(), each.calls.len());
        let whole = |line: &EachLine| line.is.len() == each.functions.len();
        assert!(each.line.iter().all(whole), "{}", each.table);
    }
}

#[test]
fn every_statement_is_answered() {
    let campaign = campaign();
    let summary = Summary::from_campaign(&campaign);
    let page = Page::of(&campaign, &summary);
    // The programs of the others are not in this campaign.
    for statement in study().statement {
        let here = page.here(&statement.here);
        let is_there = !["280", "2000"]
            .iter()
            .any(|not| statement.here.contains(not));
        assert_eq!(here.is_some(), is_there, "{}: {here:?}", statement.here);
    }
    assert_eq!(
        page.here("gathered fwrites-60").unwrap(),
        "native: 68.0 : 1 (of a system call); fathom: 17.0 : 1 : 1.0; wasm3: 17.0 : 1 : 2.0; \
         wasmtime: 8.50 : 1 : 1.0"
    );
    let handed = page.here("handed over").unwrap();
    assert_eq!(
        handed,
        "wasmtime: 4.5 calls of futex for each WASI transfer"
    );
    let doubled = page.here("doubled").unwrap();
    assert!(
        doubled.contains("wasmtime: freads-4096: 2.0 × the WASI calls"),
        "{doubled}"
    );
    assert!(
        doubled.contains("wasm3: fwrites-60: 2.0 system calls a WASI call"),
        "{doubled}"
    );
    assert!(!doubled.contains("fathom"), "{doubled}");
    let starts = page.here("start-up").unwrap();
    assert_eq!(starts, "wasm3 1.00 ms, fathom 10.0 ms, wasmtime 200 ms");
    assert_eq!(page.here("nothing"), None);
}

#[test]
fn times_are_without_what_looking_adds_and_have_intervals() {
    let files = files(&campaign());
    let table = section(&files[0].1, "## Table VII: fwrite");
    let fathom = line(&table, "fathom");
    assert_eq!(&fathom[3..4], ["4,000"], "{fathom:?}");
    assert!(
        fathom[4].starts_with("1.10 µs (1.10 µs–1.10 µs)"),
        "{fathom:?}"
    );
    assert_eq!(fathom[6], "4,000");
    // Three quarters of the native calls' length, four times as many.
    assert!(fathom[8].starts_with("4.00 ("), "{fathom:?}");
    let native = line(&table, "native");
    assert_eq!((native[3], native[6], native[8]), ("68,000", "1,000", "–"));
    assert!(table.iter().any(|line| line[1] == "published: native"));
    // Counted and not timed.
    let wasm3 = line(&table, "wasm3");
    assert_eq!((wasm3[2], wasm3[3], wasm3[4]), ("–", "4,000", "–"));
}

#[test]
fn shares_of_the_time_and_start_up_are_drawn() {
    let files = files(&campaign());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "ewapa.md",
        "ewapa-calls-fwrite.svg",
        "ewapa-wasi-fwrite.svg",
        "ewapa-whole-fwrite.svg",
        "ewapa-start.svg",
        "ewapa-share-fread.svg",
        "ewapa-share-fwrite.svg",
    ];
    assert_eq!(names, wanted);
    let text = &files[0].1;
    for (name, svg) in &files[1..] {
        assert!(text.contains(&format!("]({name})")), "{name}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
    let start = &files[4].1;
    assert!(start.contains("» 200 ms"), "a long bar is cut: {start}");
    let share = section(text, "### Figure 6: fwrites-60");
    // 3.6 ms of system calls and 0.8 ms around them, of 130 ms.
    let fathom = line(&share, "fathom");
    assert_eq!(fathom[2..6], ["130 ms", "2.8 %", "0.6 %", "97 %"]);
    assert_eq!(line(&share, "native")[4], "–");
    assert_eq!(line(&share, "wasm3")[4], "–");
}

#[test]
fn times_grow_with_the_size() {
    let files = files(&campaign());
    let text = &files[0].1;
    let calls = section(text, "### Figure 2");
    assert_eq!(calls[0][2..4], ["1.02 MB", "4.08 MB"]);
    // 1000 and 4000 calls of 0.902 µs; the programs that read are of one size alone.
    let fathom = line(&calls, "fathom");
    assert!(fathom[2].starts_with("902 µs (") && fathom[3].starts_with("3.61 ms ("));
    assert_eq!(calls.iter().filter(|line| line[1] == "fathom").count(), 1);
    let wasi = section(text, "### Figure 3");
    assert_eq!(line(&wasi, "native")[2..4], ["–", "–"]);
    assert!(line(&wasi, "fathom")[3].starts_with("4.41 ms ("));
    let whole = section(text, "### Figure 5");
    assert_eq!(line(&whole, "fathom")[2..4], ["40.0 ms", "130 ms"]);
    // Of which the slowest stands highest, and none is without its name.
    let drawing = &files[3].1;
    assert_eq!(drawing.matches("<polyline").count(), 4, "{drawing}");
    assert_eq!(drawing.matches("<circle").count(), 8);
    let named = |name: &str| drawing.find(&format!(">{name}</text>")).unwrap();
    assert!(named("wasmtime") < named("wasm3") && named("wasm3") < named("native"));
    // Calls that were not timed have no line, and nothing but names is left of it.
    assert_eq!(files[2].1.matches("<circle").count(), 4, "{}", files[2].1);
}

#[test]
fn one_size_is_no_trend() {
    let mut campaign = campaign();
    let notes = &mut campaign.header.workloads;
    notes.retain(|note| !trends::is_smaller(&note.name));
    let files = files(&campaign);
    assert!(!files[0].1.contains("Figure 2") && files.len() == 4);
}

#[test]
fn differences_are_told_as_everywhere() {
    let files = files(&campaign());
    let all = section(&files[0].1, "## All programs");
    let mut programs = all.iter().filter(|line| line[2] == "wasmtime");
    let wasmtime = programs.next().unwrap();
    assert!(wasmtime[4].starts_with("9.00 (") && wasmtime[4].ends_with(" different"));
    assert_eq!(wasmtime[5], "20,000");
    assert_eq!(wasmtime[7], "90,000–90,004");
    assert_eq!(all.iter().find(|line| line[2] == "native").unwrap()[4], "–");
}

#[test]
fn what_was_not_traced_or_failed_is_not_measured() {
    let mut campaign = campaign();
    campaign.traced.clear();
    let files = files(&campaign);
    let table = section(&files[0].1, "## Table VI: fread");
    assert!(
        line(&table, "fathom")[2..9]
            .iter()
            .all(|one| *one == "not measured")
    );
    assert!(!files[0].1.contains("### Figure 6"));
    let answers = section(&files[0].1, "## What they found");
    assert!(
        answers
            .iter()
            .any(|line| line.contains(&"not in this campaign"))
    );
    let opens = section(&files[0].1, "## Table IV");
    assert_eq!(line(&opens, "wasm3")[2], "not measured");
}

/// The page as a whole, against a file: `FATHOM_BLESS=1` writes it anew.
#[test]
fn the_page_is_as_it_was() {
    let found = &files(&campaign())[0].1;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ewapa.txt");
    if std::env::var_os("FATHOM_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(file, found).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap();
    assert_eq!(*found, expected, "{file}");
}
