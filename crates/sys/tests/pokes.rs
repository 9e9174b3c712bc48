//! Many threads that poke one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use fathom_sys::{fault, poke};

const POKERS: usize = 16;
const POKES: usize = 20_000;

/// A thread that no engine has made ready has the alternate stack that Rust gave it, which
/// has room for two signals, not for as many as are sent.
#[test]
fn pokes_do_not_pile_up() {
    fault::install(|_| false).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let is_over = &is_over;
        scope.spawn(move || {
            sender.send(poke::ThreadId::current()).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        let poked = receiver.recv().unwrap();
        let poker = move || (0..POKES).for_each(|_| poke::poke(poked));
        let pokers: Vec<_> = (0..POKERS).map(|_| scope.spawn(poker)).collect();
        for poker in pokers {
            poker.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
