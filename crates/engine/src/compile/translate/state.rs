//! The abstract machine of one function body: the operand stack as SSA values
//! and the stack of control frames.
//!
//! ```text
//!  stack   [ ..outer.. | saved params (If) | live operands ]
//!                      ^ frame.height
//! ```
//!
//! What must stay true:
//! - Operands are kept *raw*: a comparison leaves an `i8`, a vector keeps the
//!   lane shape its producer gave it. Whatever crosses a block boundary, a call,
//!   a local or memory is made canonical first (`i32`, `i8x16`), see
//!   `Translator::canonical`.
//! - While `reachable` is false nothing is pushed or popped; only control frames
//!   are tracked, as [`FrameKind::Dead`].
//! - `height` of a live frame never exceeds the length of the stack.

use cranelift_codegen::ir::{Block, BlockArg, Inst, Value};
use cranelift_frontend::Variable;
use wasmparser::Catch;

use super::enter::Entry;
use super::fuel::Fuel;
use super::inline::InlinedCalls;
use super::locals::Locals;
use super::work::Work;

/// Float constants of a function that are kept in registers through its loops.
const HOISTED_MAX: usize = 4;

/// What a control frame was opened by, and what closing it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The body of the function; its label is the return.
    Func,
    /// `block`: its label is the end.
    Block,
    /// `loop`: its label is the header; it needs no block for its end.
    Loop,
    /// `if` before its `else`: where the false edge goes, and the branch itself.
    If {
        /// The block of the false edge.
        else_block: Block,
        /// The branch, rewritten where the `else` is missing and empty.
        branch: Inst,
    },
    /// `if` after its `else`.
    Else,
    /// `try_table`: its label is the end; its handler is the innermost one.
    Try,
    /// `try` of the older form, before its first clause: as [`FrameKind::Try`].
    LegacyTry,
    /// A clause of such a `try`, outside of its handler; none where no exception
    /// gets there.
    Clause(Option<Caught>),
    /// Opened in unreachable code: there is nothing to generate.
    Dead,
}

/// An exception that is compared with the clauses of a `try`, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caught {
    /// Its address, which dominates the clauses.
    pub exception: Value,
    /// Its tag.
    pub tag: Value,
    /// Where it goes if its tag is another than this clause's; nowhere from
    /// `catch_all`.
    pub others: Option<Block>,
    /// Blocks that dominate where it is compared.
    pub dominators: u32,
    /// What marks it as referenced, as long as no `rethrow` needs that.
    pub mark: Option<Inst>,
}

/// An open control construct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// What opened it.
    pub kind: FrameKind,
    /// Where a branch to its label goes (meaningless when [`FrameKind::Dead`]).
    pub label: Block,
    /// Operands below this frame's own.
    pub height: usize,
    /// Number of parameters.
    pub params: usize,
    /// Number of results.
    pub results: usize,
    /// Whether anything branches to the label.
    pub branched: bool,
    /// Blocks that dominate where it was opened.
    pub dominators: u32,
    /// Handlers that its exceptions may come to: the outermost so many.
    pub handlers: usize,
}

impl Frame {
    /// How many operands a branch to this frame carries.
    pub fn label_arity(&self) -> usize {
        match self.kind {
            FrameKind::Loop => self.params,
            _ => self.results,
        }
    }
}

/// What takes over the exceptions of an open `try_table` or `try`.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    /// The block exceptions come to, with their address as its parameter.
    pub landing: Block,
    /// Whether anything can come there.
    pub used: bool,
    /// The clauses of a `try_table`, in order; those of a `try` come later.
    pub catches: Vec<Catch>,
}

/// The state of the translation of one function; its buffers are reused for
/// the next one.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Operands, raw.
    pub stack: Vec<Value>,
    /// Open control frames, innermost last.
    pub frames: Vec<Frame>,
    /// Whether the current point can be reached.
    pub reachable: bool,
    /// Open loops.
    pub loops: u32,
    /// Blocks that dominate the current one: how deep it is in the tree of
    /// dominators.
    pub dominators: u32,
    /// Handlers of open `try_table`s and `try`s, innermost last.
    pub handlers: Vec<Handler>,
    /// Open clauses of `try`s that exceptions get to.
    pub clauses: usize,
    /// Float constants that are loaded in front of loops, as bits.
    hoisted: Vec<u64>,
    /// The runtime's address, in functions that may switch stacks.
    pub runtime: Option<Variable>,
    /// What is left of the fuel.
    pub fuel: Fuel,
    /// Calls that were translated as their callees.
    pub inlined: InlinedCalls,
    /// Where the locals are.
    pub locals: Locals,
    /// Whether a product by halves was recognised.
    pub has_products: bool,
    /// What the translation takes.
    pub work: Work,
    /// Whether the `cont.new` that is translated is resumed by the next instruction.
    pub begins: bool,
    /// Where code comes from that begins at a loop.
    pub entry: Option<Entry>,
    /// Loops at whose heads it is left for better code, by offset.
    pub left_loops: Vec<u32>,
    /// Scratch for the arguments of branches.
    pub args: Vec<BlockArg>,
    /// Scratch for the arguments of calls.
    pub call_args: Vec<Value>,
}

impl State {
    /// Empties everything, keeping the buffers.
    pub fn clear(&mut self) {
        self.stack.clear();
        self.frames.clear();
        self.loops = 0;
        self.dominators = 0;
        self.handlers.clear();
        self.clauses = 0;
        self.hoisted.clear();
        self.locals.clear();
        self.args.clear();
        self.call_args.clear();
        self.fuel = Fuel::default();
        self.begins = false;
        self.entry = None;
        self.left_loops.clear();
        self.has_products = false;
        self.reachable = true;
    }

    /// Pushes an operand.
    pub fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// Pops an operand as its producer left it. Validation has made sure that
    /// there is one.
    pub fn pop_raw(&mut self) -> Value {
        self.stack
            .pop()
            .expect("validated: the operand stack is not empty")
    }

    /// Whether a float constant at this point is to be loaded in front of the
    /// loops it is in.
    pub fn hoists_constant(&mut self, bits: u64) -> bool {
        if self.loops == 0 {
            return false;
        }
        if self.hoisted.contains(&bits) {
            return true;
        }
        let room = self.hoisted.len() < HOISTED_MAX;
        if room {
            self.hoisted.push(bits);
        }
        room
    }

    /// Values that live on until something that is open ends: operands, and of each clause
    /// the exception and its tag.
    pub fn held(&self) -> usize {
        self.stack.len() + 2 * self.clauses
    }

    /// The frame `depth` levels out.
    pub fn frame(&self, depth: u32) -> &Frame {
        &self.frames[self.frames.len() - 1 - depth as usize]
    }

    /// Opens a live frame whose `params` operands are on the stack.
    pub fn push_frame(&mut self, kind: FrameKind, label: Block, params: usize, results: usize) {
        debug_assert!(self.reachable);
        let height = self.stack.len() - params;
        self.loops += u32::from(kind == FrameKind::Loop);
        if matches!(kind, FrameKind::If { .. }) {
            // The false edge sees the same operands, however the true one
            // consumes them.
            self.stack.extend_from_within(height..);
        }
        self.frames.push(Frame {
            kind,
            label,
            height,
            params,
            results,
            branched: false,
            dominators: self.dominators,
            handlers: self.handlers.len(),
        });
    }

    /// Opens a frame in unreachable code.
    pub fn push_dead_frame(&mut self) {
        debug_assert!(!self.reachable);
        self.frames.push(Frame {
            kind: FrameKind::Dead,
            label: Block::from_u32(0),
            height: self.stack.len(),
            params: 0,
            results: 0,
            branched: false,
            dominators: self.dominators,
            handlers: self.handlers.len(),
        });
    }

    /// Marks the label `depth` levels out as a branch target and returns its
    /// block and arity.
    pub fn branch_to(&mut self, depth: u32) -> (Block, usize) {
        let index = self.frames.len() - 1 - depth as usize;
        let frame = &mut self.frames[index];
        frame.branched = true;
        (frame.label, frame.label_arity())
    }

    /// At `else`: drops what the true edge left and makes the saved parameters
    /// the operands again.
    pub fn restore_params(&mut self, frame: &Frame) {
        debug_assert!(matches!(frame.kind, FrameKind::If { .. }));
        self.stack.truncate(frame.height + frame.params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(numbers: std::ops::Range<u32>) -> Vec<Value> {
        numbers.map(Value::from_u32).collect()
    }

    fn fresh() -> State {
        let mut state = State::default();
        state.clear();
        state
    }

    fn if_frame() -> FrameKind {
        FrameKind::If {
            else_block: Block::from_u32(2),
            branch: Inst::from_u32(0),
        }
    }

    #[test]
    fn an_if_keeps_its_parameters_for_the_false_edge() {
        let mut state = fresh();
        state.stack = values(0..3);
        state.push_frame(if_frame(), Block::from_u32(1), 2, 1);
        assert_eq!(state.stack.len(), 5);
        assert_eq!(state.frame(0).height, 1);
        state.pop_raw();
        state.pop_raw();
        state.push(Value::from_u32(9));
        let frame = *state.frame(0);
        state.restore_params(&frame);
        assert_eq!(state.stack, values(0..3));
    }

    #[test]
    fn a_branch_to_a_loop_carries_its_parameters() {
        let mut state = fresh();
        state.stack = values(0..2);
        state.push_frame(FrameKind::Loop, Block::from_u32(7), 2, 1);
        state.push_frame(FrameKind::Block, Block::from_u32(8), 0, 1);
        assert_eq!(state.branch_to(1), (Block::from_u32(7), 2));
        assert_eq!(state.branch_to(0), (Block::from_u32(8), 1));
        assert!(state.frame(0).branched && state.frame(1).branched);
    }

    #[test]
    fn dead_frames_leave_the_operands_alone() {
        let mut state = fresh();
        state.stack = values(0..4);
        state.reachable = false;
        state.push_dead_frame();
        assert_eq!(state.stack, values(0..4));
        assert_eq!(state.frame(0).kind, FrameKind::Dead);
    }
}
