//! Instances that are used again: whatever one did, the next one begins as a new one does.

use std::sync::Arc;

use fathom_guest::{Options, Pool};

fn pool(bounds: &str) -> Arc<Pool> {
    // `count` remembers in memory, in what it has grown by, and in a global.
    let module = r#"(module
        (memory (export "memory") 1 9)
        (global $calls (mut i32) (i32.const 0))
        (func (export "fathom_reserve") (param i32) (result i32) i32.const 8)
        (func (export "count") (result i32)
          (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
          (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))
          (if (i32.eq (memory.size) (i32.const 1)) (then (drop (memory.grow (i32.const 4)))))
          (i32.store (i32.const 300000) (i32.add (i32.load (i32.const 300000)) (i32.const 1)))
          (i32.add (global.get $calls)
            (i32.add (i32.load (i32.const 64)) (i32.load (i32.const 300000)))))
        (func (export "fail") (result i32) (drop (call $spoil)) unreachable)
        (func $spoil (result i32)
          (memory.fill (i32.const 0) (i32.const 7) (i32.const 65536)) (i32.const 1)))"#;
    let options = Options {
        bounds: bounds.parse().unwrap(),
        reuse: false,
        ..Options::default()
    };
    Arc::new(Pool::new(wat::parse_str(module).unwrap(), options).unwrap())
}

#[test]
fn what_an_instance_did_is_gone_with_it() {
    for bounds in ["auto", "guard", "trap", "shadow"] {
        let pool = pool(bounds);
        for _ in 0..3 {
            let mut guest = pool.take().unwrap();
            assert_eq!(guest.address("count"), Ok(3), "{bounds}");
            assert_eq!(guest.address("count"), Ok(6), "{bounds}");
            pool.give(guest);
            let mut guest = pool.take().unwrap();
            let failure = guest.address("fail").unwrap_err();
            assert!(failure.contains("unreachable"), "{failure}");
        }
    }
}
