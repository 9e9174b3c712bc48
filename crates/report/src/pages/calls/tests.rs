//! What a call costs, of a campaign made of formulas.

use fathom_record::{Experiment, Span, Variant};

use super::*;
use crate::formula;

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
    let csv = formula::file(&campaign, Experiment::Calls, "calls.csv");
    let line = csv.lines().nth(1).unwrap();
    // Nothing was measured through a table.
    assert_eq!(line, "fathom guard,0,,20,1");
}
