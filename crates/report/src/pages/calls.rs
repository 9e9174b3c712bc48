//! Calls: a line per engine, nanoseconds a call.

use fathom_record::{Cell, Names, Phase};
use fathom_stats::Medians;

use super::{Context, PageOutput, engine_and_threads};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 5] = [
    ("engine", "engine", Unit::Text),
    ("a call", "call_ns", Unit::Time),
    ("through a table", "indirect_ns", Unit::Time),
    ("of the host", "host_ns", Unit::Time),
    ("the loop alone", "loop_ns", Unit::Time),
];

/// What the experiment adds: its table, behind the general report.
///
/// A call is what a program takes more than the loop alone, by the number of its calls,
/// which is its size. A difference below nothing is noise and counts as nothing.
pub fn output(context: &Context<'_>) -> PageOutput {
    let (all, names) = (context.medians(), context.names());
    let loops = all.iter().filter(|one| one.cell.workload == "loop");
    let sheet = Sheet {
        title: "Calls: medians; what each takes more than the loop alone, nothing where an engine \
                puts the function in the call's place"
            .to_owned(),
        columns: &COLUMNS,
        lines: loops.map(|one| line(&names, one, &all)).collect(),
    };
    PageOutput::behind("calls", &sheet, context)
}

fn line(names: &Names, one: &Medians<'_>, all: &[Medians<'_>]) -> Vec<Entry> {
    let alone = each(one);
    let more = |workload: &str| {
        let wanted = Cell {
            workload: workload.to_owned(),
            ..one.cell.clone()
        };
        let other = all.iter().find(|other| *other.cell == wanted)?;
        Some((each(other)? - alone?).max(0.0))
    };
    vec![
        engine_and_threads(names, one.cell).into(),
        more("call").into(),
        more("indirect").into(),
        more("host").into(),
        alone.into(),
    ]
}

/// The time of a turn of a program's loop.
fn each(one: &Medians<'_>) -> Option<f64> {
    let turns: u32 = one.cell.size.parse().ok().filter(|turns| *turns > 0)?;
    Some(one.phase(Phase::Run)? / f64::from(turns))
}

#[cfg(test)]
mod tests;
