//! Compares what became of each call with what the specification says, and
//! finds the strongest guarantee that nothing seen contradicts.
//!
//! Each departure leaves a ceiling, the strongest guarantee still possible:
//! ```text
//!  an access outside did not trap                          contained
//!  a store that trapped changed a byte                     contained
//!  … and a byte of another memory was read or written,
//!    or a store's value was found outside the memory       unchecked
//!  an access inside trapped as if it were outside          contained
//!  an access inside trapped otherwise or gave a wrong value  unchecked
//!  the process died                                        unchecked
//! ```
//! It contradicts the claim, and is counted as a violation, when the ceiling is
//! below what the strategy claims. A needless trap, of an access inside,
//! contradicts every claim: no promise is to trap more often than it must. A
//! store that trapped needlessly may have left its bytes or not. The plan's next
//! steps make both the same.

use std::fmt;

use fathom_record::Guarantee;
use fathom_record::protocol::{CallOutcome, WireValue};

use super::access::Access;
use super::model::CANARY;
use super::plan::{Scenario, Step, Wanted, What};
use super::subject::{Answers, Ending};

/// The trap every access outside a memory must raise.
const TRAP: &str = "out of bounds memory access";
/// The trap of an atomic access whose address is no multiple of its width.
const MISALIGNED: &str = "unaligned atomic";

/// What a probe found out about a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// What the sandbox promises.
    pub claimed: Guarantee,
    /// The strongest guarantee that nothing seen contradicts.
    pub observed: Guarantee,
    /// Accesses tried.
    pub accesses: u64,
    /// Those of them that had to trap.
    pub outside: u64,
    /// Those of the latter that did.
    pub trapped: u64,
    /// Departures that contradict the claim.
    pub violations: u64,
    /// Those of them that are needless traps: an access inside that trapped as
    /// if it were outside.
    pub needless: u64,
    /// The first of those, one line each; of a sandbox that promises nothing,
    /// the first departures.
    pub examples: Vec<String>,
    /// At most so many of them.
    pub examples_max: usize,
    /// What was not tried and why, one line each.
    pub not_tried: Vec<String>,
    /// Instructions that no module was made of, because the first that had them
    /// was refused.
    pub without: Vec<String>,
    /// The part that there was time for, per cent; none where it is all.
    pub part_percent: Option<u8>,
}

impl Findings {
    pub(super) fn new(claimed: Guarantee, examples_max: usize) -> Findings {
        Findings {
            claimed,
            observed: Guarantee::Exact,
            accesses: 0,
            outside: 0,
            trapped: 0,
            violations: 0,
            needless: 0,
            examples: Vec::new(),
            examples_max,
            not_tried: Vec::new(),
            part_percent: None,
            without: Vec::new(),
        }
    }

    /// Whether the sandbox keeps what it promises.
    pub fn is_kept(&self) -> bool {
        self.violations == 0 && self.observed >= self.claimed
    }

    /// Whether it would, but that it traps inside its memory too: nothing leaves
    /// it.
    pub fn is_only_needless(&self) -> bool {
        self.needless > 0
            && self.violations == self.needless
            && self.observed >= Guarantee::Contained
    }

    fn depart(&mut self, ceiling: Guarantee, message: impl fmt::Display) {
        self.note(ceiling, ceiling < self.claimed, message);
    }

    /// An access inside trapped as if it were outside.
    fn needless(&mut self, message: impl fmt::Display) {
        let contradicts = self.claimed > Guarantee::Unchecked;
        self.needless += u64::from(contradicts);
        self.note(Guarantee::Contained, contradicts, message);
    }

    fn note(&mut self, ceiling: Guarantee, contradicts: bool, message: impl fmt::Display) {
        self.observed = self.observed.min(ceiling);
        self.violations += u64::from(contradicts);
        let shown = contradicts || self.claimed == Guarantee::Unchecked;
        if shown && self.examples.len() < self.examples_max {
            self.examples.push(message.to_string());
        }
    }

    /// Adds what became of a scenario.
    pub(super) fn judge(&mut self, scenario: &Scenario, answers: &Answers) {
        let mut last = Last::default();
        for (step, outcome) in scenario.steps.iter().zip(&answers.outcomes) {
            let outcome = Outcome::of(outcome);
            match &step.what {
                What::Growth if outcome.is_refusal() => {
                    self.not_tried
                        .push(format!("{}: memory.grow was refused", scenario.name));
                    return;
                }
                What::Access(access) => {
                    self.access(access, step, &outcome);
                    last = Last {
                        access: Some(access),
                        returned: matches!(outcome, Outcome::Values(_)),
                        is_needless: !access.outside && outcome.is_out_of_bounds(),
                        peeked: None,
                    };
                }
                What::Peek(access) => {
                    // After a store that should have trapped, or should not have,
                    // the memory's own bytes are anyone's guess until they are
                    // restored.
                    let is_guess = last.is_outside() && last.returned
                        || last.is_needless && !outcome.is_out_of_bounds();
                    let is_known = access.outside || !is_guess;
                    if last.is_torn(access, step, &outcome) {
                        self.torn(&last);
                    } else if is_known || outcome.holds_canary() {
                        self.access(access, step, &outcome);
                    }
                    last.peeked = outcome.byte();
                }
                What::Digest => self.digest(&last, step, &outcome),
                What::Setup | What::Growth => {
                    if !outcome.is(&step.wanted) {
                        let text = format_args!(
                            "{} ({}): expected {}, {outcome}",
                            step.call.export,
                            step.call.args.join(", "),
                            step.wanted
                        );
                        self.depart(Guarantee::Unchecked, text);
                    }
                }
            }
        }
        self.ending(scenario, answers);
    }

    fn access(&mut self, access: &Access, step: &Step, outcome: &Outcome) {
        self.accesses += 1;
        self.outside += u64::from(access.outside);
        if outcome.is(&step.wanted) {
            self.trapped += u64::from(access.outside);
            return;
        }
        if !step.wanted.is_trap() && outcome.is_out_of_bounds() {
            let text = format_args!("{access}: expected {}, {outcome}", step.wanted);
            self.needless(text);
            return;
        }
        let is_foreign = outcome.holds_canary();
        let ceiling = match outcome {
            Outcome::Values(_) if access.outside && !is_foreign => Guarantee::Contained,
            _ => Guarantee::Unchecked,
        };
        let foreign = if is_foreign {
            " (from another memory)"
        } else {
            ""
        };
        let text = format_args!("{access}: expected {}, {outcome}{foreign}", step.wanted);
        self.depart(ceiling, text);
    }

    fn digest(&mut self, last: &Last<'_>, step: &Step, outcome: &Outcome) {
        let same = outcome.is(&step.wanted);
        match (last.is_outside(), last.returned) {
            (true, true) => {
                if same && last.is_found_outside() {
                    let text = format_args!("{last}: its value is kept outside the memory");
                    self.depart(Guarantee::Unchecked, text);
                }
            }
            _ if same || last.is_needless => {}
            (true, false) => self.torn(last),
            (false, _) => match outcome {
                Outcome::Values(_) => {
                    let text = format_args!("{last}: wrong bytes in memory afterwards");
                    self.depart(Guarantee::Unchecked, text);
                }
                _ => {
                    let text = format_args!("{last}: looking at the memory afterwards {outcome}");
                    self.depart(Guarantee::Unchecked, text);
                }
            },
        }
    }

    /// A store that trapped has left a part of it in the memory.
    fn torn(&mut self, last: &Last<'_>) {
        let text = format_args!("{last}: trapped, but memory is not what it must be");
        self.depart(Guarantee::Contained, text);
    }

    fn ending(&mut self, scenario: &Scenario, answers: &Answers) {
        let next = scenario.steps.get(answers.outcomes.len());
        match &answers.ending {
            Ending::Done => {}
            Ending::Escaped(how) => {
                self.depart(
                    Guarantee::Unchecked,
                    format_args!("{}: {how}", scenario.name),
                );
            }
            Ending::Died(how) => {
                let during = next.map_or_else(|| scenario.name.to_owned(), in_words);
                self.depart(Guarantee::Unchecked, format_args!("{during}: {how}"));
            }
            Ending::Refused(why) | Ending::Stillborn(why) => {
                self.not_tried.push(format!("{}: {why}", scenario.name))
            }
        }
    }
}

fn in_words(step: &Step) -> String {
    match &step.what {
        What::Access(access) | What::Peek(access) => access.to_string(),
        _ => format!("{} ({})", step.call.export, step.call.args.join(", ")),
    }
}

fn holds_canary(value: &WireValue) -> bool {
    match value {
        WireValue::I32(bits) | WireValue::F32(bits) => bits.to_le_bytes().contains(&CANARY),
        WireValue::I64(bits) | WireValue::F64(bits) => bits.to_le_bytes().contains(&CANARY),
        WireValue::V128(bits) => bits.to_le_bytes().contains(&CANARY),
    }
}

/// The access that a digest is about.
#[derive(Default)]
struct Last<'a> {
    /// None at the beginning of a scenario.
    access: Option<&'a Access>,
    /// Whether it did not trap.
    returned: bool,
    /// Whether it is inside and trapped as if it were not.
    is_needless: bool,
    /// The byte found at its address afterwards.
    peeked: Option<u8>,
}

impl Last<'_> {
    /// Whether a store's value can be read back although the memory has not
    /// changed. An empty memory has no place of its own to keep it in, so a
    /// strategy may have a landing zone for it that is nobody's.
    fn is_found_outside(&self) -> bool {
        self.access.is_some_and(|access| {
            access.stores.is_some() && self.peeked == access.stores && access.pages > 0
        })
    }

    fn is_outside(&self) -> bool {
        self.access.is_some_and(|access| access.outside)
    }

    /// Whether it trapped, and its first byte, which is inside, is another one
    /// afterwards: of the memory, since no canary is what was found.
    fn is_torn(&self, peek: &Access, step: &Step, found: &Outcome) -> bool {
        let is_trapped_store = self.is_outside()
            && !self.returned
            && self.access.is_some_and(|it| it.stores.is_some());
        is_trapped_store
            && !peek.outside
            && found.byte().is_some()
            && !found.holds_canary()
            && !found.is(&step.wanted)
    }
}

impl fmt::Display for Last<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            Some(access) => access.fmt(f),
            None => f.write_str("a fresh memory"),
        }
    }
}

/// What became of a call, its values read.
enum Outcome {
    Values(Vec<WireValue>),
    Trap(String),
    /// The runner answered something that is no value.
    Unreadable(String),
}

impl Outcome {
    fn of(outcome: &CallOutcome) -> Outcome {
        match outcome {
            CallOutcome::Trap(message) => Outcome::Trap(message.clone()),
            CallOutcome::Result(texts) => {
                let values: Result<Vec<_>, _> = texts.iter().map(|text| text.parse()).collect();
                values.map_or_else(
                    |error| Outcome::Unreadable(error.to_string()),
                    Outcome::Values,
                )
            }
        }
    }

    fn is(&self, wanted: &Wanted) -> bool {
        match (self, wanted) {
            (Outcome::Trap(message), Wanted::Trap) => message == TRAP,
            (Outcome::Trap(message), Wanted::AtomicTrap) => {
                message == MISALIGNED || message == TRAP
            }
            (Outcome::Values(values), Wanted::Values(wanted)) => values == wanted,
            _ => false,
        }
    }

    fn is_out_of_bounds(&self) -> bool {
        matches!(self, Outcome::Trap(message) if message == TRAP)
    }

    /// Whether it is what `memory.grow` answers where it does not grow.
    fn is_refusal(&self) -> bool {
        let minus_one = [WireValue::I32(u32::MAX), WireValue::I64(u64::MAX)];
        matches!(self, Outcome::Values(values) if values.len() == 1 && minus_one.contains(&values[0]))
    }

    /// Whether a byte of another memory is in it.
    fn holds_canary(&self) -> bool {
        matches!(self, Outcome::Values(values) if values.iter().any(holds_canary))
    }

    fn byte(&self) -> Option<u8> {
        match self {
            Outcome::Values(values) => match values[..] {
                [WireValue::I32(bits)] => u8::try_from(bits).ok(),
                _ => None,
            },
            _ => None,
        }
    }
}

fn write_values(f: &mut fmt::Formatter<'_>, values: &[WireValue]) -> fmt::Result {
    match values {
        [WireValue::I32(bits)] => write!(f, "{bits:#x}"),
        [WireValue::I64(bits)] => write!(f, "{bits:#x}"),
        // The two halves of a vector, the low one first.
        [WireValue::I64(low), WireValue::I64(high)] => {
            write!(f, "{:#x}", u128::from(*high) << 64 | u128::from(*low))
        }
        _ => {
            let texts: Vec<_> = values.iter().map(WireValue::to_string).collect();
            write!(f, "{}", texts.join(" "))
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Values(values) if values.is_empty() => write!(f, "went on"),
            Outcome::Values(values) => {
                write!(f, "returned ")?;
                write_values(f, values)
            }
            Outcome::Trap(message) => write!(f, "trapped with '{message}'"),
            Outcome::Unreadable(why) => write!(f, "answered what cannot be read: {why}"),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Trap => write!(f, "trap"),
            Wanted::AtomicTrap => write!(f, "trap"),
            Wanted::Values(values) if values.is_empty() => write!(f, "to go on"),
            Wanted::Values(values) => write_values(f, values),
        }
    }
}
