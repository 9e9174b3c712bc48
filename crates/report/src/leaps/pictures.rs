//! The paper's figures, drawn of a campaign.

use fathom_stats::Figure;

use super::{NAME, Page};
use crate::chart::grouped_bars::{Bar, Group as Bars, GroupedBars};
use crate::figures;
use crate::view::{Group, Interval, Row};

/// A figure of the page.
pub(super) struct Picture {
    pub heading: String,
    pub caption: String,
    pub file: String,
    pub svg: String,
}

/// Strategies in the paper's order, and those it did not have.
const STRATEGIES: [&str; 9] = [
    "none",
    "clamp",
    "trap",
    "trap-no-spectre",
    "guard",
    "uffd",
    "guard+pool",
    "uffd+pool",
    "other",
];
/// Ratios beyond this make heights logarithmic.
const FAR: f64 = 8.0;
/// Engine and strategy of the rows of figure 1: what V8 does by default, what it
/// does when told to compare, and the same of the engine that can also do without.
const BY_KERNEL: [(&str, &str); 5] = [
    ("node", "guard"),
    ("node", "trap"),
    ("fathom", "none"),
    ("fathom", "guard"),
    ("fathom", "trap"),
];

impl Page<'_> {
    /// Those that the campaign has bars for.
    pub(super) fn pictures(&self) -> Vec<Picture> {
        let mut pictures = Vec::new();
        let mut add = |number: &str, heading: &str, caption: &str, paper: Option<GroupedBars>| {
            let Some(svg) = paper.and_then(|paper| paper.render()) else {
                return;
            };
            pictures.push(Picture {
                heading: format!("Figure {number}: {heading}"),
                caption: caption.to_owned(),
                file: format!("{NAME}-{number}.svg"),
                svg,
            });
        };
        let alone = self.alone();
        add(
            "1",
            "what checks cost, kernel by kernel",
            "One instance. Published: V8 with its default checks and without any, over native code. V8 \
             ships no way to run without checks; ours has one.",
            alone.map(by_kernel),
        );
        add(
            "2",
            "engines and strategies over native code",
            "One instance; geometric means over the kernels of the ratios of medians, with 95 % intervals.",
            alone.map(by_engine),
        );
        let Some(part) = self.scaling.parts.first() else {
            return pictures;
        };
        add(
            "3",
            "instances side by side",
            "Throughput of all instances together over that of one.",
            Some(part.throughput_picture()),
        );
        add(
            "4",
            "CPU use",
            "(us + sys + hi + si) / (us + sys + hi + si + id) over all processors of the host, between the \
             first and the last counted iteration.",
            Some(part.picture("CPU use of the host", Figure::CpuUseHost)),
        );
        add(
            "5",
            "context switches per CPU second",
            "Of the process, both kinds, over its whole life.",
            Some(GroupedBars {
                is_log: true,
                ..part.picture("Context switches per CPU second", Figure::CtxRate)
            }),
        );
        add(
            "6",
            "memory",
            "As published: what the host has in use, total minus available, whoever uses it.",
            Some(part.picture("Memory of the host in use", Figure::HostMemory)),
        );
        add(
            "6b",
            "memory of the process",
            "Its resident set, mean between the first and the last counted iteration; native instances are \
             processes of their own and not in it.",
            Some(GroupedBars {
                is_log: true,
                ..part.picture("Resident set of the process", Figure::RssMean)
            }),
        );
        pictures
    }
}

fn bar(ratio: Interval, is_apart: bool) -> Bar {
    Bar {
        value: ratio.value,
        ends: ratio.ends,
        shown: figures::ratio_bare(ratio.value),
        is_apart,
    }
}

fn by_kernel(group: &Group) -> GroupedBars {
    let rows: Vec<&Row> = BY_KERNEL
        .iter()
        .filter_map(|(engine, strategy)| {
            group.rows.iter().find(|row| {
                let sandbox = &row.key.sandbox;
                sandbox.engine == *engine && sandbox.strategy == *strategy
            })
        })
        .collect();
    let groups = group
        .workloads
        .iter()
        .enumerate()
        .map(|(at, workload)| Bars {
            label: workload.name.clone(),
            bars: rows
                .iter()
                .map(|row| {
                    let ratio = row.cells.get(at)?.as_ref()?.to_baseline?;
                    Some(bar(ratio, false))
                })
                .collect(),
        });
    GroupedBars {
        title: format!("Time of each kernel over {}", group.baseline),
        axis: format!("× {}", group.baseline),
        series: rows.iter().map(|row| row.label()).collect(),
        groups: groups.collect(),
        line: Some((1.0, group.baseline.clone())),
        ..GroupedBars::default()
    }
}

fn by_engine(group: &Group) -> GroupedBars {
    let place = |row: &Row| {
        let strategy = row.key.sandbox.strategy.as_str();
        let found = STRATEGIES.iter().position(|name| *name == strategy);
        found.unwrap_or(STRATEGIES.len() - 1)
    };
    let mut used: Vec<usize> = group.rows.iter().map(place).collect();
    used.sort_unstable();
    used.dedup();
    let mut engines: Vec<&str> = Vec::new();
    for row in &group.rows {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
    }
    let bars_of = |engine: &str| {
        used.iter()
            .map(|strategy| {
                let row = group
                    .rows
                    .iter()
                    .find(|row| row.engine == engine && place(row) == *strategy)?;
                Some(bar(
                    row.to_baseline?,
                    row.key.variant.is_wasm() && !row.is_ranked(),
                ))
            })
            .collect()
    };
    let groups = engines.iter().map(|engine| Bars {
        label: (*engine).to_owned(),
        bars: bars_of(engine),
    });
    GroupedBars {
        title: format!("Time over {}: {}", group.baseline, group.title),
        axis: format!("× {}", group.baseline),
        series: used.iter().map(|at| STRATEGIES[*at].to_owned()).collect(),
        groups: groups.collect(),
        line: Some((1.0, group.baseline.clone())),
        apart: "no sound sandbox".to_owned(),
        // An interpreter must not make all others look alike.
        is_log: group
            .rows
            .iter()
            .filter_map(|row| row.to_baseline)
            .any(|ratio| ratio.value > FAR),
        ..GroupedBars::default()
    }
}
