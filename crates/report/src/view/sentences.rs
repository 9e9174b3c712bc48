//! What is said in words, once for all formats: labels, caveats, what may be said of
//! pairs; the headline is in [`super::headline`].
//!
//! What must stay true: no sentence calls a difference one unless its verdict
//! is [`Verdict::Different`], and none says that there is none unless it is
//! [`Verdict::Equivalent`].

use fathom_record::protocol::Hello;
use fathom_record::release::order;
use fathom_record::{Campaign, Guarantee, Variant};
use fathom_stats::exact::rounds_min;
use fathom_stats::{DELTA, Figure, FigureUnit, Row as Key, RowRatio, RowSummary, Summary, Verdict};

use super::compared_figure::Pairs;
use super::group::Shown;
use super::{Finding, Group, Interval, Row, Workload};
use crate::figures;

/// What was measured, in one line.
pub fn subject(campaign: &Campaign, summary: &Summary, groups: &[Group]) -> String {
    let mut parts = Vec::new();
    match (&campaign.header.config.module, groups.first()) {
        (Some(module), _) => {
            let path = &module.path;
            let name = path.file_name().unwrap_or(path.as_os_str());
            parts.push(name.to_string_lossy().into_owned());
            parts.push(figures::bytes(module.bytes as f64));
        }
        (None, Some(group)) => parts.push(format!(
            "{} of {}",
            figures::plural(group.workloads.len(), "workload"),
            group.suite
        )),
        (None, None) => {}
    }
    let times = || {
        summary
            .cells
            .iter()
            .filter_map(|cell| cell.times.as_ref().ok())
    };
    let rounds = times().map(|times| times.rounds.len()).max().unwrap_or(0);
    let samples = times().map(|times| times.samples.len()).sum();
    parts.push(format!(
        "{} in fresh processes",
        figures::plural(rounds, "round")
    ));
    parts.push(figures::plural(samples, "sample"));
    if let Some(group) = groups.first() {
        parts.push(format!("compared by {}", group.figure.noun()));
    }
    parts.join(" · ")
}

/// `polybench · medium · 1 thread`; a user's own module by its name.
pub fn group_title(suite: &str, size: &str, threads: u32, workloads: &[Workload]) -> String {
    let name = match workloads {
        [only] if suite == "module" => only.name.clone(),
        [only] => format!("{suite}: {}", only.name),
        _ => suite.to_owned(),
    };
    let threads = match threads {
        1 => "1 instance".to_owned(),
        many => format!("{many} instances at once"),
    };
    [name.as_str(), size, &threads]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// What ratios are to.
pub fn baseline(base: Option<&Key>, rows: &[Shown<'_>]) -> String {
    let Some(base) = base else {
        return String::new();
    };
    if base.variant == Variant::Native {
        return "native".to_owned();
    }
    rows.iter()
        .find(|shown| shown.from.row == *base)
        .map_or_else(|| base.to_string(), |shown| shown.row.name.clone())
}

/// Missing workloads that are named; more are left to the list of failures.
const NAMED_MAX: usize = 4;

/// Said of rows that check nothing.
const UNCHECKED: &str = "checks nothing: the baseline for the cost of checks, never ranked";

/// An engine's version as found, where a table should show it.
pub fn version(row: &Key, hello: Option<&Hello>) -> String {
    let is_shown =
        row.variant.is_wasm() && row.sandbox.engine != "fathom" && row.sandbox.version.is_none();
    hello
        .map(|hello| hello.version.clone())
        .filter(|version| is_shown && version != "unknown")
        .unwrap_or_default()
}

/// An engine's version in every form for programs: as found, or as asked for.
pub fn in_force(row: &Key, hello: Option<&Hello>) -> String {
    let found = hello.map(|hello| hello.version.clone());
    let version = found.or_else(|| row.sandbox.version.clone());
    version.unwrap_or_default()
}

/// What a reader must know of a row before its number.
pub fn caveats(row: &RowSummary, missing: &[String], workloads: usize) -> Vec<String> {
    let mut caveats = Vec::new();
    if !row.row.variant.is_wasm() {
        return caveats;
    }
    match &row.probe {
        Some(probe) if probe.is_unsound() => caveats.push(format!(
            "unsound: {} of {} accesses violated its guarantee, so it has no time",
            figures::count(probe.violations as f64),
            figures::count(probe.accesses as f64)
        )),
        Some(probe) if probe.claimed == Guarantee::Unchecked => caveats.push(UNCHECKED.to_owned()),
        Some(probe) if probe.is_overcautious() => caveats.push(format!(
            "not exact: {} of {} accesses trapped inside the memory; none left it",
            figures::count(probe.needless as f64),
            figures::count(probe.accesses as f64)
        )),
        Some(probe) if probe.claimed < Guarantee::Exact => {
            caveats.push(probe.claimed.help().to_owned());
        }
        None if row.row.sandbox.strategy == "none" => {
            caveats.push(UNCHECKED.to_owned());
        }
        None => caveats.push("not probed".to_owned()),
        Some(_) => {}
    }
    if let Some(probe) = row.probe.as_ref().filter(|probe| !probe.without.is_empty()) {
        caveats.push(format!(
            "probed without {}, which it refuses",
            listed(&probe.without)
        ));
    }
    if let Some(part) = row.probe.as_ref().and_then(|probe| probe.part_percent) {
        caveats.push(format!("probed in part: there was time for {part} % of it"));
    }
    if let Some(compiler) = compiler_outside(&row.row) {
        caveats.push(format!(
            "its memory is without that of {compiler}, a process of its own"
        ));
    }
    let lost = row.without_time.len();
    if lost > 0 && lost < workloads {
        let mut names: Vec<&str> = missing.iter().map(String::as_str).collect();
        if names.len() > NAMED_MAX {
            names.truncate(NAMED_MAX);
            names.push("…");
        }
        caveats.push(format!(
            "a mean over {} of {workloads} workloads only (without {})",
            workloads - lost,
            names.join(", ")
        ));
    }
    caveats
}

/// The compiler that a row compiles with in another process, whose memory no sample has.
pub fn compiler_outside(row: &Key) -> Option<&'static str> {
    let sandbox = &row.sandbox;
    match (sandbox.engine.as_str(), sandbox.settings.backend()) {
        ("wasm2c", _) => Some("its C compiler"),
        ("fathom", Some("llvm")) => Some("its clang"),
        _ => None,
    }
}

/// Things one after the other, as a sentence has them.
pub fn listed(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Some names, and how many more there are.
pub fn named(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] if names.len() <= TOLD_MAX => format!("{} and {last}", all.join(", ")),
        _ => {
            let (first, more) = names.split_at(TOLD_MAX - 1);
            format!("{} and {} others", first.join(", "), more.len())
        }
    }
}

/// Names that a sentence has room for; more are counted.
const TOLD_MAX: usize = 3;

/// How much more: `3.1–3.4 % longer (95 %)`, `4.9 × as long (95 %: 4.8–5.1)`;
/// nothing without an interval.
pub(super) fn further(ratio: &RowRatio, figure: Figure) -> Option<String> {
    let ratio = ratio.geomean.as_ref().ok()?;
    let much = match figure.unit() {
        FigureUnit::Nanoseconds => "long",
        _ => "much",
    };
    let more = more(figure);
    let ends = ratio.interval.ok()?;
    Some(match ratio.value < 2.0 {
        true => format!("{} {more} (95 %)", range(ends.low, ends.high)),
        false => format!(
            "{} as {much} (95 %: {})",
            figures::ratio(ratio.value),
            figures::ends(ends.low, ends.high)
        ),
    })
}

/// How a larger figure compares.
fn more(figure: Figure) -> &'static str {
    match figure.unit() {
        FigureUnit::Nanoseconds => "longer",
        _ => "more",
    }
}

/// Why a verdict says nothing, in a sentence.
pub fn doubt(verdict: Verdict, figure: Figure) -> Option<String> {
    match verdict {
        Verdict::Different | Verdict::Equivalent | Verdict::Undecided => None,
        Verdict::TooFew => Some(format!(
            "Too few rounds to be sure: it takes {}.",
            rounds_min(figure)
        )),
        Verdict::Uncontrolled => Some("No control says how much of this is noise.".to_owned()),
    }
}

/// Said of a row that has times but no place; of these workloads its figure was 0.
pub fn no_place(figure: Figure, zeros: &[&str]) -> String {
    match zeros {
        [] => too_short(figure),
        zeros => without_ratio(figure, zeros),
    }
}

fn without_ratio(figure: Figure, workloads: &[&str]) -> String {
    let noun = figure.noun();
    format!(
        "no rank: its {noun} was 0 in {}, and what is 0 has no ratio",
        named(workloads)
    )
}

fn too_short(figure: Figure) -> String {
    format!(
        "too few rounds for a rank: it takes {}. The slowest rows are left out of later \
         rounds when the budget is short; `--resume` with a longer `--budget` measures them",
        rounds_min(figure)
    )
}

/// What is said on top where the noise hides what readers look for; how much it hides is
/// said once, with the findings.
pub fn loud(floor: f64) -> Option<String> {
    let words = "The host was too noisy to tell small differences.";
    (floor > LOUD).then(|| words.to_owned())
}

/// A noise floor that is worth a warning: engines differ by less.
const LOUD: f64 = 0.1;

/// Whether a row's times have intervals: of fewer rounds no figure is said.
pub fn is_known(row: &Row) -> bool {
    let cells = row.cells.iter().flatten();
    cells.clone().count() > 0 && cells.into_iter().all(|cell| cell.estimate.ends.is_some())
}

/// The first ranked row beside the first of every other engine, and what could
/// have been seen.
pub fn findings(rows: &[Shown<'_>], pairs: &Pairs<'_>, seen_cell: Option<f64>) -> Vec<Finding> {
    let mut ranked = rows.iter().filter(|shown| shown.row.is_ranked());
    let Some(best) = ranked.next() else {
        return Vec::new();
    };
    let mut engines = vec![&best.row.engine];
    let mut findings: Vec<Finding> = new_over_old(rows, pairs).into_iter().collect();
    for shown in ranked {
        if !engines.contains(&&shown.row.engine) {
            engines.push(&shown.row.engine);
            findings.push(finding(best, shown, pairs));
        }
    }
    if findings.is_empty() {
        return findings;
    }
    // One figure for what the noise hides, and what it means.
    let text = match pairs.seen.or(seen_cell) {
        Some(seen) => format!(
            "Smallest detectable difference (80 % power): {}: what differs by less is likely not \
             to be told apart.",
            figures::percent(seen)
        ),
        None => return findings,
    };
    findings.push(Finding {
        text,
        is_real: false,
    });
    findings
}

/// Where two releases of one engine are all there is, or builds of a user's own that are called
/// old and new: the newer over the older, whichever came first.
fn new_over_old(rows: &[Shown<'_>], pairs: &Pairs<'_>) -> Option<Finding> {
    let mut ranked = rows.iter().filter(|shown| shown.row.is_ranked());
    let (one, other) = (ranked.next()?, ranked.next()?);
    let (first, second) = (&one.from.row.sandbox, &other.from.row.sandbox);
    let is_pair = ranked.next().is_none()
        && (&first.strategy, &first.settings) == (&second.strategy, &second.settings);
    let are_releases = first.engine == second.engine && first.version != second.version;
    let release = |shown: &Shown<'_>| {
        let asked = shown.from.row.sandbox.version.clone();
        let found = asked.unwrap_or_else(|| shown.row.version.clone());
        (!found.is_empty()).then_some(found)
    };
    let (what, old, new) = match [&*first.engine, &*second.engine] {
        _ if !is_pair => return None,
        ["old", "new"] => (String::new(), one, other),
        ["new", "old"] => (String::new(), other, one),
        [engine, _] if are_releases => {
            let mut both = [(release(one)?, one), (release(other)?, other)];
            both.sort_by_cached_key(|(release, _)| order(release));
            let [(before, old), (after, new)] = both;
            (format!(": {engine} {after} / {before}"), old, new)
        }
        _ => return None,
    };
    let ratio = pairs.ratio(&new.from.row, &old.from.row);
    let mean = ratio.geomean.as_ref().ok()?;
    let ends = mean.interval.ok()?;
    Some(Finding {
        text: format!(
            "New / old{what} = {} (95 %: {}), {}.",
            figures::ratio(mean.value),
            figures::ends(ends.low, ends.high),
            ratio.verdict.name()
        ),
        is_real: ratio.verdict == Verdict::Different,
    })
}

/// What a campaign could have seen, in a mean and in one workload.
pub fn could_have_seen(mean: Option<f64>, cell: Option<f64>) -> Option<String> {
    let parts: Vec<String> = [(mean, "in a mean"), (cell, "in one workload")]
        .into_iter()
        .filter_map(|(seen, what)| Some(format!("{} {what}", figures::percent(seen?))))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "Smallest detectable difference (80 % power): {}.",
            parts.join(", ")
        )
    })
}

fn finding(best: &Shown<'_>, other: &Shown<'_>, pairs: &Pairs<'_>) -> Finding {
    let ratio = pairs.ratio(&other.from.row, &best.from.row);
    let pair = format!("{} / {}", best.row.name, other.row.name);
    let interval = ratio
        .geomean
        .as_ref()
        .ok()
        .and_then(|ratio| ratio.interval.ok());
    let ends = interval.map_or_else(String::new, |interval| range(interval.low, interval.high));
    let text = match ratio.verdict {
        Verdict::Different => format!(
            "{pair} are different: {} takes {}.",
            other.row.name,
            further(&ratio, pairs.figure()).unwrap_or_else(|| more(pairs.figure()).to_owned())
        ),
        Verdict::Equivalent => format!(
            "{pair} are equivalent within {} (95 %: {ends}).",
            figures::percent(DELTA)
        ),
        Verdict::Undecided => {
            let seen = ratio.detectable.map_or_else(String::new, |seen| {
                let seen = figures::detectable(seen);
                let seen = seen.unwrap_or_else(|| "not even 100 %".to_owned());
                format!("; {seen} would have been found")
            });
            let alone = match interval.is_some_and(|ends| !ends.contains(1.0)) {
                true => " alone, but not beside all other pairs",
                false => "",
            };
            format!("{pair}: undecided (95 %: {ends}{alone}{seen}).")
        }
        Verdict::TooFew => {
            let least = rounds_min(pairs.figure());
            format!("{pair}: too few rounds to say whether they differ; it takes {least}.")
        }
        Verdict::Uncontrolled => {
            format!("{pair}: undecided, {ends} (95 %): no control says how much of that is noise.")
        }
    };
    Finding {
        text,
        is_real: ratio.verdict == Verdict::Different,
    }
}

/// A ratio with its interval.
pub fn with_ends(ratio: &Interval) -> String {
    let ends = ratio.ends.map_or_else(String::new, |(low, high)| {
        format!(" (95 %: {})", figures::ends(low, high))
    });
    format!("{}{ends}", figures::ratio(ratio.value))
}

/// A ratio, and what it is worth.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// With its interval.
    pub ratio: Interval,
    /// Whether there is a difference.
    pub verdict: Verdict,
}

impl Judged {
    /// In words.
    pub fn words(&self) -> String {
        let ratio = with_ends(&self.ratio);
        match self.verdict {
            Verdict::Equivalent => {
                format!("{ratio}, equivalent within {}", figures::percent(DELTA))
            }
            verdict => format!("{ratio}, {}", verdict.name()),
        }
    }
}

/// The ends of a ratio's interval as differences: `1.3–2.1 %`.
pub fn range(low: f64, high: f64) -> String {
    let (low, high) = (low - 1.0, high - 1.0);
    if low > 0.0 {
        let (low, high) = (figures::percent(low), figures::percent(high));
        match low == high {
            true => high,
            false => format!("{}–{high}", low.trim_end_matches(" %")),
        }
    } else {
        format!(
            "{} to {}",
            figures::signed_percent(low),
            figures::signed_percent(high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_sentences_do() {
        assert_eq!(range(1.013, 1.021), "1.3–2.1 %");
        assert_eq!(range(1.4801, 1.4802), "48 %");
        assert_eq!(range(0.997, 1.005), "−0.3 % to +0.5 %");
    }
}
