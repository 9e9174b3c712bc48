//! Bars that begin at 0: costs by row, in one part or several.

use super::scale::Scale;
use super::svg::Svg;
use super::{Chart, ChartRow, axis, class, grid};
use fathom_stats::Figure;

use crate::figures;
use crate::view::{Group, Row};

const HEIGHT: u32 = 20;
const TICKS: usize = 3;

/// A part of a bar: its class in the style sheet, its name, and what it shows.
struct Part {
    class: &'static str,
    name: &'static str,
    figure: Figure,
}

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
        "From bytes to a program that is ready to run: load, compile, instantiate; typically over the workloads. Shorter is better.",
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
        "Largest resident set of the process, typically over the workloads. Shorter is better.",
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
    let longest = shown
        .iter()
        .fold(0.0, |longest, (_, total)| total.max(longest));
    let scale = Scale::linear(0.0, longest * 1.02);
    Chart {
        axis: axis(&scale, TICKS, format),
        caption: caption.to_owned(),
        rows: shown
            .iter()
            .map(|(row, total)| bar(row, *total, bar_of.parts, &scale, format))
            .collect(),
    }
}

fn bar(
    row: &Row,
    total: f64,
    parts: &[Part],
    scale: &Scale,
    format: fn(f64) -> String,
) -> ChartRow {
    let height = f64::from(HEIGHT);
    let known = || {
        parts.iter().filter_map(|part| {
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
    let mut svg = Svg::new("plot", HEIGHT, &format!("{}: {list}", row.label()));
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
    ChartRow::of(row, svg.finish(), format(total), String::new())
}
