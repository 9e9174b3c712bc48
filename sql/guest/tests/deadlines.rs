//! Calls end by their deadlines, whatever calls there were before.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use fathom_guest::{Guest, Options, Pool};

fn pool(deadline: Duration) -> Arc<Pool> {
    let module = r#"(module
        (memory (export "memory") 1)
        (func (export "fathom_reserve") (param i32) (result i32) i32.const 8)
        (func (export "done") (result i32) i32.const 7)
        (func (export "spin") (result i32) (loop br 0) unreachable))"#;
    let options = Options {
        deadline,
        ..Options::default()
    };
    Arc::new(Pool::new(wat::parse_str(module).unwrap(), options).unwrap())
}

fn ends(mut guest: Guest) {
    let begun = Instant::now();
    let error = guest.address("spin").unwrap_err();
    assert!(error.contains("longer than its deadline"), "{error}");
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

/// The thread sleeps for the deadline of a call that ended, which is longer or shorter.
#[test]
fn a_deadline_holds_after_others() {
    let (long, short) = (
        pool(Duration::from_secs(60)),
        pool(Duration::from_millis(20)),
    );
    let mut guest = long.take().unwrap();
    assert_eq!(guest.address("done"), Ok(7));
    ends(short.take().unwrap());
    for _ in 0..1000 {
        assert_eq!(guest.address("done"), Ok(7));
    }
    let mut quick = short.take().unwrap();
    assert_eq!(quick.address("done"), Ok(7));
    // Its time passes while nothing runs: it is not the next call's.
    thread::sleep(Duration::from_millis(50));
    assert_eq!(guest.address("done"), Ok(7));
    assert_eq!(quick.address("done"), Ok(7));
    ends(quick);
}

#[test]
fn deadlines_hold_at_once() {
    let times = [30, 10, 20, 40].map(Duration::from_millis);
    thread::scope(|scope| {
        for time in times {
            scope.spawn(move || ends(pool(time).take().unwrap()));
        }
    });
}
