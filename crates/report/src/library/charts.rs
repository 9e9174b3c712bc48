//! The drawings: one for each group, as the 2023 study has them, and the one of all.

use super::{Library, Line};
use crate::chart::horizontal_bars::{Bar, HorizontalBars, Kind};
use crate::figures;
use fathom_record::Variant;
use fathom_stats::GroupRatio;

/// To what a drawing's times are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// The median of the engines.
    Median,
    /// Portable native code.
    Native,
}

impl To {
    fn ratios(self, line: &Line) -> &[GroupRatio] {
        match self {
            To::Median => &line.to_median,
            To::Native => &line.to_native,
        }
    }

    fn axis(self) -> &'static str {
        match self {
            To::Median => "times as long as the median engine, less is better",
            To::Native => "times as long as portable native code, less is better",
        }
    }
}

impl Library<'_> {
    /// The groups' drawings, that of all programs first: name and drawing.
    pub(super) fn drawings(&self, to: To) -> Vec<(String, String)> {
        let groups = self.groups.iter().map(|group| group.name.as_str());
        let names = std::iter::once("cumulative").chain(groups);
        let drawing = |(number, name): (usize, &str)| {
            let drawing = HorizontalBars {
                title: format!("{name}: {}", programs(self, number)),
                axis: to.axis().to_owned(),
                bars: self.bars(to, number),
            };
            Some((name.to_owned(), drawing.render()?))
        };
        names.enumerate().filter_map(drawing).collect()
    }

    /// The fastest first; native code, which no median has, with the engines where
    /// it is what they are held against.
    fn bars(&self, to: To, number: usize) -> Vec<Bar> {
        let mut bars: Vec<Bar> = self
            .lines
            .iter()
            .filter(|line| line.is_ranked || to == To::Native && !line.row.variant.is_wasm())
            .filter_map(|line| {
                let ratio = to.ratios(line).get(number)?;
                let mean = ratio.geomean.as_ref().ok()?;
                let missing = if ratio.missing.is_empty() { "" } else { "*" };
                Some(Bar {
                    name: line.name.clone(),
                    value: mean.value,
                    ends: mean
                        .interval
                        .as_ref()
                        .ok()
                        .map(|ends| (ends.low, ends.high)),
                    shown: format!("{}{missing}", figures::ratio_bare(mean.value)),
                    kind: match line.row.variant {
                        Variant::Native | Variant::NativeTuned => Kind::Native,
                        _ if line.row.sandbox.engine == "fathom" => Kind::Ours,
                        _ => Kind::Other,
                    },
                })
            })
            .collect();
        bars.sort_by(|one, other| one.value.total_cmp(&other.value));
        bars
    }
}

fn programs(library: &Library<'_>, number: usize) -> String {
    let count = match number.checked_sub(1) {
        None => library.programs(),
        Some(group) => library.groups[group].workloads.len(),
    };
    figures::plural(count, "program")
}
