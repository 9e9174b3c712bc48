//! Values over campaigns: each row on an axis of its own, since a row's change is looked for
//! and not its distance from others.
//!
//! ```text
//!   1.4 ×┊ ·  ·  · ╎ ──·──·──·──      dots: campaigns, in order; thin lines: 95 % intervals
//!   1.2 ×┊──·──·──·╎ ·                thick lines: levels; dashed: changes
//! ```

use fathom_stats::compare::Basis;

use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Chart, ChartRow, class};
use crate::figures;
use crate::history::{History, Line, Section, Series};
use crate::view::Kind;

const HEIGHT: u32 = 84;
/// Room for what is said of changes.
const TOP: f64 = 16.0;
const FOOT: f64 = 6.0;
const TICKS: usize = 2;
/// Room for the values on the axis, in per cent.
const LEFT: f64 = 14.0;
/// Days named on the axis.
const DAYS: usize = 4;
/// An axis has at least so much of the value, so that noise is not magnified.
const SPAN_MIN: f64 = 0.04;

/// The means of a section's rows; `target` is where a row's values are.
pub fn means(history: &History, section: &Section, target: &str) -> Chart {
    let rows = section.lines.iter();
    chart(
        history,
        section,
        rows.map(|line| (line, &line.mean)),
        target,
    )
}

/// A workload of a section.
pub fn workload(history: &History, section: &Section, name: &str, target: &str) -> Chart {
    let rows = section.lines.iter().filter_map(|line| {
        let mut each = line.workloads.iter();
        let (_, series) = each.find(|(other, _)| other == name)?;
        Some((line, series))
    });
    chart(history, section, rows, target)
}

fn chart<'a>(
    history: &History,
    section: &Section,
    rows: impl Iterator<Item = (&'a Line, &'a Series)>,
    target: &str,
) -> Chart {
    let has_value = |series: &Series| series.points.iter().any(|point| point.value.is_some());
    let rows = rows.filter(|(_, series)| has_value(series));
    Chart {
        axis: axis(history, section),
        caption: CAPTION.to_owned(),
        rows: rows
            .map(|(line, series)| row(history, section, line, series, target))
            .collect(),
    }
}

const CAPTION: &str = "A dot is a campaign, with its 95 % interval; campaigns stand at equal distances, in order. \
     Thick lines are levels, dashed ones changes; grey is where a change may have been as well. \
     A circle is left out. Each row has an axis of its own; up is slower.";

/// Where a campaign of a section stands, in per cent.
fn place(section: &Section, campaign: usize) -> f64 {
    let at = section.campaigns.binary_search(&campaign).unwrap_or(0);
    LEFT + width(section) * (at as f64 + 0.5)
}

/// The room of a campaign.
fn width(section: &Section) -> f64 {
    (100.0 - LEFT) / section.campaigns.len().max(1) as f64
}

/// Some of the campaigns' days.
fn axis(history: &History, section: &Section) -> String {
    let mut svg = Svg::decoration("axis", 18);
    let all = &section.campaigns;
    let last = all.len().saturating_sub(1);
    let mut named: Vec<usize> = (0..DAYS).map(|part| part * last / (DAYS - 1)).collect();
    named.dedup();
    for at in named {
        let anchor = match at {
            0 => Anchor::Start,
            at if at == last => Anchor::End,
            _ => Anchor::Middle,
        };
        let x = match anchor {
            Anchor::Start => LEFT,
            Anchor::Middle => place(section, all[at]),
            Anchor::End => 100.0,
        };
        svg.label("tick", x, 12.0, anchor, when(history, section, at));
    }
    svg.finish()
}

/// When a campaign was, as far as the first one does not say it: a phone is narrow, and the whole
/// date is in the table.
fn when<'a>(history: &'a History, section: &Section, at: usize) -> &'a str {
    let one = &history.campaigns[section.campaigns[at]];
    let is_first_day = history.campaigns[section.campaigns[0]].day() == one.day();
    let part = match (at, is_first_day) {
        (0, _) => None,
        (_, true) => one.header.date.get(11..16),
        (_, false) => one.day().get(5..),
    };
    part.unwrap_or(one.day())
}

fn row(
    history: &History,
    section: &Section,
    line: &Line,
    series: &Series,
    target: &str,
) -> ChartRow {
    let (engine, detail) = line.name.split_once(' ').unwrap_or((&line.name, ""));
    let latest = series.points.iter().rev().find_map(|point| point.value);
    let shown = |value: f64| section.shown(line, value);
    let versions = series.points.last().map_or("", |point| &point.version);
    ChartRow {
        rank: String::new(),
        engine: engine.to_owned(),
        detail: detail.to_owned(),
        figure: strip(history, section, line, series),
        value: latest.map_or_else(|| figures::NONE.to_owned(), |latest| shown(latest.value)),
        more: versions.to_owned(),
        target: target.to_owned(),
        is_apart: false,
    }
}

/// The height of a value.
struct Heights(Scale);

impl Heights {
    fn of(series: &Series) -> Heights {
        let values = series.points.iter().filter_map(|point| point.value);
        let ends = values.flat_map(|value| {
            let (low, high) = value.ends.unwrap_or((value.value, value.value));
            [low, high, value.value]
        });
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| {
            (one.min(low), one.max(high))
        });
        let missing = (SPAN_MIN * high - (high - low)).max(0.0);
        Heights(Scale::linear(low - missing / 2.0, high + missing / 2.0))
    }

    fn y(&self, value: f64) -> f64 {
        let room = f64::from(HEIGHT) - TOP - FOOT;
        TOP + room * (1.0 - self.0.place(value) / 100.0)
    }
}

fn strip(history: &History, section: &Section, line: &Line, series: &Series) -> String {
    let heights = Heights::of(series);
    let x = |at: usize| place(section, series.points[at].campaign);
    let half = width(section) / 2.0;
    let tall = f64::from(HEIGHT);
    let mut svg = Svg::new("plot", HEIGHT, &meaning(history, section, line, series));
    for change in &series.changes {
        if change.surely != (change.before, change.after) {
            svg.span(
                "floor",
                x(change.surely.0),
                x(change.surely.1),
                TOP,
                tall - TOP,
            );
        }
    }
    for tick in heights.0.ticks(TICKS) {
        svg.horizontal("grid", LEFT, 100.0, heights.y(tick.value));
    }
    let points = || {
        let each = series.points.iter().enumerate();
        each.filter_map(|(at, point)| Some((at, point, point.value?)))
    };
    let whiskers = points().filter_map(|(at, _, value)| {
        let (low, high) = value.ends?;
        Some((x(at), heights.y(high), heights.y(low)))
    });
    svg.verticals("ends", tall, whiskers);
    let counted = points().filter(|(_, point, _)| point.why_not.is_none());
    let dots = counted.map(|(at, _, value)| (x(at), heights.y(value.value)));
    svg.dots(&format!("dots {}", class(kind(line))), tall, dots);
    for (at, _, value) in points().filter(|(_, point, _)| point.why_not.is_some()) {
        svg.circle("out", x(at), heights.y(value.value), 3.0);
    }
    for stretch in &series.stretches {
        let (from, to) = (x(stretch.from) - half, x(stretch.to - 1) + half);
        svg.horizontal("level", from, to, heights.y(stretch.log.exp()));
    }
    for change in &series.changes {
        let at = f64::midpoint(x(change.before), x(change.after));
        let way = if change.ratio > 1.0 {
            "slower"
        } else {
            "faster"
        };
        svg.vertical(&format!("mark {way}"), at, TOP, tall);
        let text = figures::signed_percent(change.ratio - 1.0);
        let anchor = match at {
            at if at < LEFT + 5.0 => Anchor::Start,
            at if at > 93.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.label(&format!("said {way}"), at, TOP - 5.0, anchor, &text);
    }
    for tick in heights.0.ticks(TICKS) {
        let y = heights.y(tick.value) + 4.0;
        svg.label(
            "tick",
            0.0,
            y,
            Anchor::Start,
            &section.shown(line, tick.value),
        );
    }
    svg.finish()
}

fn kind(line: &Line) -> Kind {
    match (line.row.variant.is_wasm(), line.row.sandbox.engine.as_str()) {
        (false, _) => Kind::Native,
        (true, "fathom") => Kind::Ours,
        (true, _) => Kind::Other,
    }
}

fn meaning(history: &History, section: &Section, line: &Line, series: &Series) -> String {
    let values = series.points.iter();
    let mut values = values.filter_map(|point| Some((point.campaign, point.value?.value)));
    let told = |(campaign, value): (usize, f64)| {
        format!(
            "{} on {}",
            section.shown(line, value),
            history.campaigns[campaign].day()
        )
    };
    let (first, last) = (values.next(), values.next_back());
    let ends = [first, last].into_iter().flatten().map(told);
    let what = match line.basis {
        Basis::ToBaseline => section.heading(line),
        Basis::Time => String::new(),
    };
    let changes = match series.changes.len() {
        0 => "no change found".to_owned(),
        count => figures::plural(count, "change"),
    };
    format!(
        "{} {what}: {}; {changes}",
        line.name,
        ends.collect::<Vec<String>>().join(", ")
    )
}
