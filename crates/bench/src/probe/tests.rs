//! A probe that finds nothing is worth what it would have found: engines that
//! are wrong in known ways, made by planning with a wrong rule or by bending
//! right answers.

use std::sync::OnceLock;

use fathom_record::protocol::{Call, CallOutcome, WireValue};

use super::model::{CANARY, Reach, Rule, specified};
use super::plan::{self, Scenario, Step, Wanted, What};
use super::*;

/// The scenarios of these tests, as `rule` sees them: memories around 1 page,
/// and, where sums can leave 32 bits, around 4 GiB.
fn scenarios(rule: Rule) -> Vec<Scenario> {
    [0, 1, 4].map(|number| plan::scenario(rule, number)).into()
}

/// What is right. Planned once: it takes a while without optimisation.
fn right() -> &'static [Scenario] {
    static RIGHT: OnceLock<Vec<Scenario>> = OnceLock::new();
    RIGHT.get_or_init(|| scenarios(specified))
}

/// Probes with plans that are there already.
fn probe_with<'a>(
    scenarios: impl Iterator<Item = &'a Scenario>,
    subject: &mut dyn Subject,
    claimed: Guarantee,
) -> Result<Findings, SubjectError> {
    let mut findings = Findings::new(claimed);
    for scenario in scenarios {
        attempt(&mut findings, subject, scenario, false)?;
    }
    Ok(findings)
}

/// Answers what its plans want, as `bend` changes it.
struct Double<'a, F> {
    plans: std::slice::Iter<'a, Scenario>,
    bend: F,
}

fn double<F: FnMut(&Step, CallOutcome) -> CallOutcome>(
    plans: &[Scenario],
    bend: F,
) -> Double<'_, F> {
    let plans = plans.iter();
    Double { plans, bend }
}

fn outcome_of(wanted: &Wanted) -> CallOutcome {
    match wanted {
        Wanted::Trap => CallOutcome::Trap("out of bounds memory access".to_owned()),
        Wanted::Misaligned { .. } => CallOutcome::Trap("unaligned atomic".to_owned()),
        Wanted::Values(values) => {
            CallOutcome::Result(values.iter().map(WireValue::to_string).collect())
        }
    }
}

impl<F: FnMut(&Step, CallOutcome) -> CallOutcome> Subject for Double<'_, F> {
    fn call_all(&mut self, _module: &[u8], calls: Vec<Call>) -> Result<Answers, SubjectError> {
        let steps = &self.plans.next().unwrap().steps;
        assert!(steps.iter().map(|step| &step.call).eq(&calls));
        let answer = |step: &Step| (self.bend)(step, outcome_of(&step.wanted));
        Ok(Answers {
            outcomes: steps.iter().map(answer).collect(),
            ending: Ending::Done,
        })
    }
}

fn findings(subject: &mut dyn Subject, claimed: Guarantee) -> Findings {
    probe_with(right().iter(), subject, claimed).unwrap()
}

fn straight(_: &Step, outcome: CallOutcome) -> CallOutcome {
    outcome
}

#[test]
fn a_right_engine_is_exact() {
    let found = findings(&mut double(right(), straight), Guarantee::Exact);
    assert_eq!(found.observed, Guarantee::Exact);
    assert!(found.is_kept(), "{:?}", found.examples);
    assert_eq!(found.trapped, found.outside);
    assert!(found.outside > 10_000 && found.accesses - found.outside > 5_000);
    assert!(found.not_tried.is_empty());
}

/// Wrong rules, each a mistake that has been made.
const WRONG_RULES: [(&str, Rule); 8] = [
    ("one byte too far", |r| {
        r.index + r.offset + r.width <= r.len + 1
    }),
    ("one byte too early", |r| {
        r.index + r.offset + r.width < r.len
    }),
    ("the width is forgotten", |r| r.index + r.offset < r.len),
    ("the offset is forgotten", |r| r.index + r.width <= r.len),
    ("only the index is compared", |r| r.index < r.len),
    ("the sum wraps in 32 bits", |r| {
        let start = (r.index as u32).wrapping_add(r.offset as u32);
        u64::from(start) + r.width <= r.len
    }),
    ("the end wraps in 32 bits", |r| {
        let end = (r.index as u32)
            .wrapping_add(r.offset as u32)
            .wrapping_add(r.width as u32);
        u64::from(end) <= r.len && r.index + r.offset < r.len
    }),
    ("the sum is signed in 32 bits", |r| {
        i64::from((r.index + r.offset) as i32) + r.width as i64 <= r.len as i64
    }),
];

#[test]
fn every_wrong_rule_is_found_out() {
    for (name, rule) in WRONG_RULES {
        let found = findings(&mut double(&scenarios(rule), straight), Guarantee::Exact);
        assert!(!found.is_kept(), "{name}");
        assert!(found.violations > 0 && !found.examples.is_empty(), "{name}");
    }
}

#[test]
fn the_tenth_byte_of_a_vector_is_not_overlooked() {
    let vectors_end_early: Rule = |r: Reach| {
        let width = if r.width == 16 { 10 } else { r.width };
        r.index + r.offset + width <= r.len
    };
    let found = findings(
        &mut double(&scenarios(vectors_end_early), straight),
        Guarantee::Exact,
    );
    assert!(
        found.examples[0].starts_with("v128.load "),
        "{:?}",
        found.examples
    );
}

#[test]
fn one_wrong_answer_among_thousands_is_found_and_shown() {
    let mut left = 20_000;
    let bend = |step: &Step, outcome: CallOutcome| {
        left -= 1;
        let outside = matches!(&step.what, What::Access(access) if access.outside);
        if left < 0 && outside && step.call.export == "i64.load@65536" {
            left = i64::MAX;
            return CallOutcome::Result(vec!["i64:0".to_owned()]);
        }
        outcome
    };
    let found = findings(&mut double(right(), bend), Guarantee::Exact);
    assert_eq!(
        (found.violations, found.observed),
        (1, Guarantee::Contained)
    );
    let example = &found.examples[0];
    assert!(
        example.starts_with("i64.load offset=65536 at address 0x"),
        "{example}"
    );
    assert!(
        example.ends_with(": expected trap, returned 0x0"),
        "{example}"
    );
}

#[test]
fn a_store_that_traps_too_late_is_found_out() {
    // It traps, but memory differs: the digest after it is another one.
    let mut outside = false;
    let bend = |step: &Step, outcome: CallOutcome| {
        match &step.what {
            What::Access(access) => outside = access.outside && access.stores.is_some(),
            What::Digest if outside => return CallOutcome::Result(vec!["i64:1".to_owned()]),
            _ => {}
        }
        outcome
    };
    let found = findings(&mut double(right(), bend), Guarantee::Exact);
    assert!(!found.is_kept());
    assert!(
        found.examples[0].contains("trapped, but memory is not"),
        "{:?}",
        found.examples
    );
}

#[test]
fn a_store_that_traps_halfway_stays_inside() {
    // It traps, and its first byte, which is inside, is there nevertheless.
    let mut stored = None;
    let mut bend = |step: &Step, outcome: CallOutcome| {
        match &step.what {
            What::Access(access) => stored = access.stores.filter(|_| access.outside),
            What::Peek(access) if !access.outside => {
                if let Some(byte) = stored {
                    return CallOutcome::Result(vec![format!("i32:{byte}")]);
                }
            }
            _ => {}
        }
        outcome
    };
    let mut torn = |claimed| findings(&mut double(right(), &mut bend), claimed);
    let found = torn(Guarantee::Exact);
    assert_eq!(found.observed, Guarantee::Contained);
    assert!(!found.is_kept());
    assert!(
        found.examples[0].contains("trapped, but memory is not"),
        "{:?}",
        found.examples
    );
    assert!(torn(Guarantee::Partial).is_kept());
}

/// Goes on where it should trap, like an engine that clamps: a load gives
/// `byte`, a store changes the memory.
fn lenient(byte: u8) -> impl FnMut(&Step, CallOutcome) -> CallOutcome {
    let mut went_on = false;
    move |step, outcome| match &step.what {
        What::Access(access) | What::Peek(access) => {
            went_on = access.outside;
            match (&step.wanted, access.stores) {
                (Wanted::Trap, None) if step.call.export.contains(".load") => {
                    CallOutcome::Result(vec![format!("i32:{byte}")])
                }
                (Wanted::Trap, _) => CallOutcome::Result(vec![]),
                _ => outcome,
            }
        }
        What::Digest if went_on => CallOutcome::Result(vec!["i64:1".to_owned()]),
        What::Digest => outcome,
        What::Setup | What::Growth => {
            went_on = false;
            outcome
        }
    }
}

#[test]
fn clamping_is_contained_but_not_exact() {
    let clamping = |claimed| findings(&mut double(right(), lenient(0x41)), claimed);
    let found = clamping(Guarantee::Contained);
    assert!(found.is_kept(), "{:?}", found.examples);
    assert_eq!(found.observed, Guarantee::Contained);
    assert_eq!(found.trapped, 0);
    assert!(!clamping(Guarantee::Exact).is_kept());
}

#[test]
fn a_strangers_byte_is_no_containment() {
    let found = findings(&mut double(right(), lenient(CANARY)), Guarantee::Contained);
    assert_eq!(found.observed, Guarantee::Unchecked);
    assert!(
        found.examples[0].ends_with("(from another memory)"),
        "{:?}",
        found.examples
    );
}

#[test]
fn a_value_kept_outside_the_memory_is_no_containment() {
    // Stores outside go on, change nothing inside, and can be read back.
    let mut stored = None;
    let bend = |step: &Step, outcome: CallOutcome| match &step.what {
        What::Access(access) if access.outside => {
            stored = access.stores;
            CallOutcome::Result(vec![])
        }
        What::Peek(access) if access.outside => {
            CallOutcome::Result(vec![format!("i32:{}", stored.unwrap_or(0))])
        }
        _ => outcome,
    };
    let found = findings(&mut double(right(), bend), Guarantee::Contained);
    assert_eq!(found.observed, Guarantee::Unchecked);
    assert!(
        found.examples[0].ends_with("is kept outside the memory"),
        "{:?}",
        found.examples
    );
}

#[test]
fn another_trap_is_not_the_right_trap() {
    let bend = |_: &Step, outcome| match outcome {
        CallOutcome::Trap(_) => CallOutcome::Trap("unreachable".to_owned()),
        right => right,
    };
    assert!(!findings(&mut double(right(), bend), Guarantee::Exact).is_kept());
}

#[test]
fn who_promises_nothing_breaks_no_promise_but_is_seen_through() {
    let found = findings(&mut double(right(), lenient(CANARY)), Guarantee::Unchecked);
    assert_eq!(
        (found.violations, found.observed),
        (0, Guarantee::Unchecked)
    );
    assert!(found.is_kept() && !found.examples.is_empty());
}

/// Ends in its own way after a few answers.
struct Short {
    answered: usize,
    ending: Ending,
}

impl Subject for Short {
    fn call_all(&mut self, _module: &[u8], _calls: Vec<Call>) -> Result<Answers, SubjectError> {
        let steps = &right()[0].steps;
        let outcomes = steps
            .iter()
            .take(self.answered)
            .map(|step| outcome_of(&step.wanted));
        Ok(Answers {
            outcomes: outcomes.collect(),
            ending: self.ending.clone(),
        })
    }
}

#[test]
fn a_crash_is_a_violation_that_names_the_access() {
    let mut subject = Short {
        answered: 3,
        ending: Ending::Died("died of signal 11".to_owned()),
    };
    let found = probe_with(right().iter(), &mut subject, Guarantee::Contained).unwrap();
    assert!(!found.is_kept());
    assert!(
        found.examples[0].contains("i32.load"),
        "{:?}",
        found.examples
    );
    assert!(
        found.examples[0].ends_with("died of signal 11"),
        "{:?}",
        found.examples
    );
}

#[test]
fn an_escape_that_the_runner_saw_is_a_violation() {
    let mut subject = Short {
        answered: usize::MAX,
        ending: Ending::Escaped("the memory behind was written".to_owned()),
    };
    let found = probe_with(right().iter(), &mut subject, Guarantee::Contained).unwrap();
    assert_eq!(found.observed, Guarantee::Unchecked);
}

#[test]
fn an_engine_that_cannot_even_start_is_not_judged() {
    let mut subject = Short {
        answered: 0,
        ending: Ending::Refused("no userfaultfd here".to_owned()),
    };
    let error = probe_with(right().iter(), &mut subject, Guarantee::Exact).unwrap_err();
    assert_eq!(error.to_string(), "no userfaultfd here");
}
