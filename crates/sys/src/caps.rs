//! What this host lets a process do, found by doing it.
//!
//! [`crate::proc`] says what machine this is; here are the means a strategy
//! stands on. Each answer is a [`Fact`]: what works, or why not.

use std::{fs, io, ptr};

use crate::proc::Fact;

/// Bits of the largest reservation tried: all that x86-64 gives a process, and
/// half of what aarch64 does.
const ADDRESS_BITS_MAX: u32 = 47;
/// Bits of the smallest: one 32-bit memory with its guard.
const ADDRESS_BITS_MIN: u32 = 33;

/// The largest power of two of bytes that can be reserved without access, in
/// bytes.
///
/// # Errors
/// A sentence, where not even one guarded 32-bit memory (8 GiB) fits.
pub fn reservable_bytes() -> Result<u64, String> {
    (ADDRESS_BITS_MIN..=ADDRESS_BITS_MAX)
        .rev()
        .map(|bits| 1_u64 << bits)
        .find(|&bytes| reserve(bytes).is_ok())
        .ok_or_else(|| match reserve(1 << ADDRESS_BITS_MIN) {
            Ok(()) => "reservations come and go".into(),
            Err(error) => format!("8 GiB cannot be reserved: {error}"),
        })
}

fn reserve(bytes: u64) -> io::Result<()> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: a fresh mapping at an address of the kernel's choice, unmapped
    // before anybody learns where it is.
    unsafe {
        let start = mmap_anonymous(
            ptr::null_mut(),
            bytes,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )?;
        munmap(start, bytes)?;
    }
    Ok(())
}

/// How many mappings a process may have (`vm.max_map_count`): each memory
/// behind guard pages takes two or three.
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn max_map_count() -> Result<u64, String> {
    number("/proc/sys/vm/max_map_count")
}

/// How many mappings the process has.
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn mappings() -> Result<u64, String> {
    let maps =
        fs::read_to_string("/proc/self/maps").map_err(|e| format!("/proc/self/maps: {e}"))?;
    Ok(maps.lines().count() as u64)
}

/// The address space the process may have (`RLIMIT_AS`), in bytes, where that
/// is limited.
pub fn address_space_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// How the kernel accounts for memory promised (`vm.overcommit_memory`); 2
/// counts every writable reservation, and large ones fail.
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn overcommit() -> Result<u64, String> {
    number("/proc/sys/vm/overcommit_memory")
}

/// The lowest address that processes may map, in bytes (`vm.mmap_min_addr`).
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn lowest_address() -> Result<u64, String> {
    number("/proc/sys/vm/mmap_min_addr")
}

fn number(path: &str) -> Result<u64, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    text.trim()
        .parse()
        .map_err(|_| format!("{path}: not a number: {}", text.trim()))
}

/// Whether a protection key can be had, found by allocating one.
pub fn protection_key() -> Fact {
    // SAFETY: no pointer is passed; the key is freed at once and was never
    // put on a page.
    let key = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
    if key < 0 {
        let error = io::Error::last_os_error();
        return Err(match error.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel has no protection keys".into(),
            Some(libc::EINVAL | libc::ENOSPC) => "the processor shows none".into(),
            _ => format!("pkey_alloc: {error}"),
        });
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_pkey_free, key) };
    Ok("a key can be allocated".into())
}

/// Whether a file may have so many bytes, also one in memory: growing it further would raise
/// SIGXFSZ, which ends the process.
///
/// # Errors
/// EFBIG where `RLIMIT_FSIZE` is less (setrlimit(2)).
pub(crate) fn file_may_have(bytes: usize) -> std::io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    match limit.is_some_and(|most| most < bytes as u64) {
        true => Err(std::io::Error::from_raw_os_error(libc::EFBIG)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_memory_can_be_reserved_here() {
        assert!(reservable_bytes().unwrap() >= 1 << ADDRESS_BITS_MIN);
    }

    #[test]
    fn every_answer_is_a_line() {
        let line = protection_key().unwrap_or_else(|why| why);
        assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
        assert!(max_map_count().unwrap() > 0);
        assert!(overcommit().unwrap() <= 2);
    }
}
