//! Memory protection keys: what a thread may touch, by a register of its own.
//!
//! ```text
//!  page tables   every page has a key, 0 unless pkey_mprotect(2) gave it another
//!  PKRU          two bits a key: 1 = no access, 2 = no writes (Intel SDM vol. 3, §4.6.2)
//!
//!                     key 0      others     Inside        Fixed
//!  open (the host)    as before             reads, writes
//!  locked (Wasm)      nothing    nothing    reads, writes reads
//! ```
//!
//! The process takes two keys, once. While a thread is locked it reaches what
//! has one of them and nothing else, whoever maps what meanwhile. It must not
//! make a system call, and the kernel must not write to its memory on its own:
//! so a locked thread has no restartable sequences ([`prepare_thread`]), whose
//! area the kernel writes to when it moves a thread to another processor.
//!
//! Signals: from Linux 6.12 on the kernel stores the frame on the alternate
//! stack whatever the thread has locked, and starts the handler with key 0 open
//! and the others locked. Older kernels end a process whose stack has a locked
//! key, so keys are not to be had there.
//!
//! A thread that is older than the keys has them locked. It is lent them when it
//! first meets one (`lend`).

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a page's key says about a locked thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// It reads and writes.
    Inside,
    /// It reads.
    Fixed,
}

/// The keys of the process.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    inside: u32,
    fixed: u32,
}

/// Why there are none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{lacks} ({remedy})")]
pub struct NoKeys {
    /// What the host has not.
    pub lacks: String,
    /// What a user can do about it.
    pub remedy: &'static str,
}

static KEYS: OnceLock<Result<Keys, NoKeys>> = OnceLock::new();
/// PKRU's bits of both keys; 0 as long as there are none.
static MASK: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Bits of PKRU for a key.
const BITS: u32 = 2;
/// "No access" for each of the 16 keys.
const NO_ACCESS: u32 = 0x5555_5555;
const NO_WRITES: u32 = 2;
/// First release whose signals reach a locked thread.
const KERNEL: (u32, u32) = (6, 12);

/// The keys of this process, taken when first asked for.
///
/// # Errors
/// What the processor or the kernel lacks.
pub fn keys() -> Result<Keys, NoKeys> {
    KEYS.get_or_init(take).clone()
}

fn take() -> Result<Keys, NoKeys> {
    let lacks = |lacks: String, remedy| Err(NoKeys { lacks, remedy });
    if !cfg!(target_arch = "x86_64") {
        return lacks(
            "the instruction set is not x86-64".into(),
            "use another strategy",
        );
    }
    let release = crate::proc::kernel_release().unwrap_or_default();
    if version(&release).is_none_or(|version| version < KERNEL) {
        let why = format!("Linux {release} ends a locked thread that gets a signal");
        return lacks(why, "Linux 6.12 or newer");
    }
    let none = |lacks| NoKeys {
        lacks,
        remedy: "a processor or virtual machine with PKU, and keys to spare",
    };
    let inside = allocate().map_err(none)?;
    let fixed = allocate().map_err(|lacks| {
        // SAFETY: no page has it.
        unsafe { libc::syscall(libc::SYS_pkey_free, inside) };
        none(lacks)
    })?;
    MASK.store(
        3 << (BITS * inside) | 3 << (BITS * fixed),
        Ordering::Release,
    );
    Ok(Keys { inside, fixed })
}

/// Major and minor number of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

fn allocate() -> Result<u32, String> {
    // SAFETY: no pointer is passed.
    let key = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
    u32::try_from(key).map_err(|_| {
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel has no protection keys".into(),
            Some(libc::ENOSPC) if arch::has_keys() => {
                "the process has taken all its protection keys".into()
            }
            Some(libc::EINVAL | libc::ENOSPC) => "the processor shows no protection keys".into(),
            _ => format!("pkey_alloc: {error}"),
        }
    })
}

impl Keys {
    /// The kernel's number of a key.
    pub(crate) fn number(self, key: Key) -> u32 {
        match key {
            Key::Inside => self.inside,
            Key::Fixed => self.fixed,
        }
    }

    /// PKRU of a locked thread.
    pub fn locked(self) -> u32 {
        let mask = MASK.load(Ordering::Acquire);
        NO_ACCESS & !mask | NO_WRITES << (BITS * self.fixed)
    }
}

/// Open both keys to the calling thread, which leaves the others as they are;
/// its PKRU. Async-signal-safe; 0 and nothing done as long as there are no keys.
pub fn open() -> u32 {
    let mask = MASK.load(Ordering::Acquire);
    if mask == 0 {
        return 0;
    }
    let before = read();
    let opened = before & !mask;
    if opened != before {
        write(opened);
    }
    opened
}

/// Make the calling thread one that may be locked, once: without restartable
/// sequences from now on.
///
/// # Errors
/// What `rseq(2)` says.
pub fn prepare_thread() -> std::io::Result<()> {
    if !IS_PREPARED.get() {
        arch::end_restartable_sequences()?;
        IS_PREPARED.set(true);
    }
    Ok(())
}

/// PKRU of the calling thread. Only where there are keys.
pub fn read() -> u32 {
    arch::read()
}

/// Set PKRU of the calling thread. Only where there are keys.
pub fn write(pkru: u32) {
    arch::write(pkru);
}

/// Open both keys to a thread that faulted because one of them was locked, for
/// it is older than they are. False, and nothing is changed, where that was not
/// why. Async-signal-safe.
pub(crate) fn lend(info: &libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
    /// `SEGV_PKUERR` (asm-generic/siginfo.h).
    const KEY_ERROR: libc::c_int = 4;
    let mask = MASK.load(Ordering::Acquire);
    let Some(Ok(keys)) = KEYS
        .get()
        .filter(|_| mask != 0 && info.si_code == KEY_ERROR)
    else {
        return false;
    };
    arch::lend(info, context, mask, keys.locked())
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    use std::io;

    use super::BITS;

    /// Whether the processor has keys, and the kernel lets them be used.
    pub(super) fn has_keys() -> bool {
        /// `OSPKE` (Intel SDM vol. 2, CPUID, leaf 7).
        const OS_KEYS: u32 = 1 << 4;
        __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & OS_KEYS != 0
    }

    pub(super) fn read() -> u32 {
        let pkru;
        // SAFETY: reads a register; there is one where there are keys.
        unsafe {
            asm!("rdpkru", in("ecx") 0, out("eax") pkru, out("edx") _, options(nomem, nostack));
        }
        pkru
    }

    pub(super) fn write(pkru: u32) {
        // SAFETY: sets a register of this thread's; no reference is used where
        // it locks one.
        unsafe { asm!("wrpkru", in("eax") pkru, in("ecx") 0, in("edx") 0, options(nostack)) };
    }

    /// `RSEQ_FLAG_UNREGISTER` and glibc's `RSEQ_SIG` (linux/rseq.h, sys/rseq.h).
    const UNREGISTER: libc::c_int = 1;
    const SIGNATURE: u32 = 0x5305_3053;
    /// `AT_RSEQ_FEATURE_SIZE` and `AT_RSEQ_ALIGN` (linux/auxvec.h).
    const FEATURE_SIZE: libc::c_ulong = 27;
    const ALIGN: libc::c_ulong = 28;
    /// Bytes of the area at first, and with every kernel.
    const AREA_BYTES: u64 = 32;

    /// Take back what the C library registered, where it did (glibc 2.35).
    pub(super) fn end_restartable_sequences() -> io::Result<()> {
        // SAFETY: looks names up; they are variables of these types.
        let area = unsafe {
            let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
            let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
            if offset.is_null() || size.is_null() || *size.cast::<u32>() == 0 {
                return Ok(());
            }
            let thread: isize;
            asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, readonly));
            thread + *offset.cast::<isize>()
        };
        // Negative where it is not registered: glibc leaves that out for a thread
        // whose creator has none.
        // SAFETY: this thread's own area; the second word is its processor.
        if unsafe { ((area + 4) as *const i32).read_volatile() } < 0 {
            return Ok(());
        }
        // SAFETY: reads the auxiliary vector.
        let (bytes, align) = unsafe { (libc::getauxval(FEATURE_SIZE), libc::getauxval(ALIGN)) };
        let larger = bytes.next_multiple_of(align.max(1)).max(AREA_BYTES);
        let mut failed = None;
        for bytes in [AREA_BYTES, larger] {
            // SAFETY: the kernel forgets the area, or says that it is no such.
            let done =
                unsafe { libc::syscall(libc::SYS_rseq, area, bytes as u32, UNREGISTER, SIGNATURE) };
            if done == 0 {
                return Ok(());
            }
            failed = Some(io::Error::last_os_error());
        }
        failed.map_or(Ok(()), Err)
    }

    /// Where the kernel's frame has PKRU: Intel SDM vol. 1, §13.4 (XSAVE area)
    /// and asm/sigcontext.h (`_fpx_sw_bytes`, in the area's bytes 464 to 511).
    const COMPONENT: u32 = 9;
    const MAGIC: u32 = 0x4650_5853;
    const MAGIC_AT: usize = 464;
    const FEATURES_AT: usize = MAGIC_AT + 8;
    const SIZE_AT: usize = MAGIC_AT + 16;
    const HEADER_AT: usize = 512;
    /// Where `siginfo_t` has the key.
    const KEY_AT: usize = 32;

    pub(super) fn lend(
        info: &libc::siginfo_t,
        context: &mut libc::ucontext_t,
        mask: u32,
        locked: u32,
    ) -> bool {
        let area = context.uc_mcontext.fpregs.cast::<u8>();
        // SAFETY: the kernel's own structures, of the sizes they say; CPUID's
        // leaf 0xd exists where there is XSAVE, and so where there are keys.
        unsafe {
            let key = std::ptr::from_ref(info).cast::<u8>().add(KEY_AT);
            let key = key.cast::<u32>().read();
            let is_ours = key < u32::BITS / BITS && mask >> (BITS * key) & 3 != 0;
            let word = |at: usize| area.add(at).cast::<u32>().read_unaligned();
            if !is_ours || area.is_null() || word(MAGIC_AT) != MAGIC {
                return false;
            }
            let at = __cpuid_count(0xd, COMPONENT).ebx as usize;
            let has = |features: u32| features & 1 << COMPONENT != 0;
            if !has(word(FEATURES_AT)) || at + 4 > word(SIZE_AT) as usize {
                return false;
            }
            let before = if has(word(HEADER_AT)) { word(at) } else { 0 };
            if before & mask == 0 || before == locked {
                // Open already: there is another reason, and no end. Nor is Wasm lent what it
                // may not write.
                return false;
            }
            area.add(at).cast::<u32>().write_unaligned(before & !mask);
            let present = area.add(HEADER_AT).cast::<u32>();
            present.write_unaligned(present.read_unaligned() | 1 << COMPONENT);
        }
        true
    }
}

/// Elsewhere there are no keys, and nobody comes here.
#[cfg(not(target_arch = "x86_64"))]
mod arch {
    pub(super) fn read() -> u32 {
        0
    }

    pub(super) fn write(_: u32) {}

    pub(super) fn end_restartable_sequences() -> std::io::Result<()> {
        Ok(())
    }

    pub(super) fn has_keys() -> bool {
        false
    }

    pub(super) fn lend(_: &libc::siginfo_t, _: &mut libc::ucontext_t, _: u32, _: u32) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_a_version() {
        assert_eq!(version("6.12.107+deb12-cloud-amd64"), Some((6, 12)));
        assert_eq!(version("5.4"), Some((5, 4)));
        assert_eq!(version("rolling"), None);
    }

    #[test]
    fn without_keys_nothing_is_done_and_one_line_says_why() {
        match keys() {
            Ok(keys) => {
                assert_eq!(open() & 3, 0, "key 0 stays open");
                assert_eq!(keys.locked() & 1, 1, "key 0 is locked");
            }
            Err(why) => {
                assert!(!why.to_string().contains('\n'), "{why}");
                assert_eq!(open(), 0);
            }
        }
    }
}
