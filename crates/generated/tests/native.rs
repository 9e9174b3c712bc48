//! Random sequences of calls, and the same by native system calls on a twin folder,
//! and nothing lost. Many more: `fuzz/README.md`.

use fathom_generated::wasi;

const SEQUENCES: u64 = 200;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

/// One test only: it counts the descriptors of the process.
#[test]
fn calls_do_what_the_kernel_does() {
    let forwarder = wasi::Forwarder::new();
    let (mut calls, mut succeeded) = (0, 0);
    let before = descriptors();
    for seed in 0..SEQUENCES {
        match wasi::sequence(&forwarder, seed) {
            Ok(ran) => {
                calls += ran.calls;
                succeeded += ran.succeeded;
            }
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    assert_eq!(descriptors(), before, "descriptors of the host are lost");
    // Neither all errors nor all successes would say much.
    assert!(calls > SEQUENCES * 300, "{calls} calls");
    assert!(
        succeeded * 5 > calls && succeeded * 5 < calls * 4,
        "{succeeded} of {calls}"
    );
}
