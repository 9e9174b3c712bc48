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

use cranelift_codegen::ir::{Function, Inst};

use crate::compile::budget::{CompileWork, Excess, Most};

/// A pair of a local and a block or edge is a few bytes, and seldom a value.
const LOCALS_A_STEP: u64 = 8;
/// An operand that validation looks at is a comparison.
const CHECKED_A_STEP: u64 = 64;
/// A loop around an operator is looked at with each of the others around it.
const LOOP_PAIRS_A_STEP: u64 = 2048;
/// A pair of an operator and a block that dominates it is one look (Cranelift's
/// search for the block at which an expression can be computed first).
const DOMINATORS_A_STEP: u64 = 2048;
/// An edge from a table has a block of its own in the code generator.
const EDGE_STEPS: u64 = 4;
/// These blocks are empty, and where the code generator says where blocks begin, it
/// looks at each for each behind it: 16 million looks take some ten milliseconds. A
/// body with more does without.
const LOOKS_MAX: u64 = 1 << 24;
/// A call has operands at fixed registers, and a list of those that it loses.
const CALL_STEPS: u64 = 10;
/// What looks into an object makes blocks that are full of instructions: as much as so many more.
const LOOK_BLOCKS: u64 = 2;
/// A pair of an operand and a block is one visit.
const OPERANDS_A_STEP: u64 = 32;

/// What is around an operator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    /// Open loops.
    pub loops: u32,
    /// Blocks that dominate it.
    pub dominators: u32,
}

/// The work of one body.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// What it may come to.
    most: Most,
    /// What the clock showed when each local was used last, and the sum.
    used: Vec<u64>,
    locals: u64,
    /// Pairs of an operand and a block.
    operands: u64,
    blocks: usize,
    /// Pairs of loops around an operator.
    loop_pairs: u64,
    /// Pairs of an operator and a block that dominates it.
    dominators: u64,
    /// Instructions that were looked at, and calls among them.
    seen: usize,
    calls: u64,
    /// Edges from tables, and looks at one for another of the same table.
    entries: u64,
    looks: u64,
    /// Looks into objects.
    objects: u64,
    /// Operands handed on by branches.
    handed_on: u64,
    /// Operands that validation looks at for tables.
    checked: u64,
}

impl Work {
    /// For a body that may come to so much.
    pub fn clear(&mut self, most: Most) {
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
        self.looks += (count as u64).pow(2) / 2;
    }

    /// Whether looking at pairs of edges would take long.
    pub fn has_large_tables(&self) -> bool {
        self.looks > LOOKS_MAX
    }

    /// Code looks into an object, where it is one.
    pub fn object(&mut self) {
        self.objects += 1;
    }

    /// So many operands are handed on.
    pub fn handed_on(&mut self, count: usize) {
        self.handed_on += count as u64;
    }

    /// Validation looks at so many operands.
    pub fn checked(&mut self, count: usize) {
        self.checked += count as u64;
    }

    /// An operator is translated, and so many operands are on the stack, or values are kept
    /// for what is open.
    pub fn operator(&mut self, operands: usize, around: Around, func: &Function) {
        let [loops, dominators] = [around.loops, around.dominators].map(u64::from);
        self.loop_pairs += loops * loops;
        self.dominators += dominators;
        let blocks = func.dfg.num_blocks();
        self.operands += (blocks - self.blocks) as u64 * operands as u64;
        self.blocks = blocks;
        let insts = func.dfg.num_insts();
        let new = (self.seen..insts).map(|at| Inst::from_u32(at as u32));
        let calls = new.filter(|inst| func.dfg.insts[*inst].opcode().is_call());
        self.calls += calls.count() as u64;
        self.seen = insts;
    }

    /// Steps until now, without what locals come to.
    pub fn steps(&self, func: &Function) -> u64 {
        (func.dfg.num_insts() + func.dfg.num_values()) as u64 + self.handed_on + self.weight()
    }

    /// Steps for what takes more than its instructions, values and operands.
    pub fn weight(&self) -> u64 {
        self.entries * EDGE_STEPS
            + self.calls * CALL_STEPS
            + self.operands / OPERANDS_A_STEP
            + self.loop_pairs / LOOP_PAIRS_A_STEP
            + self.dominators / DOMINATORS_A_STEP
            + self.checked / CHECKED_A_STEP
    }

    /// What is too much.
    pub fn excess(&self, func: &Function) -> Option<Excess> {
        let Most {
            steps,
            blocks,
            guesses,
            ..
        } = self.most;
        let made = func.dfg.num_blocks() as u64 + self.objects * LOOK_BLOCKS;
        let counts = [
            (CompileWork::Steps, self.steps(func), steps),
            (CompileWork::Blocks, made, blocks),
            (CompileWork::Values, self.locals / LOCALS_A_STEP, guesses),
        ];
        let found = counts.into_iter().find(|(_, count, most)| count > most);
        found.map(|(work, count, allowed)| Excess {
            work,
            count,
            allowed,
        })
    }
}
