//! The report as comma-separated values (RFC 4180): one line for each figure
//! of each cell, numbers unrounded, for a spreadsheet or a script.

use fathom_stats::halves::slow_half;
use fathom_stats::times::Estimate;
use fathom_stats::{Figure, FigureUnit};

use crate::view::{CellView, Group, Row, View};

/// The columns, each with what it holds. A figure's unit is in its own column; ratios have
/// none.
pub const COLUMNS: [(&str, &str); 31] = [
    (
        "cell",
        "the cell's id: engine, strategy, workload, build, size and instances",
    ),
    ("engine", "the engine's name; `native` for native code"),
    (
        "strategy",
        "how it checks bounds, by the engine's name for it",
    ),
    ("opt", "how hard the code generator tries"),
    ("backend", "the code generator, where one was chosen"),
    (
        "suite",
        "the workload's suite; `module` for a program of your own",
    ),
    ("workload", "the program"),
    ("variant", "what it was compiled to"),
    ("size", "the problem size, by the suite's name for it"),
    ("threads", "instances that run at once"),
    (
        "figure",
        "what was measured, such as kernel, run, compile or rss_peak",
    ),
    (
        "unit",
        "the unit of the next columns: ns, bytes, count, share, per second",
    ),
    ("median", "the median over rounds of each round's own"),
    (
        "low_95",
        "the lower end of the 95 % interval of the median (of five rounds: 94 %); empty below five rounds",
    ),
    ("high_95", "the upper end"),
    ("min", "the least round"),
    ("max", "the greatest round"),
    ("mad", "the median absolute deviation of the rounds"),
    (
        "slow_half",
        "times: the mean of the slower half of the rounds over that of the faster half; empty \
         below five rounds",
    ),
    ("rounds", "how many rounds were measured to their end"),
    ("baseline", "what the ratio is to"),
    (
        "ratio_to_baseline",
        "the cell over the baseline's, for the figure that rows are compared by",
    ),
    (
        "ratio_low_95",
        "the lower end of the ratio's 95 % interval; empty below five rounds",
    ),
    ("ratio_high_95", "the upper end"),
    (
        "verdict",
        "whether the two differ: different, equivalent, undecided, too few rounds",
    ),
    (
        "engine_version",
        "the version that was in force; unknown where the engine does not say",
    ),
    (
        "module_digest",
        "a hash of the bytes of a program of your own (FNV-1a); empty for a suite's",
    ),
    (
        "host",
        "the machine: processors, kernel, memory, load at the start",
    ),
    ("campaign", "the campaign's name"),
    ("date", "when the campaign began, UTC, as RFC 3339"),
    ("tool", "the version of fathom that measured"),
];

/// What each of some columns holds, a line each.
pub fn explained(columns: &[(&str, &str)]) -> String {
    let widest = columns.iter().map(|(name, _)| name.len()).max();
    let width = widest.unwrap_or(0);
    let line = |(name, what): &(&str, &str)| format!("  {name:width$}  {what}\n");
    columns.iter().map(line).collect()
}

/// All cells that have a time.
pub fn render(view: &View) -> String {
    let mut text = line(COLUMNS.map(|(name, _)| name));
    for group in &view.groups {
        for row in &group.rows {
            for (cell, workload) in row.cells.iter().zip(&group.workloads) {
                let Some(cell) = cell else { continue };
                for (figure, estimate) in &cell.figures {
                    let mut fields = fields(group, row, &workload.name, cell, *figure, estimate);
                    fields.extend(origin(view, row));
                    text.push_str(&line(fields));
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
    let is_time = figure.unit() == FigureUnit::Nanoseconds;
    let mut fields = vec![
        cell.id.to_string(),
        sandbox.engine.clone(),
        sandbox.strategy.clone(),
        sandbox.settings.opt().to_string(),
        sandbox.settings.backend().unwrap_or_default().to_owned(),
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
        number(is_time.then(|| slow_half(&estimate.values)).flatten()),
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

/// Where a line comes from, so that lines of many campaigns can stand in one file.
fn origin(view: &View, row: &Row) -> [String; 6] {
    let digest = view.module_digest.clone();
    [
        row.in_force.clone(),
        digest
            .filter(|_| row.key.variant.is_wasm())
            .unwrap_or_default(),
        view.host_line.clone(),
        view.title.clone(),
        view.date.clone(),
        view.tool.clone(),
    ]
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

/// A line (RFC 4180).
pub(crate) fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields = fields.into_iter().map(|field| quote(field.as_ref()));
    fields.collect::<Vec<String>>().join(",") + "\r\n"
}

/// A number as it was computed; empty where there is none.
pub(crate) fn unrounded(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A field, in quotes where it must be.
fn quote(field: &str) -> String {
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
    fn every_column_is_explained_once() {
        for columns in [&COLUMNS[..], &crate::samples::COLUMNS] {
            let names = columns.iter().map(|(name, _)| *name);
            let names: std::collections::BTreeSet<&str> = names.collect();
            assert_eq!(names.len(), columns.len());
            for (name, what) in columns {
                assert!(what.len() > 8 && !what.ends_with('.'), "{name}");
            }
        }
        assert_eq!(explained(&COLUMNS).lines().count(), COLUMNS.len());
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
