//! How much work compiling may be.
//!
//! A guest's author can make a few kilobytes cost minutes and gigabytes: each
//! local has a value in each block, a branch hands on a thousand operands for four
//! bytes, the register allocator tries each of a loop's parameters against all
//! others. So work is counted in *steps*: an instruction, a value, an operand of a
//! branch. A step at `speed` takes a microsecond or two and some hundred bytes.
//!
//! ```text
//!  translate, counting ──► below the first bound: optimised, as ever
//!          │ beyond: given up
//!          ▼
//!  translate plainly: locals in the frame, no elision, no inlining,
//!  no optimisation, single-pass register allocation
//!          │ beyond the second bound, or all functions beyond the module's
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

/// How much work compiling may be, as a multiple of what is enough for every
/// program that we know; that is the default.
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

/// Bounds in steps: what each function has, what it has for each byte of its
/// body, and what the bodies of a module share by their lengths. A module whose
/// code is one function gives it all.
struct Bound {
    each: u64,
    byte: u64,
    shared: u64,
}

/// To be optimised. Compilers' output takes one or two steps a byte, and a small
/// function in which others are inlined some more.
const OPTIMISED: Bound = Bound {
    each: 2000,
    byte: 5,
    shared: 60_000,
};

/// To be compiled at all.
const COMPILED: Bound = Bound {
    each: 20_000,
    byte: 6,
    shared: 500_000,
};

/// All functions of a module: for each byte of their bodies, and besides.
const MODULE_BYTE: u64 = 10;
const MODULE: u64 = 1_000_000;

impl Bound {
    fn steps(&self, bytes: u64, of_module: u64) -> u64 {
        self.each + self.byte * bytes + self.shared * bytes / of_module.max(1)
    }
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

    /// Steps that a body of a length may take to be optimised.
    pub(super) fn optimised(&self, bytes: u64) -> u64 {
        let factor = self.budget.0.map(u64::from);
        factor.map_or(u64::MAX, |factor| {
            OPTIMISED.steps(bytes, self.bytes).saturating_mul(factor)
        })
    }

    /// Steps that it may take to be compiled at all.
    pub(super) fn compiled(&self, bytes: u64) -> u64 {
        self.refusing(COMPILED.steps(bytes, self.bytes))
    }

    fn refusing(&self, steps: u64) -> u64 {
        let factor = self.budget.0.map(|factor| u64::from(factor.max(1)));
        factor.map_or(u64::MAX, |factor| steps.saturating_mul(factor))
    }

    /// Takes what a function took; an error where the module is beyond its bound.
    pub(super) fn spend(&self, steps: u64) -> Result<(), String> {
        self.spent.fetch_add(steps, Ordering::Relaxed);
        self.check()
    }

    /// An error where the module is beyond its bound already: no need to begin with
    /// another function.
    pub(super) fn check(&self) -> Result<(), String> {
        let most = self.refusing(MODULE + MODULE_BYTE * self.bytes);
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
pub(super) fn refusal(func: u32, bytes: u64, most: u64) -> String {
    format!("compiling function {func} takes more than {most} steps, the budget of {bytes} bytes")
}

/// A function that was not optimised, for it would have taken too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OverBudget {
    /// The function's index in the module.
    pub func: u32,
    /// Length of its body in bytes.
    pub bytes: u32,
    /// Steps that it would have taken, as far as they were counted.
    pub steps: u64,
    /// Steps that it may take.
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
        assert_eq!(off.optimised(3), u64::MAX);
    }

    #[test]
    fn no_budget_optimises_nothing_and_refuses_what_one_refuses() {
        let none = ModuleBudget::new(CompileBudget::times(0), 1000);
        let one = ModuleBudget::new(CompileBudget::times(1), 1000);
        assert_eq!(none.optimised(1000), 0);
        assert_eq!(none.compiled(1000), one.compiled(1000));
    }
}
