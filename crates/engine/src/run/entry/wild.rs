//! Faults of compiled code that are no traps: planted, as a defect of the engine would
//! make them, each in a child that must die of it.

#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::ptr::null_mut;

use crate::facts::trap::TrapCode;
use crate::run::instance::{Instance, InstanceData};
use crate::run::store::opaque_mut;
use crate::*;

/// Set for the process that runs one of these tests and no other.
const ALONE: &str = "FATHOM_TEST_ALONE";
/// With what the foreign handler ends a process.
const HANDLED: i32 = 77;

/// Whether this process runs the test `name` only; if not, one is made that does.
fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let emulator = std::env::var("FATHOM_EMULATOR").unwrap_or_default();
    let program = std::env::current_exe().unwrap();
    let mut words = emulator.split_whitespace().map(std::ffi::OsString::from);
    let mut command = Command::new(words.next().unwrap_or(program.clone().into()));
    if !emulator.is_empty() {
        command.args(words).arg(program);
    }
    // Names of tests are without the crate's.
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::{name}");
    let ended = command
        .args(["--exact", &name, "--nocapture"])
        .env(ALONE, "1");
    let ended = ended.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{said}", ended.status);
    let counted = String::from_utf8_lossy(&ended.stdout);
    assert!(
        counted.contains(" 1 passed;"),
        "no test is named {name}: {counted}"
    );
    eprint!("{said}");
    false
}

/// How a forked child ended that did `work`: its signal, or its status.
fn ending(work: impl FnOnce()) -> Result<i32, i32> {
    let mut status = 0;
    // SAFETY: no other thread of this process is at work.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(catch_unwind(AssertUnwindSafe(work)).is_err().into()),
            child => assert_eq!(libc::waitpid(child, &mut status, 0), child),
        }
    }
    match libc::WIFSIGNALED(status) {
        true => Err(libc::WTERMSIG(status)),
        false => Ok(libc::WEXITSTATUS(status)),
    }
}

/// A store with an instance that loads and stores, and what it exports.
struct Subject {
    store: Store<()>,
    raw: std::ptr::NonNull<InstanceData>,
    memory64: bool,
}

impl Subject {
    /// Nothing where the host lacks what the strategy needs.
    fn new(bounds: Bounds, memory64: bool) -> Option<Subject> {
        let index = if memory64 { "i64" } else { "i32" };
        let prefix = if memory64 { "i64" } else { "" };
        let text = format!(
            r#"(module (memory {prefix} 2 3) (table 2 funcref)
                 (func (export "load") (param {index}) (result i32) (i32.load (local.get 0)))
                 (func (export "store") (param {index}) (i32.store (local.get 0) (i32.const 1)))
                 (func (export "null") (call_indirect (i32.const 0)))
                 (func (export "divide") (local $n i64)
                   (loop $again
                     (local.set $n
                       (i64.div_u (i64.const -1) (i64.or (local.get $n) (i64.const 1))))
                     (br $again))))"#
        );
        let named = BoundsChoice::Named(bounds);
        let config = Config::new().bounds(named).allow_unchecked(true);
        let made = Engine::new(&config).and_then(|engine| {
            let module = Module::new(&engine, wat::parse_str(text).unwrap())?;
            let mut store = Store::new(&engine, ());
            let raw = Instance::prepare(opaque_mut(&mut store), &module, &[])?;
            Ok(Subject {
                store,
                raw,
                memory64,
            })
        });
        match made {
            Err(error) if !bounds.needs().is_empty() => {
                eprintln!("SKIPPED under {bounds}: {error}");
                None
            }
            made => Some(made.unwrap()),
        }
    }

    /// What is known of its memory.
    fn memory(&self) -> &crate::run::memory::LinearMemory {
        // SAFETY: alive as long as the store.
        unsafe { self.raw.as_ref() }.memory(0)
    }

    /// Have its code believe that the memory is elsewhere.
    fn misplace(&mut self, base: usize) {
        // SAFETY: what a defect would do; the layout's offset of a base.
        unsafe {
            let data = self.raw.as_mut();
            let offset = data.module.layout().memory_base(0);
            data.write(offset, base);
        }
    }

    /// The trap of a call, if it ended by one.
    fn call(&mut self, name: &str, at: u64) -> Option<TrapCode> {
        let instance = Instance::of(opaque_mut(&mut self.store).id, self.raw);
        let func = instance.get_func(&self.store, name).unwrap();
        let ty = func.ty(&self.store);
        let at = match self.memory64 {
            true => Val::I64(at.cast_signed()),
            false => Val::I32(at as i32),
        };
        let args = vec![at; ty.params().len()];
        let mut results = vec![Val::I32(0); ty.results().len()];
        let called = func.call(&mut self.store, &args, &mut results);
        called.err().map(|error| error.trap().unwrap().code)
    }
}

/// An inaccessible page far from every memory.
fn nowhere() -> usize {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh page at an address of the kernel's choice.
    let page = unsafe { libc::mmap(null_mut(), 1 << 20, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    page as usize + (1 << 19)
}

/// Where planted accesses go that no strategy can mean.
fn wild_places(other: &Subject) -> Vec<usize> {
    let other = other.memory();
    vec![
        nowhere(),
        // Inaccessible, and a memory's: of another store.
        other.vm.base as usize + other.len() + 64,
        // What a null reference looks like.
        64,
        // In no address space: the processor does not say where.
        1 << 62,
    ]
}

fn all() -> impl Iterator<Item = (Bounds, bool)> {
    [false, true]
        .into_iter()
        .flat_map(|memory64| Bounds::forms_for(memory64).map(move |bounds| (bounds, memory64)))
}

/// Whether accesses may go anywhere, as the user wished.
fn is_wild(bounds: Bounds, memory64: bool) -> bool {
    memory64
        && matches!(
            bounds.guarantee(),
            Guarantee::Unchecked | Guarantee::Partial
        )
}

#[test]
fn an_access_to_no_memory_of_the_store_is_no_trap() {
    if !is_alone("an_access_to_no_memory_of_the_store_is_no_trap") {
        return;
    }
    // A store whose accesses may go anywhere is no excuse for another.
    let mut unchecked = Subject::new(Bounds::None, true).unwrap();
    let other = Subject::new(Bounds::Trap, false).unwrap();
    for (bounds, memory64) in all() {
        let Some(mut subject) = Subject::new(bounds, memory64) else {
            continue;
        };
        for base in wild_places(&other) {
            // Where the shadow's addresses go that leave user space.
            let is_probe = base == 64 || base == 1 << 62;
            if is_probe && subject.memory().is_probed_below() {
                continue;
            }
            for name in ["load", "store"] {
                let ended = ending(|| {
                    let places = [
                        (&mut unchecked, true),
                        (&mut subject, is_wild(bounds, memory64)),
                    ];
                    for (subject, is_trap) in places {
                        subject.misplace(base);
                        let trap = subject.call(name, 8);
                        assert!(is_trap, "{bounds}: {base:#x} is taken for {trap:?}");
                        assert_eq!(trap, Some(TrapCode::MemoryOutOfBounds));
                    }
                });
                let expected = match is_wild(bounds, memory64) {
                    true => Ok(0),
                    false => Err(libc::SIGSEGV),
                };
                assert_eq!(ended, expected, "{bounds}, {memory64}, {name} at {base:#x}");
            }
        }
        // The same instance, in order, traps where it should.
        if bounds.guarantee() == Guarantee::Exact {
            let outside = Some(TrapCode::MemoryOutOfBounds);
            assert_eq!(subject.call("load", 0x1_fffd), outside, "{bounds}");
            assert_eq!(subject.call("store", 0x7fff_0000), outside, "{bounds}");
            assert_eq!(subject.call("load", 0x1_fffc), None, "{bounds}");
        }
        let null = Some(TrapCode::UninitializedElement);
        assert_eq!(subject.call("null", 0), null, "{bounds}");
    }
}

#[test]
fn a_fault_in_bounds_is_no_trap() {
    if !is_alone("a_fault_in_bounds_is_no_trap") {
        return;
    }
    for (bounds, memory64) in all().filter(|(bounds, memory64)| !is_wild(*bounds, *memory64)) {
        let Some(mut subject) = Subject::new(bounds, memory64) else {
            continue;
        };
        let ended = ending(|| {
            let page = subject.memory().vm.base.wrapping_add(65_536);
            // SAFETY: a page of the memory, whose only user is the call below.
            let closed = unsafe { libc::mprotect(page.cast(), 4096, libc::PROT_NONE) };
            assert_eq!(closed, 0);
            let trap = subject.call("load", 65_536 + 80);
            panic!("{bounds}: taken for {trap:?}");
        });
        assert_eq!(ended, Err(libc::SIGSEGV), "{bounds}, {memory64}");
    }
}

/// Whatever instruction it meets: a trap is the processor's, not another process's.
#[test]
fn a_signal_that_was_sent_is_no_trap() {
    if !is_alone("a_signal_that_was_sent_is_no_trap") {
        return;
    }
    let mut subject = Subject::new(Bounds::Trap, false).unwrap();
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
        let ended = ending(|| {
            let outside = Some(TrapCode::MemoryOutOfBounds);
            assert_eq!(subject.call("load", 0x2_0000), outside);
            // The first one may be for a handler of Rust's, which goes then.
            for _ in 0..2 {
                // SAFETY: a signal to this process.
                unsafe { libc::kill(libc::getpid(), signal) };
            }
        });
        assert_eq!(ended, Err(signal));
    }
}

/// Nor where it meets an instruction that can raise it: here nearly always a division,
/// for nothing else in the loop takes long.
#[test]
fn a_signal_that_was_sent_at_a_division_is_no_trap() {
    if !is_alone("a_signal_that_was_sent_at_a_division_is_no_trap") {
        return;
    }
    let mut subject = Subject::new(Bounds::Trap, false).unwrap();
    for round in 0..20 {
        let ended = ending(|| {
            // SAFETY: this process has one thread; its child only sleeps and sends.
            unsafe {
                if libc::fork() == 0 {
                    // The first one may be for a handler of Rust's, which goes then.
                    for _ in 0..2 {
                        libc::usleep(2000);
                        libc::kill(libc::getppid(), libc::SIGFPE);
                    }
                    libc::_exit(0);
                }
            }
            subject.call("divide", 0);
        });
        assert_eq!(ended, Err(libc::SIGFPE), "round {round}");
    }
}

extern "C" fn foreign(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: ends the process.
    unsafe { libc::_exit(HANDLED) };
}

#[test]
fn what_is_no_trap_reaches_the_handler_that_was_there_before() {
    if !is_alone("what_is_no_trap_reaches_the_handler_that_was_there_before") {
        return;
    }
    // SAFETY: the handler has the signature that SA_SIGINFO asks for; no engine was
    // made yet.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = foreign as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &action, null_mut()), 0);
    }
    let other = Subject::new(Bounds::Trap, false).unwrap();
    for base in wild_places(&other) {
        let mut subject = Subject::new(Bounds::Guard, false).unwrap();
        let ended = ending(|| {
            subject.misplace(base);
            panic!("taken for {:?}", subject.call("load", 8));
        });
        assert_eq!(ended, Ok(HANDLED), "{base:#x}");
    }
}

/// The store is that of the innermost entry: what another one may do, further out on
/// the same stack, is no excuse either, nor is it forgotten.
#[test]
fn the_innermost_store_counts() {
    if !is_alone("the_innermost_store_counts") {
        return;
    }
    let mut inner = Subject::new(Bounds::Guard, false).unwrap();
    let base = nowhere();
    let text = r#"(module (import "" "f" (func $f)) (memory i64 1)
        (func (export "g") (param i64) (call $f) (i32.store (local.get 0) (i32.const 1))))"#;
    let config = Config::new().allow_unchecked(true);
    let engine = Engine::new(&config.bounds(BoundsChoice::Named(Bounds::None))).unwrap();
    let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    for is_planted in [false, true] {
        let ended = ending(|| {
            let mut store = Store::new(&engine, ());
            let inner = &raw mut inner as usize;
            let f = move |_: Caller<'_, ()>| -> Result<()> {
                // SAFETY: alive, and nobody else's during the call below.
                let inner = unsafe { &mut *(inner as *mut Subject) };
                let outside = Some(TrapCode::MemoryOutOfBounds);
                assert_eq!(inner.call("load", 0x7fff_0000), outside);
                if is_planted {
                    inner.misplace(base);
                    inner.call("load", 0);
                }
                Ok(())
            };
            let mut linker = Linker::new(&engine);
            linker.func_wrap("", "f", f).unwrap();
            let instance = linker.instantiate(&mut store, &module).unwrap();
            let g = instance.get_func(&store, "g").unwrap();
            let g = g.typed::<i64, ()>(&store).unwrap();
            let trap = g.call(&mut store, 1 << 62).unwrap_err();
            assert_eq!(trap.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
        });
        let expected = if is_planted {
            Err(libc::SIGSEGV)
        } else {
            Ok(0)
        };
        assert_eq!(ended, expected);
    }
}
