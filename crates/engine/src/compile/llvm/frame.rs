//! How much of the stack a function needs: read off its machine code, never believed.
//!
//! ```text
//!            │ caller's frame           │
//!   E      ─►│ return address           │  rsp at entry, a multiple of 8
//!   E − 8  ─►│ rbp                      │  here the prologue compares (`prologue.rs`)
//!            │ registers                │  pushed: P of them with rbp
//!            │ 0 … N − 8 unused         │  and rsp, −N: where the frame is realigned
//!            │ room                     │  sub rsp, R
//!   E − D  ─►│ return address, rbp      │  of whom it calls: 16 bytes
//! ```
//!
//! The deepest byte that is written is at E − D, where
//!
//! ```text
//!   D = 8·P + (N − 8 if realigned) + R + (16 if it calls)
//! ```
//!
//! E is 8 more than a multiple of 16, for whoever calls has aligned the stack: of these
//! functions it is seen. So E − 8·P is a multiple of 8, from which `and` takes at most N − 8; R
//! is any number in a function that calls nobody. The prologue lets pass only E − 8 ≥ limit + F,
//! so F = D − 8 gives E − D ≥ limit. The caller counts what a callee writes in front of its
//! comparison, as Cranelift's prologues do (`set_stack_limit`); a gate writes as much
//! (`run/entry/x86_64_stacks.rs`).
//!
//! That D is all follows from the code being in three parts, whose instructions are each of a
//! form that stands here:
//!
//! | part | moves the stack by | and is entered |
//! |---|---|---|
//! | prologue | `push rbp`, `mov rbp, rsp`, pushes, `and`, `sub`, in this order | at the start only |
//! | body | calls and switches (`switch.rs`), which leave it as it was | from everywhere |
//! | epilogue | the prologue's steps undone, the last first, and `ret` | at its first instruction only |
//!
//! Branches are in the body, and go to the body or to the beginning of an epilogue: each
//! direct one, and each entry of a table of jumps. A switch is entered at its first instruction
//! alone, and writes nothing to the stack that it leaves or goes on with. So wherever a body's instruction runs the
//! stack pointer is where the prologue left it, and no operand lies below it: those relative
//! to rsp begin at it or above, those relative to rbp in what the prologue made. There are no
//! arguments on the stack (`ir/call.rs`), so none lies above the frame either.
//!
//! What must stay true: a form that does not stand here is refused, and the function is left to
//! Cranelift. What is *not* shown is that clang compiled right: that an address taken of the
//! frame is used within its slot, or that a jump by a table reads from that table.

use std::collections::BTreeSet;

use super::instructions::{Flow, Instruction, is_of_stack};
use super::object::{Call, Piece};
use super::prologue;
use super::switch;

/// What a call writes below the stack pointer before the callee compares: the return address
/// and the frame pointer.
const SETUP_BYTES: u64 = 16;
/// Bytes of what is pushed.
const WORD: u64 = 8;
/// What the stack pointer is a multiple of where a function is called.
const STACK_ALIGN: u64 = 16;
/// The largest multiple that a frame is aligned to: a page.
const ALIGN_MAX: u64 = 4096;

type Failed<T = ()> = Result<T, String>;

/// What a prologue makes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frame<'a> {
    /// The registers that are pushed, rbp first.
    pushed: Vec<&'a str>,
    /// What it is aligned to beyond what it is anyway.
    align: Option<u64>,
    /// What is taken off the stack pointer in the end.
    room: u64,
}

impl Frame<'_> {
    fn pushed_bytes(&self) -> u64 {
        WORD * self.pushed.len() as u64
    }

    /// Bytes below the return address, if aligning takes none.
    fn least(&self) -> u64 {
        self.pushed_bytes() + self.room
    }

    /// Whether the stack pointer is as aligned as whom it calls expects it.
    fn is_aligned(&self) -> bool {
        let bytes = match self.align {
            None => WORD + self.least(),
            Some(align) => align | self.room,
        };
        bytes.is_multiple_of(STACK_ALIGN)
    }

    /// The same if it takes as many as it can.
    fn most(&self) -> u64 {
        self.least() + self.align.map_or(0, |align| align - WORD)
    }
}

/// The bytes for the comparison of a function's prologue: F of the head.
pub(super) fn bytes(instructions: &[Instruction<'_>], piece: &Piece) -> Failed<u64> {
    let (frame, body) = prologue_of(instructions)?;
    // The distance is relative to its own end.
    let places = |all: &[Call]| {
        let linked = all.iter().filter(|call| call.addend == -4);
        linked.map(|call| call.offset).collect()
    };
    let mut walk = Walk {
        frame,
        piece,
        leaving: None,
        entries: Vec::new(),
        jumps: Vec::new(),
        linked: places(&piece.calls),
        starts: places(&piece.starts),
        calls: 0,
        direct_calls: 0,
        taken_starts: 0,
    };
    let mut rest = body;
    while let [instruction, behind @ ..] = rest {
        if walk.leaving.is_none() && switch::is_here(rest) {
            walk.entries.push(instruction.at);
            rest = &rest[switch::INSTRUCTIONS..];
            continue;
        }
        rest = behind;
        let step = match walk.leaving {
            None => walk.in_body(instruction),
            Some(depth) => walk.in_epilogue(instruction, depth),
        };
        step.map_err(|what| shown(&what, instruction))?;
    }
    walk.end()
}

/// What is wrong with an instruction, and which it is.
fn shown(what: &str, instruction: &Instruction<'_>) -> String {
    let Instruction {
        mnemonic,
        operands,
        at,
        ..
    } = instruction;
    format!("{what}: {mnemonic} {operands} at {at:#x}")
}

/// Reads the prologue that follows ours; what comes behind it is the body.
fn prologue_of<'a, 'b>(
    instructions: &'b [Instruction<'a>],
) -> Failed<(Frame<'a>, &'b [Instruction<'a>])> {
    let start = instructions.partition_point(|one| one.at < prologue::BYTES as u32);
    let ours = &instructions[start..];
    let is = |at: usize, mnemonic: &str, operands: &str| {
        let found: Option<&Instruction<'_>> = ours.get(at);
        found.is_some_and(|one| one.mnemonic == mnemonic && one.operands == operands)
    };
    if !is(0, "pushq", "%rbp") || !is(1, "movq", "%rsp, %rbp") {
        return Err("a frame that is not chained first".to_owned());
    }
    let mut frame = Frame {
        pushed: vec![ours[0].operands],
        ..Frame::default()
    };
    let mut rest = &ours[2..];
    while let [first, behind @ ..] = rest
        && let Some(register) = pushes(first)
    {
        frame.pushed.push(register);
        rest = behind;
    }
    if let [first, behind @ ..] = rest
        && let Some(align) = aligns(first)
    {
        frame.align = Some(align);
        rest = behind;
    }
    if let [first, behind @ ..] = rest
        && let Some(by @ ..0) = raises(first)
    {
        frame.room = by.unsigned_abs();
        rest = behind;
    }
    Ok((frame, rest))
}

/// The register that an instruction pushes.
fn pushes<'a>(instruction: &Instruction<'a>) -> Option<&'a str> {
    let is_register = instruction.operands.starts_with('%') && !is_of_stack(instruction.operands);
    (instruction.mnemonic == "pushq" && is_register).then_some(instruction.operands)
}

/// What an instruction aligns the stack pointer to.
fn aligns(instruction: &Instruction<'_>) -> Option<u64> {
    let mask = instruction.operands.strip_prefix('$')?;
    let mask = number(mask.strip_suffix(", %rsp")?)?;
    let align = mask.unsigned_abs();
    let is_align = mask < 0 && align.is_power_of_two() && (WORD..=ALIGN_MAX).contains(&align);
    (instruction.mnemonic == "andq" && is_align).then_some(align)
}

/// By how much an instruction raises the stack pointer, relative to itself.
fn raises(instruction: &Instruction<'_>) -> Option<i64> {
    let source = instruction.operands.strip_suffix(", %rsp")?;
    match instruction.mnemonic {
        "addq" => number(source.strip_prefix('$')?),
        "subq" => number(source.strip_prefix('$')?)?.checked_neg(),
        "leaq" => number(source.strip_suffix("(%rsp)")?),
        _ => None,
    }
}

/// How far below the frame pointer an instruction puts the stack pointer.
fn returns_below(instruction: &Instruction<'_>) -> Option<u64> {
    match (instruction.mnemonic, instruction.operands) {
        ("movq", "%rbp, %rsp") => Some(0),
        ("leaq", operands) => {
            let at = number(operands.strip_suffix("(%rbp), %rsp")?)?;
            (at <= 0 && at % WORD as i64 == 0).then_some(at.unsigned_abs())
        }
        _ => None,
    }
}

/// A number as the disassembler writes it.
pub(super) fn number(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let bits = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    // An immediate that is negative is written as what it is modulo 2^64.
    let value = bits.cast_signed();
    match is_negative {
        true => value.checked_neg(),
        false => Some(value),
    }
}

/// A walk over what follows the prologue.
struct Walk<'a, 'b> {
    frame: Frame<'a>,
    piece: &'b Piece,
    /// In an epilogue: bytes between the stack pointer and the return address.
    leaving: Option<u64>,
    /// Where may be jumped to, in order.
    entries: Vec<u32>,
    /// Where is jumped to directly.
    jumps: Vec<u32>,
    /// Places of distances that are linked to another function.
    linked: BTreeSet<u32>,
    /// Places of distances that are linked to a start of continuations.
    starts: BTreeSet<u32>,
    calls: usize,
    direct_calls: usize,
    taken_starts: usize,
}

impl Walk<'_, '_> {
    /// An instruction of the body, or the first of an epilogue.
    fn in_body(&mut self, one: &Instruction<'_>) -> Failed {
        self.entries.push(one.at);
        match one.flow {
            Flow::Next if one.moves_stack => {
                let depth = self.frame.align.map_or(Some(self.frame.least()), |_| None);
                self.leaving = Some(self.raised(one, depth)?);
                return Ok(());
            }
            Flow::Next => self.taken_starts += usize::from(self.takes_start(one)),
            Flow::Jump => self.jump(one)?,
            Flow::Call => self.call(one)?,
            Flow::Return => return Err("a return with a frame".to_owned()),
            Flow::Leaves => return Err("an instruction that leaves".to_owned()),
        }
        if one.moves_stack && one.flow != Flow::Call {
            return Err("an unknown way to move the stack".to_owned());
        }
        self.operands(one)
    }

    /// Whether an instruction takes the address of a start of continuations, and does no more.
    fn takes_start(&self, one: &Instruction<'_>) -> bool {
        let is_address = one.mnemonic == "leaq" && one.operands.contains("(%rip), ");
        let at = one.end.checked_sub(4);
        is_address && at.is_some_and(|at| self.starts.contains(&at))
    }

    /// An instruction of an epilogue behind its first, where so many bytes are left.
    fn in_epilogue(&mut self, one: &Instruction<'_>, depth: u64) -> Failed {
        match one.flow {
            Flow::Next if one.moves_stack => {
                self.leaving = Some(self.raised(one, Some(depth))?);
                Ok(())
            }
            // What has no part in it may stand between.
            Flow::Next => match operands(one.operands).any(names_stack) {
                true => Err("a use of the stack that is left".to_owned()),
                false => Ok(()),
            },
            Flow::Return if depth == 0 && one.operands.is_empty() => {
                self.leaving = None;
                Ok(())
            }
            _ => Err("an epilogue that ends otherwise".to_owned()),
        }
    }

    /// Bytes that are left behind a step of an epilogue, in front of which these were.
    fn raised(&self, one: &Instruction<'_>, depth: Option<u64>) -> Failed<u64> {
        let pushed_bytes = self.frame.pushed_bytes();
        let left = match (returns_below(one), depth) {
            (Some(below), depth) => {
                let left = WORD + below;
                let most = depth.unwrap_or(pushed_bytes);
                (left <= most).then_some(left)
            }
            (None, Some(depth)) => match raises(one) {
                Some(by) => u64::try_from(by).ok().and_then(|by| depth.checked_sub(by)),
                None => self.popped(one, depth),
            },
            (None, None) => None,
        };
        left.ok_or_else(|| "an unknown way to move the stack".to_owned())
    }

    /// The same of a pop, which takes what was pushed there.
    fn popped(&self, one: &Instruction<'_>, depth: u64) -> Option<u64> {
        let left = depth.checked_sub(WORD)?;
        let pushed = self.frame.pushed.get((left / WORD) as usize)?;
        let is_it = one.mnemonic == "popq" && one.operands == *pushed && left % WORD == 0;
        is_it.then_some(left)
    }

    fn jump(&mut self, one: &Instruction<'_>) -> Failed {
        if let Some(to) = number(one.operands).and_then(|to| u32::try_from(to).ok()) {
            self.jumps.push(to);
            return Ok(());
        }
        let register = one.operands.strip_prefix("*%");
        let by_table = register.is_some_and(|name| !name.contains(['(', ':']));
        match by_table && self.piece.has_table {
            true => Ok(()),
            false => Err("a jump to where nobody knows".to_owned()),
        }
    }

    fn call(&mut self, one: &Instruction<'_>) -> Failed {
        self.calls += 1;
        if !self.frame.is_aligned() {
            return Err("a call of a stack that is not aligned".to_owned());
        }
        if one.operands.starts_with('*') {
            return Ok(());
        }
        // The distance is the last of the instruction.
        self.direct_calls += 1;
        let at = one.end.checked_sub(4);
        match at.is_some_and(|at| self.linked.contains(&at)) {
            true => Ok(()),
            false => Err("a call of nobody".to_owned()),
        }
    }

    /// Refuses operands outside of the frame, and uses of its registers that are not known.
    fn operands(&self, one: &Instruction<'_>) -> Failed {
        for (i, operand) in operands(one.operands).enumerate() {
            let is_read = i == 0 && one.mnemonic == "movq" && operand == "%rsp";
            if is_of_stack(operand) && !is_read {
                return Err("an unknown use of the stack pointer".to_owned());
            }
            if !self.is_inside(operand) {
                return Err("an address outside of the frame".to_owned());
            }
        }
        Ok(())
    }

    /// Whether an operand is none in memory, or not the frame's, or inside of it.
    fn is_inside(&self, operand: &str) -> bool {
        let Some((displacement, registers)) = registers_of(operand) else {
            return true;
        };
        if !registers.split(", ").any(is_of_stack) {
            return true;
        }
        let before = displacement.trim_start_matches('*');
        let before = before.strip_prefix("%ss:").unwrap_or(before);
        let at = match before {
            "" => Some(0),
            digits => number(digits),
        };
        // What aligning takes is between what is pushed and the room.
        let above_rbp = self.frame.least() - WORD;
        let (from_rsp, from_rbp) = match self.frame.align {
            None => (above_rbp, above_rbp),
            Some(_) => (self.frame.room, self.frame.pushed_bytes() - WORD),
        };
        at.is_some_and(|at| match registers {
            "%rsp" => (0..from_rsp.cast_signed()).contains(&at),
            "%rbp" => (-from_rbp.cast_signed()..0).contains(&at),
            _ => false,
        })
    }

    /// What holds of the whole, and F.
    fn end(self) -> Failed<u64> {
        if self.leaving.is_some() {
            return Err("an epilogue without end".to_owned());
        }
        if self.direct_calls != self.piece.calls.len() {
            return Err("a jump to another function".to_owned());
        }
        if self.taken_starts != self.piece.starts.len() {
            return Err("another use of a start than its address".to_owned());
        }
        let tables = self.piece.targets.iter().map(|to| ("a table", *to));
        let jumps = self.jumps.iter().map(|to| ("a jump", *to));
        for (what, to) in jumps.chain(tables) {
            if self.entries.binary_search(&to).is_err() {
                return Err(format!("{what} into the middle of something: {to:#x}"));
            }
        }
        let callees = if self.calls > 0 { SETUP_BYTES } else { 0 };
        Ok(self.frame.most() + callees - WORD)
    }
}

/// Operands, one by one.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let outside = move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(outside).map(str::trim_start)
}

/// What stands in front of an operand's registers, and the registers; nothing where it has
/// none in memory.
fn registers_of(operand: &str) -> Option<(&str, &str)> {
    let (displacement, rest) = operand.split_once('(')?;
    Some((displacement, rest.strip_suffix(')').unwrap_or(rest)))
}

/// Whether an operand has to do with the stack pointer or the frame pointer.
fn names_stack(operand: &str) -> bool {
    let registers = registers_of(operand).map_or(operand, |(_, registers)| registers);
    registers.split(", ").any(is_of_stack)
}

#[cfg(test)]
mod tests;
