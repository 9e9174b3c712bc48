//! What the translation of one body takes, counted while it is under way, so
//! that one that takes too much is given up before it has the memory.
//!
//! # Why this bounds it
//!
//! A block parameter, and an operand for each edge to it, is made for a local at
//! most once in each block between the function's start and the local's last
//! use: the construction of SSA form looks back over edges that are there. So if a
//! clock counts blocks and edges, the sum over the locals of what it showed when
//! each was used last bounds the parameters, the operands, and the entries of the
//! table in which the construction keeps what it found. Operands of the stack live
//! on through the blocks that are made while they are on it; the register
//! allocator visits each in each.

use cranelift_codegen::ir::Function;

/// A pair of a local and a block or edge is a few bytes, and seldom a value.
const LOCALS_A_STEP: u64 = 8;
/// An operand that validation looks at is a comparison.
const CHECKED_A_STEP: u64 = 64;
/// A pair of an operator and a loop is one look.
const LOOPS_A_STEP: u64 = 256;
/// A pair of an operand and a block is one visit.
const OPERANDS_A_STEP: u64 = 32;

/// The work of one body.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Steps that it may take.
    most: u64,
    /// What the clock showed when each local was used last, and the sum.
    used: Vec<u64>,
    locals: u64,
    /// Pairs of an operand and a block.
    operands: u64,
    blocks: usize,
    /// Pairs of an operator and a loop around it.
    loops: u64,
    /// Edges from tables.
    entries: u64,
    /// Operands handed on by branches.
    handed_on: u64,
    /// Operands that validation looks at for tables.
    checked: u64,
}

impl Work {
    /// For a body that may take so many steps.
    pub fn clear(&mut self, most: u64) {
        let mut used = std::mem::take(&mut self.used);
        used.clear();
        *self = Work {
            most,
            used,
            ..Work::default()
        };
    }

    /// A variable is used or set.
    pub fn local(&mut self, variable: usize, func: &Function) {
        // All but tables have two edges at most.
        let clock = func.dfg.num_blocks() as u64 + self.entries;
        if self.used.len() <= variable {
            self.used.resize(variable + 1, 0);
        }
        self.locals += clock - self.used[variable];
        self.used[variable] = clock;
    }

    /// A table branches in so many ways.
    pub fn entries(&mut self, count: usize) {
        self.entries += count as u64;
    }

    /// So many operands are handed on.
    pub fn handed_on(&mut self, count: usize) {
        self.handed_on += count as u64;
    }

    /// Validation looks at so many operands.
    pub fn checked(&mut self, count: usize) {
        self.checked += count as u64;
    }

    /// An operator is translated, and so many operands are on the stack; the
    /// optimiser looks at each of the loops around.
    pub fn operator(&mut self, operands: usize, loops: u32, func: &Function) {
        self.loops += u64::from(loops);
        let blocks = func.dfg.num_blocks();
        self.operands += (blocks - self.blocks) as u64 * operands as u64;
        self.blocks = blocks;
    }

    /// Steps until now.
    pub fn steps(&self, func: &Function) -> u64 {
        (func.dfg.num_insts() + func.dfg.num_values()) as u64
            + self.entries
            + self.handed_on
            + self.locals / LOCALS_A_STEP
            + self.operands / OPERANDS_A_STEP
            + self.loops / LOOPS_A_STEP
            + self.checked / CHECKED_A_STEP
    }

    /// The steps, where they are too many.
    pub fn too_much(&self, func: &Function) -> Option<u64> {
        let steps = self.steps(func);
        (steps > self.most).then_some(steps)
    }
}
