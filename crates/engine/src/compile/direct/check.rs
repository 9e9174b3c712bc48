//! What a strategy's check is made of, as instructions of x86-64.
//!
//! What must stay true: a number is never changed once it has been made, for a strategy may use it
//! again; flags that something else has overwritten are made again by the same comparison.

use cranelift_codegen::ir::TrapCode;
use smallvec::SmallVec;

use super::Generator;
use super::code::{Condition, emit};
use super::integer::Alu;
use super::registers::{BASE, CONTEXT, Gpr, RCX, Rm, SCRATCH, at, trapping};
use crate::bounds::Probing;
use crate::bounds::check::{Cell, CheckBuilder, Comparison, Operand, Selection};
use crate::facts::vmctx::offsets;

const OUT_OF_BOUNDS: TrapCode = TrapCode::HEAP_OUT_OF_BOUNDS;

/// A number of a check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Constant(u64),
    /// In a register of its own.
    Gpr(Gpr),
    /// In the register of a local, which stays the local's.
    Local(Gpr),
    Compared(Comparison, Operand, Operand),
    /// Nobody asks for it any more.
    Forgotten,
}

/// Makes the check of an access to a memory.
pub(super) struct Check<'g, 'a> {
    pub generator: &'g mut Generator<'a>,
    pub memory: u32,
    /// By operand. The registers are the check's, the first one the index's.
    pub numbers: SmallVec<[Number; 16]>,
    /// The comparison whose flags are there, or the number of which they say whether it is 0.
    flags: Option<Operand>,
}

impl<'g, 'a> Check<'g, 'a> {
    /// For an access at an index.
    pub fn new(generator: &'g mut Generator<'a>, memory: u32, index: Number) -> Check<'g, 'a> {
        let mut numbers = SmallVec::new();
        numbers.push(index);
        Check {
            generator,
            memory,
            numbers,
            flags: None,
        }
    }

    /// The index's.
    pub const INDEX: Operand = Operand(0);

    pub fn number(&self, operand: Operand) -> Number {
        self.numbers[operand.0 as usize]
    }

    fn make(&mut self, number: Number) -> Operand {
        self.numbers.push(number);
        Operand(self.numbers.len() as u32 - 1)
    }

    /// The number where an instruction can read it: its register, or [`SCRATCH`].
    fn read(&mut self, operand: Operand) -> Gpr {
        match self.number(operand) {
            Number::Gpr(gpr) | Number::Local(gpr) => gpr,
            Number::Constant(bits) => {
                self.generator.load_constant(SCRATCH, bits);
                SCRATCH
            }
            other => unreachable!("{other:?} is no number"),
        }
    }

    /// A copy of it.
    fn copy(&mut self, operand: Operand) -> Gpr {
        let to = self.generator.take();
        match self.number(operand) {
            Number::Constant(bits) => self.generator.load_constant(to, bits),
            _ => {
                let from = self.read(operand);
                emit!(self.generator.code, movq_rm(to, Rm::Gpr(from)));
            }
        }
        to
    }

    fn binary(&mut self, alu: Alu, a: Operand, b: Operand) -> Operand {
        let to = self.copy(a);
        self.combine(alu, to, b);
        let result = self.make(Number::Gpr(to));
        self.flags = Some(result);
        result
    }

    fn combine(&mut self, alu: Alu, to: Gpr, b: Operand) {
        let few = match self.number(b) {
            Number::Constant(bits) => i32::try_from(bits.cast_signed()).ok(),
            _ => None,
        };
        match few {
            Some(bits) => self.generator.alu_immediate(alu, true, Rm::Gpr(to), bits),
            None => {
                let from = self.read(b);
                self.generator.alu(alu, true, to, Rm::Gpr(from));
            }
        }
    }

    /// The flags of a condition: which of them it is.
    fn condition(&mut self, operand: Operand) -> Condition {
        let how = match self.number(operand) {
            Number::Compared(how, a, b) => {
                if self.flags != Some(operand) {
                    let (left, is_copy) = match self.number(a) {
                        Number::Gpr(gpr) | Number::Local(gpr) => (gpr, false),
                        _ => (self.copy(a), true),
                    };
                    self.combine(Alu::Compare, left, b);
                    if is_copy {
                        self.generator.free.give(left);
                    }
                    self.flags = Some(operand);
                }
                how
            }
            _ => {
                if self.flags != Some(operand) {
                    let gpr = self.read(operand);
                    emit!(self.generator.code, testq_mr(Rm::Gpr(gpr), gpr));
                    self.flags = Some(operand);
                }
                return Condition::NotEqual;
            }
        };
        match how {
            Comparison::AtLeast => Condition::AboveOrEqual,
            Comparison::Above => Condition::Above,
            Comparison::AboveSigned => Condition::Greater,
        }
    }

    /// Gives back all registers but one.
    pub fn finish(self, kept: Option<Gpr>) {
        for number in self.numbers {
            if let Number::Gpr(gpr) = number
                && Some(gpr) != kept
            {
                self.generator.free.give(gpr);
            }
        }
    }
}

impl CheckBuilder for Check<'_, '_> {
    fn base(&mut self) -> Operand {
        let to = self.generator.take();
        let memory = self.memory;
        match memory {
            0 => emit!(self.generator.code, movq_rm(to, Rm::Gpr(BASE))),
            _ => self.generator.load_memory_base(to, memory),
        }
        self.make(Number::Gpr(to))
    }

    fn keeps_cells(&self) -> bool {
        false
    }

    fn constant(&mut self, number: u64) -> Operand {
        self.make(Number::Constant(number))
    }

    fn cell(&mut self, cell: Cell) -> Operand {
        let field = match cell {
            Cell::Length => offsets::MEMORY_LEN,
            Cell::HighBits => offsets::MEMORY_HIGH_BITS,
            Cell::IndexBits => offsets::MEMORY_INDEX_BITS,
            Cell::ShadowEnd => offsets::MEMORY_SHADOW,
        };
        let to = self.generator.take();
        let def = self.generator.env.layout.memory_def(self.memory);
        emit!(self.generator.code, movq_rm(to, Rm::Mem(at(CONTEXT, def))));
        emit!(self.generator.code, movq_rm(to, Rm::Mem(at(to, field))));
        self.make(Number::Gpr(to))
    }

    fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(Alu::Add, a, b)
    }

    fn add_or_trap(&mut self, a: Operand, b: Operand) -> Operand {
        let sum = self.binary(Alu::Add, a, b);
        // Carry, which is what "below" asks for.
        self.generator.code.trap_if(Condition::Below, OUT_OF_BOUNDS);
        sum
    }

    fn and(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(Alu::And, a, b)
    }

    fn not(&mut self, a: Operand) -> Operand {
        let to = self.copy(a);
        emit!(self.generator.code, notq_m(Rm::Gpr(to)));
        self.make(Number::Gpr(to))
    }

    fn low_half(&mut self, a: Operand) -> Operand {
        if let Number::Constant(bits) = self.number(a) {
            return self.make(Number::Constant(u64::from(bits as u32)));
        }
        let to = self.generator.take();
        let from = self.read(a);
        emit!(self.generator.code, movl_rm(to, Rm::Gpr(from)));
        self.make(Number::Gpr(to))
    }

    fn shift_right(&mut self, a: Operand, by: Operand) -> Operand {
        let mut to = self.copy(a);
        self.flags = None;
        if let Number::Constant(count) = self.number(by) {
            emit!(
                self.generator.code,
                shrq_mi(Rm::Gpr(to), (count & 63) as u8)
            );
            return self.make(Number::Gpr(to));
        }
        if to == RCX {
            to = self.generator.take();
            emit!(self.generator.code, movq_rm(to, Rm::Gpr(RCX)));
            self.generator.free.give(RCX);
        }
        // Whose operand is in rcx, a popped one perhaps, finds it there again.
        let count = self.read(by);
        emit!(self.generator.code, movq_rm(SCRATCH, Rm::Gpr(RCX)));
        emit!(self.generator.code, movq_rm(RCX, Rm::Gpr(count)));
        emit!(self.generator.code, shrq_mc(Rm::Gpr(to), RCX));
        emit!(self.generator.code, movq_rm(RCX, Rm::Gpr(SCRATCH)));
        self.make(Number::Gpr(to))
    }

    fn least(&mut self, a: Operand, b: Operand) -> Operand {
        let to = self.copy(a);
        let other = self.read(b);
        self.generator.alu(Alu::Compare, true, to, Rm::Gpr(other));
        self.flags = None;
        self.generator
            .code
            .move_if(Condition::Above, to, Rm::Gpr(other));
        self.make(Number::Gpr(to))
    }

    fn compare(&mut self, how: Comparison, a: Operand, b: Operand) -> Operand {
        self.make(Number::Compared(how, a, b))
    }

    fn select(
        &mut self,
        _how: Selection,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Operand {
        // No branch, whatever it may become.
        let to = self.copy(otherwise);
        let condition = self.condition(condition);
        let from = self.read(then);
        self.generator.code.move_if(condition, to, Rm::Gpr(from));
        self.make(Number::Gpr(to))
    }

    fn trap_if(&mut self, condition: Operand) {
        let condition = self.condition(condition);
        self.generator.code.trap_if(condition, OUT_OF_BOUNDS);
    }

    fn forget(&mut self, number: Operand) {
        if self.flags == Some(number) {
            self.flags = None;
        }
        let number = &mut self.numbers[number.0 as usize];
        if let Number::Gpr(gpr) = std::mem::replace(number, Number::Forgotten) {
            self.generator.free.give(gpr);
        }
    }

    fn probe(&mut self, how: Probing, address: Operand, displacement: i32, any: Operand) {
        let address = self.read(address);
        let byte = trapping(at(address, displacement), OUT_OF_BOUNDS);
        match how {
            Probing::Movzx => emit!(self.generator.code, movzbl_rm(SCRATCH, Rm::Mem(byte))),
            Probing::Mov => emit!(self.generator.code, movl_rm(SCRATCH, Rm::Mem(byte))),
            Probing::Test => {
                let any = self.read(any);
                emit!(self.generator.code, testl_mr(Rm::Mem(byte), any));
                self.flags = None;
                // What the shadow holds is zero.
                self.generator
                    .code
                    .trap_if(Condition::NotEqual, OUT_OF_BOUNDS);
            }
        }
    }
}
