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

/// Load, compile and instantiate, one after the other.
pub fn start(group: &Group) -> Chart {
    chart(
        group,
        &START,
        "From bytes to a program that is ready to run: load, compile, instantiate; typically over the workloads. Shorter is better.",
        figures::time,
    )
}

/// Peak resident memory.
pub fn memory(group: &Group) -> Chart {
    let part = [Part {
        class: "",
        name: "peak resident set",
        figure: Figure::RssPeak,
    }];
    chart(
        group,
        &part,
        "Largest resident set of the process, typically over the workloads. Shorter is better.",
        figures::bytes,
    )
}

fn chart(group: &Group, parts: &[Part], caption: &str, format: fn(f64) -> String) -> Chart {
    let total = |row: &Row| -> Option<f64> {
        let known: Vec<f64> = parts
            .iter()
            .filter_map(|part| row.costs.get(&part.figure).copied())
            .collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
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
            .map(|(row, total)| bar(row, *total, parts, &scale, format))
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
    let mut from = 0.0;
    for (part, value) in known() {
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
