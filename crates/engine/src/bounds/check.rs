//! What a check is made of: the few operations in which a strategy says how it makes an
//! access safe. A strategy is written once, whatever becomes of it.
//!
//! ```text
//!  strategy.emit ──▶ CheckBuilder ├─▶ Clif    Cranelift IR, for every code generator behind it
//!                                 └─▶ Model   numbers: what a check does to one access
//! ```
//!
//! What must stay true: an operation is one, or a few, of any processor; none of them makes
//! a block of its own, so that the check and its access are in one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Imm64;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, TrapCode, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::mark::plainly;
use super::{Access, HostAddress, Probing};
use crate::facts::vmctx::offsets::{
    MEMORY_HIGH_BITS, MEMORY_INDEX_BITS, MEMORY_LEN, MEMORY_SHADOW,
};

/// A number of 64 bits, or a condition, as the builder that made it knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(pub u32);

/// The bytes that an access is to: `width` of them from `index + offset` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The index, extended to 64 bits.
    pub index: Operand,
    /// Whether the memory's own indices have 64 bits.
    pub memory64: bool,
    /// The constant offset.
    pub offset: u64,
    /// Width in bytes, 1 to 16.
    pub width: u8,
}

/// Where an access goes, in bytes from the memory's first on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Added to `offset`, without an eye on overflow.
    pub index: Operand,
    pub offset: u64,
    /// Whether it may fault, which is then a trap.
    pub may_fault: bool,
}

impl Span {
    /// Where it says.
    pub(crate) fn target(&self) -> Target {
        Target {
            index: self.index,
            offset: self.offset,
            may_fault: true,
        }
    }
}

/// What is kept beside a memory ([`crate::facts::vmctx::VmMemory`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Its length in bytes: the one that changes.
    Length,
    /// The bits that no index below `R` has.
    HighBits,
    /// How many bits such an index has.
    IndexBits,
    /// The end of its shadow.
    ShadowEnd,
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `>=`, of unsigned numbers.
    AtLeast,
    /// `>`, of unsigned numbers.
    Above,
    /// `>`, of signed numbers.
    AboveSigned,
}

/// What a selection may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Anything.
    Any,
    /// No branch, for a processor would predict it.
    NoBranch,
}

/// Makes a check. A trap is "out of bounds memory access".
pub(crate) trait CheckBuilder {
    /// The address of the memory's first byte.
    fn base(&mut self) -> Operand;
    fn constant(&mut self, number: u64) -> Operand;
    fn cell(&mut self, cell: Cell) -> Operand;
    /// The sum without an eye on overflow.
    fn add(&mut self, a: Operand, b: Operand) -> Operand;
    /// The sum, and a trap where it has more than 64 bits.
    fn add_or_trap(&mut self, a: Operand, b: Operand) -> Operand;
    fn and(&mut self, a: Operand, b: Operand) -> Operand;
    fn not(&mut self, a: Operand) -> Operand;
    /// The number of its lower 32 bits: one instruction that nobody may take for `a` itself,
    /// whatever a comparison found.
    fn low_half(&mut self, a: Operand) -> Operand;
    /// Bits shifted out are lost, zeros come in; `by` is below 64.
    fn shift_right(&mut self, a: Operand, by: Operand) -> Operand;
    /// The lesser of unsigned numbers.
    fn least(&mut self, a: Operand, b: Operand) -> Operand;
    fn compare(&mut self, how: Comparison, a: Operand, b: Operand) -> Operand;
    fn select(
        &mut self,
        how: Selection,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Operand;
    /// A trap where a condition holds, or a number is not zero.
    fn trap_if(&mut self, condition: Operand);
    /// Reads what is at an address, where a fault is a trap. Nobody uses what is read, which
    /// is zero; `any` is a number that one way to read needs beside.
    fn probe(&mut self, how: Probing, address: Operand, displacement: i32, any: Operand);
    /// A number that nobody asks for any more, where that is of use.
    fn forget(&mut self, _number: Operand) {}
    /// Whether what a cell holds stays in a register from one check to the next, so that
    /// asking for it again costs nothing.
    fn keeps_cells(&self) -> bool;
}

/// Appends a check to a function in Cranelift IR.
pub(crate) struct Clif<'a, 'f> {
    builder: &'a mut FunctionBuilder<'f>,
    access: &'a Access,
}

impl<'a, 'f> Clif<'a, 'f> {
    /// For an access, whose index has 64 bits.
    pub(crate) fn new(builder: &'a mut FunctionBuilder<'f>, access: &'a Access) -> Clif<'a, 'f> {
        Clif { builder, access }
    }

    /// What the access is to.
    pub(crate) fn span(&self) -> Span {
        Span {
            index: Operand(self.access.index.as_u32()),
            memory64: self.access.memory64,
            offset: self.access.offset,
            width: self.access.width,
        }
    }

    /// Appends the address of a target: `base + i` with `o` as displacement where it fits
    /// one, else added.
    pub(crate) fn address(self, target: Target) -> HostAddress {
        let Clif { builder, access } = self;
        let flags = match target.may_fault {
            true => access.heap_flags,
            false => access.heap_flags.with_notrap(),
        };
        let index = value(target.index);
        plainly(builder, |builder| {
            let address = builder.ins().iadd(access.base, index);
            match i32::try_from(target.offset) {
                Ok(displacement) => HostAddress {
                    address,
                    displacement,
                    flags,
                },
                Err(_) => {
                    let offset = target.offset.cast_signed();
                    let offset = builder.ins().iconst(types::I64, offset);
                    HostAddress {
                        address: builder.ins().iadd(address, offset),
                        displacement: 0,
                        flags,
                    }
                }
            }
        })
    }
}

fn value(operand: Operand) -> Value {
    Value::from_u32(operand.0)
}

fn operand(value: Value) -> Operand {
    Operand(value.as_u32())
}

impl CheckBuilder for Clif<'_, '_> {
    fn base(&mut self) -> Operand {
        operand(self.access.base)
    }

    fn constant(&mut self, number: u64) -> Operand {
        let number = Imm64::new(number.cast_signed());
        operand(self.builder.ins().iconst(types::I64, number))
    }

    fn cell(&mut self, cell: Cell) -> Operand {
        let flags = self.access.cell_flags;
        let constant = flags.with_readonly().with_can_move();
        let (flags, place) = match cell {
            Cell::Length => (flags, MEMORY_LEN),
            Cell::HighBits => (constant, MEMORY_HIGH_BITS),
            Cell::IndexBits => (constant, MEMORY_INDEX_BITS),
            Cell::ShadowEnd => (constant, MEMORY_SHADOW),
        };
        let ins = self.builder.ins();
        operand(ins.load(types::I64, flags, self.access.def, place))
    }

    fn add(&mut self, a: Operand, b: Operand) -> Operand {
        operand(self.builder.ins().iadd(value(a), value(b)))
    }

    fn add_or_trap(&mut self, a: Operand, b: Operand) -> Operand {
        let code = TrapCode::HEAP_OUT_OF_BOUNDS;
        let ins = self.builder.ins();
        operand(ins.uadd_overflow_trap(value(a), value(b), code))
    }

    fn and(&mut self, a: Operand, b: Operand) -> Operand {
        operand(self.builder.ins().band(value(a), value(b)))
    }

    fn not(&mut self, a: Operand) -> Operand {
        operand(self.builder.ins().bnot(value(a)))
    }

    fn keeps_cells(&self) -> bool {
        true
    }

    fn low_half(&mut self, a: Operand) -> Operand {
        let low = self.builder.ins().ireduce(types::I32, value(a));
        operand(self.builder.ins().uextend(types::I64, low))
    }

    fn shift_right(&mut self, a: Operand, by: Operand) -> Operand {
        operand(self.builder.ins().ushr(value(a), value(by)))
    }

    fn least(&mut self, a: Operand, b: Operand) -> Operand {
        operand(self.builder.ins().umin(value(a), value(b)))
    }

    fn compare(&mut self, how: Comparison, a: Operand, b: Operand) -> Operand {
        let code = match how {
            Comparison::AtLeast => IntCC::UnsignedGreaterThanOrEqual,
            Comparison::Above => IntCC::UnsignedGreaterThan,
            Comparison::AboveSigned => IntCC::SignedGreaterThan,
        };
        operand(self.builder.ins().icmp(code, value(a), value(b)))
    }

    fn select(
        &mut self,
        how: Selection,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Operand {
        let [condition, then, otherwise] = [condition, then, otherwise].map(value);
        let ins = self.builder.ins();
        operand(match how {
            Selection::Any => ins.select(condition, then, otherwise),
            Selection::NoBranch => ins.select_spectre_guard(condition, then, otherwise),
        })
    }

    fn trap_if(&mut self, condition: Operand) {
        let code = TrapCode::HEAP_OUT_OF_BOUNDS;
        self.builder.ins().trapnz(value(condition), code);
    }

    fn probe(&mut self, how: Probing, address: Operand, displacement: i32, any: Operand) {
        // In the region of cells, none of which is in the shadow: a byte that was
        // read once need not be read again before the next call.
        let region = self.access.cell_flags.alias_region();
        let flags = MemFlagsData::new().with_alias_region(region);
        let address = value(address);
        let ins = self.builder.ins();
        match how {
            Probing::Movzx => {
                ins.uload8(types::I32, flags, address, displacement);
            }
            Probing::Mov => {
                ins.load(types::I32, flags, address, displacement);
            }
            Probing::Test => {
                // Four bytes in memory and any register: the only shape of a load
                // that Cranelift makes one instruction with its use.
                let word = ins.load(types::I32, flags, address, displacement);
                let any = self.builder.ins().ireduce(types::I32, value(any));
                let common = self.builder.ins().band(any, word);
                self.trap_if(operand(common));
            }
        }
    }
}
