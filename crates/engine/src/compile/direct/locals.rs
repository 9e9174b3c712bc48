//! Locals: which are in registers, and which in the frame.
//!
//! A body with loops is read once before it is translated (`uses.rs`). The locals that it uses
//! most have a register of their own in all of the function, so that nothing has to agree where
//! ways meet:
//!
//! | registers | for | a call |
//! |---|---|---|
//! | rbx, r12, r13 | integers | preserves them; saved where a function begins |
//! | r10, rdi | integers of functions that call nobody | changes them |
//! | xmm8 to xmm14 | floats and vectors | changes them |
//!
//! An instruction whose result the next one sets a local to writes that local's register.
//!
//! What a call changes is stored in the local's place in the frame in front of it, and loaded
//! behind it. All others are in the frame.
//!
//! What must stay true:
//! - An `i32` in a register is extended by zeros.
//! - Where code is left for better code, all locals are in the frame.
//! - A register of a local is no operand's, and none of a call's results.

use wasmparser::{BinaryReader, Operator};

use super::Generator;
use super::code::emit;
use super::registers::{
    Gpr, LENT, Mem, PRESERVED, RBP, RESULTS, Rm, SCRATCH, SCRATCH_XMM, Xmm, XmmRm, at,
};
use super::tier::local_offset;
use super::uses::Uses;
use super::values::{Kind, Place, Value};
use crate::facts::types::FuncType;

/// What saving a register and loading it again counts.
const SAVING: u64 = 2;

/// Where a local is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Frame,
    Gpr(Gpr),
    Xmm(Xmm),
}

/// A local of the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub kind: Kind,
    pub storage: Storage,
    /// How many operands wait in it.
    pub waiting: u32,
}

impl Local {
    pub fn new(kind: Kind) -> Local {
        Local {
            kind,
            storage: Storage::Frame,
            waiting: 0,
        }
    }
}

impl Generator<'_> {
    /// Gives the locals used most a register each.
    pub(super) fn choose_registers(&mut self, body: BinaryReader<'_>, ty: &FuncType) {
        let uses = Uses::of(body, self.locals.len());
        if self.env.plans.iter().any(|plan| plan.is_checked_by_call()) {
            return self.give_preserved(&uses, &[]);
        }
        let results = ty.results().len();
        let few = results
            <= RESULTS
                .iter()
                .position(|gpr| LENT.contains(gpr))
                .unwrap_or(0);
        let lent: &[Gpr] = match uses.calls == 0 && few && self.how.lends {
            true => &LENT,
            false => &[],
        };
        self.give_preserved(&uses, lent);
        let floats = self.most_used(&uses, true, SAVING * uses.calls);
        for (local, xmm) in floats.into_iter().zip(super::registers::LENT_XMMS) {
            let xmm = Xmm(xmm);
            self.free.take_xmm(xmm);
            self.locals[local as usize].storage = Storage::Xmm(xmm);
            self.pinned.push(local);
        }
    }

    /// Locals of such a kind that are worth a register which costs so much, most used first.
    fn most_used(&self, uses: &Uses, is_in_xmm: bool, cost: u64) -> Vec<u32> {
        let worth = |&(at, local): &(usize, &Local)| {
            local.kind.is_in_xmm() == is_in_xmm && uses.locals[at] > cost
        };
        let found = self.locals.iter().enumerate().filter(worth);
        let mut found: Vec<u32> = found.map(|(at, _)| at as u32).collect();
        found.sort_by_key(|at| std::cmp::Reverse(uses.locals[*at as usize]));
        found
    }

    fn give_preserved(&mut self, uses: &Uses, lent: &[Gpr]) {
        let integers = self.most_used(uses, false, SAVING);
        let registers = PRESERVED.iter().chain(lent);
        for (local, gpr) in integers.into_iter().zip(registers) {
            match lent.contains(gpr) {
                true => self.free.take(*gpr),
                false => self.preserved += 1,
            }
            self.locals[local as usize].storage = Storage::Gpr(*gpr);
            self.pinned.push(local);
        }
    }

    /// The registers that the caller finds as they were: those of locals, and where exceptions
    /// are caught all, which frames that an exception left may have changed.
    pub(super) fn preserved(&self) -> &'static [Gpr] {
        match self.how.has_handlers {
            true => &PRESERVED,
            false => &PRESERVED[..self.preserved],
        }
    }

    /// Whether a local has a register that calls change.
    fn is_lent(&self, local: u32) -> bool {
        match self.storage(local) {
            Storage::Frame => false,
            Storage::Gpr(gpr) => LENT.contains(&gpr),
            Storage::Xmm(_) => true,
        }
    }

    pub(super) fn storage(&self, local: u32) -> Storage {
        self.locals[local as usize].storage
    }

    /// The place of a local in the frame, where it is or is stored in front of calls.
    pub(super) fn local(&self, local: u32) -> Mem {
        at(RBP, local_offset(local, self.local_bytes))
    }

    fn value_of(&self, local: u32) -> Value {
        Value {
            kind: self.locals[local as usize].kind,
            place: Place::Local(local),
        }
    }

    fn store_pinned(&mut self, is_stored: impl Fn(&Self, u32) -> bool) {
        for at in 0..self.pinned.len() {
            let local = self.pinned[at];
            if is_stored(self, local) {
                let place = self.local(local);
                self.store_value(self.value_of(local), place);
            }
        }
    }

    /// Has all locals in their places in the frame.
    pub(super) fn store_all(&mut self) {
        self.store_pinned(|_, _| true);
    }

    /// Has those in the frame whose registers a call changes.
    pub(super) fn store_lent(&mut self) {
        self.store_pinned(Self::is_lent);
    }

    /// Loads those behind the call; changes no flags.
    pub(super) fn load_lent(&mut self) {
        self.load_pinned(Self::is_lent);
    }

    /// Loads all, where an exception landed.
    pub(super) fn load_all(&mut self) {
        self.load_pinned(|_, _| true);
    }

    fn load_pinned(&mut self, is_loaded: impl Fn(&Self, u32) -> bool) {
        for at in 0..self.pinned.len() {
            let local = self.pinned[at];
            let (place, kind) = (self.local(local), self.value_of(local).kind);
            match (self.storage(local), kind.is_wide()) {
                _ if !is_loaded(self, local) => {}
                (Storage::Gpr(gpr), true) => emit!(self.code, movq_rm(gpr, Rm::Mem(place))),
                (Storage::Gpr(gpr), false) => emit!(self.code, movl_rm(gpr, Rm::Mem(place))),
                (Storage::Xmm(xmm), _) => self.load_xmm_from(xmm, kind, place),
                (Storage::Frame, _) => {}
            }
        }
    }

    /// Gives a local a value, which stays where it is.
    pub(super) fn assign_local(&mut self, local: u32, value: Value) {
        match self.storage(local) {
            Storage::Gpr(gpr) => self.load_gpr(gpr, value),
            Storage::Xmm(xmm) => self.load_xmm(xmm, value),
            Storage::Frame => {
                let place = self.local(local);
                self.store_value(value, place);
            }
        }
    }

    /// The same of an argument on the stack.
    pub(super) fn load_argument(&mut self, local: u32, argument: Mem) {
        let kind = self.value_of(local).kind;
        match (self.storage(local), kind.is_wide()) {
            (Storage::Xmm(xmm), _) => self.load_xmm_from(xmm, kind, argument),
            (Storage::Frame, _) if kind == Kind::V128 => {
                self.load_xmm_from(SCRATCH_XMM, kind, argument);
                let place = self.local(local);
                self.store_xmm(SCRATCH_XMM, kind, place);
            }
            (storage, is_wide) => {
                let to = match storage {
                    Storage::Gpr(gpr) => gpr,
                    _ => SCRATCH,
                };
                match is_wide {
                    true => emit!(self.code, movq_rm(to, Rm::Mem(argument))),
                    false => emit!(self.code, movl_rm(to, Rm::Mem(argument))),
                }
                if storage == Storage::Frame {
                    let place = self.local(local);
                    self.store_gpr(SCRATCH, is_wide, place);
                }
            }
        }
    }

    /// Stores zeros in the locals from one on.
    pub(super) fn clear_locals(&mut self, from: u32) {
        let locals = from..self.locals.len() as u32;
        if locals
            .clone()
            .any(|local| self.storage(local) == Storage::Frame)
        {
            self.load_constant(SCRATCH, 0);
        }
        for local in locals {
            match self.storage(local) {
                Storage::Gpr(gpr) => self.load_constant(gpr, 0),
                Storage::Xmm(xmm) => emit!(self.code, xorps_a(xmm, XmmRm::Xmm(xmm))),
                Storage::Frame => {
                    let place = local_offset(local, self.local_bytes);
                    for half in (0..self.local_bytes).step_by(8) {
                        self.store_gpr(SCRATCH, true, at(RBP, place + half));
                    }
                }
            }
        }
    }

    /// Locals; `false` when an instruction is on none.
    pub(super) fn variable(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::LocalGet { local_index } => self.push_local(local_index),
            Operator::LocalSet { local_index } => {
                let value = self.pop();
                self.set_local(local_index, value);
                self.release(value);
            }
            Operator::LocalTee { local_index } => self.tee_local(local_index),
            _ => return false,
        }
        true
    }

    fn push_local(&mut self, local: u32) {
        let value = self.value_of(local);
        self.push(value.kind, value.place);
        self.locals[local as usize].waiting += 1;
    }

    /// The local with a register that the instruction here sets, which need not be valid.
    pub(super) fn set_next_by(&self, here: &[u8]) -> Option<u32> {
        const SET: u8 = 0x21;
        const TEE: u8 = 0x22;
        const MORE: u8 = 0x80;
        let local = match *here {
            [SET | TEE, local, ..] if local < MORE => u32::from(local),
            [SET | TEE, low, high, ..] if high < MORE => {
                u32::from(low & !MORE) | u32::from(high) << 7
            }
            _ => return None,
        };
        let storage = self.locals.get(local as usize)?.storage;
        (storage != Storage::Frame).then_some(local)
    }

    /// The local that takes the result of this instruction, which reads `other` when it has
    /// begun to write it.
    pub(super) fn result_local(&mut self, kind: Kind, other: Option<Value>) -> Option<u32> {
        let local = self.set_next?;
        let is_read = other.is_some_and(|other| other.place == Place::Local(local));
        if is_read || self.locals[local as usize].kind != kind {
            return None;
        }
        self.settle_local(local);
        Some(local)
    }

    /// A register for an integer result.
    pub(super) fn result(&mut self, local: Option<u32>) -> Gpr {
        match local.map(|local| self.storage(local)) {
            Some(Storage::Gpr(gpr)) => gpr,
            _ => self.take(),
        }
    }

    /// A register for a float.
    pub(super) fn result_xmm(&mut self, local: Option<u32>) -> Xmm {
        match local.map(|local| self.storage(local)) {
            Some(Storage::Xmm(xmm)) => xmm,
            _ => self.take_xmm(),
        }
    }

    /// The popped operand `x` in the register of the result that it becomes.
    pub(super) fn become_result(&mut self, x: Value, local: Option<u32>) -> Gpr {
        match local.map(|local| self.storage(local)) {
            Some(Storage::Gpr(gpr)) => {
                if Some(x.place) != local.map(Place::Local) {
                    self.load_gpr(gpr, x);
                }
                self.release(x);
                gpr
            }
            _ => self.own(x),
        }
    }

    pub(super) fn become_result_xmm(&mut self, x: Value, local: Option<u32>) -> Xmm {
        match local.map(|local| self.storage(local)) {
            Some(Storage::Xmm(xmm)) => {
                if Some(x.place) != local.map(Place::Local) {
                    self.load_xmm(xmm, x);
                }
                self.release(x);
                xmm
            }
            _ => self.own_xmm(x),
        }
    }

    /// Pushes a result that is in the register of its local, or in one of its own.
    pub(super) fn push_result(&mut self, kind: Kind, local: Option<u32>, place: Place) {
        match local {
            Some(local) => self.push_local(local),
            None => self.push(kind, place),
        }
    }

    fn set_local(&mut self, local: u32, value: Value) {
        if value.place == Place::Local(local) {
            return;
        }
        self.settle_local(local);
        self.assign_local(local, value);
    }

    fn tee_local(&mut self, local: u32) {
        let value = self.pop();
        if value.place == Place::Local(local) {
            return self.push_local(local);
        }
        let place = match value.place {
            Place::Local(_) | Place::Slot(_) if value.kind.is_in_xmm() => {
                Place::Xmm(self.own_xmm(value))
            }
            Place::Local(_) | Place::Slot(_) => Place::Gpr(self.own(value)),
            place => place,
        };
        self.set_local(local, Value { place, ..value });
        self.push(value.kind, place);
    }
}
