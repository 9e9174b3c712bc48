//! The part of SPEC CPU 2017 that the papers ran, of a user's own copy, which
//! `workloads/spec.py` has built: the selection `leaps-and-bounds` with `--spec`.
//!
//! What must stay true: a program is held against what the copy says that it prints;
//! what was left out is absent with the reason that the build gave.

use anyhow::Context;
use fathom_bench::{
    choose::{Absent, Program},
    suite::Suite,
};
use fathom_record::campaign::WorkloadNote;

use super::{
    Args,
    target::{note, program},
};

/// Why system calls are not counted, which takes many runs.
pub const UNCOUNTED: &str = "not counted: SPEC's programs run too long to be run for that";

/// Programs, and what is recorded of each.
pub type Measured = (Vec<Program<'static>>, Vec<WorkloadNote>);

/// Below a campaign's results: what was built of the copy, by size.
pub const BUILT: &str = "spec";

/// What a size was built to, if it was.
fn suite(args: &Args, size: &str) -> anyhow::Result<Suite> {
    let results = args.results.out.clone().unwrap_or_default();
    let folder = std::path::absolute(results.join(BUILT).join(size))?;
    Suite::load(&folder).context("SPEC CPU is not built: name your copy with --spec")
}

/// What is measured.
pub fn programs(args: &Args, size: &str) -> anyhow::Result<Measured> {
    let suite = suite(args, size)?;
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for workload in suite.select(&args.kernels)? {
        let mut one = program(&suite, workload, "");
        size.clone_into(&mut one.size);
        programs.push(one);
        notes.push(note(&suite, workload, ""));
    }
    Ok((programs, notes))
}

/// What the papers ran and could not be built of the copy.
pub fn left_out(args: &Args) -> anyhow::Result<Vec<Absent>> {
    let Some(size) = &args.spec else {
        return Ok(Vec::new());
    };
    let absent = suite(args, size)?.absent.into_iter().map(|one| Absent {
        engine: one.name,
        why: one.why,
        is_wanted: false,
    });
    Ok(absent.collect())
}
