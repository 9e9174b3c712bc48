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
//!  kept    verdicts of earlier probes, as long as they hold
//!  serve   our own engine's side of it, between memories full of canaries
//! ```
//!
//! What must stay true: nothing of an engine is used to say what is right, and
//! the probe's own looking at memory stays inside of it.

mod access;
mod judge;
pub mod kept;
mod model;
mod module;
mod op;
mod plan;
mod serve;
mod subject;

use std::time::{Instant, SystemTime};

use fathom_engine::Bounds;
use fathom_record::campaign::ProbeRecord;
use fathom_record::{Guarantee, Sandbox};

use crate::choose;
use crate::date::rfc3339;
use crate::own::OwnStrategy;
use model::Rule;
use module::{Index, Instructions};

pub use judge::Findings;
pub use serve::{Escape, ServeError, serve};
pub use subject::{Answers, Ending, Runner, Subject, SubjectError, TIME_LIMIT};

/// What a sandbox promises. Our engine's strategies say so themselves; other
/// engines claim to follow the specification, whatever they do for it.
pub fn claimed(sandbox: &Sandbox) -> Guarantee {
    let own: Option<OwnStrategy> = sandbox.strategy.parse().ok();
    let own = own.map(|own| own.choice.resolve(false));
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

/// What is tried of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// 32-bit memories.
    pub narrow: bool,
    /// 64-bit memories.
    pub wide: bool,
    /// Accesses at random, to each kind of memory.
    pub random: u64,
    /// What they are made from.
    pub seed: u64,
    /// How many departures are kept in words.
    pub examples: usize,
    /// When to stop with what was found by then, where that is anything.
    pub until: Option<Instant>,
}

impl Extent {
    /// Examples, unless more are wanted.
    pub const EXAMPLES: usize = 8;

    /// Everything at the edges that a sandbox is for: a strategy of ours may be
    /// one for one index type only, and one without any guarantee is not let
    /// loose with 64-bit indices, which reach everything.
    pub fn of(sandbox: &Sandbox) -> Extent {
        let own: Option<OwnStrategy> = sandbox.strategy.parse().ok();
        let own = own.filter(|_| sandbox.engine == choose::OWN);
        let is_for = |memory64| {
            own.is_none_or(|own| {
                let bounds = own.choice.resolve(memory64);
                let is_wild = bounds == Bounds::None && memory64;
                bounds.supports(memory64) && !is_wild
            })
        };
        Extent {
            narrow: is_for(false),
            wide: is_for(true),
            random: 0,
            seed: 0,
            examples: Extent::EXAMPLES,
            until: None,
        }
    }

    fn scenarios(self, rule: Rule) -> impl Iterator<Item = Planned> {
        let kinds = [(self.narrow, Index::I32), (self.wide, Index::I64)];
        let kinds = kinds.into_iter().filter(|(is_wanted, _)| *is_wanted);
        kinds.flat_map(move |(_, index)| {
            let edges = plan::scenarios(index).map(move |number| Planned {
                index,
                plan: Box::new(move |instructions| plan::scenario(rule, number, instructions)),
            });
            let chunks = self.random.div_ceil(RANDOM_CHUNK);
            let random = (0..chunks).map(move |chunk| Planned {
                index,
                plan: Box::new(move |instructions| {
                    let count = RANDOM_CHUNK.min(self.random - chunk * RANDOM_CHUNK);
                    let seed = self.seed.wrapping_add(chunk);
                    plan::random(rule, index, instructions, seed, count)
                }),
            });
            edges.chain(random)
        })
    }
}

/// Random accesses of one scenario.
const RANDOM_CHUNK: u64 = 50_000;

/// A scenario that is not made yet.
struct Planned {
    index: Index,
    plan: Box<dyn Fn(Instructions) -> plan::Scenario>,
}

/// Probes a subject that claims `claimed`; `progress` is told of every scenario
/// that is over. Who refuses the very first module is asked again with fewer
/// instructions; what is left out then is said in the findings, and so is the part that
/// there was time for.
///
/// # Errors
/// [`SubjectError`] when the subject cannot be probed, which says nothing about
/// its soundness.
pub fn probe(
    subject: &mut dyn Subject,
    extent: Extent,
    claimed: Guarantee,
    progress: &mut dyn FnMut(Progress),
) -> Result<Findings, SubjectError> {
    let mut findings = Findings::new(claimed, extent.examples);
    let planned: Vec<Planned> = extent.scenarios(model::specified).collect();
    let all = planned.len();
    let mut last = None;
    let mut refuses = None;
    let mut taken = None;
    for (number, Planned { index, plan }) in planned.into_iter().enumerate() {
        // Who refuses the first memory of an index type refuses them all.
        if refuses != Some(index) {
            let is_late = || extent.until.is_some_and(|until| Instant::now() >= until);
            let part = Some((number * 100 / all) as u8);
            let was_refused = match taken {
                None => {
                    taken = Some(first(&mut findings, subject, &*plan)?);
                    false
                }
                Some(_) if is_late() => {
                    findings.part_percent = part;
                    return Ok(findings);
                }
                Some(taken) => match attempt(&mut findings, subject, &plan(taken)) {
                    Err(SubjectError::Cancelled) if is_late() => {
                        findings.part_percent = part;
                        return Ok(findings);
                    }
                    attempted => attempted?,
                },
            };
            refuses = refuses.or((was_refused && last != Some(index)).then_some(index));
        }
        last = Some(index);
        let done = number + 1;
        progress(Progress { done, all });
    }
    Ok(findings)
}

/// Makes the calls of the first scenario and judges them; with the most
/// instructions that are taken, which it returns.
fn first(
    findings: &mut Findings,
    subject: &mut dyn Subject,
    plan: &dyn Fn(Instructions) -> plan::Scenario,
) -> Result<Instructions, SubjectError> {
    let mut instructions = Instructions::All;
    loop {
        let scenario = plan(instructions);
        let answers = ask(subject, &scenario)?;
        match (answers.ending, instructions.fewer()) {
            (Ending::Refused(why), Some((fewer, lack))) => {
                findings.not_tried.push(format!("{lack}: {why}"));
                findings.without.push(lack.to_owned());
                instructions = fewer;
            }
            // Whoever dies has not said what it lacks.
            (Ending::Refused(why) | Ending::Stillborn(why), _) => {
                return Err(SubjectError::Refused(why));
            }
            (ending, _) => {
                let outcomes = answers.outcomes;
                findings.judge(&scenario, &Answers { outcomes, ending });
                return Ok(instructions);
            }
        }
    }
}

fn ask(subject: &mut dyn Subject, scenario: &plan::Scenario) -> Result<Answers, SubjectError> {
    let calls = scenario.steps.iter().map(|step| step.call.clone());
    subject.call_all(&scenario.module, calls.collect())
}

/// Makes the calls of a scenario and judges them; whether it was refused.
fn attempt(
    findings: &mut Findings,
    subject: &mut dyn Subject,
    scenario: &plan::Scenario,
) -> Result<bool, SubjectError> {
    let answers = ask(subject, scenario)?;
    let refused = match &answers.ending {
        Ending::Refused(why) | Ending::Stillborn(why) if scenario.essential => {
            return Err(SubjectError::Refused(why.clone()));
        }
        Ending::Refused(_) | Ending::Stillborn(_) => answers.outcomes.is_empty(),
        _ => false,
    };
    findings.judge(scenario, &answers);
    Ok(refused)
}

impl Findings {
    /// The findings as a campaign records them. Our own strategies are never
    /// forgiven a needless trap: they claim what they say themselves, while that
    /// others follow the specification is our claim.
    pub fn record(&self, sandbox: &Sandbox) -> ProbeRecord {
        let is_own = sandbox.engine == choose::OWN;
        ProbeRecord {
            sandbox: sandbox.id(),
            claimed: self.claimed,
            observed: self.observed,
            accesses: self.accesses,
            violations: self.violations,
            needless: if is_own { 0 } else { self.needless },
            examples: self.examples.clone(),
            without: self.without.clone(),
            date: Some(rfc3339(SystemTime::now())),
            part_percent: self.part_percent,
        }
    }
}

#[cfg(test)]
mod tests;
