//! What belongs to one process and not to the children that it forks, though they
//! inherit its memory and its descriptors.
//!
//! ```text
//!  page ──► word of each use:  0 nothing here that is this process's
//!                              1 made by this process
//!                              2 being made
//! ```
//!
//! The kernel empties the page in whatever a fork makes, however it is made
//! (`MADV_WIPEONFORK`, madvise(2)); so no process number has to be asked for, which
//! may be the same in another namespace. Threads share it, as they share the memory.

use std::io;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::map::{Access, PageBytes, Reservation};

/// What there is one of in a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// The descriptor of userfaultfd(2): of one address space.
    Userfaultfd,
    /// `/proc/self/pagemap`: of the address space of who opened it.
    Pagemap,
    /// Threads that wait for work.
    Threads,
}

const ABSENT: u32 = 0;
const MADE: u32 = 1;
const BEGUN: u32 = 2;

static PAGE: OnceLock<Result<Reservation, i32>> = OnceLock::new();

/// Something that a process makes once, and its children again.
pub(crate) struct Own {
    index: usize,
    word: AtomicPtr<AtomicU32>,
}

impl Own {
    pub(crate) const fn new(what: Use) -> Own {
        Own {
            index: what as usize,
            word: AtomicPtr::new(null_mut()),
        }
    }

    /// Whether what was made, if anything ever was, is this process's.
    /// Async-signal-safe.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        let word = self.word.load(Ordering::Acquire);
        // SAFETY: null, or a word of the page, which is never unmapped.
        unsafe { word.as_ref() }.is_none_or(|word| word.load(Ordering::Acquire) == MADE)
    }

    /// Have it made, unless this process has. Takes no lock but while another thread
    /// of this process makes it.
    ///
    /// # Errors
    /// What `make` says, or a kernel before 4.14; the next one tries again.
    pub(crate) fn ensure(&self, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let word = word(self.index)?;
        loop {
            let begun = word.compare_exchange(ABSENT, BEGUN, Ordering::AcqRel, Ordering::Acquire);
            match begun {
                Ok(_) => break,
                Err(MADE) => return Ok(()),
                Err(_) => std::thread::yield_now(),
            }
        }
        self.word
            .store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
        let made = make();
        let now = if made.is_ok() { MADE } else { ABSENT };
        word.store(now, Ordering::Release);
        made
    }
}

/// Whether this process is the forked child of one that has asked before: whatever
/// threads that one has had, here they are not.
pub fn is_child() -> bool {
    static OWN: Own = Own::new(Use::Threads);
    if !OWN.is_current() {
        return true;
    }
    // A kernel that empties no page cannot tell; the process is taken for no child.
    let _ = OWN.ensure(|| Ok(()));
    false
}

fn word(index: usize) -> io::Result<&'static AtomicU32> {
    let page = PAGE.get_or_init(|| page().map_err(|e| e.raw_os_error().unwrap_or(libc::EIO)));
    let page = page
        .as_ref()
        .map_err(|e| io::Error::from_raw_os_error(*e))?;
    // SAFETY: inside the page, which is never unmapped, and aligned; a number that
    // only atomic operations access, and the kernel while no thread runs.
    Ok(unsafe { page.start().cast::<AtomicU32>().add(index).as_ref() })
}

fn page() -> io::Result<Reservation> {
    let bytes = PageBytes::round_up(1).ok_or(io::ErrorKind::OutOfMemory)?;
    let page = Reservation::new(bytes, Access::ReadWrite)?;
    let (start, bytes) = (page.start().as_ptr(), bytes.get());
    // SAFETY: this mapping's own pages, which nobody uses yet.
    match unsafe { libc::madvise(start.cast(), bytes, libc::MADV_WIPEONFORK) } {
        0 => Ok(page),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// As of a use that nobody else has.
    static OWN: Own = Own {
        index: 9,
        word: AtomicPtr::new(null_mut()),
    };
    static TIMES: AtomicUsize = AtomicUsize::new(0);

    fn make() -> io::Result<()> {
        TIMES.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// The status with which a child ends that does `work`.
    fn status_of_child(work: fn() -> i32) -> i32 {
        // SAFETY: the child makes system calls only, and ends.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(work()),
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    libc::WEXITSTATUS(status)
                }
            }
        }
    }

    #[test]
    fn each_process_makes_its_own_once() {
        assert!(OWN.is_current(), "nothing was made");
        let failed = OWN.ensure(|| Err(io::ErrorKind::Other.into()));
        if failed.is_err_and(|error| error.kind() != io::ErrorKind::Other) {
            eprintln!("SKIPPED: the kernel has no MADV_WIPEONFORK");
            return;
        }
        assert!(!OWN.is_current(), "it was not made");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| OWN.ensure(make).unwrap());
            }
        });
        assert!(OWN.is_current());
        assert_eq!(TIMES.load(Ordering::SeqCst), 1);
        let status = status_of_child(|| {
            let before = OWN.is_current();
            let made = OWN.ensure(make).is_ok();
            let again = OWN.ensure(make).is_ok();
            let child = status_of_child(|| OWN.is_current().into());
            let times = TIMES.load(Ordering::SeqCst);
            let is_right = !before && made && again && child == 0 && times == 2;
            (OWN.is_current() && is_right).into()
        });
        assert_eq!(status, 1);
        assert_eq!(TIMES.load(Ordering::SeqCst), 1);
        assert!(OWN.is_current());
    }
}
