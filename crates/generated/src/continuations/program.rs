//! Programs: functions of one number, whose statements make continuations, put them into
//! slots, resume, suspend, switch, throw, bind, trap.
//!
//! Each function has a local `x`, at first its argument, which is its result. What happens
//! is mixed into a checksum that all share. Statements count down a common budget, so that
//! every program ends.

use crate::generate::Below;

/// Slots for continuations that take a number, and as many for those that take none and
/// those that are only switched to.
pub const SLOTS: usize = 4;
/// Tags that are suspended with.
pub const TAGS: usize = 5;
/// Statements that a call may execute.
pub const BUDGET: i64 = 120;

/// A clause: the tag, and the slot where the suspended one goes.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    pub tag: usize,
    pub slot: usize,
}

/// Who handles what comes out of a continuation.
#[derive(Clone, Debug)]
pub struct Handlers {
    pub clauses: Vec<Clause>,
    /// Whether there is a clause for switches too, in front of them.
    pub switch: bool,
}

/// What a function does.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `checksum = checksum * 31 + x + n`
    Mix(i64),
    /// `x = x * 3 + n`
    Step(i64),
    /// `slot = cont.new f`
    New { slot: usize, func: usize },
    /// `switched = cont.new g`, of a function that is given who switched
    NewSwitched { slot: usize, func: usize },
    /// `bound = cont.bind slot x`
    Bind { from: usize, to: usize },
    /// `x = resume slot x`, which is null then; where it was, of the first function
    Resume { slot: usize, handlers: Handlers },
    /// `x = resume bound`
    ResumeBound { slot: usize, handlers: Handlers },
    /// `x = resume_throw slot x`
    Throw { slot: usize, handlers: Handlers },
    /// `x = resume_throw_ref slot`, of an exception that was caught
    ThrowRef { slot: usize, handlers: Handlers },
    /// `x = suspend tag x`
    Suspend(usize),
    /// `x = switch switched x`
    Switch(usize),
    /// `throw x`
    Raise,
    /// The statements, and `x = value + 1` where they throw
    Try(Vec<Statement>),
    /// `x = f(x)`
    Call(usize),
    /// `x = host(x)`
    Host,
    /// As often
    Loop(u8, Vec<Statement>),
    /// If the checksum is odd
    If(Vec<Statement>, Vec<Statement>),
    /// `unreachable`
    Trap,
}

/// A program. Of the functions, the second half is given who switched to it.
#[derive(Clone, Debug)]
pub struct Program {
    pub funcs: Vec<Vec<Statement>>,
    pub switched: Vec<Vec<Statement>>,
}

/// What the host makes of a number.
pub fn host(value: i64) -> i64 {
    value.rotate_left(7) ^ 0x55
}

impl Program {
    /// One made at random.
    pub fn random(below: Below<'_>) -> Program {
        let counts = Counts {
            funcs: 2 + below(4),
            switched: 1 + below(3),
        };
        let mut make = |count: usize| -> Vec<Vec<Statement>> {
            (0..count).map(|_| statements(below, counts, 3)).collect()
        };
        Program {
            funcs: make(counts.funcs),
            switched: make(counts.switched),
        }
    }
}

/// How many functions a program has of both kinds.
#[derive(Clone, Copy)]
struct Counts {
    funcs: usize,
    switched: usize,
}

fn statements(below: Below<'_>, counts: Counts, depth: usize) -> Vec<Statement> {
    let count = 1 + below(2 + 2 * depth);
    (0..count)
        .map(|_| statement(below, counts, depth))
        .collect()
}

fn handlers(below: Below<'_>) -> Handlers {
    let clauses = (0..below(TAGS + 1))
        .map(|_| Clause {
            tag: below(TAGS),
            slot: below(SLOTS),
        })
        .collect();
    let switch = below(3) == 0;
    Handlers { clauses, switch }
}

fn statement(below: Below<'_>, counts: Counts, depth: usize) -> Statement {
    let slot = below(SLOTS);
    let kinds = if depth == 0 { 15 } else { 18 };
    match below(kinds) {
        0 => Statement::Mix(below(100) as i64),
        1 => Statement::Step(below(100) as i64),
        2..=4 => Statement::New {
            slot,
            func: below(counts.funcs),
        },
        5 => Statement::NewSwitched {
            slot,
            func: below(counts.switched),
        },
        6 => Statement::Bind {
            from: slot,
            to: below(SLOTS),
        },
        7 | 8 => Statement::Resume {
            slot,
            handlers: handlers(below),
        },
        9 => Statement::ResumeBound {
            slot,
            handlers: handlers(below),
        },
        10 => match below(4) {
            0 => Statement::ThrowRef {
                slot,
                handlers: handlers(below),
            },
            _ => Statement::Throw {
                slot,
                handlers: handlers(below),
            },
        },
        11 => Statement::Suspend(below(TAGS)),
        12 => Statement::Switch(slot),
        13 => match below(12) {
            0 => Statement::Trap,
            1 | 2 => Statement::Raise,
            3..=6 => Statement::Call(below(counts.funcs)),
            _ => Statement::Suspend(below(TAGS)),
        },
        14 => Statement::Host,
        15 => Statement::Try(statements(below, counts, depth - 1)),
        16 => Statement::Loop(1 + below(3) as u8, statements(below, counts, depth - 1)),
        _ => Statement::If(
            statements(below, counts, depth - 1),
            statements(below, counts, depth - 1),
        ),
    }
}
