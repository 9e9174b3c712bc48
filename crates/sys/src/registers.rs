//! The registers of an interrupted thread, as the kernel hands them to a
//! signal handler: one implementation for each instruction set.

use libc::ucontext_t;

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::ucontext_t;
    use crate::skip::{Effect, decode};

    fn register(context: &ucontext_t, name: libc::c_int) -> usize {
        context.uc_mcontext.gregs[name as usize].cast_unsigned() as usize
    }

    pub(crate) fn pc(context: &ucontext_t) -> usize {
        register(context, libc::REG_RIP)
    }

    pub(crate) fn fp(context: &ucontext_t) -> usize {
        register(context, libc::REG_RBP)
    }

    pub(crate) fn sp(context: &ucontext_t) -> usize {
        register(context, libc::REG_RSP)
    }

    pub(crate) fn set_fp(context: &mut ucontext_t, fp: usize) {
        context.uc_mcontext.gregs[libc::REG_RBP as usize] = fp as i64;
    }

    pub(crate) fn resume_at(context: &mut ucontext_t, pc: usize, sp: usize) {
        let gregs = &mut context.uc_mcontext.gregs;
        gregs[libc::REG_RIP as usize] = pc as i64;
        gregs[libc::REG_RSP as usize] = sp as i64;
    }

    /// General registers by their number in instructions.
    const REGISTERS: [libc::c_int; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];

    /// Carry, parity, auxiliary, zero, sign and overflow; what a comparison of
    /// equal numbers leaves of them.
    const FLAGS: i64 = 0x8d5;
    const FLAGS_OF_EQUAL: i64 = 0x44;

    /// See [`crate::fault::Fault::read_zero`].
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn read_zero(context: &mut ucontext_t) -> bool {
        let start = pc(context) as *const u8;
        // SAFETY: bytes of the instruction, by the caller's promise readable.
        let Some(probe) = decode(|at| Some(unsafe { *start.add(at) })) else {
            return false;
        };
        let gregs = &mut context.uc_mcontext.gregs;
        match probe.effect {
            Effect::Load(register) => {
                gregs[REGISTERS[usize::from(register)] as usize] = 0;
            }
            Effect::CompareWithZero => {
                let flags = &mut gregs[libc::REG_EFL as usize];
                *flags = *flags & !FLAGS | FLAGS_OF_EQUAL;
            }
        }
        gregs[libc::REG_RIP as usize] += probe.bytes as i64;
        true
    }

    /// Bit 1 of the page-fault error code (Intel SDM vol. 3, §4.7).
    pub(crate) fn may_be_write(context: &ucontext_t) -> bool {
        register(context, libc::REG_ERR) & 2 != 0
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use super::ucontext_t;

    /// x29, by the procedure call standard (AAPCS64 §6.4.6).
    const FP: usize = 29;

    pub(crate) fn pc(context: &ucontext_t) -> usize {
        context.uc_mcontext.pc as usize
    }

    pub(crate) fn fp(context: &ucontext_t) -> usize {
        context.uc_mcontext.regs[FP] as usize
    }

    pub(crate) fn sp(context: &ucontext_t) -> usize {
        context.uc_mcontext.sp as usize
    }

    pub(crate) fn set_fp(context: &mut ucontext_t, fp: usize) {
        context.uc_mcontext.regs[FP] = fp as u64;
    }

    pub(crate) fn resume_at(context: &mut ucontext_t, pc: usize, sp: usize) {
        context.uc_mcontext.pc = pc as u64;
        context.uc_mcontext.sp = sp as u64;
    }

    /// The syndrome is in an optional record behind the registers: taken for a
    /// write, which costs a read its share of the zero page and no more.
    pub(crate) fn may_be_write(_: &ucontext_t) -> bool {
        true
    }
}

#[cfg(target_arch = "riscv64")]
mod arch {
    use super::ucontext_t;

    pub(crate) fn pc(context: &ucontext_t) -> usize {
        context.uc_mcontext.__gregs[libc::REG_PC] as usize
    }

    /// s0, by the ELF psABI.
    pub(crate) fn fp(context: &ucontext_t) -> usize {
        context.uc_mcontext.__gregs[libc::REG_S0] as usize
    }

    pub(crate) fn sp(context: &ucontext_t) -> usize {
        context.uc_mcontext.__gregs[libc::REG_SP] as usize
    }

    pub(crate) fn set_fp(context: &mut ucontext_t, fp: usize) {
        context.uc_mcontext.__gregs[libc::REG_S0] = fp as libc::c_ulong;
    }

    pub(crate) fn resume_at(context: &mut ucontext_t, pc: usize, sp: usize) {
        context.uc_mcontext.__gregs[libc::REG_PC] = pc as libc::c_ulong;
        context.uc_mcontext.__gregs[libc::REG_SP] = sp as libc::c_ulong;
    }

    /// The kernel does not pass the cause on: taken for a write, which costs a
    /// read its share of the zero page and no more.
    pub(crate) fn may_be_write(_: &ucontext_t) -> bool {
        true
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use arch::read_zero;
pub(crate) use arch::{fp, may_be_write, pc, resume_at, set_fp, sp};
