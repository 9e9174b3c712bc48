//! The thread's stack: where it ends, and the alternate one signals run on.

use std::cell::{Cell, RefCell};
use std::io;

use crate::map::{Access, PageBytes, Reservation};

/// Bytes of the alternate stack: room for the largest register state (AMX:
/// about 11 KiB) and for a foreign handler that is chained to.
const ALTERNATE_BYTES: usize = 256 << 10;
/// Inaccessible bytes below it.
const BELOW_BYTES: usize = 64 << 10;

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(0) };
    /// The same, while there is an alternate stack.
    static READY: Cell<usize> = const { Cell::new(0) };
    static ALTERNATE: RefCell<Option<Alternate>> = const { RefCell::new(None) };
}

struct Alternate(#[expect(dead_code, reason = "kept mapped")] Reservation);

impl Drop for Alternate {
    fn drop(&mut self) {
        let off = libc::stack_t {
            ss_sp: std::ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: ALTERNATE_BYTES,
        };
        READY.set(0);
        // SAFETY: turns the thread's alternate stack off before it is unmapped.
        unsafe { libc::sigaltstack(&off, std::ptr::null_mut()) };
    }
}

/// Lowest address of the calling thread's stack, which has an alternate one for signals
/// then: asked in front of every call.
///
/// # Errors
/// As [`ensure_alternate`] and [`lowest_address`].
#[inline]
pub fn ready() -> io::Result<usize> {
    match READY.get() {
        0 => make_ready(),
        known => Ok(known),
    }
}

#[cold]
fn make_ready() -> io::Result<usize> {
    ensure_alternate()?;
    let lowest = lowest_address()?;
    READY.set(lowest);
    Ok(lowest)
}

/// Lowest address of the calling thread's stack, as the thread library knows
/// it; asked once a thread.
///
/// # Errors
/// What `pthread_getattr_np(3)` says.
pub fn lowest_address() -> io::Result<usize> {
    if let known @ 1.. = LIMIT.get() {
        return Ok(known);
    }
    // SAFETY: the attributes are initialised by the first call, read by the
    // second and destroyed by the third.
    let lowest = unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        check(libc::pthread_getattr_np(libc::pthread_self(), &mut attr))?;
        let (mut start, mut size) = (std::ptr::null_mut(), 0);
        let got = libc::pthread_attr_getstack(&attr, &mut start, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        check(got)?;
        start as usize
    };
    LIMIT.set(lowest);
    Ok(lowest)
}

fn check(errno: libc::c_int) -> io::Result<()> {
    match errno {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Give the calling thread an alternate signal stack of its own, once; it
/// lasts as long as the thread.
///
/// # Errors
/// What `mmap(2)` and `sigaltstack(2)` say.
pub fn ensure_alternate() -> io::Result<()> {
    let make = |cell: &RefCell<Option<Alternate>>| {
        let mut cell = cell.borrow_mut();
        if cell.is_some() {
            return Ok(());
        }
        let bytes = PageBytes::round_up(BELOW_BYTES + ALTERNATE_BYTES);
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        let pages = Reservation::new(bytes, Access::None)?;
        pages.open(BELOW_BYTES..bytes.get())?;
        let stack = libc::stack_t {
            ss_sp: (pages.addresses().start + BELOW_BYTES) as *mut libc::c_void,
            ss_flags: 0,
            ss_size: bytes.get() - BELOW_BYTES,
        };
        // SAFETY: the pages stay mapped until `Alternate` turns the stack off.
        if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        *cell = Some(Alternate(pages));
        Ok(())
    };
    // A thread that ends has lost its own already.
    let made = ALTERNATE.try_with(make);
    made.unwrap_or_else(|_| Err(io::Error::other("the thread is ending")))
}

/// Whether a fault is one of a signal handler that went beyond its alternate stack, by the
/// address that was touched, where the stack pointer was, and that stack. The kernel does not
/// take such a handler for one on it, and starts the next at its top again.
/// Async-signal-safe.
pub(crate) fn is_beyond_alternate(address: usize, sp: usize, stack: &libc::stack_t) -> bool {
    let start = stack.ss_sp as usize;
    let below = start.saturating_sub(BELOW_BYTES)..start;
    let is_on = stack.ss_flags & libc::SS_DISABLE == 0 && stack.ss_size > 0;
    is_on && below.contains(&address) && (below.start..start + stack.ss_size).contains(&sp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_is_below_and_of_a_handler_that_ran_there() {
        let stack = libc::stack_t {
            ss_sp: (1 << 20) as *mut libc::c_void,
            ss_flags: 0,
            ss_size: 8 << 10,
        };
        let is_beyond = |address, sp| is_beyond_alternate(address, sp, &stack);
        let start = 1 << 20;
        assert!(is_beyond(start - 1, start - 8) && is_beyond(start - 4096, start + 64));
        assert!(!is_beyond(start, start + 64), "on it");
        assert!(!is_beyond(start - 1, 2 << 20), "of code elsewhere");
        assert!(!is_beyond(start - BELOW_BYTES - 1, start), "far below");
        let off = libc::stack_t {
            ss_flags: libc::SS_DISABLE,
            ..stack
        };
        assert!(!is_beyond_alternate(start - 1, start, &off));
    }

    #[test]
    fn the_stack_ends_below_a_local() {
        let local = 0u8;
        let lowest = lowest_address().unwrap();
        assert!(lowest < std::ptr::from_ref(&local) as usize);
    }
}
