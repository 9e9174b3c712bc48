//! Single instructions at extreme values, and short chains of them.
//!
//! ```text
//!  seed ─► sequences, each of one to three instructions ─► a module
//!            each in four forms, with the same values:     ─► calls, in order
//!              constant   the compiler may compute it
//!              parameter  only the processor can; also with other values
//!              mixed      some of each, one loaded from the memory's last bytes
//!              compared   parameters, behind a comparison with what they are
//! ```
//!
//! The first instructions of sequences go through all there are, from seed to seed.
//! A later instruction takes the result of the one before, so that patterns of two
//! which a compiler has one machine instruction for are met. What must stay true: the
//! forms of a sequence without state agree with each other, configurations agree with
//! each other, and what `reference` knows agrees with it; all up to the bits of NaNs
//! that arithmetic makes, which are not laid down but for being quiet.

mod build;
pub mod ops;
pub mod reference;
pub mod values;

use crate::generate::Stream;
use crate::observe::{Bits, Ended, OUT_OF_BOUNDS, UNALIGNED};
use build::Builder;
use ops::{Immediate, Op};

/// Sequences of a module.
const SEQUENCES: usize = 20;
/// The type of the functions in the table: its index, which calls through it name.
const ANSWER_TYPE: u8 = 0;
/// A call of an exported function.
pub struct Call {
    /// The name that a failure is told by.
    pub name: String,
    /// Its arguments, as bits.
    pub arguments: Vec<u128>,
    /// Letters of its results.
    pub gives: &'static str,
    /// The sequence that it is a form of; none for what only prepares.
    pub sequence: Option<usize>,
    /// The values of the sequence's operands where they are not its own.
    others: Option<Vec<u128>>,
}

/// How a call ended.
pub type Outcome = Result<Vec<Bits>, Ended>;
/// How all calls ended, and hashes of the memories afterwards.
pub type Outcomes = (Vec<Outcome>, Vec<u64>);

/// A module, and what to call.
pub struct Program {
    /// The module.
    pub wasm: Vec<u8>,
    /// What is called of the module, in order.
    pub calls: Vec<Call>,
    /// The sequences that the calls run.
    pub sequences: Vec<Sequence>,
}

/// Instructions, each taking a result of the one before.
pub struct Sequence {
    steps: Vec<Step>,
}

struct Step {
    op: Op,
    /// Opcode and immediates.
    bytes: Vec<u8>,
    /// Letter and value of each operand; no value for what the step before gives.
    operands: Vec<(char, Option<u128>)>,
}

impl Program {
    /// The program of a seed; on memories and tables, where it says so. Seeds that
    /// follow each other by two begin with the instructions that follow.
    pub fn from_seed(seed: u64, with_state: bool) -> Program {
        let mut stream = Stream::new(seed);
        let mut ops = ops::all();
        ops.retain(|op| with_state == op.has_state());
        let first = (seed / 2) as usize % ops.len() * SEQUENCES;
        let any = ops::all();
        let any: Vec<Op> = any
            .into_iter()
            .filter(|op| with_state || !op.has_state())
            .collect();
        let sequences: Vec<Sequence> = (first..first + SEQUENCES)
            .map(|at| Sequence::random(ops[at % ops.len()], &any, &mut stream))
            .collect();
        let mut builder = Builder::new();
        for (at, sequence) in sequences.iter().enumerate() {
            builder.add(at, sequence, &mut stream);
        }
        Program {
            calls: std::mem::take(&mut builder.calls),
            wasm: builder.finish(),
            sequences,
        }
    }

    /// Whether what a call gave differs, by its letters; between two engines, where it
    /// says so, which may have chosen differently.
    pub fn differs(&self, call: usize, one: &Outcome, other: &Outcome, engines: bool) -> bool {
        let gives = self.calls[call].gives;
        let chosen = engines && gives.contains(['q', 'Q']) && one.is_ok() && other.is_ok();
        !chosen && !agree(gives, one, other)
    }

    /// What is wrong about one configuration's outcomes by themselves: forms of one
    /// sequence that differ, or another answer than the reference's.
    pub fn inconsistency(&self, outcomes: &[Outcome]) -> Option<String> {
        let mut first: Vec<Option<&Outcome>> = vec![None; self.sequences.len()];
        for (call, outcome) in self.calls.iter().zip(outcomes) {
            let Some(at) = call.sequence else { continue };
            let sequence = &self.sequences[at];
            if sequence.has_state() {
                continue;
            }
            let own = sequence.given().map(|(_, value)| value).collect();
            let operands: &Vec<u128> = call.others.as_ref().unwrap_or(&own);
            if let Some(right) = sequence.reference(operands)
                && !agree(call.gives, outcome, &right)
            {
                let text = sequence.text();
                return Some(format!(
                    "{} with {operands:x?}: {outcome:x?}, not {right:x?}: {text}",
                    call.name
                ));
            }
            if call.others.is_some() {
                continue;
            }
            match first[at] {
                Some(earlier) if !agree(call.gives, outcome, earlier) => {
                    let text = sequence.text();
                    return Some(format!(
                        "{}: {outcome:x?}, before {earlier:x?}: {text}",
                        call.name
                    ));
                }
                Some(_) => {}
                None => first[at] = Some(outcome),
            }
        }
        None
    }
}

/// Whether two outcomes are the same, as far as their letters promise.
fn agree(gives: &str, one: &Outcome, other: &Outcome) -> bool {
    // Of an atomic access that is wrong in two ways, either is said.
    const ACCESS: [&str; 3] = [UNALIGNED, OUT_OF_BOUNDS, "expected shared memory"];
    match (one, other) {
        (Ok(one), Ok(other)) => {
            let values = gives.chars().zip(one.iter().zip(other));
            one.len() == other.len()
                && values
                    .into_iter()
                    .all(|(letter, (a, b))| same(letter, *a, *b))
        }
        (Err(Ended::Trapped(one)), Err(Ended::Trapped(other))) => {
            one == other || ACCESS.contains(one) && ACCESS.contains(other)
        }
        (one, other) => one == other,
    }
}

fn same(letter: char, one: Bits, other: Bits) -> bool {
    let lanes = |bits: u32, quiet: u128, infinity: u128| {
        let (Bits::Number(one), Bits::Number(other)) = (one, other) else {
            return false;
        };
        let mask = u128::MAX >> (128 - bits);
        let sign = 1u128 << (bits - 1);
        (0..128 / bits).all(|lane| {
            let [a, b] = [one, other].map(|v| v >> (lane * bits) & mask);
            // A NaN, with its highest bit of the fraction set.
            let arithmetic = |v: u128| v & !sign > infinity && v & quiet != 0;
            a == b || arithmetic(a) && arithmetic(b)
        })
    };
    match letter {
        'n' | 'p' | 'q' => lanes(32, 1 << 22, 0x7f80_0000),
        'N' | 'P' | 'Q' => lanes(64, 1 << 51, 0x7ff0_0000_0000_0000),
        _ => one == other,
    }
}

/// Whether a result of one letter may be an operand of another.
fn fits(result: char, operand: char) -> bool {
    match result {
        'f' => matches!(operand, 'f' | 'n'),
        'F' => matches!(operand, 'F' | 'N'),
        'v' => matches!(operand, 'v' | 'p' | 'P'),
        'q' | 'Q' => false,
        other => other == operand,
    }
}

impl Sequence {
    /// One that begins with an instruction.
    fn random(first: Op, ops: &[Op], stream: &mut Stream) -> Sequence {
        let mut steps = vec![Step::random(first, stream)];
        for _ in 0..stream.below(4).saturating_sub(1) {
            let gives = steps.last().map_or("", |step| step.op.gives);
            // Few instructions take a vector of numbers whose NaNs may differ.
            for _ in 0..12 {
                let mut next = Step::random(ops[stream.below(ops.len())], stream);
                let places: Vec<usize> = (0..next.operands.len())
                    .filter(|at| {
                        gives
                            .chars()
                            .next()
                            .is_some_and(|g| fits(g, next.operands[*at].0))
                    })
                    .collect();
                if !places.is_empty() {
                    next.operands[places[stream.below(places.len())]].1 = None;
                    steps.push(next);
                    break;
                }
            }
        }
        Sequence { steps }
    }

    fn has_state(&self) -> bool {
        self.steps.iter().any(|step| step.op.has_state())
    }

    fn gives(&self) -> &'static str {
        self.steps.last().map_or("", |step| step.op.gives)
    }

    /// Letters and values of the operands that no step before gives.
    fn given(&self) -> impl Iterator<Item = (char, u128)> {
        let operands = self.steps.iter().flat_map(|step| &step.operands);
        operands.filter_map(|(letter, value)| Some((*letter, (*value)?)))
    }

    /// The right answer, of one instruction that the reference knows.
    fn reference(&self, operands: &[u128]) -> Option<Outcome> {
        match &self.steps[..] {
            [step] => reference::evaluate(&step.op, operands),
            _ => None,
        }
    }

    /// For messages: opcodes and operands.
    pub fn text(&self) -> String {
        let step = |step: &Step| {
            let operands: Vec<String> = step
                .operands
                .iter()
                .map(|(letter, value)| {
                    value.map_or("…".to_owned(), |v| format!("{letter}:{v:#x}"))
                })
                .collect();
            let bytes: Vec<String> = step
                .bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("{}({})", bytes.join(" "), operands.join(", "))
        };
        self.steps
            .iter()
            .map(step)
            .collect::<Vec<_>>()
            .join(" then ")
    }
}

impl Step {
    fn random(op: Op, stream: &mut Stream) -> Step {
        let mut bytes = Vec::new();
        if op.prefix != 0 {
            bytes.push(op.prefix);
            leb128(&mut bytes, u64::from(op.code));
        } else {
            bytes.push(op.code as u8);
        }
        let mut takes: Vec<char> = op.takes.chars().collect();
        match op.immediate {
            Immediate::None => {}
            Immediate::Lane(lanes) => bytes.push(stream.below(lanes.into()) as u8),
            Immediate::Shuffle => bytes.extend((0..16).map(|_| stream.below(32) as u8)),
            Immediate::Bytes(more) => bytes.extend(more),
            Immediate::Access { log2_bytes, lanes } => {
                let align = stream.below(usize::from(log2_bytes) + 1) as u8;
                takes.insert(0, access(&mut bytes, align, stream));
                if lanes > 0 {
                    bytes.push(stream.below(lanes.into()) as u8);
                }
            }
            Immediate::Atomic { log2_bytes } => {
                takes.insert(0, access(&mut bytes, log2_bytes, stream));
            }
        }
        let operands = takes
            .into_iter()
            .map(|letter| (letter, Some(values::edge(stream, letter))));
        Step {
            operands: operands.collect(),
            op,
            bytes,
        }
    }
}

/// The immediates of an access to one of the memories, and its address's letter.
fn access(bytes: &mut Vec<u8>, log2_align: u8, stream: &mut Stream) -> char {
    let wide = stream.below(2) == 1;
    let letter = if wide { 'I' } else { 'i' };
    let offset = match stream.below(2) {
        0 => 0,
        _ => values::edge(stream, letter) as u64,
    };
    // The memory's index follows where a bit beyond the alignment says so.
    bytes.push(log2_align | if wide { 0x40 } else { 0 });
    if wide {
        bytes.push(1);
    }
    leb128(bytes, offset);
    letter
}

fn leb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
