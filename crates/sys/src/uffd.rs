//! userfaultfd in SIGBUS mode: pages supplied from the fault handler
//! (userfaultfd(2), ioctl_userfaultfd(2)).
//!
//! One descriptor serves the process. Only user-mode faults are asked for, so
//! no privilege is needed; a system call that meets a missing page answers
//! EFAULT in this mode.
//!
//! A child that the process forks has a copy of the pages, but nothing of it is
//! registered there: a missing page would be an empty one, beyond the memory's length
//! too. And the descriptor that it inherits is still the parent's, registrations and
//! pages with it. So a child opens one of its own and registers all that there is
//! again: when it begins, and at the latest before it runs what relies on it
//! ([`ensure`]).

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::forked::{Own, Use};
use crate::map::page_bytes;
use crate::region;

const API: u64 = 0xAA;
const FEATURE_SIGBUS: u64 = 1 << 7;
const MODE_MISSING: u64 = 1;
const IOCTL_API: u64 = 0xc018_aa3f;
const IOCTL_REGISTER: u64 = 0xc020_aa00;
const IOCTL_COPY: u64 = 0xc028_aa03;
const IOCTL_ZEROPAGE: u64 = 0xc020_aa04;

/// Bytes supplied by one fault where nothing is in the way: a Wasm page.
const CHUNK_BYTES: usize = 65_536;
static ZEROS: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];

/// `struct uffdio_api`
#[repr(C)]
struct UffdioApi {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`
#[repr(C)]
struct UffdioRegister {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_copy`
#[repr(C)]
struct UffdioCopy {
    dst: u64,
    src: u64,
    len: u64,
    mode: u64,
    copy: i64,
}

/// `struct uffdio_zeropage`
#[repr(C)]
struct UffdioZeropage {
    start: u64,
    len: u64,
    mode: u64,
    zeropage: i64,
}

static OWN: Own = Own::new(Use::Userfaultfd);
/// The process's descriptor, where a signal handler may read it. That of the parent
/// stays open in a child: who closed all it had inherited may have given its number
/// to something else.
static RAW: AtomicI32 = AtomicI32::new(-1);

/// Open the process's descriptor, once.
///
/// # Errors
/// Why this host has no userfaultfd with SIGBUS: ENOSYS (not configured),
/// EPERM (forbidden), EINVAL (kernel before 5.11 or without the feature).
pub fn open() -> io::Result<()> {
    descriptor().map(|_| ())
}

/// Make sure that missing pages raise SIGBUS in this process, also where it is the
/// forked child of the one that registered them. No more than a look where it is not.
///
/// # Errors
/// What the kernel says to the child: EMFILE, EPERM. Nothing must be run then that
/// relies on missing pages.
#[inline]
pub fn ensure() -> io::Result<()> {
    match OWN.is_current() {
        true => Ok(()),
        false => descriptor().map(|_| ()),
    }
}

fn descriptor() -> io::Result<i32> {
    OWN.ensure(make)?;
    Ok(RAW.load(Ordering::Acquire))
}

/// Async-signal-safe, as what runs in a forked child has to be.
fn make() -> io::Result<()> {
    static WATCHED: Once = Once::new();
    let fd = open_descriptor()?;
    // Closing it takes back what was registered, should one of them fail.
    region::for_each(|addresses| register_with(fd.as_raw_fd(), addresses))?;
    RAW.store(fd.into_raw_fd(), Ordering::Release);
    if !WATCHED.is_completed() {
        // SAFETY: the function is async-signal-safe. Where there is no memory to note
        // it, the child is found out when it enters.
        WATCHED.call_once(|| unsafe {
            libc::pthread_atfork(None, None, Some(begin_child));
        });
    }
    Ok(())
}

/// What a child does first. Whatever fails is met again in [`ensure`].
extern "C" fn begin_child() {
    let _ = ensure();
}

fn open_descriptor() -> io::Result<OwnedFd> {
    use rustix::mm::UserfaultfdFlags;
    let user_mode_only = UserfaultfdFlags::from_bits_retain(1);
    let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK | user_mode_only;
    // SAFETY: a fresh descriptor; nothing is registered yet.
    let fd = unsafe { rustix::mm::userfaultfd(flags)? };
    let mut api = UffdioApi {
        api: API,
        features: FEATURE_SIGBUS,
        ioctls: 0,
    };
    // SAFETY: the argument is the struct this request takes.
    unsafe { ioctl(fd.as_raw_fd(), IOCTL_API, &mut api)? };
    // Without it a fault would wait for a thread that reads the descriptor: for ever.
    if api.features & FEATURE_SIGBUS == 0 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    Ok(fd)
}

/// From now on a missing page of `addresses` raises SIGBUS. Unmapping the
/// range ends it.
///
/// # Errors
/// What [`open`] or the registration says.
pub fn register(addresses: Range<usize>) -> io::Result<()> {
    register_with(descriptor()?, addresses)
}

fn register_with(fd: i32, addresses: Range<usize>) -> io::Result<()> {
    let mut register = UffdioRegister {
        start: addresses.start as u64,
        len: addresses.len() as u64,
        mode: MODE_MISSING,
        ioctls: 0,
    };
    // SAFETY: the argument is the struct this request takes.
    unsafe { ioctl(fd, IOCTL_REGISTER, &mut register) }
}

/// Supply the page of `address`, which lies in `allowed`, and its neighbours
/// in the same Wasm page. Async-signal-safe. False where the kernel refuses.
pub(crate) fn supply(address: usize, allowed: &Range<usize>, write: bool) -> bool {
    // Programs that touch one page of a Wasm page mostly touch its neighbours: one fault
    // then stands for sixteen.
    let chunk = address - address % CHUNK_BYTES;
    if allowed.start <= chunk
        && chunk + CHUNK_BYTES <= allowed.end
        && fill(chunk, CHUNK_BYTES, write).is_ok()
    {
        return true;
    }
    // Part of the chunk is there already: supply the one page.
    let page = page_bytes();
    match fill(address - address % page, page, write) {
        Ok(()) => true,
        // Another thread was faster; the access runs again either way.
        Err(libc::EEXIST | libc::EAGAIN) => true,
        Err(_) => false,
    }
}

/// A write gets pages of its own at once; a read shares the zero page, which
/// costs a second, ordinary fault when it is written later.
fn fill(start: usize, len: usize, write: bool) -> Result<(), i32> {
    let fd = RAW.load(Ordering::Acquire);
    let (start, len) = (start as u64, len as u64);
    let result = if write {
        let mut copy = UffdioCopy {
            dst: start,
            src: ZEROS.as_ptr() as u64,
            len,
            mode: 0,
            copy: 0,
        };
        // SAFETY: the argument is the struct this request takes; the source is
        // as long as the largest length.
        unsafe { ioctl(fd, IOCTL_COPY, &mut copy) }
    } else {
        let mut zero = UffdioZeropage {
            start,
            len,
            mode: 0,
            zeropage: 0,
        };
        // SAFETY: the argument is the struct this request takes.
        unsafe { ioctl(fd, IOCTL_ZEROPAGE, &mut zero) }
    };
    result.map_err(|e| e.raw_os_error().unwrap_or(libc::EIO))
}

/// # Safety
/// `argument` is the struct that `request` takes.
unsafe fn ioctl<T>(fd: i32, request: u64, argument: &mut T) -> io::Result<()> {
    // SAFETY: the caller's promise.
    match unsafe { libc::ioctl(fd, request as _, std::ptr::from_mut(argument)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
