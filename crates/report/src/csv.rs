//! The report as comma-separated values (RFC 4180): one line for each figure
//! of each cell, numbers unrounded, for a spreadsheet or a script.

use fathom_stats::times::Estimate;
use fathom_stats::{Figure, FigureUnit};

use crate::view::{CellView, Group, Row, View};

/// The columns. A figure's unit is in its own column; ratios have none.
const HEAD: [&str; 24] = [
    "cell",
    "engine",
    "strategy",
    "opt",
    "backend",
    "suite",
    "workload",
    "variant",
    "size",
    "threads",
    "figure",
    "unit",
    "median",
    "low_95",
    "high_95",
    "min",
    "max",
    "mad",
    "rounds",
    "baseline",
    "ratio_to_baseline",
    "ratio_low_95",
    "ratio_high_95",
    "verdict",
];

/// All cells that have a time.
pub fn render(view: &View) -> String {
    let mut text = HEAD.join(",");
    text.push_str("\r\n");
    for group in &view.groups {
        for row in &group.rows {
            for (cell, workload) in row.cells.iter().zip(&group.workloads) {
                let Some(cell) = cell else { continue };
                for (figure, estimate) in &cell.figures {
                    let fields = fields(group, row, &workload.name, cell, *figure, estimate);
                    let fields: Vec<String> = fields.iter().map(|field| quote(field)).collect();
                    text.push_str(&fields.join(","));
                    text.push_str("\r\n");
                }
            }
        }
    }
    text
}

fn fields(
    group: &Group,
    row: &Row,
    workload: &str,
    cell: &CellView,
    figure: Figure,
    estimate: &Estimate,
) -> Vec<String> {
    let sandbox = &row.key.sandbox;
    let interval = estimate.interval().ok();
    let mut fields = vec![
        cell.id.to_string(),
        sandbox.engine.clone(),
        sandbox.strategy.clone(),
        sandbox.opt.to_string(),
        sandbox.backend.clone().unwrap_or_default(),
        group.suite.clone(),
        workload.to_owned(),
        row.key.variant.to_string(),
        group.size.clone(),
        group.threads.to_string(),
        figure.name().to_owned(),
        unit(figure.unit()).to_owned(),
        number(Some(estimate.median)),
        number(interval.map(|interval| interval.low)),
        number(interval.map(|interval| interval.high)),
        number(Some(estimate.min)),
        number(Some(estimate.max)),
        number(Some(estimate.mad)),
        estimate.rounds().to_string(),
    ];
    // Only the figure that rows are compared by has a ratio.
    let ratio = cell.to_baseline.filter(|_| figure == group.figure);
    fields.extend([
        ratio.map_or_else(String::new, |_| group.baseline.clone()),
        number(ratio.map(|ratio| ratio.value)),
        number(ratio.and_then(|ratio| ratio.ends).map(|(low, _)| low)),
        number(ratio.and_then(|ratio| ratio.ends).map(|(_, high)| high)),
        ratio
            .and(cell.verdict)
            .map_or_else(String::new, |verdict| verdict.name().to_owned()),
    ]);
    fields
}

pub(crate) fn unit(unit: FigureUnit) -> &'static str {
    match unit {
        FigureUnit::Nanoseconds => "ns",
        FigureUnit::Bytes => "bytes",
        FigureUnit::Count => "count",
        FigureUnit::PerCpuSecond => "per CPU second",
        FigureUnit::Share => "share",
        FigureUnit::PerSecond => "per second",
    }
}

/// Ten significant digits at most; empty where there is no value.
fn number(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return String::new();
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = 9 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", digits.clamp(0, 17) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A field, in quotes where it must be.
pub(crate) fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quote("plain"), "plain");
        assert_eq!(quote("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn numbers_are_whole_and_short() {
        let numbers = [
            412_345_678.0,
            1.0,
            0.000_123_456_789_01,
            1.012_345_678_912,
            0.0,
        ];
        assert_eq!(
            numbers.map(|value| number(Some(value))).join(" "),
            "412345678 1 0.000123456789 1.012345679 0"
        );
        assert_eq!(number(Some(f64::NAN)), "");
    }
}
