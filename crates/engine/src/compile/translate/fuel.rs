//! Fuel: what ends a program after a number of instructions, the same everywhere
//! ([`crate::Config::consume_fuel`]).
//!
//! ```text
//!  in a variable     less by what was executed, where control goes apart or together
//!  in the runtime    written in front of calls and returns and at heads of loops,
//!                    read behind calls and in handlers
//!  compared with 0   where a function begins, at the head of a loop, before a bulk
//!                    operation: less is the trap
//! ```
//!
//! What must stay true: what is taken, written and compared, and where, depends on the
//! operators alone: not on the strategy, on what is left out, on the level, nor on
//! whether a callee is translated in the place of its call. An inlined body writes
//! and compares as a called one does; it only need not read again. Nothing is taken
//! between an operator that traps and the last write.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use wasmparser::Operator;

use super::Translator;
use crate::compile::count::runtime_flags;
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::vmctx::{self, offsets};

/// log2 of the bytes of a bulk operation that cost as much as an instruction.
const BYTES_SHIFT: i64 = 3;
/// More elements than any table has.
const ELEMENTS_MAX: i64 = 1 << 32;

/// What the translation of one body knows of its fuel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fuel {
    /// What is left, where fuel is consumed.
    left: Option<Variable>,
    /// What was executed since it was taken from that.
    spent: i64,
}

/// What an operator costs. Those that only structure a body are free.
fn cost(op: &Operator<'_>) -> i64 {
    match op {
        Operator::Nop
        | Operator::Drop
        | Operator::Block { .. }
        | Operator::Loop { .. }
        | Operator::TryTable { .. }
        | Operator::Try { .. }
        | Operator::Else
        | Operator::Catch { .. }
        | Operator::CatchAll
        | Operator::Delegate { .. }
        | Operator::End => 0,
        _ => 1,
    }
}

/// What happens to fuel in front of an operator.
enum Before {
    /// Nothing: control goes on behind it, and nobody else looks.
    Nothing,
    /// Control goes apart or together.
    Take,
    /// Somebody else takes, or looks, next.
    Write,
}

fn before(op: &Operator<'_>) -> Before {
    match op {
        Operator::Loop { .. }
        | Operator::If { .. }
        | Operator::Else
        | Operator::End
        | Operator::Br { .. }
        | Operator::BrIf { .. }
        | Operator::BrTable { .. }
        | Operator::BrOnNull { .. }
        | Operator::BrOnNonNull { .. }
        | Operator::BrOnCast { .. }
        | Operator::BrOnCastFail { .. }
        | Operator::Return
        | Operator::TryTable { .. }
        | Operator::Try { .. }
        | Operator::Catch { .. }
        | Operator::CatchAll
        | Operator::Delegate { .. } => Before::Take,
        Operator::Call { .. }
        | Operator::CallIndirect { .. }
        | Operator::CallRef { .. }
        | Operator::ReturnCall { .. }
        | Operator::ReturnCallIndirect { .. }
        | Operator::ReturnCallRef { .. }
        | Operator::Throw { .. }
        | Operator::ThrowRef
        | Operator::Rethrow { .. }
        | Operator::Suspend { .. }
        | Operator::Resume { .. }
        | Operator::ResumeThrow { .. }
        | Operator::ResumeThrowRef { .. }
        | Operator::Switch { .. }
        | Operator::Unreachable => Before::Write,
        _ => Before::Nothing,
    }
}

impl Translator<'_> {
    /// Where the function begins, in front of its first operator.
    pub(super) fn fuel_at_start(&mut self) {
        if self.env.module.fuel {
            let left = self.b.declare_var(types::I64);
            self.state.fuel = Fuel {
                left: Some(left),
                spent: 0,
            };
            self.fuel_read();
            self.fuel_at_entry();
        }
    }

    /// A function begins, called or inlined: it costs one, and there must be one.
    pub(super) fn fuel_at_entry(&mut self) {
        if self.state.fuel.left.is_some() {
            self.state.fuel.spent += 1;
            self.fuel_take();
            self.fuel_compare();
        }
    }

    /// In front of an operator that is reached.
    pub(super) fn fuel_before(&mut self, op: &Operator<'_>) {
        if self.state.fuel.left.is_none() {
            return;
        }
        self.state.fuel.spent += cost(op);
        match before(op) {
            Before::Nothing => {}
            Before::Take => self.fuel_take(),
            Before::Write => self.fuel_write(),
        }
    }

    /// At the head of a loop: each time costs one.
    pub(super) fn fuel_at_loop(&mut self) {
        if self.state.fuel.left.is_some() {
            self.state.fuel.spent += 1;
            self.fuel_write();
            self.fuel_compare();
        }
    }

    /// In front of a bulk operation on bytes.
    pub(super) fn fuel_for_bytes(&mut self, len: Value) {
        if self.state.fuel.left.is_some() {
            let cost = self.b.ins().ushr_imm_u(len, BYTES_SHIFT);
            self.fuel_for(cost);
        }
    }

    /// In front of a bulk operation on elements of tables.
    pub(super) fn fuel_for_elements(&mut self, len: Value) {
        if self.state.fuel.left.is_some() {
            let most = self.b.ins().iconst(types::I64, ELEMENTS_MAX);
            let cost = self.b.ins().umin(len, most);
            self.fuel_for(cost);
        }
    }

    /// In front of a bulk operation on what `libcall` works on.
    pub(super) fn fuel_for_items(&mut self, libcall: Libcall, len: Value) {
        match libcall {
            Libcall::TableCopy | Libcall::TableInit => self.fuel_for_elements(len),
            _ => self.fuel_for_bytes(len),
        }
    }

    fn fuel_for(&mut self, cost: Value) {
        self.fuel_take();
        let Some(variable) = self.state.fuel.left else {
            return;
        };
        let left = self.b.use_var(variable);
        let less = self.b.ins().isub(left, cost);
        self.b.def_var(variable, less);
        self.fuel_write();
        self.fuel_compare();
    }

    /// Take what was executed.
    fn fuel_take(&mut self) {
        let spent = std::mem::take(&mut self.state.fuel.spent);
        if let (Some(variable), 1..) = (self.state.fuel.left, spent) {
            let left = self.b.use_var(variable);
            let less = self.b.ins().iadd_imm_s(left, -spent);
            self.b.def_var(variable, less);
        }
    }

    /// The same, and write what is left where others look.
    pub(super) fn fuel_write(&mut self) {
        self.fuel_take();
        if let Some(variable) = self.state.fuel.left {
            let left = self.b.use_var(variable);
            let runtime = self.runtime();
            let flags = self.fuel_flags();
            self.b
                .ins()
                .store(flags, left, runtime, offsets::RUNTIME_FUEL);
        }
    }

    /// Read what others have left.
    pub(super) fn fuel_read(&mut self) {
        if let Some(variable) = self.state.fuel.left {
            let runtime = self.runtime();
            let flags = self.fuel_flags();
            let left = self
                .b
                .ins()
                .load(types::I64, flags, runtime, offsets::RUNTIME_FUEL);
            self.b.def_var(variable, left);
        }
    }

    fn fuel_compare(&mut self) {
        if let Some(variable) = self.state.fuel.left {
            let left = self.b.use_var(variable);
            let none = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
            self.b.ins().trapnz(none, trap::OUT_OF_FUEL);
        }
    }

    /// The store's runtime block.
    pub(super) fn runtime(&mut self) -> Value {
        if let Some(variable) = self.state.runtime {
            return self.b.use_var(variable);
        }
        let at = vmctx::VMCTX_RUNTIME;
        let vmctx = self.env.vmctx;
        self.b.ins().load(types::I64, runtime_flags(), vmctx, at)
    }
}
