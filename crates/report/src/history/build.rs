//! From campaigns to their history.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{Campaign, Estimator};
use fathom_stats::change_points::{Observation, SERIES_MIN, SIDE_MIN, Segmentation, segment};
use fathom_stats::compare::Basis;
use fathom_stats::verdict::ALPHA;
use fathom_stats::{Level, NoEstimate, Row, RowLevel, RowSummary, Summary};

use super::{Change, Found, History, HistoryError, Line, Point, Section, Series, Told};
use crate::compare::RowNames;
use crate::programs::differences;
use crate::view::{Interval, host_line};

/// The error that the means of a section have, and that its workloads have.
const ALPHA_PART: f64 = ALPHA / 2.0;

impl History {
    /// Of campaigns, the earliest first. Their rounds are read by one estimator, by default the
    /// latest campaign's.
    ///
    /// # Errors
    /// A campaign that cannot be read; nothing that a history could be of.
    pub fn of(found: Vec<Found>, estimator: Option<Estimator>) -> Result<History, HistoryError> {
        let last = found.last().map(|one| one.header.config.estimator);
        let estimator = estimator.or(last).unwrap_or_default();
        let count = found.len();
        let mut campaigns = Vec::new();
        let mut drafts: BTreeMap<Key, Draft> = BTreeMap::new();
        for (at, Found { results, .. }) in found.into_iter().enumerate() {
            // Samples are many: one campaign's at a time, of which what they come to is kept.
            let mut campaign = results.load()?;
            campaign.header.config.estimator = estimator;
            measured(at, &campaign, &mut drafts);
            campaigns.push(Told {
                results,
                header: campaign.header,
            });
        }
        let mut drafts: Vec<(Key, Draft)> = drafts.into_iter().collect();
        drafts.sort_by_key(|(_, draft)| draft.order);
        let sections: Vec<Section> = drafts
            .into_iter()
            .map(|(key, draft)| draft.section(key, estimator, &campaigns))
            .collect();
        match sections.is_empty() {
            true => Err(HistoryError::Nothing { count }),
            false => Ok(History {
                campaigns,
                sections,
            }),
        }
    }
}

/// What campaigns must share to be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    host: String,
    suite: String,
    size: String,
    threads: u32,
    figure: fathom_stats::Figure,
    workloads: BTreeSet<String>,
}

/// A section as far as it was read.
struct Draft {
    /// Campaign and row that it was first in.
    order: (usize, usize),
    rows: Vec<Measured>,
}

/// A row in a campaign.
struct Measured {
    campaign: usize,
    row: Row,
    baseline: Row,
    version: String,
    build: Option<String>,
    time: RowLevel,
    ratio: RowLevel,
    why_not: Option<String>,
}

/// Adds the rows of a campaign to the sections that they are of.
fn measured(at: usize, campaign: &Campaign, drafts: &mut BTreeMap<Key, Draft>) {
    let summary = Summary::from_campaign(campaign);
    let mut workloads: BTreeMap<(&str, &str, u32), BTreeSet<String>> = BTreeMap::new();
    for cell in &campaign.header.cells {
        let group = (cell.suite.as_str(), cell.size.as_str(), cell.threads);
        workloads
            .entry(group)
            .or_default()
            .insert(cell.workload.clone());
    }
    for (index, row) in summary.rows.iter().enumerate() {
        let Row {
            suite,
            size,
            threads,
            ..
        } = &row.row;
        let key = Key {
            host: summary.host.clone(),
            suite: suite.clone(),
            size: size.clone(),
            threads: *threads,
            figure: summary.compared,
            workloads: workloads[&(suite.as_str(), size.as_str(), *threads)].clone(),
        };
        let draft = drafts.entry(key).or_insert_with(|| Draft {
            order: (at, index),
            rows: Vec::new(),
        });
        draft.rows.push(Measured::of(at, campaign, &summary, row));
    }
}

impl Measured {
    fn of(at: usize, campaign: &Campaign, summary: &Summary, row: &RowSummary) -> Measured {
        let cells = || row.cells.iter().filter_map(|id| summary.cell(id));
        let hello = cells().find_map(|cell| cell.in_force.as_ref());
        let engine = &row.row.sandbox.engine;
        let why_not = cells().find_map(|cell| cell.times.as_ref().err());
        Measured {
            campaign: at,
            row: row.row.clone(),
            baseline: row.baseline.clone(),
            version: hello.map_or_else(String::new, |hello| hello.version.clone()),
            build: campaign.header.config.engines.get(engine).cloned(),
            time: RowLevel::of(summary, row, Basis::Time),
            ratio: RowLevel::of(summary, row, Basis::ToBaseline),
            why_not: why_not.map(ToString::to_string),
        }
    }

    fn level(&self, basis: Basis) -> &RowLevel {
        match basis {
            Basis::Time => &self.time,
            Basis::ToBaseline => &self.ratio,
        }
    }

    fn point(&self, level: Option<&Level>, why_not: Option<String>) -> Point {
        let no_error = level.and_then(|level| level.value.error.err());
        let why_not = why_not.or_else(|| no_error.as_ref().map(NoEstimate::to_string));
        Point {
            campaign: self.campaign,
            version: self.version.clone(),
            build: self.build.clone(),
            value: level.map(|level| Interval::from(&level.value)),
            why_not: why_not.or_else(|| match level {
                Some(_) => None,
                None => Some(self.why_not.clone().unwrap_or("not measured".to_owned())),
            }),
        }
    }
}

/// A series before it is searched: points, and what they say where they count.
#[derive(Default)]
struct Raw {
    points: Vec<Point>,
    observations: Vec<Option<Observation>>,
}

/// A row of a section before it is searched.
struct Unsearched {
    line: Line,
    mean: Raw,
    workloads: Vec<(String, Raw)>,
}

impl Raw {
    fn push(&mut self, point: Point, level: Option<&Level>) {
        let observation = level.and_then(|level| level.observation);
        let counts = point.why_not.is_none();
        self.observations.push(observation.filter(|_| counts));
        self.points.push(point);
    }

    fn counted(&self) -> usize {
        self.observations.iter().flatten().count()
    }
}

impl Draft {
    fn section(self, key: Key, estimator: Estimator, campaigns: &[Told]) -> Section {
        let baseline = self.native();
        let mut order: Vec<Row> = Vec::new();
        let mut rows: BTreeMap<Row, Vec<&Measured>> = BTreeMap::new();
        let has_versions = self.engines_in_versions();
        // In the order of the latest campaign, and then what only earlier ones have.
        let mut latest_first: Vec<&Measured> = self.rows.iter().collect();
        latest_first.sort_by_key(|one| std::cmp::Reverse(one.campaign));
        for one in latest_first {
            let row = identity(&one.row, &has_versions);
            if !rows.contains_key(&row) {
                order.push(row.clone());
            }
            rows.entry(row).or_default().insert(0, one);
        }
        let names = RowNames::of(order.iter());
        // How many instances there are is said of the section.
        let name = |row: &Row| {
            names.name(&Row {
                threads: 1,
                ..row.clone()
            })
        };
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let lines: Vec<Unsearched> = order
            .iter()
            .map(|row| {
                let all = &rows[row];
                found.extend(all.iter().map(|one| one.campaign));
                let is_native = !row.variant.is_wasm();
                let basis = match baseline.is_some() && !is_native {
                    true => Basis::ToBaseline,
                    false => Basis::Time,
                };
                let (mean, workloads) = raw(all, basis, &key);
                let timed = usual(all, basis).len();
                let line = Line {
                    name: name(row),
                    row: row.clone(),
                    basis,
                    timed,
                    mean: Series::default(),
                    workloads: Vec::new(),
                };
                Unsearched {
                    line,
                    mean,
                    workloads,
                }
            })
            .collect();
        let latest = found.last().map(|last| &campaigns[*last].header.host);
        Section {
            host_line: latest
                .map(|host| without_load(&host_line(host)))
                .unwrap_or_default(),
            host: key.host,
            suite: key.suite,
            size: key.size,
            threads: key.threads,
            figure: key.figure,
            estimator,
            workloads: key.workloads.into_iter().collect(),
            baseline: baseline.map(|row| name(&row)),
            campaigns: found.into_iter().collect(),
            lines: searched(lines, campaigns),
        }
    }

    /// What ratios are to: native code, and only where every row of every campaign has it. A
    /// ratio to an engine changes with that engine.
    fn native(&self) -> Option<Row> {
        let mut wasm = self.rows.iter().filter(|one| one.row.variant.is_wasm());
        let first = &wasm.clone().next()?.baseline;
        let is_same = wasm.all(|one| one.baseline == *first);
        (is_same && !first.variant.is_wasm()).then(|| first.clone())
    }

    /// Engines of which a campaign has several versions.
    fn engines_in_versions(&self) -> BTreeSet<String> {
        let mut seen: BTreeMap<(usize, Row), BTreeSet<Option<&str>>> = BTreeMap::new();
        for one in &self.rows {
            let version = one.row.sandbox.version.as_deref();
            let row = identity(&one.row, &BTreeSet::new());
            seen.entry((one.campaign, row)).or_default().insert(version);
        }
        let several = seen.into_iter().filter(|(_, versions)| versions.len() > 1);
        several.map(|((_, row), _)| row.sandbox.engine).collect()
    }
}

/// The row whatever the version of its engine, unless versions are compared with each other.
fn identity(row: &Row, has_versions: &BTreeSet<String>) -> Row {
    let mut row = row.clone();
    if !has_versions.contains(&row.sandbox.engine) {
        row.sandbox.version = None;
    }
    row
}

/// The host without what changes from minute to minute.
fn without_load(line: &str) -> String {
    let parts = line.split(" · ").filter(|part| !part.starts_with("load "));
    parts.collect::<Vec<&str>>().join(" · ")
}

/// The workloads of a row's mean: those that it has in most campaigns, of as many in the latest.
fn usual<'a>(all: &[&'a Measured], basis: Basis) -> Vec<&'a str> {
    let mut sets: Vec<(Vec<&str>, usize)> = Vec::new();
    for one in all.iter().rev() {
        let names = timed(one.level(basis));
        match sets.iter_mut().find(|(set, _)| *set == names) {
            _ if names.is_empty() => {}
            Some((_, times)) => *times += 1,
            None => sets.push((names, 1)),
        }
    }
    // The first of as many is the latest.
    let most = sets.iter().map(|(_, times)| *times).max();
    let usual = sets.into_iter().find(|(_, times)| Some(*times) == most);
    usual.map(|(set, _)| set).unwrap_or_default()
}

fn timed(level: &RowLevel) -> Vec<&str> {
    let names = level.workloads.iter();
    names.map(|(name, _)| name.as_str()).collect()
}

/// The mean of a row over time, and its workloads where there are several.
fn raw(all: &[&Measured], basis: Basis, key: &Key) -> (Raw, Vec<(String, Raw)>) {
    let mut mean = Raw::default();
    let usual = usual(all, basis);
    for one in all {
        let level = one.level(basis);
        let timed = timed(level);
        let why_not = (timed != usual && level.mean.is_some()).then(|| {
            let all = key.workloads.len();
            format!("a mean of other workloads: {} of {all}", timed.len())
        });
        mean.push(one.point(level.mean.as_ref(), why_not), level.mean.as_ref());
    }
    let mut workloads = Vec::new();
    for name in key.workloads.iter().filter(|_| key.workloads.len() > 1) {
        let mut series = Raw::default();
        for one in all {
            let mut levels = one.level(basis).workloads.iter();
            let level = levels.find(|(other, _)| other == name);
            let level = level.map(|(_, level)| level);
            series.push(one.point(level, None), level);
        }
        workloads.push((name.clone(), series));
    }
    (mean, workloads)
}

/// All series of a section, searched together: each at its share of the error.
fn searched(lines: Vec<Unsearched>, campaigns: &[Told]) -> Vec<Line> {
    let is_searched = |raw: &&Raw| raw.counted() >= SERIES_MIN;
    let means = lines.iter().map(|one| &one.mean);
    let of_means = ALPHA_PART / means.filter(is_searched).count().max(1) as f64;
    let each = lines
        .iter()
        .flat_map(|one| one.workloads.iter().map(|(_, raw)| raw));
    let of_each = ALPHA_PART / each.filter(is_searched).count().max(1) as f64;
    let lines = lines.into_iter().map(|one| Line {
        mean: Series::of(one.mean, of_means, campaigns),
        workloads: one
            .workloads
            .into_iter()
            .map(|(name, raw)| (name, Series::of(raw, of_each, campaigns)))
            .collect(),
        ..one.line
    });
    lines.collect()
}

impl Series {
    fn of(raw: Raw, alpha: f64, campaigns: &[Told]) -> Series {
        let counted: Vec<usize> = (0..raw.points.len())
            .filter(|at| raw.observations[*at].is_some())
            .collect();
        let observations: Vec<Observation> = raw.observations.iter().flatten().copied().collect();
        let Segmentation {
            changes,
            mut stretches,
            detectable,
        } = segment(&observations, alpha);
        let header = |at: usize| &campaigns[raw.points[counted[at]].campaign].header;
        let changes = changes.iter().map(|change| Change {
            ratio: change.ratio,
            ends: (change.interval.low, change.interval.high),
            before: counted[change.at - 1],
            after: counted[change.at],
            surely: (counted[change.places.0 - 1], counted[change.places.1]),
            others: differences(header(change.at - 1), header(change.at)),
        });
        let changes = changes.collect();
        for stretch in &mut stretches {
            stretch.from = counted[stretch.from];
            stretch.to = counted[stretch.to - 1] + 1;
        }
        Series {
            changes,
            stretches,
            detectable,
            points: raw.points,
        }
    }

    /// Whether it has too few campaigns for any change to be found.
    pub fn is_short(&self) -> bool {
        let counted = self.points.iter().filter(|point| point.why_not.is_none());
        counted.count() < 2 * SIDE_MIN
    }
}
