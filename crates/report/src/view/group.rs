//! Groups, their rows in order, and the cells of the rows.

use std::collections::BTreeMap;

use fathom_record::campaign::ProbeRecord;
use fathom_record::protocol::Hello;
use fathom_record::{Campaign, Checks, Guarantee, Names};
use fathom_stats::ratio::{self, Logs};
use fathom_stats::{
    CellSummary, Figure, FigureUnit, Row as Key, RowRatio, RowSummary, Summary, Verdict,
};

use super::compared_figure::{ComparedFigure, Pairs};
use super::{CellView, Group, Interval, Kind, Rank, Row, Workload};
use super::{advice, commands, halves, headline, sentences, total};

/// A ranked row over the first.
#[derive(Clone, Debug, PartialEq)]
pub struct OverFirst {
    /// How sentences call the row.
    pub name: String,
    /// Geometric mean of the ratios; absent where a workload has no time.
    pub ratio: Option<Interval>,
    /// What the difference is worth, beside all other pairs of ranked rows.
    pub verdict: Verdict,
    /// What would have been found in eight cases of ten, relative.
    pub detectable: Option<f64>,
}

/// What makes cells comparable.
type Common = (String, String, u32);

/// Every group, in the campaign's order, seen by a figure.
pub fn all(campaign: &Campaign, summary: &Summary, figure: Figure) -> Vec<Group> {
    let compared = ComparedFigure::new(summary, figure);
    let mut groups: Vec<(Common, Vec<&RowSummary>)> = Vec::new();
    // An engine that lacks what is used has a line among what was not measured.
    let measured = |row: &&RowSummary| !row.cells.iter().all(|id| campaign.is_lacking(id));
    for row in summary.rows.iter().filter(measured) {
        let key = &row.row;
        let common = (key.suite.clone(), key.size.clone(), key.threads);
        match groups.iter_mut().find(|(other, _)| *other == common) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((common, vec![row])),
        }
    }
    groups
        .into_iter()
        .enumerate()
        .map(|(index, (common, rows))| {
            Builder {
                campaign,
                summary,
                compared: &compared,
                number: index + 1,
                workloads: workloads(campaign, &rows),
                base: base(&compared, &rows),
            }
            .group(common, &rows)
        })
        .collect()
}

/// The workloads of some rows, in the order in which their cells come.
fn workloads(campaign: &Campaign, rows: &[&RowSummary]) -> Vec<Workload> {
    let mut workloads: Vec<Workload> = Vec::new();
    let cells = rows
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(|id| campaign.cell(id));
    for cell in cells {
        if workloads.iter().any(|known| known.name == cell.workload) {
            continue;
        }
        let note = campaign
            .header
            .workloads
            .iter()
            .find(|note| note.suite == cell.suite && note.name == cell.workload);
        workloads.push(Workload {
            name: cell.workload.clone(),
            why: note.map_or_else(String::new, |note| note.why.clone()),
        });
    }
    workloads
}

/// The row that ratios are to: native code, or the best sandbox where there is
/// none or it lacks the figure (native code has no compile time). A row that
/// only happens to come first in a campaign says nothing.
fn base(compared: &ComparedFigure<'_>, rows: &[&RowSummary]) -> Option<Key> {
    let first = rows.first()?;
    let is_native = !first.baseline.variant.is_wasm();
    if is_native && compared.has(&first.baseline) {
        return Some(first.baseline.clone());
    }
    let best = compared.best(rows).map(|best| best.row.clone());
    Some(best.unwrap_or_else(|| first.baseline.clone()))
}

struct Builder<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    compared: &'a ComparedFigure<'a>,
    number: usize,
    workloads: Vec<Workload>,
    base: Option<Key>,
}

/// A row as it is shown, what it was made of, and its ratio to the base.
pub struct Shown<'a> {
    /// As it is shown.
    pub row: Row,
    /// What it was made of.
    pub from: &'a RowSummary,
    /// Its ratio to the base.
    ratio: RowRatio,
}

/// The ranked rows behind the first, over it.
fn over_first(rows: &[Shown<'_>], pairs: &Pairs<'_>) -> Vec<OverFirst> {
    let mut ranked = rows.iter().filter(|shown| shown.row.is_ranked());
    let Some(first) = ranked.next() else {
        return Vec::new();
    };
    let over = |other: &Shown<'_>| {
        let ratio = pairs.ratio(&other.from.row, &first.from.row);
        OverFirst {
            name: other.row.name.clone(),
            ratio: ratio.geomean.as_ref().ok().map(Interval::from),
            verdict: ratio.verdict,
            detectable: ratio.detectable,
        }
    };
    ranked.map(over).collect()
}

impl Builder<'_> {
    fn group(&self, (suite, size, threads): Common, rows: &[&RowSummary]) -> Group {
        let names = rows
            .iter()
            .map(|row| (&row.row.sandbox, Some(row.row.variant)));
        let names = Names::with_builds(names);
        let (figure, mut footnotes) = (self.compared.figure, Vec::<Footnote>::new());
        let (ratios, (seen_mean, seen_cell)) = self.compared.to_base(rows, self.base.as_ref());
        let mut shown: Vec<Shown<'_>> = rows
            .iter()
            .zip(ratios)
            .enumerate()
            .map(|(index, (from, ratio))| {
                let row = self.row(index + 1, from, &ratio, &names, &mut footnotes);
                Shown { row, from, ratio }
            })
            .collect();
        let floor = self.compared.floor(&suite, &self.workloads, threads);
        let placed: Vec<Key> = placed(&shown)
            .iter()
            .map(|&at| shown[at].from.row.clone())
            .collect();
        let pairs = self.compared.pairs(&placed.iter().collect::<Vec<_>>());
        let quiet = self.compared.quiet(threads).or(floor);
        let doubt = order(&mut shown, &pairs).or_else(|| sentences::loud(quiet?));
        let has_no_place =
            |shown: &&mut Shown| shown.row.rank == Rank::Unranked && has_times(shown);
        for short in shown.iter_mut().filter(has_no_place) {
            let said = sentences::no_place(figure, &self.compared.zeros(short.from));
            short.row.caveats.push(said);
        }
        name(&mut shown);
        let lead = headline::lead(&shown, &pairs);
        let mut findings = sentences::findings(&shown, &pairs, seen_cell);
        let (slow, children) = halves::of_group(&mut shown, self.compared);
        findings.extend(slow);
        let mut group = Group {
            anchor: format!("g{}", self.number),
            title: sentences::group_title(&suite, &size, threads, &self.workloads),
            baseline: sentences::baseline(self.base.as_ref(), &shown),
            figure,
            is_by_round: figure != self.summary.compared,
            suite,
            size,
            threads,
            headline: String::new(),
            doubt,
            noise_floor: floor,
            has_control: self.has_control(rows),
            detectable: pairs.seen.or(seen_mean),
            over_first: over_first(&shown, &pairs),
            workloads: self.workloads.clone(),
            rows: Vec::new(),
            findings,
            advice: advice::of_group(&shown, self.compared, &pairs),
            footnotes: footnotes.iter().map(Footnote::text).collect(),
            totals: self.totals(&shown, threads),
        };
        group.rows = shown.into_iter().map(|shown| shown.row).collect();
        if group.is_early() {
            // The headline says so, once.
            group.doubt = None;
            group.detectable = None;
            group.totals = None;
            group.findings.clear();
            group.advice.clear();
        }
        let meanwhile = headline::meanwhile(children, self.summary.estimator);
        group.headline = headline::headline(&group, &lead, meanwhile.as_deref());
        group
    }

    /// Where how long programs run is what rows are compared by.
    fn totals(&self, shown: &[Shown<'_>], threads: u32) -> Option<super::Totals> {
        let is_time = matches!(self.compared.figure, Figure::Kernel | Figure::Run);
        let is_asked = is_time && threads == 1;
        is_asked
            .then(|| total::of_group(shown, self.summary, &self.workloads))
            .flatten()
    }

    /// Whether a cell of these rows is measured twice.
    fn has_control(&self, rows: &[&RowSummary]) -> bool {
        let cells = self.campaign.header.cells.iter();
        let originals = cells.filter_map(|cell| cell.control_of.as_ref());
        originals
            .into_iter()
            .any(|original| rows.iter().any(|row| row.cells.contains(original)))
    }

    fn row(
        &self,
        index: usize,
        row: &RowSummary,
        ratio: &RowRatio,
        names: &Names,
        footnotes: &mut Vec<Footnote>,
    ) -> Row {
        let anchor = format!("g{}r{index}", self.number);
        let hello = row
            .cells
            .iter()
            .find_map(|id| self.summary.cell(id)?.in_force.as_ref());
        let cells: Vec<Option<CellView>> = self
            .workloads
            .iter()
            .enumerate()
            .map(|(at, workload)| {
                self.cell(&format!("{anchor}c{}", at + 1), row, ratio, &workload.name)
            })
            .collect();
        let (engine, detail) = names.engine_and_detail(&row.row.sandbox, Some(row.row.variant));
        let unchecked = self.unchecked(&row.row);
        Row {
            key: row.row.clone(),
            name: String::new(),
            engine,
            version: sentences::version(&row.row, hello),
            in_force: sentences::in_force(&row.row, hello),
            detail,
            checks: hello.map_or("unknown".to_owned(), |hello| hello.checks.to_string()),
            guarantee: row.probe.as_ref().map(ProbeRecord::guarantee),
            rank: Rank::Unranked,
            kind: kind(row, hello),
            tier: hello.map_or("unknown".to_owned(), |hello| hello.tier.clone()),
            footnote: footnote(row, hello, footnotes),
            caveats: sentences::caveats(row, &ratio.missing, self.workloads.len()),
            to_baseline: ratio.geomean.as_ref().ok().map(Interval::from),
            to_unchecked: unchecked
                .and_then(|other| self.compared.ratio(&row.row, &other.row).geomean.ok())
                .map(|ratio| Interval::from(&ratio)),
            to_alone: self.to_alone(&row.row),
            slow_half: None,
            slow_half_of_control: None,
            is_slow_by_itself: false,
            throughput_per_s: self.throughput(&row.row),
            worst: ratio
                .workloads
                .iter()
                .max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))
                .map(|worst| (worst.workload.clone(), worst.ratio.value)),
            costs: self.costs(&row.row),
            cost_ends: self.cost_ends(&row.row),
            cells,
            anchor,
        }
    }

    /// The row of the same engine that checks nothing, to which the price of a
    /// strategy is told.
    fn unchecked(&self, key: &Key) -> Option<&RowSummary> {
        if !key.variant.is_wasm() {
            return None;
        }
        self.summary.rows.iter().find(|other| {
            let mut wanted = key.clone();
            wanted.sandbox.strategy = "none".to_owned();
            other.row == wanted && other.row != *key
        })
    }

    /// What the row loses when more instances run at once.
    fn to_alone(&self, key: &Key) -> Option<Interval> {
        if self.compared.figure != self.summary.compared {
            return None;
        }
        let ratio = self.summary.scaling(key)?.geomean.ok()?;
        Some(Interval::from(&ratio))
    }

    /// Instances made, run and dropped in a second by all workers together:
    /// the geometric mean over the workloads, as it was seen from outside where
    /// all of them were watched.
    fn throughput(&self, key: &Key) -> Option<f64> {
        let is_watched = self.workloads.iter().all(|workload| {
            let cell = self.summary.cell_of(key, &workload.name);
            cell.is_some_and(|cell| cell.estimate(Figure::Throughput).is_some())
        });
        if is_watched {
            return self.summary.typical(key, Figure::Throughput);
        }
        let logs: Option<Vec<f64>> = self
            .workloads
            .iter()
            .map(|workload| {
                let cell = self.summary.cell_of(key, &workload.name)?;
                let ns = [Figure::Instantiate, Figure::Run, Figure::Teardown]
                    .into_iter()
                    .map(|figure| Some(cell.estimate(figure)?.median))
                    .sum::<Option<f64>>()?;
                Some((f64::from(key.threads) * 1e9 / ns).ln())
            })
            .collect();
        let logs = logs?;
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        mean.is_finite().then(|| mean.exp())
    }

    fn costs(&self, key: &Key) -> BTreeMap<Figure, f64> {
        Figure::ALL
            .into_iter()
            .filter_map(|figure| {
                let value = match figure.unit() {
                    FigureUnit::Nanoseconds | FigureUnit::Bytes | FigureUnit::PerSecond => {
                        self.summary.typical(key, figure)
                    }
                    FigureUnit::Count | FigureUnit::PerCpuSecond | FigureUnit::Share => {
                        self.mean(key, figure)
                    }
                };
                Some((figure, value?))
            })
            .collect()
    }

    /// How well the costs are known that charts show: rounds and workloads taken as
    /// independent.
    fn cost_ends(&self, key: &Key) -> BTreeMap<Figure, (f64, f64)> {
        let ends = |figure: Figure| {
            let cells = self
                .workloads
                .iter()
                .filter_map(|workload| self.summary.cell_of(key, &workload.name)?.estimate(figure));
            let logs: Vec<Logs> = cells
                .map(|estimate| Logs::single(&estimate.values).ok())
                .collect::<Option<_>>()?;
            let interval = ratio::geomean(&logs).ok()?.interval.ok()?;
            Some((figure, (interval.low, interval.high)))
        };
        [Figure::Start, Figure::RssPeak]
            .into_iter()
            .filter_map(ends)
            .collect()
    }

    /// The mean over workloads of medians; for what may be 0.
    fn mean(&self, key: &Key, figure: Figure) -> Option<f64> {
        let values: Vec<f64> = self
            .workloads
            .iter()
            .filter_map(|workload| self.summary.cell_of(key, &workload.name)?.estimate(figure))
            .map(|estimate| estimate.median)
            .collect();
        let sum: f64 = values.iter().sum();
        (!values.is_empty()).then(|| sum / values.len() as f64)
    }

    fn cell(
        &self,
        anchor: &str,
        row: &RowSummary,
        ratio: &RowRatio,
        workload: &str,
    ) -> Option<CellView> {
        let cell: &CellSummary = self.summary.cell_of(&row.row, workload)?;
        let times = cell.times.as_ref().ok()?;
        let estimate = times.estimate(self.compared.figure)?;
        let ratio = ratio
            .workloads
            .iter()
            .find(|ratio| ratio.workload == workload);
        let figures = Figure::ALL
            .into_iter()
            .filter_map(|figure| Some((figure, times.estimate(figure)?)))
            .collect();
        Some(CellView {
            anchor: anchor.to_owned(),
            id: cell.id.clone(),
            estimate: Interval::from(&estimate),
            to_baseline: ratio.map(|ratio| Interval::from(&ratio.ratio)),
            verdict: ratio.map(|ratio| ratio.verdict),
            samples: self.compared.points(cell),
            figures,
            command: commands::cell_command(&self.campaign.header, &cell.cell),
        })
    }
}

/// How a row is drawn: by its promise, or what is left of it, and where nothing
/// was probed by the checks that were found.
fn kind(row: &RowSummary, hello: Option<&Hello>) -> Kind {
    if !row.row.variant.is_wasm() {
        return Kind::Native;
    }
    let is_inexact = match (&row.probe, hello) {
        (Some(probe), _) => probe.guarantee() < Guarantee::Exact,
        (None, Some(hello)) => matches!(hello.checks, Checks::Clamp | Checks::None),
        (None, None) => row.row.sandbox.strategy == "none",
    };
    match row.row.sandbox.engine.as_str() {
        _ if is_inexact => Kind::Inexact,
        "fathom" => Kind::Ours,
        _ => Kind::Other,
    }
}

/// How the tier of an engine is known: of all of its releases that say the same.
struct Footnote {
    engine: String,
    releases: Vec<String>,
    evidence: String,
}

impl Footnote {
    fn text(&self) -> String {
        let releases = self.releases.join(", ");
        let name = [self.engine.as_str(), &releases].join(" ");
        format!("{}: {}", name.trim_end(), self.evidence)
    }
}

/// Keeps what says how an outside engine's tier is known; its number.
fn footnote(
    row: &RowSummary,
    hello: Option<&Hello>,
    footnotes: &mut Vec<Footnote>,
) -> Option<usize> {
    if !row.row.variant.is_wasm() {
        return None;
    }
    let hello = hello?;
    let sandbox = &row.row.sandbox;
    let (release, evidence) = match (sandbox.engine.as_str(), sandbox.strategy.as_str()) {
        ("fathom", "auto") => (None, hello.evidence.clone()),
        ("fathom", _) => return None,
        _ => (
            Some(&hello.version),
            format!(
                "{} tier, {}; evidence: {}",
                hello.tier, hello.backend, hello.evidence
            ),
        ),
    };
    let is_same = |one: &Footnote| one.engine == hello.engine && one.evidence == evidence;
    let at = footnotes.iter().position(is_same).unwrap_or_else(|| {
        footnotes.push(Footnote {
            engine: hello.engine.clone(),
            releases: Vec::new(),
            evidence,
        });
        footnotes.len() - 1
    });
    let known = &mut footnotes[at].releases;
    known.extend(release.filter(|release| !known.contains(release)).cloned());
    Some(at + 1)
}

/// Native code first, then ranked rows with the fastest first, then the rest;
/// and gives the places. Rows that were not shown to differ from the first of a
/// place share it; where the campaign cannot say, the reason is returned.
fn order(rows: &mut [Shown<'_>], pairs: &Pairs<'_>) -> Option<String> {
    let (placed, figure) = (placed(rows), pairs.figure());
    let placed: Vec<Key> = placed.iter().map(|&at| rows[at].from.row.clone()).collect();
    let class = |shown: &Shown<'_>| match shown {
        shown if !shown.from.row.variant.is_wasm() => 0,
        shown if placed.contains(&shown.from.row) => 1,
        shown if shown.ratio.geomean.is_ok() => 2,
        _ => 3,
    };
    let value = |shown: &Shown<'_>| {
        let ratio = shown.ratio.geomean.as_ref();
        ratio.map_or(f64::INFINITY, |ratio| ratio.value)
    };
    rows.sort_by(|a, b| class(a).cmp(&class(b)).then(value(a).total_cmp(&value(b))));
    let mut places: Vec<usize> = Vec::new();
    let mut leader: Option<&RowSummary> = None;
    let mut doubt = None;
    for shown in rows.iter_mut() {
        if class(shown) == 0 {
            shown.row.rank = Rank::Reference;
        }
        if class(shown) != 1 {
            continue;
        }
        let verdict = leader.map(|leader| pairs.ratio(&shown.from.row, &leader.row).verdict);
        doubt = doubt.or(verdict.and_then(|verdict| sentences::doubt(verdict, figure)));
        let place = match places.last() {
            Some(place) if matches!(verdict, Some(Verdict::Equivalent | Verdict::Undecided)) => {
                *place
            }
            _ => {
                leader = Some(shown.from);
                places.len() + 1
            }
        };
        places.push(place);
        shown.row.rank = Rank::Place {
            place,
            is_shared: false,
            is_doubtful: false,
        };
    }
    for shown in rows {
        if let Rank::Place {
            place,
            is_shared,
            is_doubtful,
        } = &mut shown.row.rank
        {
            *is_shared = places.iter().filter(|other| *other == place).count() > 1;
            *is_doubtful = doubt.is_some();
        }
    }
    doubt
}

/// Whether a row is ranked and every workload has a time.
pub(super) fn has_times(shown: &Shown<'_>) -> bool {
    shown.from.is_ranked && shown.from.without_time.is_empty() && shown.ratio.geomean.is_ok()
}

/// The rows that take a place: they are ranked, every workload has a time, and as many
/// rounds as an interval takes. Where no row has so many, all that have times are placed, and
/// the headline says that they are too few.
fn placed(rows: &[Shown<'_>]) -> Vec<usize> {
    let with_times: Vec<usize> = (0..rows.len()).filter(|&at| has_times(&rows[at])).collect();
    let known: Vec<usize> = with_times
        .iter()
        .copied()
        .filter(|&at| sentences::is_known(&rows[at].row))
        .collect();
    if known.is_empty() { with_times } else { known }
}

/// Gives each row the shortest name that no other row has: the engine alone
/// where it has one row, else engine and detail.
fn name(rows: &mut [Shown<'_>]) {
    let keys = rows.iter().map(|shown| &shown.from.row);
    let names = Names::short(keys.map(|key| (&key.sandbox, Some(key.variant))));
    for shown in rows {
        let key = &shown.from.row;
        let (engine, detail) = names.engine_and_detail(&key.sandbox, Some(key.variant));
        shown.row.name = format!("{engine} {detail}").trim_end().to_owned();
    }
}
