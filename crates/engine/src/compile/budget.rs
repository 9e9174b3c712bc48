//! How much work compiling may be.
//!
//! A guest's author can make a few kilobytes cost minutes and gigabytes: each
//! local has a value in each block, a branch hands on a thousand operands for four
//! bytes, the register allocator tries each of a loop's parameters against all
//! others. So four things are counted, each with a bound of its own:
//!
//! - *steps*: an instruction, a value, an operand of a branch. A step at `speed`
//!   takes a microsecond or two and some hundred bytes.
//! - *blocks*: each takes a kilobyte or two of the code generator's tables, however
//!   little is in it; what looks into an object counts for more (`translate/work.rs`).
//! - *instructions*: what is left of a function when it is rewritten, and a twentieth of
//!   what is made on the way (`rewriting.rs`). Each takes up to two kilobytes.
//! - *guessed values*: what locals may come to before it is known (`translate/work.rs`).
//!   Several times the values that are made, so its bound is one of its own, against
//!   translations that would take the memory; the values themselves are steps.
//!
//! ```text
//!  translate, counting ──► within the first bounds, also when rewritten: optimised
//!          │ beyond: given up
//!          ▼
//!  translate plainly: locals in the frame, no elision, no inlining,
//!  no optimisation, single-pass register allocation
//!          │ beyond the second bounds, or all functions beyond the module's
//!          ▼
//!        refused
//! ```
//!
//! What must stay true: the bounds and the counts depend on the module and the
//! configuration alone, never on a clock, a thread or what was compiled before. So
//! the same module gives the same code on every machine and in the cache.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use cranelift_codegen::ir::{BlockArg, Function};

/// How much work compiling may be, as a multiple of the default, which is enough
/// to compile every program that we know, and to optimise nearly all of their
/// functions (docs/LIMITS.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompileBudget(Option<u32>);

impl CompileBudget {
    /// No bound: for modules that are trusted not to be made to be dear.
    pub const OFF: CompileBudget = CompileBudget(None);

    /// So many times the default. None at all is a bound, too: no function is
    /// optimised, and what the default refuses is refused.
    pub const fn times(factor: u32) -> CompileBudget {
        CompileBudget(Some(factor))
    }
}

impl Default for CompileBudget {
    fn default() -> CompileBudget {
        CompileBudget::times(1)
    }
}

impl fmt::Display for CompileBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(factor) => write!(f, "{factor}"),
            None => f.write_str("off"),
        }
    }
}

/// What is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a budget is 'off' or a multiple of the default, such as 4, not '{0}'")]
pub struct UnknownCompileBudget(String);

impl FromStr for CompileBudget {
    type Err = UnknownCompileBudget;

    fn from_str(text: &str) -> Result<CompileBudget, UnknownCompileBudget> {
        match (text, text.parse()) {
            ("off", _) => Ok(CompileBudget::OFF),
            (_, Ok(factor)) => Ok(CompileBudget::times(factor)),
            _ => Err(UnknownCompileBudget(text.to_owned())),
        }
    }
}

/// Bounds of one way to compile. In steps: what each function has, what it has
/// for each byte of its body, and what the bodies of a module share by their
/// lengths; a module whose code is one function gives it all. A step takes memory,
/// so there is a most, which grows with the module only. In blocks: what each function
/// has, whatever its length. In guessed values: so many for each step.
struct Bound {
    each: u64,
    byte: u64,
    shared: u64,
    /// The most that a function has, and so many halves of a step more for each byte
    /// of the module's code.
    most: u64,
    halves: u64,
    /// Blocks, and one more for so many bytes of the module's code.
    blocks: u64,
    block_bytes: u64,
    /// Guessed values: so many for each step that it may take, and never more than
    /// these.
    guess: u64,
    guesses: u64,
    /// Instructions when it is rewritten, and one more for so many bytes of the module's
    /// code.
    insts: u64,
    inst_bytes: u64,
}

/// To be optimised. Compilers' output takes one or two steps a byte, and a small
/// function in which others are inlined some more; an interpreter's loop, or what
/// Asyncify has been over, takes many.
const OPTIMISED: Bound = Bound {
    each: 20_000,
    byte: 6,
    shared: 60_000,
    most: 1_000_000,
    halves: 1,
    blocks: 60_000,
    block_bytes: 200,
    guess: 2,
    guesses: 800_000,
    insts: 75_000,
    inst_bytes: 10,
};

/// To be compiled at all.
const COMPILED: Bound = Bound {
    each: 20_000,
    byte: 6,
    shared: 500_000,
    most: 2_000_000,
    halves: 3,
    blocks: 100_000,
    block_bytes: 100,
    guess: 1,
    guesses: u64::MAX,
    // It is not rewritten.
    insts: u64::MAX,
    inst_bytes: u64::MAX,
};

/// All functions of a module: for each byte of their bodies, and besides.
const MODULE_BYTE: u64 = 10;
const MODULE: u64 = 1_000_000;

impl Bound {
    /// For a body of a length in a module whose bodies have a length in all.
    fn of(&self, bytes: u64, of_module: u64) -> Most {
        let steps = self.each + self.byte * bytes + self.shared * bytes / of_module.max(1);
        let steps = steps.min(self.most + self.halves * of_module / 2);
        Most {
            steps,
            blocks: self.blocks + of_module / self.block_bytes,
            guesses: (self.guess * steps).min(self.guesses),
            insts: self.insts.saturating_add(of_module / self.inst_bytes),
        }
    }
}

/// The most that compiling one function may come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Most {
    pub steps: u64,
    pub blocks: u64,
    /// Values that locals may come to.
    pub guesses: u64,
    /// Instructions that it may be rewritten to.
    pub insts: u64,
}

impl Most {
    pub(crate) const ANY: Most = Most {
        steps: u64::MAX,
        blocks: u64::MAX,
        guesses: u64::MAX,
        insts: u64::MAX,
    };

    fn times(self, factor: Option<u32>) -> Most {
        let Some(factor) = factor.map(u64::from) else {
            return Most::ANY;
        };
        Most {
            steps: self.steps.saturating_mul(factor),
            blocks: self.blocks.saturating_mul(factor),
            guesses: self.guesses.saturating_mul(factor),
            insts: self.insts.saturating_mul(factor),
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum CompileWork {
    /// Instructions, values, operands of branches, and what weighs as much.
    Steps,
    /// Basic blocks.
    Blocks,
    /// Values that the locals may have.
    Values,
    /// Instructions that rewriting makes of it.
    Instructions,
}

impl fmt::Display for CompileWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompileWork::Steps => "steps",
            CompileWork::Blocks => "blocks",
            CompileWork::Values => "values of locals",
            CompileWork::Instructions => "rewritten instructions",
        })
    }
}

/// What was beyond its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    pub work: CompileWork,
    /// As far as it was counted.
    pub count: u64,
    pub allowed: u64,
}

/// The bounds of one module, and what was spent.
#[derive(Debug)]
pub(crate) struct ModuleBudget {
    budget: CompileBudget,
    /// Bytes of all bodies.
    bytes: u64,
    spent: AtomicU64,
}

impl ModuleBudget {
    /// For a module whose bodies have so many bytes in all.
    pub(crate) fn new(budget: CompileBudget, bytes: u64) -> ModuleBudget {
        let spent = AtomicU64::new(0);
        ModuleBudget {
            budget,
            bytes,
            spent,
        }
    }

    /// What a body of a length may come to, to be optimised.
    pub(super) fn optimised(&self, bytes: u64) -> Most {
        OPTIMISED.of(bytes, self.bytes).times(self.budget.0)
    }

    /// What it may come to, to be compiled at all.
    pub(super) fn compiled(&self, bytes: u64) -> Most {
        COMPILED.of(bytes, self.bytes).times(self.refusing())
    }

    /// How many times the default it is; none without a bound.
    pub(super) fn factor(&self) -> Option<u32> {
        self.budget.0
    }

    /// No budget at all refuses what the default refuses.
    fn refusing(&self) -> Option<u32> {
        self.budget.0.map(|factor| factor.max(1))
    }

    /// Takes what a function took; an error where the module is beyond its bound.
    pub(super) fn spend(&self, steps: u64) -> Result<(), String> {
        self.spent.fetch_add(steps, Ordering::Relaxed);
        self.check()
    }

    /// An error where the module is beyond its bound already: no need to begin with
    /// another function.
    pub(super) fn check(&self) -> Result<(), String> {
        let most = MODULE + MODULE_BYTE * self.bytes;
        let most = self
            .refusing()
            .map_or(u64::MAX, |factor| most.saturating_mul(factor.into()));
        match self.spent.load(Ordering::Relaxed) > most {
            true => Err(format!(
                "compiling the module takes more than {most} steps, the budget of {} bytes of \
                 code",
                self.bytes
            )),
            false => Ok(()),
        }
    }
}

/// Why a function is refused.
pub(super) fn refusal(func: u32, bytes: u64, excess: Excess) -> String {
    let Excess { work, allowed, .. } = excess;
    format!(
        "compiling function {func} takes more than {allowed} {work}, the budget of {bytes} bytes"
    )
}

/// A function that was not optimised, for it would have taken too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OverBudget {
    /// The function's index in the module.
    pub func: u32,
    /// Length of its body in bytes.
    pub bytes: u32,
    /// Of what it would have taken more than it may.
    pub work: CompileWork,
    /// How much, as far as it was counted.
    pub count: u64,
    /// How much it may take.
    pub allowed: u64,
}

/// A block's parameters and the operands that branches give it weigh more the
/// more there are: the register allocator sets each against the others. So many
/// pairs are a step.
const PAIRS_A_STEP: u64 = 16;

/// Steps that it takes to optimise a function.
pub(super) fn steps(func: &Function) -> u64 {
    let dfg = &func.dfg;
    let mut steps = (dfg.num_insts() + dfg.num_values()) as u64;
    for block in func.layout.blocks() {
        let Some(last) = func.layout.last_inst(block) else {
            continue;
        };
        let calls = dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        for call in calls {
            let operands = call.args(&dfg.value_lists).filter(is_value).count() as u64;
            steps += operands + operands * operands / PAIRS_A_STEP;
        }
    }
    steps
}

fn is_value(arg: &BlockArg) -> bool {
    matches!(arg, BlockArg::Value(_))
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::cursor::{Cursor, FuncCursor};
    use cranelift_codegen::ir::{InstBuilder, types};

    use super::*;

    /// A loop that hands on so many values.
    fn handing_on(count: usize) -> Function {
        let mut func = Function::new();
        let head = func.dfg.make_block();
        let values: Vec<BlockArg> = (0..count)
            .map(|_| func.dfg.append_block_param(head, types::I64).into())
            .collect();
        let mut cursor = FuncCursor::new(&mut func);
        cursor.insert_block(head);
        cursor.ins().jump(head, &values);
        func
    }

    #[test]
    fn operands_of_a_branch_weigh_more_the_more_there_are() {
        let [hundred, thousand] = [100, 1000].map(|count| steps(&handing_on(count)));
        assert!(thousand > 50 * hundred, "{thousand} and {hundred}");
    }

    #[test]
    fn a_budget_is_read_as_it_is_written() {
        for budget in [
            CompileBudget::OFF,
            CompileBudget::times(0),
            CompileBudget::times(12),
        ] {
            assert_eq!(budget.to_string().parse(), Ok(budget));
        }
        for text in ["", "-1", "1.5", "on", "99999999999"] {
            let error = text.parse::<CompileBudget>().expect_err("it is none");
            assert!(error.to_string().contains(&format!("'{text}'")));
        }
    }

    #[test]
    fn the_last_byte_of_a_module_is_not_free() {
        let budget = ModuleBudget::new(CompileBudget::times(2), 1000);
        let most = 2 * (MODULE + MODULE_BYTE * 1000);
        assert_eq!(budget.spend(most), Ok(()));
        assert!(budget.spend(1).is_err());
        let off = ModuleBudget::new(CompileBudget::OFF, 1000);
        assert_eq!(off.spend(most + 1), Ok(()));
        assert_eq!(off.optimised(3), Most::ANY);
    }

    #[test]
    fn no_budget_optimises_nothing_and_refuses_what_one_refuses() {
        let none = ModuleBudget::new(CompileBudget::times(0), 1000);
        let one = ModuleBudget::new(CompileBudget::times(1), 1000);
        assert_eq!(none.optimised(1000), Most::default());
        assert_eq!(none.compiled(1000), one.compiled(1000));
    }
}
