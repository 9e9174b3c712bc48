//! The registers of x86-64, and how this generator uses them.
//!
//! | register | for |
//! |---|---|
//! | rsp, rbp | the stack; the frame |
//! | r14 | the context of the instance |
//! | r15 | the first byte of the first memory |
//! | r11, xmm15 | what lasts for one instruction |
//! | rax, rcx, rdx, rsi, rdi, r8 to r10, all other xmm | operands |
//! | rbx, r12, r13, and some of the operands' | locals (`locals.rs`) |
//!
//! A call preserves rbx and r12 to r15 (`tail` of Cranelift 0.135.8 does as C's convention), so
//! those that a function uses are saved where it begins and are there behind each call.

use cranelift_assembler_x64::{
    Amode, AmodeOffset, AmodeOffsetPlusKnownOffset, AsReg, GprMem, Registers, Scale, TrapCode,
    XmmMem,
};

/// A register for integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub u8);

/// A register for floats and vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Xmm(pub u8);

impl AsReg for Gpr {
    fn new(enc: u8) -> Gpr {
        Gpr(enc)
    }

    fn enc(&self) -> u8 {
        self.0
    }
}

impl AsReg for Xmm {
    fn new(enc: u8) -> Xmm {
        Xmm(enc)
    }

    fn enc(&self) -> u8 {
        self.0
    }
}

/// The registers of the assembler.
pub(super) struct Regs;

impl Registers for Regs {
    type ReadGpr = Gpr;
    type ReadWriteGpr = Gpr;
    type WriteGpr = Gpr;
    type ReadXmm = Xmm;
    type ReadWriteXmm = Xmm;
    type WriteXmm = Xmm;
}

/// A register or an operand in memory.
pub(super) type Rm = GprMem<Gpr, Gpr>;
/// The same of floats.
pub(super) type XmmRm = XmmMem<Xmm, Gpr>;
/// An operand in memory.
pub(super) type Mem = Amode<Gpr>;

pub(super) const RAX: Gpr = Gpr(0);
pub(super) const RCX: Gpr = Gpr(1);
pub(super) const RDX: Gpr = Gpr(2);
pub(super) const RSP: Gpr = Gpr(4);
pub(super) const RBP: Gpr = Gpr(5);
pub(super) const RSI: Gpr = Gpr(6);
pub(super) const RDI: Gpr = Gpr(7);
pub(super) const R8: Gpr = Gpr(8);
pub(super) const R9: Gpr = Gpr(9);
pub(super) const R10: Gpr = Gpr(10);

/// What lasts for one instruction.
pub(super) const SCRATCH: Gpr = Gpr(11);
pub(super) const SCRATCH_XMM: Xmm = Xmm(15);
/// The context.
pub(super) const CONTEXT: Gpr = Gpr(14);
/// The first byte of the first memory.
pub(super) const BASE: Gpr = Gpr(15);

/// Registers for locals: those that calls preserve, and those that operands lend.
pub(super) const PRESERVED: [Gpr; 3] = [Gpr(3), Gpr(12), Gpr(13)];
pub(super) const LENT: [Gpr; 2] = [R10, RDI];
pub(super) const LENT_XMMS: std::ops::Range<u8> = FLOATS..OPERANDS_XMM;

/// Registers for operands, those first that calls and shifts need least.
const OPERANDS: [Gpr; 8] = [RSI, RDI, RAX, R10, R8, R9, RDX, RCX];
const OPERANDS_XMM: u8 = 15;

/// The registers of Cranelift's `tail` convention for a function's own arguments, and for
/// results (0.135.8, `isa/x64/abi.rs`); the contexts are in front of the first.
pub(super) const ARGUMENTS: [Gpr; 4] = [RDX, RCX, R8, R9];
pub(super) const RESULTS: [Gpr; 8] = [RAX, RCX, RDX, RSI, RDI, R8, R9, R10];
/// How many floats are in registers, as arguments or as results.
pub(super) const FLOATS: u8 = 8;
/// The registers of C's convention for arguments (System V ABI §3.2.3).
pub(super) const C_ARGUMENTS: [Gpr; 6] = [RDI, RSI, RDX, RCX, R8, R9];

/// Registers that hold no operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free {
    gprs: u16,
    xmms: u16,
}

impl Free {
    /// All of them.
    pub fn all() -> Free {
        let gprs = OPERANDS.iter().fold(0, |mask, gpr| mask | 1 << gpr.0);
        Free {
            gprs,
            xmms: (1 << OPERANDS_XMM) - 1,
        }
    }

    /// One that is free, which is not from now on.
    pub fn take_any(&mut self) -> Option<Gpr> {
        let free = |gpr: &Gpr| self.gprs & 1 << gpr.0 != 0;
        let gpr = OPERANDS.into_iter().find(free)?;
        self.gprs &= !(1 << gpr.0);
        Some(gpr)
    }

    pub fn take_any_xmm(&mut self) -> Option<Xmm> {
        let first = self.xmms.trailing_zeros() as u8;
        if first >= OPERANDS_XMM {
            return None;
        }
        self.xmms &= !(1 << first);
        Some(Xmm(first))
    }

    pub fn has(&self, gpr: Gpr) -> bool {
        self.gprs & 1 << gpr.0 != 0
    }

    pub fn take(&mut self, gpr: Gpr) {
        debug_assert!(self.has(gpr), "{gpr:?} is free");
        self.gprs &= !(1 << gpr.0);
    }

    pub fn take_xmm(&mut self, xmm: Xmm) {
        debug_assert!(self.xmms & 1 << xmm.0 != 0, "{xmm:?} is free");
        self.xmms &= !(1 << xmm.0);
    }

    pub fn give(&mut self, gpr: Gpr) {
        if gpr == SCRATCH {
            return;
        }
        debug_assert!(!self.has(gpr), "{gpr:?} is taken");
        self.gprs |= 1 << gpr.0;
    }

    pub fn give_xmm(&mut self, xmm: Xmm) {
        if xmm == SCRATCH_XMM {
            return;
        }
        debug_assert!(self.xmms & 1 << xmm.0 == 0, "{xmm:?} is taken");
        self.xmms |= 1 << xmm.0;
    }
}

/// `[base + displacement]`
pub(super) fn at(base: Gpr, displacement: i32) -> Mem {
    Amode::ImmReg {
        base,
        simm32: AmodeOffsetPlusKnownOffset {
            simm32: AmodeOffset::new(displacement),
            offset: None,
        },
        trap: None,
    }
}

/// `[base + index × scale + displacement]`
pub(super) fn indexed(base: Gpr, index: Gpr, scale: Scale, displacement: i32) -> Mem {
    Amode::ImmRegRegShift {
        base,
        index: index.into(),
        scale,
        simm32: AmodeOffset::new(displacement),
        trap: None,
    }
}

/// The operand, whose access may fault.
pub(super) fn trapping(operand: Mem, code: cranelift_codegen::ir::TrapCode) -> Mem {
    let code = Some(TrapCode(code.as_raw()));
    match operand {
        Amode::ImmReg { base, simm32, .. } => Amode::ImmReg {
            base,
            simm32,
            trap: code,
        },
        Amode::ImmRegRegShift {
            base,
            index,
            scale,
            simm32,
            ..
        } => Amode::ImmRegRegShift {
            base,
            index,
            scale,
            simm32,
            trap: code,
        },
        Amode::RipRelative { .. } => operand,
    }
}
