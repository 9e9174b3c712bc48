//! Instruction fetch made to see what has just been written.
//!
//! ```text
//!  write the code ─► publish() ─► make it executable ─► hand out its address
//! ```
//!
//! x86-64 keeps its instruction caches coherent with stores. aarch64 and
//! riscv64 do not: there the caches are told, and every processor that runs
//! this process must drop what it has fetched ahead, before anybody jumps to
//! the code.

use std::io;
use std::ops::Range;

/// Make stores to `code` visible to instruction fetch on every thread of the
/// process. The range must be mapped and readable.
///
/// # Errors
/// What `membarrier(2)` (aarch64) or `riscv_flush_icache(2)` says.
pub fn publish(code: Range<usize>) -> io::Result<()> {
    if code.is_empty() {
        return Ok(());
    }
    arch::publish(code)
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::{Range, io};

    pub(super) fn publish(_: Range<usize>) -> io::Result<()> {
        Ok(())
    }
}

/// Clean the data cache to the point of unification, invalidate the instruction
/// cache, then have every processor synchronise its context (Arm Architecture
/// Reference Manual, "Concurrent modification and execution of instructions").
#[cfg(target_arch = "aarch64")]
mod arch {
    use super::{Range, io};
    use std::arch::asm;
    use std::sync::LazyLock;

    // From the kernel's uapi/linux/membarrier.h; libc has no names for all.
    const PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 5;
    const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 6;

    static REGISTERED: LazyLock<Result<(), i32>> =
        LazyLock::new(|| membarrier(REGISTER_PRIVATE_EXPEDITED_SYNC_CORE));

    pub(super) fn publish(code: Range<usize>) -> io::Result<()> {
        let type_register: usize;
        // SAFETY: reads the cache type register, which Linux opens to programs.
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) type_register, options(nomem, nostack, preserves_flags));
        }
        // Log2 of words of four bytes: DminLine in bits 19–16, IminLine in 3–0.
        let data_line = 4 << (type_register >> 16 & 0xf);
        let instruction_line = 4 << (type_register & 0xf);
        for line in lines(&code, data_line) {
            // SAFETY: cleans a line of mapped memory; it changes no value.
            unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: a barrier.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
        for line in lines(&code, instruction_line) {
            // SAFETY: drops a line of the instruction cache.
            unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: barriers.
        unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
        synchronise_others()
    }

    fn lines(code: &Range<usize>, line: usize) -> impl Iterator<Item = usize> {
        (code.start - code.start % line..code.end).step_by(line)
    }

    /// Other threads may have fetched from an address that held other code.
    /// A kernel without the command (before 4.16) leaves it to the interrupts
    /// that changing the pages' access sends to every processor.
    fn synchronise_others() -> io::Result<()> {
        let done = match *REGISTERED {
            Ok(()) => membarrier(PRIVATE_EXPEDITED_SYNC_CORE),
            Err(errno) => Err(errno),
        };
        match done {
            Ok(()) | Err(libc::ENOSYS | libc::EINVAL) => Ok(()),
            Err(errno) => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    fn membarrier(command: libc::c_int) -> Result<(), i32> {
        // SAFETY: a barrier of all threads; it passes no pointer.
        let done = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EIO)),
        }
    }
}

/// `fence.i` orders one processor only, and a thread may move: the kernel's
/// call sees to all of them (RISC-V ISA manual, "Zifencei").
#[cfg(target_arch = "riscv64")]
mod arch {
    use super::{Range, io};
    use std::arch::asm;

    /// arch/riscv/include/uapi/asm/unistd.h
    const SYS_RISCV_FLUSH_ICACHE: libc::c_long = 259;
    const ALL_THREADS: libc::c_long = 0;

    pub(super) fn publish(code: Range<usize>) -> io::Result<()> {
        // SAFETY: the kernel reads no memory of ours.
        let done =
            unsafe { libc::syscall(SYS_RISCV_FLUSH_ICACHE, code.start, code.end, ALL_THREADS) };
        if done == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // An emulator which sees stores to code by itself (qemu-user).
            Some(libc::ENOSYS) => {
                // SAFETY: a fence, written as a word for assemblers that want
                // the extension named.
                unsafe { asm!(".4byte 0x0000100f", options(nostack, preserves_flags)) };
                Ok(())
            }
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::publish;

    #[test]
    fn any_range_of_a_mapping_can_be_published() {
        let bytes = [0_u8; 1000];
        let start = bytes.as_ptr() as usize;
        for len in [0, 1, 63, 64, 1000] {
            publish(start..start + len).unwrap();
        }
    }
}
