//! Programs: functions of all types of values, whose instructions throw, catch, hand over, raise
//! again and trap, in both forms of exceptions, while operands wait below.
//!
//! Two instances of the same module run: each has its memory, its globals and some tags of its
//! own; they share the other tags, a table of all functions of both, and the budget, which counts
//! calls and turns of loops down, so that every program ends.

use super::ops::Op;

/// Calls and turns of loops that a call from outside may execute.
pub const BUDGET: i64 = 100;
/// Bytes of a memory.
pub const MEMORY_BYTES: usize = 1 << 16;
/// Calls of the host into the guest that are open at once.
pub const NESTED_MAX: u32 = 3;
/// Types of the globals of an instance. The first is the checksum.
pub const GLOBALS: [Ty; 7] = [
    Ty::I64,
    Ty::I32,
    Ty::F32,
    Ty::F64,
    Ty::V128,
    Ty::Exn,
    Ty::I64,
];
/// The one that all is mixed into.
pub const CHECKSUM: usize = 0;

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    I32,
    I64,
    F32,
    F64,
    V128,
    Exn,
}

impl Ty {
    pub const NUMBERS: [Ty; 5] = [Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::V128];

    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 | Ty::Exn => 8,
            Ty::V128 => 16,
        }
    }

    /// The bits of a value of this type out of a number: null of a reference.
    pub fn of(self, number: i64) -> u128 {
        let low = number.cast_unsigned();
        match self {
            Ty::I32 | Ty::F32 => u128::from(low as u32),
            Ty::I64 | Ty::F64 => u128::from(low),
            Ty::V128 => u128::from(low.rotate_left(17)) << 64 | u128::from(low),
            Ty::Exn => 0,
        }
    }
}

/// What a block or a function takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sig {
    pub params: Vec<Ty>,
    pub results: Vec<Ty>,
}

/// A clause of a `try_table`. A label counts from outside of it.
#[derive(Clone, Copy, Debug)]
pub struct Catch {
    /// `catch_all` where there is none.
    pub tag: Option<usize>,
    pub by_reference: bool,
    pub label: u32,
}

/// What is called that the host provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Values of most types in and out.
    Many,
    /// Call a function of the caller's with arguments out of a number: its results as a number.
    Back,
    /// The same; whatever ends it is a number, too.
    Tries,
    /// Throw with a tag that both instances have.
    Raise,
}

impl Host {
    pub const ALL: [Host; 4] = [Host::Many, Host::Back, Host::Tries, Host::Raise];

    pub fn name(self) -> &'static str {
        match self {
            Host::Many => "many",
            Host::Back => "back",
            Host::Tries => "tries",
            Host::Raise => "raise",
        }
    }

    pub fn sig(self) -> Sig {
        let (params, results): (&[Ty], &[Ty]) = match self {
            Host::Many => (
                &[Ty::V128, Ty::I32, Ty::F64, Ty::I64, Ty::F32],
                &[Ty::F64, Ty::I64, Ty::V128],
            ),
            Host::Back | Host::Tries => (&[Ty::I32, Ty::I64], &[Ty::I64]),
            Host::Raise => (&[Ty::I32, Ty::I64], &[]),
        };
        Sig {
            params: params.to_vec(),
            results: results.to_vec(),
        }
    }
}

/// What `many` makes of its arguments.
pub fn many(arguments: &[u128]) -> Vec<u128> {
    let low = arguments[3] as u64;
    let vector = arguments[0].rotate_left(arguments[1] as u32 % 128);
    vec![
        arguments[2] ^ 1,
        u128::from(low.wrapping_add(arguments[4] as u64)),
        vector,
    ]
}

/// A number of some values.
pub fn digest(types: &[Ty], values: &[u128]) -> i64 {
    let mut sum = 7_i64;
    for (ty, bits) in types.iter().zip(values) {
        let bits = match ty {
            Ty::Exn => u128::from(*bits != 0),
            _ => *bits,
        };
        let both = bits as i64 ^ ((bits >> 64) as i64).rotate_left(3);
        sum = sum.wrapping_mul(31).wrapping_add(both);
    }
    sum
}

/// The arguments of a function out of a number.
pub fn arguments(types: &[Ty], number: i64) -> Vec<u128> {
    let of = |(nth, ty): (i64, &Ty)| ty.of(number.wrapping_mul(0x0101_0301).wrapping_add(nth));
    (0..).zip(types).map(of).collect()
}

/// An instruction; those of blocks have what is in them.
#[derive(Clone, Debug)]
pub enum Instr {
    Const(Ty, u128),
    Op(Op),
    Select(Ty),
    IsNull,
    Drop,
    Get(u32),
    Set(u32),
    Tee(u32),
    GlobalGet(usize),
    GlobalSet(usize),
    /// An access at the address on the stack and an offset.
    Load(Ty, u32),
    Store(Ty, u32),
    /// `checksum = checksum * 31 + operand`
    Mix,
    /// Counts the budget down.
    Spend,
    Block(Sig, Vec<Instr>),
    Loop(Sig, Vec<Instr>),
    If(Sig, Vec<Instr>, Vec<Instr>),
    TryTable(Sig, Vec<Catch>, Vec<Instr>),
    /// The older form: clauses by tag, and one for all.
    Try(Sig, Vec<Instr>, Vec<Clause>),
    Delegate(Sig, Vec<Instr>, u32),
    Br(u32),
    BrIf(u32),
    BrTable(Vec<u32>, u32),
    Return,
    Throw(usize),
    ThrowRef,
    Rethrow(u32),
    Unreachable,
    Call(usize),
    /// By the index on the stack, of a function with the type of this one.
    CallIndirect(usize),
    Host(Host),
}

/// A clause of a `try`: without a tag that of all others.
#[derive(Clone, Debug)]
pub struct Clause {
    pub tag: Option<usize>,
    pub body: Vec<Instr>,
}

/// A function. Parameters are the first of its locals.
#[derive(Clone, Debug)]
pub struct Func {
    pub sig: Sig,
    pub locals: Vec<Ty>,
    pub body: Vec<Instr>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// What the exceptions of each tag carry.
    pub tags: Vec<Vec<Ty>>,
    pub funcs: Vec<Func>,
}

impl Program {
    /// Whether both instances have the same tag: every second.
    pub fn is_shared(tag: usize) -> bool {
        tag.is_multiple_of(2)
    }

    /// The tags that both have.
    pub fn shared(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.tags.len()).filter(|tag| Program::is_shared(*tag))
    }

    /// The one of them that the host throws for a number.
    pub fn raised(&self, number: u32) -> usize {
        let count = self.shared().count();
        let nth = number as usize % count;
        self.shared().nth(nth).expect("one is shared")
    }

    /// The function that the host calls for a number.
    pub fn called(&self, number: u32) -> usize {
        number as usize % self.funcs.len()
    }
}
