//! Growth under load: a line per program, number of instances and engine.

use fathom_record::{Metric, Names, Phase};
use fathom_stats::Medians;

use super::{Context, PageOutput, engine};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 10] = [
    ("program", "program", Unit::Text),
    ("threads", "threads", Unit::Whole),
    ("engine", "engine", Unit::Text),
    ("instances/s", "instances_per_s", Unit::Whole),
    ("make", "make_ns", Unit::Time),
    ("run", "run_ns", Unit::Time),
    ("drop", "drop_ns", Unit::Time),
    ("faults", "faults_per_instance", Unit::Mean),
    ("switches", "switches_per_instance", Unit::Mean),
    ("in kernel", "kernel_share", Unit::Share),
];

/// What the experiment adds: its table, behind the general report.
///
/// Faults and switches are the whole process's, divided by its counted instances and
/// its warm-up; the engine's start is in them. The kernel's share is of the processors
/// it was pinned to.
pub fn output(context: &Context<'_>) -> PageOutput {
    let names = context.names();
    let lines = context
        .medians()
        .into_iter()
        .filter_map(|one| line(&names, &one));
    let sheet = Sheet {
        title: "Growth under load: median times; faults and switches per instance, start-up \
                included"
            .to_owned(),
        columns: &COLUMNS,
        lines: lines.collect(),
    };
    PageOutput::behind("growth", &sheet, context)
}

fn line(names: &Names, one: &Medians<'_>) -> Option<Vec<Entry>> {
    let switches = [Metric::CtxVoluntary, Metric::CtxInvoluntary];
    Some(vec![
        one.cell.workload.as_str().into(),
        one.cell.threads.into(),
        engine(names, one.cell).into(),
        Some(one.per_second()?).into(),
        one.phase(Phase::Instantiate).into(),
        one.phase(Phase::Run).into(),
        one.phase(Phase::Teardown).into(),
        one.per_instance(&[Metric::FaultsMinor]).into(),
        one.per_instance(&switches).into(),
        one.kernel_share().into(),
    ])
}
