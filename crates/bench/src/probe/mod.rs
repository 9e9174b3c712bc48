//! The soundness probe: does a sandbox keep what its strategy promises?
//!
//! Every load, store, SIMD access and bulk operation is tried at every edge of
//! memories of many lengths, and what becomes of each is compared with an oracle
//! that knows the specification and no engine.
//!
//! ```text
//!  op      the instructions: names, widths, encodings, meanings
//!  model   the oracle: the rule for traps, and a memory's bytes
//!  module  the module under test
//!  access  what is tried, in words
//!  plan    scenarios: calls, each with what must become of it
//!  subject who makes the calls: a runner in a child of its own
//!  judge   findings: the strongest guarantee nothing seen contradicts
//!  serve   our own engine's side of it, between memories full of canaries
//! ```
//!
//! What must stay true: nothing of an engine is used to say what is right, and
//! the probe's own looking at memory stays inside of it.

mod access;
mod judge;
mod model;
mod module;
mod op;
mod plan;
mod serve;
mod subject;

use std::borrow::Borrow;

use fathom_engine::{Bounds, BoundsChoice};
use fathom_record::campaign::ProbeRecord;
use fathom_record::{Guarantee, Sandbox, SandboxId};

use crate::choose;

pub use judge::Findings;
pub use serve::{Escape, ServeError, serve};
pub use subject::{Answers, Ending, Runner, Subject, SubjectError};

/// What a sandbox promises. Our engine's strategies say so themselves; other
/// engines claim to follow the specification, whatever they do for it.
pub fn claimed(sandbox: &Sandbox) -> Guarantee {
    let choice: Option<BoundsChoice> = sandbox.strategy.parse().ok();
    let own = choice.map(|choice| choice.resolve(false));
    let own = own.filter(|_| sandbox.engine == choose::OWN);
    match own.map(Bounds::guarantee) {
        None | Some(fathom_engine::Guarantee::Exact) => Guarantee::Exact,
        Some(fathom_engine::Guarantee::Contained) => Guarantee::Contained,
        Some(fathom_engine::Guarantee::Partial) => Guarantee::Partial,
        Some(fathom_engine::Guarantee::Unchecked) => Guarantee::Unchecked,
    }
}

/// How far a probe has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Scenarios that are over.
    pub done: usize,
    /// Scenarios in all.
    pub all: usize,
}

/// Probes a subject that claims `claimed`; `progress` is told of every scenario
/// that is over.
///
/// # Errors
/// [`SubjectError`] when the subject cannot be probed, which says nothing about
/// its soundness.
pub fn probe(
    subject: &mut dyn Subject,
    claimed: Guarantee,
    progress: &mut dyn FnMut(Progress),
) -> Result<Findings, SubjectError> {
    let scenarios = (0..plan::SCENARIOS).map(|number| plan::scenario(model::specified, number));
    probe_with(scenarios, subject, claimed, progress)
}

fn probe_with<S: Borrow<plan::Scenario>>(
    scenarios: impl ExactSizeIterator<Item = S>,
    subject: &mut dyn Subject,
    claimed: Guarantee,
    progress: &mut dyn FnMut(Progress),
) -> Result<Findings, SubjectError> {
    let mut findings = Findings::new(claimed);
    let all = scenarios.len();
    for (number, scenario) in scenarios.enumerate() {
        let scenario = scenario.borrow();
        let calls = scenario.steps.iter().map(|step| step.call.clone());
        let answers = subject.call_all(&scenario.module, calls.collect())?;
        if let (true, Ending::Refused(why)) = (scenario.essential, &answers.ending) {
            return Err(SubjectError::Refused(why.clone()));
        }
        findings.judge(scenario, &answers);
        let done = number + 1;
        progress(Progress { done, all });
    }
    Ok(findings)
}

impl Findings {
    /// The findings as a campaign records them.
    pub fn record(&self, sandbox: SandboxId) -> ProbeRecord {
        ProbeRecord {
            sandbox,
            claimed: self.claimed,
            observed: self.observed,
            accesses: self.accesses,
            violations: self.violations,
            examples: self.examples.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
