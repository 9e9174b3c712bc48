//! Is there a hardware performance monitor, and may we use it?
//!
//! Detected by opening one, the only answer that counts: a virtual machine
//! may list the feature and still have no counters. Absence is a reason in
//! words, for the host's fingerprint; nothing is ever made up in its place.
#![allow(unsafe_code)]

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

// From the kernel's uapi/linux/perf_event.h; libc has no names for them.
const TYPE_HARDWARE: u32 = 0;
const COUNT_CYCLES: u64 = 0;
const COUNT_INSTRUCTIONS: u64 = 1;
/// `disabled = 0, exclude_kernel = 1, exclude_hv = 1` in the flag word.
const EXCLUDE_KERNEL_AND_HV: u64 = (1 << 5) | (1 << 6);
/// `PERF_ATTR_SIZE_VER0`: the first published size, accepted for ever.
const ATTR_SIZE: u32 = 64;

/// The first 64 bytes of the kernel's `perf_event_attr`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) size: u32,
    pub(crate) config: u64,
    pub(crate) sample_period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) wakeup_events: u32,
    pub(crate) bp_type: u32,
    pub(crate) bp_addr: u64,
}

impl Default for Attr {
    fn default() -> Attr {
        Attr {
            kind: TYPE_HARDWARE,
            size: ATTR_SIZE,
            config: 0,
            sample_period: 0,
            sample_type: 0,
            read_format: 0,
            flags: 0,
            wakeup_events: 0,
            bp_type: 0,
            bp_addr: 0,
        }
    }
}

/// A pair of counters on the calling thread: user-mode cycles and
/// instructions, counting since [`ThreadCounters::open`].
pub struct ThreadCounters {
    cycles: OwnedFd,
    instructions: OwnedFd,
}

impl ThreadCounters {
    /// Opens both counters on the calling thread.
    ///
    /// # Errors
    /// A sentence which says why this host has none.
    pub fn open() -> Result<Self, String> {
        Ok(Self {
            cycles: open(COUNT_CYCLES).map_err(|error| explain(&error))?,
            instructions: open(COUNT_INSTRUCTIONS).map_err(|error| explain(&error))?,
        })
    }

    /// Cycles and instructions since the counters were opened.
    ///
    /// # Errors
    /// What `read(2)` reports.
    pub fn read(&self) -> io::Result<(u64, u64)> {
        Ok((read_count(&self.cycles)?, read_count(&self.instructions)?))
    }
}

/// Whether cycles and instructions can be counted here.
///
/// # Errors
/// A sentence which says why not.
pub fn hardware_counters() -> Result<(), String> {
    let counters = ThreadCounters::open()?;
    let (cycles, _) = counters.read().map_err(|error| explain(&error))?;
    // Some hypervisors let the counter be opened and never let it count.
    if cycles == 0 {
        return Err("the kernel opens a cycle counter, but it stands still".into());
    }
    Ok(())
}

fn open(config: u64) -> io::Result<OwnedFd> {
    let attr = Attr {
        config,
        flags: EXCLUDE_KERNEL_AND_HV,
        ..Attr::default()
    };
    open_event(&attr, None)
}

/// Opens an event of the calling thread, on one processor or on any.
pub(crate) fn open_event(attr: &Attr, cpu: Option<i32>) -> io::Result<OwnedFd> {
    const CLOEXEC: libc::c_ulong = 8; // PERF_FLAG_FD_CLOEXEC
    // SAFETY: `attr` is readable for the size it states; pid 0 means the calling thread, cpu
    // -1 any processor; no group leader.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attr),
            0 as libc::pid_t,
            cpu.unwrap_or(-1),
            -1 as libc::c_int,
            CLOEXEC,
        )
    };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn read_count(fd: &OwnedFd) -> io::Result<u64> {
    let mut bytes = [0; 8];
    let got = rustix::io::read(fd, &mut bytes)?;
    if got != bytes.len() {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("counter {} gave {got} bytes", fd.as_raw_fd()),
        ));
    }
    Ok(u64::from_ne_bytes(bytes))
}

fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "no hardware performance monitor (usual in a virtual machine)".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "not permitted: lower kernel.perf_event_paranoid or add CAP_PERFMON".into()
        }
        Some(libc::ENOSYS) => "the kernel was built without perf events".into(),
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attr_is_the_size_we_state() {
        assert_eq!(size_of::<Attr>(), ATTR_SIZE as usize);
    }

    #[test]
    fn either_counts_or_says_why_not() {
        match hardware_counters() {
            Ok(()) => {
                let counters = ThreadCounters::open().unwrap();
                let first = counters.read().unwrap();
                assert!(counters.read().unwrap().1 > first.1);
            }
            Err(why) => assert!(!why.is_empty() && !why.contains('\n')),
        }
    }
}
