//! Records and modules of which something is left out.

use std::collections::BTreeMap;

use fathom_replay::program::{candidate, replay};
use fathom_replay::record::event::{Event, Events, Range, write};
use fathom_replay::record::{Given, Record};
use fathom_replay::reduce::{Body, Calls, has_defaults, own, with_empty};
use fathom_rewrite::shape::Shape;

const MODULE: &str = r#"(module
  (import "env" "f" (func $f))
  (memory 1)
  (func (export "run") (param i32) (call $f)))"#;

fn call(arg: u64) -> Event<'static> {
    let args = vec![arg];
    Event::Call { func: 1, args }
}

fn wrote(bytes: &[u8]) -> Event<'_> {
    Event::Write {
        memory: 0,
        address: 64,
        bytes,
    }
}

fn record(wasm: &[u8], events: &[Event<'_>]) -> Record {
    let mut bytes = Vec::new();
    events.iter().for_each(|event| write(event, &mut bytes));
    let count = events.len() as u64;
    Record::new(wasm, "a host".to_owned(), Given::default(), bytes, count)
}

/// Two calls, one of them with a call within, and a last one that ends so.
fn whole(last: &[Event<'static>]) -> Vec<Event<'static>> {
    let asks = Event::Imported { func: 0, hash: 1 };
    let answers = Event::Return { results: vec![] };
    let back = Event::Returned { hash: 2 };
    let nested = [call(2), asks.clone(), wrote(b"in"), call(3), back.clone()];
    let ranges = vec![Range {
        memory: 0,
        start: 0,
        bytes: 1 << 16,
    }];
    let parts: [&[Event<'_>]; 6] = [
        &[
            Event::Begin,
            wrote(b"a"),
            wrote(b"b"),
            call(1),
            back.clone(),
        ],
        &nested,
        &[answers, back, wrote(b"c"), call(4)],
        last,
        &[wrote(b"d")],
        &[Event::End { ranges, hash: 3 }],
    ];
    parts.concat()
}

/// The numbers that functions are called with.
fn called(record: &Record) -> Vec<u64> {
    let mut events = Events::new(&record.events);
    let all = std::iter::from_fn(|| events.read().unwrap());
    let of_calls = all.filter_map(|event| match event {
        Event::Call { args, .. } => Some(args[0]),
        _ => None,
    });
    of_calls.collect()
}

#[test]
fn a_record_is_taken_apart_and_put_together_again() {
    let wasm = wat::parse_str(MODULE).unwrap();
    let record = record(&wasm, &whole(&[Event::Returned { hash: 3 }]));
    let checked = replay(&record, &wasm).unwrap().checked;
    let calls = Calls::of(&record, &checked).unwrap();
    // Changes, calls, and changes behind the last one.
    assert_eq!((calls.all().len(), calls.count(&calls.all())), (6, 3));
    let again = calls.keeping(&calls.all());
    assert_eq!(
        (&again.header, &again.events),
        (&record.header, &record.events)
    );
    for mask in 0..64_u32 {
        let some: Vec<usize> = (0..6).filter(|part| mask >> part & 1 == 1).collect();
        let fewer = calls.keeping(&some);
        let made = candidate(&fewer, &wasm, None).unwrap();
        let wanted = [&[][..], &[1], &[2, 3], &[], &[4], &[]];
        let wanted: Vec<u64> = some
            .iter()
            .flat_map(|part| wanted[*part].to_vec())
            .collect();
        assert_eq!(called(&fewer), wanted);
        assert!(
            made.answer
                .starts_with(&format!("fathom replay: {} calls in, ", wanted.len()))
        );
    }
}

#[test]
fn what_is_not_replayed_is_no_part() {
    let wasm = wat::parse_str(MODULE).unwrap();
    let trapped = record(&wasm, &whole(&[Event::Trapped]));
    let checked = replay(&trapped, &wasm).unwrap().checked;
    let calls = Calls::of(&trapped, &checked).unwrap();
    assert_eq!(calls.count(&calls.all()), 2);
    assert_eq!(called(&calls.keeping(&calls.all())), [1, 2, 3]);
    // Within a call of the host's: the call around it is replayed as far.
    let asks = Event::Imported { func: 0, hash: 1 };
    let inner = [asks, call(5), Event::Trapped, Event::Throw, Event::Threw];
    let nested = record(&wasm, &whole(&inner));
    let checked = replay(&nested, &wasm).unwrap().checked;
    let calls = Calls::of(&nested, &checked).unwrap();
    let kept = calls.keeping(&calls.all());
    assert_eq!(called(&kept), [1, 2, 3, 4, 5]);
    let made = candidate(&kept, &wasm, Some(7)).unwrap();
    assert_eq!(made.answer, "fathom replay: 4 calls in, 2 out, answer 7\n");
}

#[test]
fn functions_made_empty_leave_a_valid_module() {
    let text = r#"(module
      (import "env" "f" (func $f (result i32)))
      (table 4 funcref) (elem (i32.const 0) $a $c)
      (func $a (export "a") (param i64) (result i32 i64 f32 f64 v128 funcref externref)
        (local i32) unreachable)
      (func $b (result (ref func)) (ref.func $a))
      (func $c (param i32) (drop (call $f)))
      (memory 1) (data (i32.const 0) "FUNC"))"#;
    let wasm = wat::parse_str(text).unwrap();
    let shape = Shape::of(&wasm).unwrap();
    assert_eq!(own(&shape), [1, 2, 3]);
    let defaults = own(&shape)
        .into_iter()
        .map(|func| has_defaults(&shape, func));
    assert_eq!(Vec::from_iter(defaults), [true, false, true]);
    assert_eq!(with_empty(&wasm, &shape, &BTreeMap::new()).unwrap(), wasm);
    let kinds = [None, Some(Body::Trap), Some(Body::Defaults)];
    for bodies in kinds.iter().flat_map(|a| kinds.map(|c| [*a, kinds[1], c])) {
        let bodies = (1..)
            .zip(bodies)
            .filter_map(|(func, body)| Some((func, body?)));
        let smaller = with_empty(&wasm, &shape, &bodies.collect()).unwrap();
        let mut validator = wasmparser::Validator::new();
        validator.validate_all(&smaller).unwrap();
        let made = Shape::of(&smaller).unwrap();
        assert_eq!(
            (made.funcs, made.exports),
            (shape.funcs.clone(), shape.exports.clone())
        );
    }
}
