//! The first picture: what each row costs beside the baseline.
//!
//! ```text
//!             1.0           1.2           1.4
//!  fathom    ▒│▒██████├─┤                        1.08 ×
//!  native    ▒│▒                                 1.00 ×
//!            └ noise floor, grey
//! ```
//!
//! Bars begin at 1, the baseline: their length is the price, and a row that is
//! faster than the baseline reaches to the left.

use super::scale::Scale;
use super::svg::Svg;
use super::{Chart, ChartRow, axis, class, cut, grid, whisker};
use crate::figures;
use crate::view::{Group, Interval, Row};

const HEIGHT: u32 = 26;
const TICKS: usize = 4;

/// Ratios to the baseline, one bar a row.
pub fn ratios(group: &Group) -> Chart {
    let shown: Vec<(&Row, Interval)> = group
        .rows
        .iter()
        .filter_map(|row| row.to_baseline.map(|ratio| (row, ratio)))
        .collect();
    let scale = scale(&shown, group.noise_floor);
    Chart {
        axis: axis(&scale, TICKS, |value| format!("{} ×", tick(value))),
        caption: format!(
            "{} as a multiple of {}: shorter is better.",
            group.what(),
            group.baseline
        ),
        rows: shown
            .iter()
            .map(|(row, ratio)| bar(row, *ratio, &scale, group))
            .collect(),
    }
}

/// From a little below the fastest to the slowest, the baseline always in it.
/// One very slow row must not make all others look alike: what is more than
/// twice as far out as three quarters of the rows is cut off at the edge.
fn scale(shown: &[(&Row, Interval)], floor: Option<f64>) -> Scale {
    let floor = floor.unwrap_or(0.0);
    let low = shown
        .iter()
        .fold((1.0 - floor).max(0.0), |low, (_, ratio)| {
            low.min(ratio.low())
        });
    let mut highs: Vec<f64> = shown.iter().map(|(_, ratio)| ratio.high()).collect();
    highs.sort_by(f64::total_cmp);
    let most = highs
        .get(highs.len().saturating_sub(1) * 3 / 4)
        .map_or(1.0, |high| 1.0 + 2.0 * (high - 1.0));
    let last = highs.last().copied().unwrap_or(1.0);
    let high = last.min(most.max(1.1)).max(1.05 + floor);
    let room = (high - low) * 0.03;
    Scale::linear(low - room, high + room)
}

fn bar(row: &Row, ratio: Interval, scale: &Scale, group: &Group) -> ChartRow {
    let height = f64::from(HEIGHT);
    let words = words(row, ratio, &group.baseline);
    let mut svg = Svg::new("plot", HEIGHT, &words);
    if let Some(floor) = group.noise_floor {
        // Nothing takes less than no time.
        let (from, to) = (
            scale.place((1.0 - floor).max(0.0)),
            scale.place(1.0 + floor),
        );
        svg.span("floor", from, to, 0.0, height);
    }
    grid(&mut svg, scale, TICKS, height);
    let (zero, end) = (scale.place(1.0), scale.place(ratio.value));
    svg.span(
        &format!("bar {}", class(row.kind)),
        zero,
        end,
        5.0,
        height - 10.0,
    );
    svg.vertical("base", zero, 0.0, height);
    if let Some(ends) = ratio.ends {
        whisker(&mut svg, scale, ends, height / 2.0);
    }
    if scale.is_beyond(ratio.value) {
        cut(&mut svg, height);
    } else {
        svg.circle(&format!("end {}", class(row.kind)), end, height / 2.0, 3.5);
    }
    let more = ratio
        .noise()
        .filter(|noise| *noise > 0.0)
        .map_or_else(String::new, figures::noise);
    ChartRow::of(row, svg.finish(), figures::ratio(ratio.value), more)
}

/// The bar in words.
fn words(row: &Row, ratio: Interval, baseline: &str) -> String {
    let value = figures::ratio(ratio.value);
    let interval = match ratio.ends {
        Some((low, high)) => format!(" (95 %: {})", figures::ends(low, high)),
        None => " (too few rounds for an interval)".to_owned(),
    };
    let caveat = if row.is_ranked() || row.caveats.is_empty() {
        String::new()
    } else {
        format!("; {}", row.caveats.join("; "))
    };
    format!("{}: {value} {baseline}{interval}{caveat}", row.label())
}

/// A tick's value with as many digits as it has.
fn tick(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.strip_suffix('0') {
        Some(short) => short.to_owned(),
        None => text,
    }
}
