//! Loads and stores of vectors and of their lanes (core specification §4.4.7).

use wasmparser::{MemArg, Operator};

use super::{One, each, one, one_of};
use crate::compile::direct::Generator;
use crate::compile::direct::code::emit;
use crate::compile::direct::registers::{Mem, Rm, SCRATCH, Xmm, XmmRm};
use crate::compile::direct::values::{Kind, Place};

/// What loads eight bytes and makes lanes of them that are twice as wide.
fn extending(op: &Operator<'_>) -> Option<One> {
    one_of! { op;
        V128Load8x8S: vpmovsxbw_a,
        V128Load8x8U: vpmovzxbw_a,
        V128Load16x4S: vpmovsxwd_a,
        V128Load16x4U: vpmovzxwd_a,
        V128Load32x2S: vpmovsxdq_a,
        V128Load32x2U: vpmovzxdq_a,
    }
}

impl Generator<'_> {
    /// Translates a load or a store; `false` when it is none.
    pub(super) fn vector_access(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::V128Load { memarg } => self.load_whole(memarg),
            O::V128Store { memarg } => self.store_whole(memarg),
            O::V128Load8x8S { memarg }
            | O::V128Load8x8U { memarg }
            | O::V128Load16x4S { memarg }
            | O::V128Load16x4U { memarg }
            | O::V128Load32x2S { memarg }
            | O::V128Load32x2U { memarg } => match extending(op) {
                Some(extend) => self.load_vector_by(memarg, 8, |this, to, from| {
                    extend(&mut this.code, to, XmmRm::Mem(from));
                }),
                None => return false,
            },
            O::V128Load8Splat { memarg } => self.load_splat(memarg, 1),
            O::V128Load16Splat { memarg } => self.load_splat(memarg, 2),
            O::V128Load32Splat { memarg } => self.load_splat(memarg, 4),
            O::V128Load64Splat { memarg } => self.load_splat(memarg, 8),
            O::V128Load32Zero { memarg } => self.load_vector_by(memarg, 4, |this, to, from| {
                emit!(this.code, vmovd_a(to, Rm::Mem(from)));
            }),
            O::V128Load64Zero { memarg } => self.load_vector_by(memarg, 8, |this, to, from| {
                emit!(this.code, vmovq_a(to, Rm::Mem(from)));
            }),
            O::V128Load8Lane { memarg, lane } => self.load_lane(memarg, *lane, 1),
            O::V128Load16Lane { memarg, lane } => self.load_lane(memarg, *lane, 2),
            O::V128Load32Lane { memarg, lane } => self.load_lane(memarg, *lane, 4),
            O::V128Load64Lane { memarg, lane } => self.load_lane(memarg, *lane, 8),
            O::V128Store8Lane { memarg, lane } => self.store_lane(memarg, *lane, 1),
            O::V128Store16Lane { memarg, lane } => self.store_lane(memarg, *lane, 2),
            O::V128Store32Lane { memarg, lane } => self.store_lane(memarg, *lane, 4),
            O::V128Store64Lane { memarg, lane } => self.store_lane(memarg, *lane, 8),
            _ => return false,
        }
        true
    }

    fn load_whole(&mut self, memarg: &MemArg) {
        self.load_vector_by(memarg, 16, |this, to, from| {
            emit!(this.code, vmovdqu_a(to, XmmRm::Mem(from)));
        });
    }

    /// Loads by an instruction that reads so many bytes.
    fn load_vector_by(
        &mut self,
        memarg: &MemArg,
        bytes: u8,
        load: impl FnOnce(&mut Self, Xmm, Mem),
    ) {
        self.checked_by_call(memarg, bytes, 0);
        let index = self.pop();
        let local = self.result_local(Kind::V128, None);
        let at = self.address(index, memarg, bytes);
        let to = self.result_xmm(local);
        load(self, to, at.operand);
        self.done_with(&at);
        self.push_result(Kind::V128, local, Place::Xmm(to));
    }

    fn load_splat(&mut self, memarg: &MemArg, bytes: u8) {
        self.load_vector_by(memarg, bytes, |this, to, from| {
            let rm = Rm::Mem(from);
            match bytes {
                1 => emit!(this.code, movzbl_rm(SCRATCH, rm)),
                2 => emit!(this.code, movzwl_rm(SCRATCH, rm)),
                4 => emit!(this.code, vmovd_a(to, rm)),
                _ => emit!(this.code, vmovq_a(to, rm)),
            }
            if bytes < 4 {
                emit!(this.code, vmovd_a(to, Rm::Gpr(SCRATCH)));
            }
            this.splat(to, bytes);
        });
    }

    fn store_whole(&mut self, memarg: &MemArg) {
        self.checked_by_call(memarg, 16, 1);
        let value = self.pop();
        let index = self.pop();
        let (from, value) = self.read_xmm(value);
        let at = self.address(index, memarg, 16);
        emit!(self.code, vmovdqu_b(XmmRm::Mem(at.operand), from));
        self.release(value);
        self.done_with(&at);
    }

    fn load_lane(&mut self, memarg: &MemArg, lane: u8, bytes: u8) {
        self.checked_by_call(memarg, bytes, 1);
        let x = self.pop();
        let index = self.pop();
        let to = self.own_xmm(x);
        let at = self.address(index, memarg, bytes);
        self.insert(to, Rm::Mem(at.operand), lane, bytes);
        self.done_with(&at);
        self.push_xmm(Kind::V128, to);
    }

    fn store_lane(&mut self, memarg: &MemArg, lane: u8, bytes: u8) {
        self.checked_by_call(memarg, bytes, 1);
        let x = self.pop();
        let index = self.pop();
        let (from, x) = self.read_xmm(x);
        let at = self.address(index, memarg, bytes);
        let rm = Rm::Mem(at.operand);
        match bytes {
            1 => emit!(self.code, vpextrb_a(rm, from, lane)),
            2 => emit!(self.code, vpextrw_b(rm, from, lane)),
            4 => emit!(self.code, vpextrd_a(rm, from, lane)),
            _ => emit!(self.code, vpextrq_a(rm, from, lane)),
        }
        self.release(x);
        self.done_with(&at);
    }
}
