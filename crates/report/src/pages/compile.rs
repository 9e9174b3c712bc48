//! Compiling: a line per module and engine.

use fathom_record::{Metric, Names, Phase};
use fathom_stats::Medians;

use super::{Context, PageOutput, engine_and_threads};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 7] = [
    ("module", "module", Unit::Text),
    ("engine", "engine", Unit::Text),
    ("compile", "compile_ns", Unit::Time),
    ("CPU", "cpu_ns", Unit::Time),
    ("code", "code_bytes", Unit::Bytes),
    ("peak memory", "rss_peak_bytes", Unit::Bytes),
    ("rounds", "rounds", Unit::Whole),
];

/// What the experiment adds: its table, behind the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let names = context.names();
    let sheet = Sheet {
        title: "Compiling: medians; CPU and memory are the whole process's, a short run included"
            .to_owned(),
        columns: &COLUMNS,
        lines: context
            .medians()
            .iter()
            .map(|one| line(&names, one))
            .collect(),
    };
    PageOutput::behind("compile", &sheet, context)
}

fn line(names: &Names, one: &Medians<'_>) -> Vec<Entry> {
    vec![
        one.cell.workload.as_str().into(),
        engine_and_threads(names, one.cell).into(),
        one.once(Phase::Compile).into(),
        one.cpu().into(),
        one.metric(Metric::CodeBytes).into(),
        one.metric(Metric::RssPeakBytes).into(),
        Some(one.rounds() as f64).into(),
    ]
}
