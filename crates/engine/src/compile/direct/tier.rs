//! What has run for long goes on in better code (`run/lazy/tiers.rs`).
//!
//! ```text
//!  start, or head of a loop:      sub [countdown], 1
//!                                 js ─┐                      out of the way:
//!  back:  …                           └──▶ tier_up(function, place)
//!                                          0? ──▶ back
//!                                          call it with the frame; return what it returns
//! ```
//!
//! What must stay true: at these places no register has an operand, no condition waits, and all
//! locals are in the frame when a loop is left.

use std::sync::atomic::AtomicI32;

use cranelift_codegen::ir::SourceLoc;
use wasmparser::FunctionBody;

use super::Generator;
use super::code::{Condition, Label, emit};
use super::registers::{CONTEXT, RAX, RBP, RDI, RDX, RSI, Rm, SCRATCH, at};
use super::table::Argument;
use crate::compile::translate::ModuleEnv;
use crate::facts::libcall::{FUNCTION_START, Libcall};
use crate::facts::types::{FuncType, ValType};

/// A place where turns are counted.
pub(super) struct Turn {
    stub: Label,
    back: Label,
    place: u32,
    location: SourceLoc,
}

/// What a function counts down, where it is to be optimised later. It lives as long as the module,
/// and so as its code.
pub(super) fn countdown(env: &ModuleEnv<'_>, func: u32) -> Option<*const AtomicI32> {
    let position = (func - env.info.imported_funcs) as usize;
    env.countdowns.map(|all| std::ptr::from_ref(&all[position]))
}

impl Generator<'_> {
    /// The place of a loop that begins now: one without operands can be left at its head.
    pub(super) fn loop_place(&self) -> u32 {
        match self.values.is_empty() {
            true => self.code.location().bits(),
            false => FUNCTION_START,
        }
    }

    /// Counts one down.
    pub(super) fn count_turn(&mut self, place: u32) {
        let Some(countdown) = self.countdown else {
            return;
        };
        let [stub, back] = [(); 2].map(|()| self.code.label());
        self.load_constant(SCRATCH, countdown.addr() as u64);
        emit!(self.code, subl_mi_sxb(Rm::Mem(at(SCRATCH, 0)), 1i8));
        self.code.jump_if(Condition::Sign, stub);
        self.code.bind(back);
        self.turns.push(Turn {
            stub,
            back,
            place,
            location: self.code.location(),
        });
    }

    /// Appends what is done when all are counted down.
    pub(super) fn place_turns(&mut self) {
        for turn in std::mem::take(&mut self.turns) {
            self.code.locate(turn.location);
            self.code.bind(turn.stub);
            let arguments = [self.func, turn.place];
            let arguments = arguments.map(|word| Argument::Constant(word.into()));
            if turn.place != FUNCTION_START {
                self.store_all();
            }
            self.libcall(Libcall::TierUp, &arguments);
            if turn.place == FUNCTION_START {
                self.code.jump(turn.back);
                continue;
            }
            emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
            self.code.jump_if(Condition::Equal, turn.back);
            // Of no place: what is called has the place of what runs.
            self.code.locate(SourceLoc::default());
            emit!(self.code, movq_rm(RDI, Rm::Gpr(CONTEXT)));
            emit!(self.code, movq_rm(RSI, Rm::Gpr(CONTEXT)));
            emit!(self.code, movq_rm(RDX, Rm::Gpr(RBP)));
            emit!(self.code, callq_m(Rm::Gpr(RAX)));
            self.leave_frame();
        }
    }
}

/// Bytes of the frame that a local has in a function: as many as the widest of them takes.
pub(crate) fn local_bytes(ty: &FuncType, body: &FunctionBody<'_>) -> i32 {
    let locals = body.get_locals_reader().into_iter().flatten();
    // What does not decode is told by validation.
    let mut locals = locals.map_while(std::result::Result::ok);
    let is_vector = ty.params().contains(&ValType::V128)
        || locals.any(|(_, ty)| ty == wasmparser::ValType::V128);
    match is_vector {
        true => 16,
        false => 8,
    }
}

/// Bytes from the frame pointer down to a local of code that was made in one pass, in a
/// function with so many for each.
pub(crate) fn local_offset(local: u32, bytes: i32) -> i32 {
    -(Generator::FIXED_BYTES + bytes * (local.cast_signed() + 1))
}
