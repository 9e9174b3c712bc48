//! Synchronous faults: SIGSEGV, SIGBUS, SIGILL and SIGFPE, for the process;
//! and SIGURG, by which one thread makes another look up.
//!
//! ```text
//!  fault ─► sent by a process? ──yes──► the handler that was installed before
//!              │ no
//!              ▼
//!           page supplied on demand? ──yes──► run the instruction again
//!              │ no
//!              ▼
//!           the hook (the engine: a trap of Wasm code?) ──yes──► resume there
//!              │ no
//!              ▼
//!           a protection key of ours that the thread lacks? ──yes──► run it again
//!              │ no
//!              ▼
//!           the handler that was installed before, or the default action
//! ```
//!
//! What must stay true: everything up to the chain takes no lock, allocates
//! nothing and touches no foreign thread-local state. The handler returns, so that the
//! kernel sets back which signals are blocked.

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::{pkeys, region, registers, stack, uffd};

/// Which of the four signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGSEGV
    Segv,
    /// SIGBUS
    Bus,
    /// SIGILL
    Ill,
    /// SIGFPE
    Fpe,
    /// SIGURG: no fault, but sent by [`crate::poke`]. System calls that wait
    /// answer EINTR.
    Urg,
}

impl Signal {
    const ALL: [Signal; 5] = [
        Signal::Segv,
        Signal::Bus,
        Signal::Ill,
        Signal::Fpe,
        Signal::Urg,
    ];

    fn number(self) -> libc::c_int {
        match self {
            Signal::Segv => libc::SIGSEGV,
            Signal::Bus => libc::SIGBUS,
            Signal::Ill => libc::SIGILL,
            Signal::Fpe => libc::SIGFPE,
            Signal::Urg => libc::SIGURG,
        }
    }
}

/// `SI_KERNEL` (asm-generic/siginfo.h): a fault of which the kernel has nothing to
/// add, not even the address.
const FROM_KERNEL: libc::c_int = 0x80;

/// A fault as the hook sees it.
#[derive(Debug)]
pub struct Fault<'a> {
    /// The signal that the kernel raised for it.
    pub signal: Signal,
    /// The address that faulted for SIGSEGV and SIGBUS; nothing where the processor
    /// does not say, as x86-64 does not of one that is in no address space.
    pub address: Option<usize>,
    context: &'a mut libc::ucontext_t,
}

/// Decides on a fault: true when it set where to resume. Async-signal-safe.
pub type Hook = fn(&mut Fault<'_>) -> bool;

impl Fault<'_> {
    /// Address of the instruction that faulted.
    pub fn pc(&self) -> usize {
        registers::pc(self.context)
    }

    /// Frame pointer.
    pub fn fp(&self) -> usize {
        registers::fp(self.context)
    }

    /// Stack pointer.
    pub fn sp(&self) -> usize {
        registers::sp(self.context)
    }

    /// Whether it is of a handler that went beyond its alternate stack.
    fn is_beyond_alternate(&self) -> bool {
        let stack = &self.context.uc_stack;
        self.address
            .is_some_and(|address| stack::is_beyond_alternate(address, self.sp(), stack))
    }

    /// Go on at `pc` with the stack pointer `sp`; other registers keep their
    /// values.
    pub fn resume_at(&mut self, pc: usize, sp: usize) {
        registers::resume_at(self.context, pc, sp);
    }

    /// Have this frame pointer there.
    pub fn set_fp(&mut self, fp: usize) {
        registers::set_fp(self.context, fp);
    }

    /// Go on behind the instruction that faulted, as if it had read zero;
    /// false, and nothing is changed, where it is no instruction that can be
    /// made to. Only on x86-64.
    ///
    /// # Safety
    /// The instruction at [`Fault::pc`] can be read.
    pub unsafe fn read_zero(&mut self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the caller's promise.
            unsafe { registers::read_zero(self.context) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }

    /// Whether the access was a write, or may have been.
    fn is_write(&self) -> bool {
        registers::may_be_write(self.context)
    }
}

struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; 5]>);

// SAFETY: written once, before the handler that reads it can run.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([const { MaybeUninit::uninit() }; 5]));
static HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();

/// Install the handler, once for the process; later calls only check that the
/// first one worked.
///
/// # Errors
/// What `sigaction(2)` says.
pub fn install(hook: Hook) -> io::Result<()> {
    let installed = INSTALLED.get_or_init(|| {
        HOOK.store(hook as *mut (), Ordering::Release);
        Signal::ALL.into_iter().try_for_each(install_one)
    });
    installed.map_err(io::Error::from_raw_os_error)
}

fn install_one(signal: Signal) -> Result<(), i32> {
    // SAFETY: `handler` has the signature SA_SIGINFO asks for. The previous
    // action is read and stored before ours can run and chain to it.
    unsafe {
        let slot = &mut (*PREVIOUS.0.get())[signal as usize];
        let mut action: libc::sigaction = std::mem::zeroed();
        let known = libc::sigaction(signal.number(), std::ptr::null(), slot.as_mut_ptr());
        action.sa_sigaction = handler as *const () as usize;
        // NODEFER: a page may have to be supplied to a foreign handler too. But what is sent
        // comes as often as somebody sends it: one at a time, for each takes 3 KiB of a stack
        // that may have 8.
        let again = match signal {
            Signal::Urg => 0,
            _ => libc::SA_NODEFER,
        };
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | again;
        libc::sigemptyset(&mut action.sa_mask);
        if known != 0 || libc::sigaction(signal.number(), &action, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EIO));
        }
    }
    Ok(())
}

extern "C" fn handler(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(signal) = Signal::ALL.into_iter().find(|s| s.number() == number) else {
        return;
    };
    // The kernel has locked all keys but 0 for us; returning sets back what the
    // interrupted code had.
    pkeys::open();
    // SAFETY: the kernel passes valid pointers, exclusively ours until return.
    let (code, mut fault) = unsafe {
        let code = (*info).si_code;
        let address = (code != FROM_KERNEL).then(|| (*info).si_addr() as usize);
        let context = &mut *context.cast();
        (
            code,
            Fault {
                signal,
                address,
                context,
            },
        )
    };
    // What a process sent has a code that is not positive, and no address.
    let is_meant = code > 0 || signal == Signal::Urg;
    if code > 0 && signal == Signal::Segv && fault.is_beyond_alternate() {
        // SAFETY: the default action; the instruction faults again, and ends the process.
        unsafe { libc::signal(number, libc::SIG_DFL) };
        return;
    }
    // A page that is there but closed raises the other signal, for ever.
    if is_meant && signal == Signal::Bus && supply_page(&fault) {
        return;
    }
    let hook = HOOK.load(Ordering::Acquire);
    if is_meant && !hook.is_null() {
        // SAFETY: only `install` stores here, a `Hook`.
        let hook: Hook = unsafe { std::mem::transmute::<*mut (), Hook>(hook) };
        if hook(&mut fault) {
            return;
        }
    }
    // SAFETY: as above.
    if signal == Signal::Segv && pkeys::lend(unsafe { &*info }, fault.context) {
        return;
    }
    // SAFETY: the arguments are the kernel's own.
    unsafe { chain(signal, number, info, context) }
}

fn supply_page(fault: &Fault<'_>) -> bool {
    let Some(address) = fault.address else {
        return false;
    };
    match region::find(address).map(region::Region::suppliable) {
        Some(allowed) if allowed.contains(&address) => {
            // The kernel's calls may change errno under the interrupted code.
            // SAFETY: errno is the thread's own.
            let errno = unsafe { *libc::__errno_location() };
            let supplied = uffd::supply(address, &allowed, fault.is_write());
            // SAFETY: as above.
            unsafe { *libc::__errno_location() = errno };
            supplied
        }
        _ => false,
    }
}

/// Hand a fault that is not ours to whoever was there before.
///
/// # Safety
/// The arguments are those the kernel gave to our handler.
unsafe fn chain(
    signal: Signal,
    number: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: stored by `install_one` before this handler could run.
    let previous = unsafe { (*PREVIOUS.0.get())[signal as usize].assume_init_ref() };
    let unset = matches!(previous.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN);
    // SIGURG is ignored by default.
    if !(unset && signal == Signal::Urg) {
        // SAFETY: the caller's promise, and what `sigaction` gave.
        unsafe { forward(previous, number, info, context) }
    }
}

/// Do with a fault what another action says.
///
/// # Safety
/// `action` came from `sigaction(2)`; the other arguments are those the kernel
/// gave to a handler.
pub(crate) unsafe fn forward(
    action: &libc::sigaction,
    number: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: a handler's address is called with the signature its flags declare.
    unsafe {
        match action.sa_sigaction {
            libc::SIG_IGN if (*info).si_code <= 0 => {}
            // Back to the default action (ignoring a synchronous fault is the
            // same to the kernel): returning runs the instruction again, and what a
            // process sent is to be sent again.
            libc::SIG_DFL | libc::SIG_IGN => {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(number, &default, std::ptr::null_mut());
                if (*info).si_code <= 0 {
                    libc::raise(number);
                }
            }
            address if action.sa_flags & libc::SA_SIGINFO != 0 => {
                type Full = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Full>(address)(number, info, context);
            }
            address => {
                std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(address)(number);
            }
        }
    }
}
