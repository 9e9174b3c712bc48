//! What the half of the rounds shows that is not counted: how much slower it is, which row
//! is slow by itself in part of its rounds, and how many children something outside slowed.
//!
//! What must stay true: it is shown beside what other rows took and is no verdict; children
//! of a row that stands out are not called slowed from outside.

use fathom_record::Estimator;
use fathom_stats::{Children, Row as Key, Summary};

use super::Finding;
use super::compared_figure::ComparedFigure;
use super::group::Shown;
use crate::figures;

/// Gives rows their slow halves. What is found of rows that stand out, and the children of
/// all others.
pub fn of_group(
    shown: &mut [Shown<'_>],
    compared: &ComparedFigure<'_>,
) -> (Vec<Finding>, Children) {
    let summary: &Summary = compared.summary;
    let mut findings = Vec::new();
    let mut children = Children::default();
    if compared.figure != summary.compared {
        return (findings, children);
    }
    let keys: Vec<&Key> = shown.iter().map(|shown| &shown.from.row).collect();
    let halves = summary.halves(compared.figure, &keys);
    for (shown, half) in shown.iter_mut().zip(halves) {
        let row = &mut shown.row;
        row.slow_half = half.slow;
        row.slow_half_of_control = half.control;
        row.is_slow_by_itself = half.apart.is_some();
        match (half.apart, half.slow) {
            (Some((own, beside)), Some(slow)) => findings.push(Finding {
                text: sentence(&row.name, slow, own, beside, summary.estimator),
                is_real: true,
            }),
            _ => children = children.with(half.children),
        }
    }
    (findings, children)
}

fn sentence(
    name: &str,
    slow: f64,
    own: Children,
    beside: Children,
    estimator: Estimator,
) -> String {
    let share = |children: Children| children.share().map_or(String::new(), figures::percent);
    let counted = match estimator {
        Estimator::FasterHalf => "which alone counts",
        Estimator::Mean => "and the mean counts both",
    };
    format!(
        "{name} is slow by itself in part of its rounds: {} of its children were slowed, and {} of \
         those of rows about as fast in the same rounds. Its slower half took {} longer than its \
         faster half, {counted}.",
        share(own),
        share(beside),
        figures::percent(slow - 1.0),
    )
}
