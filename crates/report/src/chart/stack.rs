//! Bars that begin at 0: costs by row, in one part or several.
//!
//! ```text
//!  fathom  ██▒▒├┤                  6.30 ms
//!  node    ██████████████████████» 41.4 ms    cut at the edge
//! ```
//!
//! What must stay true: one long bar does not make all others look alike; a bar that is cut
//! says so, and its number stands beside it.

use super::scale::Scale;
use super::svg::Svg;
use super::{Chart, ChartRow, axis, class, cut, grid, whisker};
use fathom_stats::Figure;

use crate::figures;
use crate::view::{Group, Kind, Row};

const HEIGHT: u32 = 20;
const TICKS: usize = 3;
/// A bar this many times as long as three quarters of them are is cut.
const CUT: f64 = 3.0;

/// A part of a bar: its class in the style sheet, its name, and what it shows.
struct Part {
    class: &'static str,
    name: &'static str,
    figure: Figure,
}

const CUT_WORDS: &str = " A bar with » is cut: its number is the full value.";

/// What a bar stands for, and its parts. Parts are drawn as shares of the whole: the median of
/// a sum is not the sum of medians, and the number beside the bar is that of the tables.
struct Bar {
    whole: Figure,
    parts: &'static [Part],
}

const START: [Part; 3] = [
    Part {
        class: "part load",
        name: "load",
        figure: Figure::Load,
    },
    Part {
        class: "part compile",
        name: "compile",
        figure: Figure::Compile,
    },
    Part {
        class: "part instantiate",
        name: "instantiate",
        figure: Figure::Instantiate,
    },
];

const MEMORY: [Part; 1] = [Part {
    class: "",
    name: "peak resident set",
    figure: Figure::RssPeak,
}];

/// Load, compile and instantiate, one after the other.
pub fn start(group: &Group) -> Chart {
    chart(
        group,
        &Bar {
            whole: Figure::Start,
            parts: &START,
        },
        "From bytes to a program that is ready to run: load, compile, instantiate; geometric mean over the workloads. Shorter is better.",
        figures::time,
    )
}

/// Peak resident memory.
pub fn memory(group: &Group) -> Chart {
    chart(
        group,
        &Bar {
            whole: Figure::RssPeak,
            parts: &MEMORY,
        },
        "Largest resident set of the process, geometric mean over the workloads. Shorter is better.",
        figures::bytes,
    )
}

fn chart(group: &Group, bar_of: &Bar, caption: &str, format: fn(f64) -> String) -> Chart {
    let total = |row: &Row| row.costs.get(&bar_of.whole).copied();
    let shown: Vec<(&Row, f64)> = group
        .rows
        .iter()
        .filter_map(|row| total(row).map(|total| (row, total)))
        .collect();
    if shown.is_empty() {
        return Chart::default();
    }
    let high = high(&shown);
    let scale = Scale::linear(0.0, high * 1.02);
    let is_cut = shown.iter().any(|(_, total)| scale.is_beyond(*total));
    let cut = if is_cut { CUT_WORDS } else { "" };
    Chart {
        axis: axis(&scale, TICKS, format),
        caption: format!("{caption}{cut}"),
        rows: shown
            .iter()
            .map(|(row, total)| bar(row, *total, bar_of, &scale, format))
            .collect(),
    }
}

/// How far the axis reaches. Native code, which has nothing to compile, does not
/// shorten it.
fn high(shown: &[(&Row, f64)]) -> f64 {
    let longest = shown.iter().map(|(_, total)| *total).fold(0.0, f64::max);
    let mut sandboxes: Vec<f64> = shown
        .iter()
        .filter(|(row, _)| row.kind != Kind::Native)
        .map(|(_, total)| *total)
        .collect();
    sandboxes.sort_by(f64::total_cmp);
    let most = sandboxes.get(sandboxes.len().saturating_sub(1) * 3 / 4);
    most.map_or(longest, |most| longest.min(most * CUT))
}

fn bar(row: &Row, total: f64, of: &Bar, scale: &Scale, format: fn(f64) -> String) -> ChartRow {
    let height = f64::from(HEIGHT);
    let known = || {
        of.parts.iter().filter_map(|part| {
            row.costs
                .get(&part.figure)
                .copied()
                .map(|value| (part, value))
        })
    };
    let list = known()
        .map(|(part, value)| format!("{} {}", part.name, format(value)))
        .collect::<Vec<_>>()
        .join(", ");
    let ends = row.cost_ends.get(&of.whole).copied();
    let interval = ends.map_or_else(String::new, |(low, high)| {
        format!(" (95 %: {}–{})", format(low), format(high))
    });
    let words = format!("{}: {list}{interval}", row.label());
    let mut svg = Svg::new("plot", HEIGHT, &words);
    grid(&mut svg, scale, TICKS, height);
    let sum: f64 = known().map(|(_, value)| value).sum();
    let share = if sum > 0.0 { total / sum } else { 0.0 };
    let mut from = 0.0;
    for (part, value) in known().map(|(part, value)| (part, value * share)) {
        let class = match part.class {
            "" => format!("bar {}", class(row.kind)),
            class => class.to_owned(),
        };
        svg.span(
            &class,
            scale.place(from),
            scale.place(from + value),
            4.0,
            height - 8.0,
        );
        from += value;
    }
    svg.vertical("base", 0.0, 0.0, height);
    if let Some(ends) = ends {
        whisker(&mut svg, scale, ends, height / 2.0);
    }
    if scale.is_beyond(total) {
        cut(&mut svg, height);
    }
    ChartRow::of(row, svg.finish(), format(total), String::new())
}
