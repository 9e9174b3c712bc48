//! A probe that finds nothing is worth what it would have found: engines that
//! are wrong in known ways, made by planning with a wrong rule or by bending
//! right answers.

use std::sync::OnceLock;

use fathom_record::protocol::{Call, CallOutcome, WireValue};

use super::model::{CANARY, Reach, Rule, specified};
use super::plan::{self, Scenario, Step, Wanted, What};
use super::*;

#[path = "tests_part.rs"]
mod part;

/// The scenarios of these tests, as `rule` sees them: memories around 1 page,
/// and, where sums can leave 32 bits, around 4 GiB.
fn scenarios(rule: Rule) -> Vec<Scenario> {
    [0, 1, 4]
        .map(|number| plan::scenario(rule, number, Instructions::All))
        .into()
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
    let mut findings = Findings::new(claimed, Extent::EXAMPLES);
    for scenario in scenarios {
        attempt(&mut findings, subject, scenario)?;
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
        Wanted::AtomicTrap => CallOutcome::Trap("unaligned atomic".to_owned()),
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

/// Sandboxes as a campaign names them.
fn sandbox(engine: &str) -> Sandbox {
    Sandbox::new(engine, "guard")
}

/// Traps at the last byte of a full memory when that is reached with a constant
/// offset, as JavaScriptCore's compiled code does. What it does not store is not
/// there afterwards.
fn needless(step: &Step, outcome: CallOutcome, traps: &mut u64) -> CallOutcome {
    thread_local!(static STORED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    let (What::Access(access) | What::Peek(access)) = &step.what else {
        let is_after = matches!(step.what, What::Digest) && STORED.get();
        return match is_after {
            true => CallOutcome::Result(vec!["i64:1".to_owned()]),
            false => outcome,
        };
    };
    let is_peek = matches!(step.what, What::Peek(_));
    let is_last = !access.outside
        && access.pages == 65_536
        && step.call.export.contains("@65536")
        && step
            .call
            .args
            .first()
            .is_some_and(|index| index.parse() == Ok(WireValue::I32(0xfffe_ffff)));
    let is_byte = step.call.export.starts_with("i32.load8_u") || access.stores.is_some();
    if !is_peek {
        STORED.set(is_last && is_byte && access.stores.is_some());
    }
    if is_last && is_byte {
        *traps += 1;
        return CallOutcome::Trap("out of bounds memory access".to_owned());
    }
    outcome
}

#[test]
fn a_needless_trap_leaves_nothing_and_is_forgiven_others_only() {
    let mut traps = 0;
    let mut bend = |step: &Step, outcome| needless(step, outcome, &mut traps);
    let found = findings(&mut double(right(), &mut bend), Guarantee::Exact);
    assert!(traps > 5, "{traps}");
    assert_eq!(found.observed, Guarantee::Contained, "{:?}", found.examples);
    assert_eq!((found.violations, found.needless), (traps, traps));
    assert!(found.is_only_needless() && !found.is_kept());

    let record = found.record(&sandbox("bun"));
    assert!(record.is_overcautious() && !record.is_unsound());
    assert_eq!(record.guarantee(), Guarantee::Contained);
    let own = found.record(&sandbox("fathom"));
    assert!(own.is_unsound() && !own.is_overcautious());
}

#[test]
fn a_needless_trap_breaks_weaker_promises_too() {
    for claimed in [Guarantee::Contained, Guarantee::Partial] {
        let mut traps = 0;
        let mut bend = |step: &Step, outcome| needless(step, outcome, &mut traps);
        let found = findings(&mut double(right(), &mut bend), claimed);
        assert_eq!(found.violations, traps);
        assert!(!found.is_kept() && found.record(&sandbox("fathom")).is_unsound());
    }
}

#[test]
fn anything_beside_needless_traps_is_not_forgiven() {
    let inside = |step: &Step| matches!(&step.what, What::Access(access) if !access.outside && access.stores.is_none());
    let others = [
        CallOutcome::Trap("unreachable".to_owned()),
        CallOutcome::Result(vec!["i32:1".to_owned()]),
        CallOutcome::Result(vec!["i32:165".to_owned()]),
    ];
    for other in others {
        let (mut traps, mut number) = (0, 0);
        let bend = |step: &Step, outcome: CallOutcome| {
            number += u32::from(inside(step));
            match number {
                7 if inside(step) => other.clone(),
                _ => needless(step, outcome, &mut traps),
            }
        };
        let found = findings(&mut double(right(), bend), Guarantee::Exact);
        assert_eq!(found.observed, Guarantee::Unchecked, "{other:?}");
        assert_eq!(found.violations, found.needless + 1);
        assert!(found.record(&sandbox("bun")).is_unsound(), "{other:?}");
    }
    // One that goes on outside never leaves its memory, and is no less unsound.
    let mut gone_on = false;
    let mut traps = 0;
    let bend = |step: &Step, outcome: CallOutcome| match &step.what {
        What::Access(access) if access.outside && !gone_on && access.stores.is_none() => {
            gone_on = true;
            CallOutcome::Result(vec!["i32:65".to_owned()])
        }
        _ => needless(step, outcome, &mut traps),
    };
    let found = findings(&mut double(right(), bend), Guarantee::Exact);
    assert_eq!(found.observed, Guarantee::Contained);
    assert!(found.record(&sandbox("bun")).is_unsound());
}

/// Answers rightly, but refuses modules made of more than it has; or dies of them.
struct Modest {
    has: Instructions,
    dies: bool,
    asked: usize,
}

impl Subject for Modest {
    fn call_all(&mut self, module: &[u8], _calls: Vec<Call>) -> Result<Answers, SubjectError> {
        self.asked += 1;
        let all = [
            Instructions::All,
            Instructions::Scalar,
            Instructions::CopyAndFill,
            Instructions::Mvp,
        ];
        let planned = |what| plan::scenario(specified, 0, what);
        let scenario = all.map(planned).into_iter().zip(all);
        let (scenario, needs) = { scenario }
            .find(|(scenario, _)| scenario.module == module)
            .expect("the first scenario");
        let outcomes = scenario.steps.iter().map(|step| outcome_of(&step.wanted));
        Ok(match (needs > self.has, self.dies) {
            (false, _) => Answers {
                outcomes: outcomes.collect(),
                ending: Ending::Done,
            },
            // Late, as one that translates functions when they are called.
            (true, false) => Answers {
                outcomes: outcomes.take(2).collect(),
                ending: Ending::Refused(format!("no {needs:?}")),
            },
            (true, true) => Answers {
                outcomes: Vec::new(),
                ending: Ending::Stillborn("died of signal 11 before the first call: ".to_owned()),
            },
        })
    }
}

fn first_of(subject: &mut Modest) -> (Findings, Result<Instructions, SubjectError>) {
    let mut findings = Findings::new(Guarantee::Exact, Extent::EXAMPLES);
    let plan = |instructions| plan::scenario(specified, 0, instructions);
    let taken = first(&mut findings, subject, &plan);
    (findings, taken)
}

#[test]
fn who_lacks_instructions_is_probed_without_them() {
    let cases = [
        (Instructions::All, vec![]),
        (Instructions::Scalar, vec!["vector instructions: no All"]),
        (
            Instructions::Mvp,
            vec![
                "vector instructions: no All",
                "memory.init: no Scalar",
                "memory.copy and memory.fill: no CopyAndFill",
            ],
        ),
    ];
    for (has, not_tried) in cases {
        let (dies, asked) = (false, 0);
        let mut subject = Modest { has, dies, asked };
        let (found, taken) = first_of(&mut subject);
        assert_eq!(taken.unwrap(), has);
        assert_eq!(found.not_tried, not_tried);
        assert_eq!(subject.asked, not_tried.len() + 1);
        let without: Vec<_> = { not_tried.iter() }
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(found.record(&sandbox("wasm3")).without, without);
        assert!(
            found.is_kept() && found.accesses > 1000,
            "{}",
            found.accesses
        );
    }
}

#[test]
fn who_dies_of_a_module_has_not_refused_it() {
    let mut subject = Modest {
        has: Instructions::Mvp,
        dies: true,
        asked: 0,
    };
    let (_, taken) = first_of(&mut subject);
    let error = taken.unwrap_err().to_string();
    assert!(error.starts_with("died of signal 11 before"), "{error}");
    assert_eq!(subject.asked, 1);
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
