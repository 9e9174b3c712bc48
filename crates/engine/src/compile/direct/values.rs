//! Operands: where each is, and how it gets into a register or to its slot.
//!
//! ```text
//!  bottom ─────────────── settled ──────────────────── top
//!   each in its slot        at most WINDOW of them: constants, locals that
//!                           nobody has loaded yet, registers, slots
//! ```
//!
//! What must stay true:
//! - An `i32` in a register is extended by zeros.
//! - Every operand has a slot of its own, by its height, which nothing else is in.
//! - What moves operands changes no flags: a condition lasts until the branch that asks for it.
//! - Behind a label all operands are in their slots, so that all ways there agree.

use wasmparser::ValType;

use super::Generator;
use super::code::{Condition, emit};
use super::locals::Storage;
use super::registers::{Gpr, Mem, RBP, Rm, SCRATCH, SCRATCH_XMM, Xmm, XmmRm, at};
use crate::facts::types;

/// How many operands may be elsewhere than in their slots.
const WINDOW: usize = 16;

/// A type of operands; references are numbers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I32,
    I64,
    F32,
    F64,
    V128,
}

impl Kind {
    /// The one of a type.
    pub fn of(ty: types::ValType) -> Kind {
        match ty {
            types::ValType::I32 => Kind::I32,
            types::ValType::I64 | types::ValType::Ref(_) => Kind::I64,
            types::ValType::F32 => Kind::F32,
            types::ValType::F64 => Kind::F64,
            types::ValType::V128 => Kind::V128,
        }
    }

    /// The same of a type as it stands in the binary.
    pub fn parsed(ty: ValType) -> Kind {
        match ty {
            ValType::I32 => Kind::I32,
            ValType::I64 | ValType::Ref(_) => Kind::I64,
            ValType::F32 => Kind::F32,
            ValType::F64 => Kind::F64,
            ValType::V128 => Kind::V128,
        }
    }

    /// Whether it is in registers of floats, which vectors have, too.
    pub fn is_in_xmm(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64 | Kind::V128)
    }

    /// Whether it is a number of 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self, Kind::I64 | Kind::F64)
    }
}

/// The kinds of some types.
pub(super) fn kinds(types: &[types::ValType]) -> Vec<Kind> {
    types.iter().map(|ty| Kind::of(*ty)).collect()
}

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: its bits.
    Constant(u64),
    /// In a local, which has not changed since.
    Local(u32),
    /// In the slot of a height.
    Slot(u32),
    Gpr(Gpr),
    Xmm(Xmm),
    /// 1 where the condition holds; only on top.
    Flags(Condition),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub kind: Kind,
    pub place: Place,
}

/// An immediate operand, which has 32 bits and is extended by its sign.
pub(super) fn immediate(value: Value) -> Option<i32> {
    match (value.place, value.kind) {
        (Place::Constant(bits), Kind::I32) => Some(bits as u32 as i32),
        (Place::Constant(bits), _) => i32::try_from(bits.cast_signed()).ok(),
        _ => None,
    }
}

impl Generator<'_> {
    /// The slot of a height.
    pub(super) fn slot(&self, height: u32) -> Mem {
        let above = self.slot_bytes() * (height as i32 + 1);
        at(RBP, -(self.bytes_above_operands() + above))
    }

    pub(super) fn height(&self) -> u32 {
        self.values.len() as u32
    }

    pub(super) fn push(&mut self, kind: Kind, place: Place) {
        if self.values.len() - self.settled >= WINDOW {
            self.settle_one(self.settled);
            self.settled += 1;
        }
        self.is_too_narrow |= kind == Kind::V128 && !self.how.has_vectors;
        self.values.push(Value { kind, place });
        self.height_max = self.height_max.max(self.height());
    }

    pub(super) fn push_gpr(&mut self, kind: Kind, gpr: Gpr) {
        self.push(kind, Place::Gpr(gpr));
    }

    pub(super) fn push_xmm(&mut self, kind: Kind, xmm: Xmm) {
        self.push(kind, Place::Xmm(xmm));
    }

    /// Pushes an operand that is in its slot.
    pub(super) fn push_settled(&mut self, kind: Kind) {
        let height = self.height();
        self.push(kind, Place::Slot(height));
    }

    /// Takes the top operand; its register is the caller's, to give back.
    pub(super) fn pop(&mut self) -> Value {
        let value = self.values.pop().expect("validated: there is an operand");
        self.settled = self.settled.min(self.values.len());
        if let Place::Local(local) = value.place {
            self.locals[local as usize].waiting -= 1;
        }
        value
    }

    /// Gives an operand's register back.
    pub(super) fn release(&mut self, value: Value) {
        match value.place {
            Place::Gpr(gpr) => self.free.give(gpr),
            Place::Xmm(xmm) => self.free.give_xmm(xmm),
            _ => {}
        }
    }

    /// Drops operands down to a height.
    pub(super) fn truncate(&mut self, height: u32) {
        while self.height() > height {
            let value = self.pop();
            self.release(value);
        }
    }

    /// A register that is free, for which an operand may have to go to its slot. Where one
    /// instruction has them all, it is left to Cranelift with its function.
    pub(super) fn take(&mut self) -> Gpr {
        loop {
            if let Some(gpr) = self.free.take_any() {
                return gpr;
            }
            if !self.spill(|place| matches!(place, Place::Gpr(_))) {
                return SCRATCH;
            }
        }
    }

    pub(super) fn take_xmm(&mut self) -> Xmm {
        loop {
            if let Some(xmm) = self.free.take_any_xmm() {
                return xmm;
            }
            if !self.spill(|place| matches!(place, Place::Xmm(_))) {
                return SCRATCH_XMM;
            }
        }
    }

    /// This register, whose operand goes to its slot.
    pub(super) fn take_this(&mut self, gpr: Gpr) {
        if self.free.has(gpr) || self.spill(|place| place == Place::Gpr(gpr)) {
            self.free.take(gpr);
        }
    }

    /// Has the lowest operand at such a place go to its slot; false where there is none.
    fn spill(&mut self, is_there: impl Fn(Place) -> bool) -> bool {
        let open = self.settled..self.values.len();
        let mut found = open.filter(|&at| is_there(self.values[at].place));
        match found.next() {
            Some(at) => self.settle_one(at),
            None => self.is_out_of_registers = true,
        }
        !self.is_out_of_registers
    }

    /// Has an operand go to its slot.
    pub(super) fn settle_one(&mut self, at: usize) {
        let value = self.values[at];
        let slot = self.slot(at as u32);
        self.store_value(value, slot);
        if let Place::Local(local) = value.place {
            self.locals[local as usize].waiting -= 1;
        }
        self.release(value);
        self.values[at].place = Place::Slot(at as u32);
    }

    /// Has all operands go to their slots.
    pub(super) fn settle(&mut self) {
        self.settle_below(self.values.len());
    }

    /// The same of those below a height.
    pub(super) fn settle_below(&mut self, height: usize) {
        for at in self.settled..height {
            self.settle_one(at);
        }
        self.settled = self.settled.max(height);
    }

    /// Has those go to their slots or registers that wait for a local.
    pub(super) fn settle_local(&mut self, local: u32) {
        let mut at = self.values.len();
        while self.locals[local as usize].waiting > 0 {
            at -= 1;
            if self.values[at].place == Place::Local(local) {
                self.settle_one(at);
            }
        }
    }

    /// A condition on top becomes a number.
    pub(super) fn settle_flags(&mut self) {
        let Some(Value {
            place: Place::Flags(condition),
            kind,
        }) = self.values.last().copied()
        else {
            return;
        };
        self.values.pop();
        let gpr = self.take();
        self.code.set_if(condition, gpr);
        self.push_gpr(kind, gpr);
    }

    /// Stores an operand, which stays where it is.
    pub(super) fn store_value(&mut self, value: Value, to: Mem) {
        match (value.place, value.kind.is_wide()) {
            (Place::Slot(height), _) if to == self.slot(height) => {}
            (Place::Constant(_), wide) => match immediate(value) {
                Some(bits) if wide => emit!(self.code, movq_mi_sxl(Rm::Mem(to), bits)),
                Some(bits) => emit!(self.code, movl_mi(Rm::Mem(to), bits)),
                None => self.store_by_scratch(value, to),
            },
            (Place::Gpr(gpr), wide) => self.store_gpr(gpr, wide, to),
            (Place::Xmm(xmm), _) => self.store_xmm(xmm, value.kind, to),
            (Place::Local(local), wide) => match self.storage(local) {
                Storage::Gpr(gpr) => self.store_gpr(gpr, wide, to),
                Storage::Xmm(xmm) => self.store_xmm(xmm, value.kind, to),
                Storage::Frame => self.store_by_scratch(value, to),
            },
            (Place::Slot(_), _) => self.store_by_scratch(value, to),
            (Place::Flags(_), _) => unreachable!("a condition on top became a number"),
        }
    }

    fn store_by_scratch(&mut self, value: Value, to: Mem) {
        if value.kind == Kind::V128 {
            self.load_xmm(SCRATCH_XMM, value);
            return self.store_xmm(SCRATCH_XMM, value.kind, to);
        }
        self.load_gpr(SCRATCH, value);
        self.store_gpr(SCRATCH, value.kind.is_wide(), to);
    }

    pub(super) fn store_xmm(&mut self, xmm: Xmm, kind: Kind, to: Mem) {
        match kind {
            Kind::V128 => emit!(self.code, vmovdqu_b(XmmRm::Mem(to), xmm)),
            Kind::F32 => emit!(self.code, movss_c_m(to, xmm)),
            _ => emit!(self.code, movsd_c_m(to, xmm)),
        }
    }

    /// Loads what is in memory.
    pub(super) fn load_xmm_from(&mut self, to: Xmm, kind: Kind, from: Mem) {
        match kind {
            Kind::V128 => emit!(self.code, vmovdqu_a(to, XmmRm::Mem(from))),
            Kind::F32 => emit!(self.code, movss_a_m(to, from)),
            _ => emit!(self.code, movsd_a_m(to, from)),
        }
    }

    pub(super) fn store_gpr(&mut self, gpr: Gpr, wide: bool, to: Mem) {
        match wide {
            true => emit!(self.code, movq_mr(Rm::Mem(to), gpr)),
            false => emit!(self.code, movl_mr(Rm::Mem(to), gpr)),
        }
    }

    /// Loads bits; changes no flags.
    pub(super) fn load_constant(&mut self, to: Gpr, bits: u64) {
        match (u32::try_from(bits), i32::try_from(bits.cast_signed())) {
            (Ok(bits), _) => emit!(self.code, movl_oi(to, bits)),
            (_, Ok(bits)) => emit!(self.code, movq_mi_sxl(Rm::Gpr(to), bits)),
            _ => emit!(self.code, movabsq_oi(to, bits)),
        }
    }

    /// Loads the bits of an operand, an integer or one that is in memory or nowhere.
    pub(super) fn load_gpr(&mut self, to: Gpr, value: Value) {
        let rm = match value.place {
            Place::Constant(bits) => {
                let bits = match value.kind.is_wide() {
                    true => bits,
                    false => u64::from(bits as u32),
                };
                return self.load_constant(to, bits);
            }
            Place::Gpr(gpr) => Rm::Gpr(gpr),
            Place::Local(local) => match self.storage(local) {
                Storage::Xmm(xmm) => return self.bits_of(to, value.kind, xmm),
                Storage::Gpr(gpr) => Rm::Gpr(gpr),
                Storage::Frame => Rm::Mem(self.local(local)),
            },
            Place::Slot(height) => Rm::Mem(self.slot(height)),
            Place::Xmm(_) | Place::Flags(_) => unreachable!("{value:?} is loaded as an integer"),
        };
        match value.kind.is_wide() {
            true => emit!(self.code, movq_rm(to, rm)),
            false => emit!(self.code, movl_rm(to, rm)),
        }
    }

    /// Loads a float or a vector.
    pub(super) fn load_xmm(&mut self, to: Xmm, value: Value) {
        let mem = match value.place {
            Place::Constant(bits) => return self.load_float(to, value.kind, bits),
            Place::Xmm(xmm) => return emit!(self.code, movaps_a(to, XmmRm::Xmm(xmm))),
            Place::Local(local) => match self.storage(local) {
                Storage::Xmm(xmm) => return emit!(self.code, movaps_a(to, XmmRm::Xmm(xmm))),
                Storage::Gpr(gpr) => return self.float_of(to, value.kind, gpr),
                Storage::Frame => self.local(local),
            },
            Place::Slot(height) => self.slot(height),
            Place::Gpr(_) | Place::Flags(_) => unreachable!("{value:?} is loaded as a float"),
        };
        self.load_xmm_from(to, value.kind, mem);
    }

    /// Loads the bits of a float.
    pub(super) fn load_float(&mut self, to: Xmm, kind: Kind, bits: u64) {
        if bits == 0 {
            return emit!(self.code, xorps_a(to, XmmRm::Xmm(to)));
        }
        self.load_constant(SCRATCH, bits);
        match kind.is_wide() {
            true => emit!(self.code, movq_a(to, Rm::Gpr(SCRATCH))),
            false => emit!(self.code, movd_a(to, Rm::Gpr(SCRATCH))),
        }
    }

    /// A popped operand in a register of the caller's, which may be changed.
    pub(super) fn own(&mut self, value: Value) -> Gpr {
        if let Place::Gpr(gpr) = value.place {
            return gpr;
        }
        let gpr = self.take();
        self.load_gpr(gpr, value);
        gpr
    }

    /// A popped operand in a register, which may not be changed; what is to be released is
    /// returned beside it.
    pub(super) fn read(&mut self, value: Value) -> (Gpr, Value) {
        match (value.place, self.storage_of(value)) {
            (Place::Gpr(gpr), _) | (_, Storage::Gpr(gpr)) => (gpr, value),
            _ => {
                let gpr = self.own(value);
                let place = Place::Gpr(gpr);
                (gpr, Value { place, ..value })
            }
        }
    }

    /// The same of a float.
    pub(super) fn read_xmm(&mut self, value: Value) -> (Xmm, Value) {
        match (value.place, self.storage_of(value)) {
            (Place::Xmm(xmm), _) | (_, Storage::Xmm(xmm)) => (xmm, value),
            _ => {
                let xmm = self.own_xmm(value);
                let place = Place::Xmm(xmm);
                (xmm, Value { place, ..value })
            }
        }
    }

    pub(super) fn own_xmm(&mut self, value: Value) -> Xmm {
        if let Place::Xmm(xmm) = value.place {
            return xmm;
        }
        let xmm = self.take_xmm();
        self.load_xmm(xmm, value);
        xmm
    }

    /// Where the local is that an operand waits in.
    fn storage_of(&self, value: Value) -> Storage {
        match value.place {
            Place::Local(local) => self.storage(local),
            _ => Storage::Frame,
        }
    }

    /// A popped operand where an instruction can read it: its register, its memory, or
    /// [`SCRATCH`].
    pub(super) fn operand(&mut self, value: Value) -> Rm {
        let storage = self.storage_of(value);
        match (value.place, storage) {
            (Place::Gpr(gpr), _) | (_, Storage::Gpr(gpr)) => Rm::Gpr(gpr),
            (Place::Local(local), Storage::Frame) => Rm::Mem(self.local(local)),
            (Place::Slot(height), _) => Rm::Mem(self.slot(height)),
            _ => {
                self.load_gpr(SCRATCH, value);
                Rm::Gpr(SCRATCH)
            }
        }
    }

    pub(super) fn operand_xmm(&mut self, value: Value) -> XmmRm {
        let storage = self.storage_of(value);
        match (value.place, storage) {
            (Place::Xmm(xmm), _) | (_, Storage::Xmm(xmm)) => XmmRm::Xmm(xmm),
            (Place::Local(local), Storage::Frame) => XmmRm::Mem(self.local(local)),
            (Place::Slot(height), _) => XmmRm::Mem(self.slot(height)),
            _ => {
                self.load_xmm(SCRATCH_XMM, value);
                XmmRm::Xmm(SCRATCH_XMM)
            }
        }
    }
}
