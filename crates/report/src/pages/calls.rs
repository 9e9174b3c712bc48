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
mod tests {
    use fathom_record::{Span, Variant};
    use fathom_stats::Summary;

    use super::*;
    use crate::formula;
    use crate::view::View;

    #[test]
    fn a_call_is_what_it_takes_more_than_the_loop() {
        let cell = |workload| {
            let program = ("calls", workload);
            Cell {
                size: "1000".to_owned(),
                ..formula::cell("fathom", "guard", Variant::Wasm, program)
            }
        };
        let cells = ["loop", "call", "host"].map(cell);
        let mut campaign = formula::campaign("calls", Vec::new(), &cells, |_| 1.0);
        for sample in &mut campaign.samples {
            let wall_ns = match sample.cell.as_str() {
                id if id.contains(":host/") => 21_000,
                id if id.contains(":call/") => 900,
                _ => 1_000,
            };
            let span = Span {
                wall_ns,
                cpu_ns: None,
            };
            sample.phases.insert(Phase::Run, span);
        }
        let output = output(&Context {
            campaign: &campaign,
            summary: &Summary::from_campaign(&campaign),
            view: &View::default(),
            against: &[],
        });
        let csv = output.files.iter().find(|(name, _)| name == "calls.csv");
        let line = csv.unwrap().1.lines().nth(1).unwrap();
        // Nothing was measured through a table.
        assert_eq!(line, "fathom guard,0,,20,1");
    }
}
