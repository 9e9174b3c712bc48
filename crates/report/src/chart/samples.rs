//! Every sample as a dot: what hides behind a median.

use fathom_stats::{Figure, order::median};

use super::scale::Scale;
use super::svg::Svg;
use super::{Chart, ChartRow, axis, class, grid};
use crate::figures;
use crate::view::{self, CellView, Group, Row};

const HEIGHT: u32 = 28;
const TICKS: usize = 4;

/// Dots drawn of one row at most; more than that is a smear that only costs
/// bytes. The file of samples has all of them.
const DOTS_MAX: usize = 3_000;

/// The samples of one workload, one row of dots for each row.
pub fn of_workload(group: &Group, workload: usize) -> Chart {
    let shown: Vec<(&Row, &CellView)> = group
        .rows
        .iter()
        .filter_map(|row| {
            let cell = row.cells.get(workload)?.as_ref()?;
            Some((row, cell))
        })
        .collect();
    let mut times: Vec<f64> = shown
        .iter()
        .flat_map(|(_, cell)| cell.samples.iter().map(|point| point.ns))
        .collect();
    times.sort_by(f64::total_cmp);
    let low = times.first().copied().unwrap_or(0.0);
    let last = times.last().copied().unwrap_or(1.0);
    let most = times
        .get(times.len().saturating_sub(1) * 3 / 4)
        .map_or(last, |high| low + 2.0 * (high - low));
    let high = last.min(most.max(low * 1.02));
    let room = (high - low) * 0.03;
    let scale = Scale::linear((low - room).max(0.0), high + room);
    let beyond = if scale.is_beyond(last) {
        " Samples beyond the axis are drawn at its edge."
    } else {
        ""
    };
    Chart {
        axis: axis(&scale, TICKS, |value| view::shown(group.figure, value)),
        caption: format!(
            "One dot per {}: {}. The line is the estimate.{beyond}",
            if group.is_by_round { "round" } else { "sample" },
            group.figure.noun()
        ),
        rows: shown
            .iter()
            .map(|(row, cell)| strip(row, cell, &scale, group.figure))
            .collect(),
    }
}

/// The samples of all workloads, each as a multiple of the median of its own
/// cell: how much a row's times scatter.
pub fn of_all(group: &Group) -> Chart {
    let relative = |row: &Row| -> Vec<f64> {
        row.cells
            .iter()
            .flatten()
            .flat_map(|cell| {
                cell.samples
                    .iter()
                    .map(|dot| dot.ns / cell.estimate.value - 1.0)
            })
            .filter(|part| part.is_finite())
            .collect()
    };
    let shown: Vec<(&Row, Vec<f64>)> = group
        .rows
        .iter()
        .map(|row| (row, relative(row)))
        .filter(|(_, parts)| !parts.is_empty())
        .collect();
    let widest = shown
        .iter()
        .flat_map(|(_, parts)| parts)
        .fold(0.01, |widest: f64, part| widest.max(part.abs()));
    let scale = Scale::linear(-widest.min(0.3), widest.min(0.3));
    Chart {
        axis: axis(&scale, TICKS, figures::signed_percent),
        caption: "One dot per sample of any workload: its distance from the estimate of its cell. Samples more than 30 % away are drawn at the edge.".to_owned(),
        rows: shown.iter().map(|(row, parts)| scatter(row, parts, &scale)).collect(),
    }
}

fn strip(row: &Row, cell: &CellView, scale: &Scale, figure: Figure) -> ChartRow {
    let height = f64::from(HEIGHT);
    let words = format!(
        "{}: {} between {} and {}, estimate {}",
        row.label(),
        figures::plural(cell.samples.len(), "sample"),
        view::shown(figure, lowest(cell)),
        view::shown(figure, highest(cell)),
        view::shown(figure, cell.estimate.value),
    );
    let mut svg = Svg::new("plot", HEIGHT, &words);
    grid(&mut svg, scale, TICKS, height);
    let dots = cell
        .samples
        .iter()
        .enumerate()
        .take(DOTS_MAX)
        .map(|(index, dot)| (scale.place(dot.ns), spread(index, height)));
    svg.dots(&format!("dots {}", class(row.kind)), height, dots);
    svg.vertical(
        "median",
        scale.place(cell.estimate.value),
        3.0,
        height - 3.0,
    );
    let more = cell
        .estimate
        .noise()
        .map_or_else(String::new, figures::noise);
    ChartRow {
        target: format!("#{}", cell.anchor),
        ..ChartRow::of(
            row,
            svg.finish(),
            view::shown(figure, cell.estimate.value),
            more,
        )
    }
}

fn scatter(row: &Row, parts: &[f64], scale: &Scale) -> ChartRow {
    let height = f64::from(HEIGHT);
    let half = half_within(parts);
    let words = format!(
        "{}: half of {} within {} of the estimate of their cell",
        row.label(),
        figures::plural(parts.len(), "sample"),
        figures::percent(half),
    );
    let mut svg = Svg::new("plot", HEIGHT, &words);
    grid(&mut svg, scale, TICKS, height);
    let step = parts.len().div_ceil(DOTS_MAX).max(1);
    let dots = parts
        .iter()
        .enumerate()
        .step_by(step)
        .map(|(index, part)| (scale.place(*part), spread(index, height)));
    svg.dots(&format!("dots {}", class(row.kind)), height, dots);
    let more = format!("half of {}", figures::count(parts.len() as f64));
    ChartRow::of(row, svg.finish(), figures::noise(half), more)
}

/// The distance within which half of the samples lie.
fn half_within(parts: &[f64]) -> f64 {
    let sizes: Vec<f64> = parts.iter().map(|part| part.abs()).collect();
    median(&sizes).unwrap_or(f64::NAN)
}

fn lowest(cell: &CellView) -> f64 {
    cell.samples
        .iter()
        .fold(f64::INFINITY, |low, dot| low.min(dot.ns))
}

fn highest(cell: &CellView) -> f64 {
    cell.samples.iter().fold(0.0, |high, dot| dot.ns.max(high))
}

/// A height for the dot of an index, so that dots of equal value do not hide
/// each other: multiples of the golden ratio fill a stretch evenly.
fn spread(index: usize, height: f64) -> f64 {
    let part = (index as f64 * 0.618_034 + 0.5).fract();
    5.0 + part * (height - 10.0)
}
