//! Servers under load: a line for each rate and server, medians over rounds, and what the talk
//! "Benchmarking WasmFX" states of its own.
//!
//! What must stay true: it works from the file alone; what failed is counted in the table, and
//! a server that could not be driven has no numbers but its reason; times of two servers are
//! compared round by round.

use fathom_record::Variant;
use fathom_record::load::{LoadHeader, LoadRun};
use fathom_stats::order::median;
use fathom_stats::ratio;

use crate::ReportError;
use crate::pages::{Served, served, way};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 14] = [
    ("asked, 1/s", "rate_per_s", Unit::Text),
    ("engine", "engine", Unit::Text),
    ("fibers", "fibers", Unit::Text),
    ("rounds", "rounds", Unit::Whole),
    ("answers, 1/s", "answers_per_s", Unit::Whole),
    ("over Asyncify", "answers_over_asyncify", Unit::Interval),
    ("median", "p50_ns", Unit::Time),
    ("99 %", "p99_ns", Unit::Time),
    ("99.9 %", "p999_ns", Unit::Time),
    ("over Asyncify", "p999_over_asyncify", Unit::Interval),
    ("largest", "max_ns", Unit::Time),
    ("over Asyncify", "max_over_asyncify", Unit::Interval),
    ("memory", "rss_peak_bytes", Unit::Bytes),
    ("failed", "failed", Unit::Whole),
];

/// The table of a file's runs, with the talk's lines behind.
///
/// # Errors
/// [`ReportError::Data`] if the talk's figures cannot be read; a test reads them.
pub fn sheet(header: &LoadHeader, runs: &[LoadRun]) -> Result<Sheet, ReportError> {
    let mut keys: Vec<(Option<u32>, &str, Variant)> = Vec::new();
    for run in runs {
        let key = (run.rate, run.engine.as_str(), run.build);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(rate, ..)| *rate);
    let ours = keys.into_iter().map(|key| line(key, runs));
    let published = served()?.into_iter().map(stated);
    Ok(Sheet {
        title: format!(
            "HTTP on loopback: {} connections, {} s at each rate, by {}; medians of rounds, the \
             largest latency of all, failures added up. At a constant rate latencies count from \
             when a request was due. What is over Asyncify is a geometric mean of the rounds' \
             ratios with 95 % intervals. Published is the talk \"Benchmarking WasmFX\"",
            header.connections, header.seconds, header.generator
        ),
        columns: &COLUMNS,
        lines: ours.chain(published).collect(),
    })
}

/// What the talk states, as a line.
fn stated(served: Served) -> Vec<Entry> {
    let unknown = || Entry::Number(None);
    let (answers, largest) = match served.rate {
        None => (Some(served.is), None),
        Some(_) => (None, Some(served.is * 1e6)),
    };
    vec![
        asked(served.rate),
        "published".into(),
        served.of.into(),
        unknown(),
        answers.into(),
        Entry::Ratio(None),
        unknown(),
        unknown(),
        unknown(),
        Entry::Ratio(None),
        largest.into(),
        Entry::Ratio(None),
        unknown(),
        unknown(),
    ]
}

fn asked(rate: Option<u32>) -> Entry {
    let asked = rate.map_or_else(|| "as many as it takes".to_owned(), |rate| rate.to_string());
    asked.into()
}

/// A figure over that of the Asyncify build in the same rounds.
fn over_asyncify(whole: &[&LoadRun], runs: &[LoadRun], figure: fn(&LoadRun) -> f64) -> Entry {
    let pair = |run: &&LoadRun| {
        let base = runs.iter().find(|other| {
            (other.round, other.rate) == (run.round, run.rate)
                && other.build == Variant::WasmAsyncify
                && other.trouble.is_none()
        })?;
        Some((figure(run), figure(base)))
    };
    let others = whole
        .iter()
        .filter(|run| run.build != Variant::WasmAsyncify);
    let pairs: Vec<(f64, f64)> = others.filter_map(pair).collect();
    Entry::Ratio(ratio::paired(&pairs).ok())
}

fn line((rate, engine, build): (Option<u32>, &str, Variant), runs: &[LoadRun]) -> Vec<Entry> {
    let of = |run: &&LoadRun| run.rate == rate && run.engine == engine && run.build == build;
    let all: Vec<&LoadRun> = runs.iter().filter(of).collect();
    let whole: Vec<&LoadRun> = all
        .iter()
        .copied()
        .filter(|run| run.trouble.is_none())
        .collect();
    let middle = |value: fn(&LoadRun) -> f64| {
        let values: Vec<f64> = whole.iter().map(|run| value(run)).collect();
        median(&values)
    };
    let largest = whole.iter().map(|run| run.max_ns as f64).reduce(f64::max);
    let peaks = whole.iter().filter_map(|run| run.rss_peak_bytes);
    let peak = peaks.max().map(|bytes| bytes as f64);
    let failed: u64 = whole.iter().map(|run| run.failed).sum();
    let failed = (!whole.is_empty()).then_some(failed as f64);
    vec![
        asked(rate),
        engine.into(),
        way(build).unwrap_or_default().into(),
        (whole.len() as u32).into(),
        middle(|run| run.per_second).into(),
        over_asyncify(&whole, runs, |run| run.per_second),
        middle(|run| run.p50_ns as f64).into(),
        middle(|run| run.p99_ns as f64).into(),
        middle(|run| run.p999_ns as f64).into(),
        over_asyncify(&whole, runs, |run| run.p999_ns as f64),
        largest.into(),
        over_asyncify(&whole, runs, |run| run.max_ns as f64),
        peak.into(),
        failed.into(),
    ]
}

/// What went wrong, a line each.
pub fn troubles(runs: &[LoadRun]) -> String {
    let each = runs.iter().filter_map(|run| {
        let why = run.trouble.as_ref()?;
        let rate = run
            .rate
            .map_or_else(|| "any rate".to_owned(), |rate| format!("{rate} a second"));
        Some(format!(
            "{} {} at {rate}, round {}: {why}\n",
            run.engine,
            run.build,
            run.round + 1
        ))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(round: u32, build: Variant, rate: Option<u32>, ms: u64) -> LoadRun {
        LoadRun {
            round,
            engine: "fathom".to_owned(),
            build,
            rate,
            requests: 100,
            failed: u64::from(round),
            per_second: 1000.0,
            p50_ns: ms * 1_000_000,
            p99_ns: ms * 2_000_000,
            p999_ns: ms * 3_000_000,
            max_ns: ms * 4_000_000,
            rss_peak_bytes: Some(1 << 20),
            trouble: None,
        }
    }

    #[test]
    fn lines_are_medians_by_rate_and_failures_are_added_up_and_the_talk_is_behind() {
        let header = LoadHeader {
            date: String::new(),
            tool: String::new(),
            generator: "oha 1".to_owned(),
            connections: 10,
            seconds: 1,
            cpus: Vec::new(),
            host: fathom_record::Host::default(),
        };
        let gone = LoadRun {
            trouble: Some("the server did not end".to_owned()),
            ..run(3, Variant::WasmSwitch, Some(500), 0)
        };
        let runs = [
            run(0, Variant::WasmSwitch, Some(500), 1),
            run(1, Variant::WasmSwitch, Some(500), 3),
            run(2, Variant::WasmSwitch, Some(500), 2),
            run(0, Variant::WasmAsyncify, None, 9),
            gone,
        ];
        let csv = sheet(&header, &runs).unwrap().csv();
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(
            lines[..3],
            [
                "as many as it takes,fathom,Asyncify,1,1000,,,,9000000,18000000,27000000,,,,36000000,,,,1048576,0",
                "500,fathom,stack switching,3,1000,,,,2000000,4000000,6000000,,,,12000000,,,,1048576,3",
                "as many as it takes,published,Asyncify,,79587,,,,,,,,,,,,,,,",
            ]
        );
        assert!(lines.contains(&"80000,published,WasmFX (dev),,,,,,,,,,,,8000000,,,,,"));
        assert_eq!(
            troubles(&runs),
            "fathom wasm-switch at 500 a second, round 4: the server did not end\n"
        );
    }

    #[test]
    fn a_latency_is_compared_with_asyncify_s_of_its_round() {
        let rate = Some(500);
        let of = |build, ms: [u64; 5]| {
            let each = ms.into_iter().zip(0..);
            each.map(move |(ms, round)| run(round, build, rate, ms))
        };
        let runs: Vec<LoadRun> = of(Variant::WasmAsyncify, [10, 20, 40, 80, 160])
            .chain(of(Variant::WasmSwitch, [5, 10, 20, 40, 80]))
            .collect();
        let whole: Vec<&LoadRun> = runs
            .iter()
            .filter(|run| run.build == Variant::WasmSwitch)
            .collect();
        let Entry::Ratio(Some(ratio)) = over_asyncify(&whole, &runs, |run| run.max_ns as f64)
        else {
            panic!("there are rounds of both")
        };
        let ends = ratio.interval.unwrap();
        for value in [ratio.value, ends.low, ends.high] {
            assert!((value - 0.5).abs() < 1e-12, "{value}");
        }
    }
}
