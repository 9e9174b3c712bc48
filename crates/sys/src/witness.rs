//! What an engine does without saying so: the memory faults that it takes, and
//! the machine code that it makes.
//!
//! ```text
//!  fault ─► watcher: notes the address ─► the engine's own handler, as it was
//! ```

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use crate::fault::forward;

/// The memory faults (SIGSEGV and SIGBUS) of a stretch of work, all threads'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many there were.
    pub count: u64,
    /// Where the last of them wanted to go.
    pub last_address: usize,
}

const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; 2]>);

// SAFETY: written under `ONE_AT_A_TIME`, before the handler that reads it is
// installed.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([const { MaybeUninit::uninit() }; 2]));
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static COUNT: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Does something while every memory fault is noted on its way to the handler
/// that is installed now. Work that installs a handler of its own goes unseen.
///
/// # Errors
/// What `sigaction(2)` says; the work is not done then.
pub fn watch_faults<R>(work: impl FnOnce() -> R) -> io::Result<(R, Faults)> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    COUNT.store(0, Ordering::Relaxed);
    LAST.store(0, Ordering::Relaxed);
    let watching = Watching::begin()?;
    let result = work();
    drop(watching);
    let faults = Faults {
        count: COUNT.load(Ordering::Relaxed),
        last_address: LAST.load(Ordering::Relaxed),
    };
    Ok((result, faults))
}

/// Puts the handlers back, also when the work panics.
struct Watching(usize);

impl Watching {
    fn begin() -> io::Result<Watching> {
        let mut watching = Watching(0);
        for (index, &number) in SIGNALS.iter().enumerate() {
            // SAFETY: the slot is written before `note` can run for its signal;
            // `note` has the signature that SA_SIGINFO asks for. The flags are
            // the previous handler's, which is called on the same stack then.
            unsafe {
                let slot = &mut (*PREVIOUS.0.get())[index];
                if libc::sigaction(number, std::ptr::null(), slot.as_mut_ptr()) != 0 {
                    return Err(io::Error::last_os_error());
                }
                let mut action = *slot.assume_init_ref();
                action.sa_sigaction = note as *const () as usize;
                action.sa_flags |= libc::SA_SIGINFO;
                if libc::sigaction(number, &action, std::ptr::null_mut()) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            watching.0 = index + 1;
        }
        Ok(watching)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        for (index, &number) in SIGNALS.iter().enumerate().take(self.0) {
            // SAFETY: `begin` has filled these slots with what sigaction gave.
            unsafe {
                let slot = (*PREVIOUS.0.get())[index].as_ptr();
                libc::sigaction(number, slot, std::ptr::null_mut());
            }
        }
    }
}

extern "C" fn note(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(index) = SIGNALS.iter().position(|one| *one == number) else {
        return;
    };
    COUNT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the kernel passes valid pointers; the slot was filled before this
    // handler was installed, with what sigaction gave.
    unsafe {
        LAST.store((*info).si_addr() as usize, Ordering::Relaxed);
        let previous = (*PREVIOUS.0.get())[index].assume_init_ref();
        forward(previous, number, info, context);
    }
}

/// Bytes of this process's memory that can be executed and come from no file:
/// machine code that was made while it ran, in whole pages.
///
/// # Errors
/// When `/proc/self/maps` cannot be read (`proc_pid_maps(5)`).
pub fn made_code_bytes() -> io::Result<u64> {
    Ok(made_code_in(&fs::read_to_string("/proc/self/maps")?))
}

fn made_code_in(maps: &str) -> u64 {
    let bytes = |line: &str| {
        let mut fields = line.split_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let executable = fields.next()?.contains('x');
        // Of a memory that comes from a file the inode is not 0; the kernel's
        // own code has a name in brackets. A file that never had a name
        // (memfd) is memory all the same.
        let (inode, name) = (fields.nth(2)?, fields.next().unwrap_or_default());
        let made = inode == "0" || name.starts_with("/memfd:");
        let kernels = name.starts_with("[v");
        let from = u64::from_str_radix(from, 16).ok()?;
        let to = u64::from_str_radix(to, 16).ok()?;
        (executable && made && !kernels).then_some(to.saturating_sub(from))
    };
    maps.lines().filter_map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_files_and_from_the_kernels() {
        let maps = "\
00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus-daemon
7f0000000000-7f0000003000 r-xp 00000000 00:00 0 
7f0000003000-7f0000005000 rw-p 00000000 00:00 0 
7f0000005000-7f0000006000 r-xs 00000000 00:01 77 /memfd:code (deleted)
7ffd3a5c4000-7ffd3a5c6000 r-xp 00000000 00:00 0 [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
";
        assert_eq!(made_code_in(maps), 0x4000);
        assert_eq!(made_code_in("nonsense\n1-2\n"), 0);
        made_code_bytes().unwrap();
    }

    #[test]
    fn quiet_work_faults_nowhere() {
        let (answer, faults) = watch_faults(|| 42).unwrap();
        assert_eq!((answer, faults), (42, Faults::default()));
    }
}
