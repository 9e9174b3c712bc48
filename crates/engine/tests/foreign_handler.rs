//! Faults that are not Wasm's go to the handler that was there before.
//!
//! One test and no other in this file: a signal handler belongs to the process,
//! and this one has to be installed before the engine's.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_engine::*;

const TRAPS: &str = r#"(module (memory (export "memory") 2)
    (func (export "load") (param i32) (result i32) local.get 0 i32.load))"#;

fn instance(bounds: Bounds) -> (Store<()>, Instance) {
    let engine = Engine::new(&Config::new().bounds(BoundsChoice::Named(bounds))).unwrap();
    let module = Module::new(&engine, wat::parse_str(TRAPS).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    (store, instance)
}

static FOREIGN: AtomicUsize = AtomicUsize::new(0);

/// Counts, and opens the page so that the access succeeds when it runs again.
extern "C" fn foreign(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    FOREIGN.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the kernel passes a valid pointer; the page is this test's own.
    unsafe {
        let page = (*info).si_addr() as usize & !4095;
        libc::mprotect(page as *mut _, 4096, libc::PROT_READ);
    }
}

#[test]
fn a_foreign_handler_keeps_its_faults_and_wasm_its_traps() {
    // SAFETY: the handler has the signature SA_SIGINFO asks for; the page is
    // mapped, inaccessible and ours.
    let page = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = foreign as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        assert_eq!(
            libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut()),
            0
        );
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0)
    };
    let (mut store, i) = instance(Bounds::Guard);
    let load = i
        .get_func(&store, "load")
        .unwrap()
        .typed::<i32, i32>(&store)
        .unwrap();
    for round in 0..3 {
        let error = load.call(&mut store, i32::MAX).unwrap_err();
        assert_eq!(error.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
        assert_eq!(FOREIGN.load(Ordering::Relaxed), round);
        // SAFETY: faults; the foreign handler opens the page.
        unsafe {
            assert_eq!(page.cast::<u8>().read_volatile(), 0);
            libc::mprotect(page, 4096, libc::PROT_NONE);
        }
        assert_eq!(FOREIGN.load(Ordering::Relaxed), round + 1);
        assert_eq!(load.call(&mut store, 0).unwrap(), 0);
    }
}
