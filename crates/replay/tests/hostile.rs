//! Records that somebody made to do harm, or that went through something: one clear line
//! each, and nothing is run.

use fathom_replay::program::{ReplayError, replay};
use fathom_replay::record::check::DEPTH_MAX;
use fathom_replay::record::event::{Event, Events, Range, Reference, write};
use fathom_replay::record::{Given, Record, Sized, Value};

/// One import of each kind, a function that takes and returns.
const MODULE: &str = r#"(module
  (import "env" "f" (func $f (param i32) (result i64)))
  (import "env" "memory" (memory 1 4))
  (import "env" "table" (table 2 funcref))
  (import "env" "base" (global i32))
  (global $own (mut f64) (f64.const 0))
  (func (export "run") (param i32) (result i64) (call $f (local.get 0))))"#;

fn module() -> Vec<u8> {
    wat::parse_str(MODULE).unwrap()
}

fn sized(size: u64, max: u64) -> Sized {
    Sized {
        index: 0,
        size,
        max: Some(max),
    }
}

fn given() -> Given {
    Given {
        memories: vec![sized(1, 4)],
        tables: vec![sized(2, 10)],
        globals: vec![Value { index: 0, bits: 7 }],
        functions: Vec::new(),
    }
}

/// A record of these events.
fn record(events: &[Event<'_>]) -> Record {
    let mut bytes = Vec::new();
    for event in events {
        write(event, &mut bytes);
    }
    let count = events.len() as u64;
    Record::new(&module(), "a host".to_owned(), given(), bytes, count)
}

fn call(arg: u64) -> Event<'static> {
    Event::Call {
        func: 1,
        args: vec![arg],
    }
}

fn end() -> Event<'static> {
    Event::End {
        ranges: Vec::new(),
        hash: 0,
    }
}

fn imported() -> Event<'static> {
    Event::Imported { func: 0, hash: 1 }
}

fn results(value: u64) -> Event<'static> {
    Event::Return {
        results: vec![value],
    }
}

/// A call that went well, with these events while the host ran.
fn during<'a>(events: Vec<Event<'a>>) -> Vec<Event<'a>> {
    let mut all = vec![Event::Begin, call(1), imported()];
    all.extend(events);
    all.extend([results(5), Event::Returned { hash: 2 }, end()]);
    all
}

fn refusal(record: &Record, wasm: &[u8]) -> String {
    let error = replay(record, wasm).expect_err("it is refused");
    let line = error.to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

#[test]
fn what_is_whole_is_replayed() {
    let record = record(&during(Vec::new()));
    let made = replay(&record, &module()).unwrap();
    assert_eq!(made.answer, "fathom replay: 1 calls in, 1 out, answer 0\n");
    let mut validator = wasmparser::Validator::new();
    validator.validate_all(&made.wasm).unwrap();
}

/// Each is refused, with this line.
fn refused(cases: &[(Vec<Event<'_>>, &str)]) {
    for (events, said) in cases {
        assert_eq!(refusal(&record(events), &module()), *said);
    }
}

#[test]
fn what_stands_where_it_cannot_is_refused() {
    refused(&[
        (vec![], "event 0 is the last, and is not the end"),
        (
            vec![Event::Begin],
            "event 1 is the last, and is not the end",
        ),
        (vec![end()], "event 1 stands in front of the beginning"),
        (
            vec![Event::Begin, Event::Begin, end()],
            "event 2 begins a second time",
        ),
        (
            vec![Event::Begin, end(), end()],
            "event 3 stands behind the end",
        ),
        (vec![call(1)], "event 1 stands in front of the beginning"),
    ]);
}

#[test]
fn calls_that_cannot_have_been_are_refused() {
    refused(&[
        (
            vec![Event::Begin, results(1)],
            "event 2 leaves a function of the host, and none was called",
        ),
        (
            vec![Event::Begin, Event::Throw],
            "event 2 leaves a function of the host, and none was called",
        ),
        (
            vec![Event::Begin, imported()],
            "event 2 is the guest's, and the host runs",
        ),
        (
            vec![Event::Begin, call(1), call(1)],
            "event 3 is the host's, and the guest runs",
        ),
        (
            vec![Event::Begin, call(1), end()],
            "event 3 is the host's, and the guest runs",
        ),
        (
            vec![Event::Begin, call(1 << 32)],
            "event 2 gives a function what it does not take",
        ),
        (
            vec![
                Event::Begin,
                Event::Call {
                    func: 9,
                    args: vec![],
                },
            ],
            "event 2 calls a function that there is not",
        ),
        (
            vec![Event::Begin, call(1), Event::Imported { func: 1, hash: 0 }],
            "event 3 calls a function that is not the host's",
        ),
        (
            vec![
                Event::Begin,
                call(1),
                imported(),
                Event::Return { results: vec![] },
            ],
            "event 4 returns what the function does not",
        ),
    ]);
}

#[test]
fn changes_that_cannot_have_been_are_refused() {
    let write = |memory, address| Event::Write {
        memory,
        address,
        bytes: b"x",
    };
    refused(&[
        (
            during(vec![write(1, 0)]),
            "event 4 is of a memory that there is not",
        ),
        (
            during(vec![write(0, 1 << 32)]),
            "event 4 is outside of every memory",
        ),
        (
            during(vec![write(0, u64::MAX)]),
            "event 4 is outside of every memory",
        ),
        (
            during(vec![Event::GrowMemory {
                memory: 0,
                pages: 1 << 40,
            }]),
            "event 4 grows a memory as none can be",
        ),
        (
            during(vec![Event::SetElement {
                table: 7,
                index: 0,
                value: Reference::Null,
            }]),
            "event 4 is of a table that there is not",
        ),
        (
            during(vec![Event::SetElement {
                table: 0,
                index: 0,
                value: Reference::Func(99),
            }]),
            "event 4 gives a table what it cannot have",
        ),
        (
            during(vec![Event::GrowTable {
                table: 0,
                elements: u64::MAX,
                value: Reference::Null,
            }]),
            "event 4 gives a table what it cannot have",
        ),
        (
            during(vec![Event::SetGlobal {
                global: 0,
                value: 1,
            }]),
            "event 4 sets a global as it cannot be",
        ),
    ]);
}

#[test]
fn ranges_that_no_memory_has_are_refused() {
    let range = |start, bytes| Event::End {
        ranges: vec![Range {
            memory: 0,
            start,
            bytes,
        }],
        hash: 0,
    };
    refused(&[
        (
            vec![Event::Begin, range(0, u64::MAX)],
            "event 2 has ranges that are no words",
        ),
        (
            vec![Event::Begin, range(u64::MAX - 3, 4)],
            "event 2 is outside of every memory",
        ),
    ]);
}

#[test]
fn calls_within_calls_end_somewhere() {
    let nested = |depth: usize| {
        let mut events = vec![Event::Begin];
        for _ in 0..depth {
            events.extend([call(1), imported()]);
        }
        for _ in 0..depth {
            events.extend([results(1), Event::Returned { hash: 1 }]);
        }
        events.push(end());
        record(&events)
    };
    assert!(replay(&nested(1000), &module()).is_ok());
    let said = refusal(&nested(DEPTH_MAX), &module());
    assert_eq!(said, "event 10002 is a call within 10000 others");
}

/// A change of what a header says was given.
type Change = fn(&mut Given);

#[test]
fn a_header_that_does_not_fit_the_module_is_refused() {
    let whole = record(&during(Vec::new()));
    let with = |change: Change| {
        let mut record = whole.clone();
        change(&mut record.header.given);
        refusal(&record, &module())
    };
    let begins = "its header does not fit the module: ";
    let cases: [(Change, &str); 7] = [
        (
            |given| given.memories.clear(),
            "it imports 1 of kind memory, and 0 were given",
        ),
        (
            |given| given.memories[0] = sized(0, 4),
            "memory 0 had 0, and 1 to 65536 can be",
        ),
        (
            |given| given.memories[0] = sized(1 << 20, 1 << 21),
            "memory 0 had 1048576, and 1 to 65536 can be",
        ),
        (
            |given| given.tables[0] = sized(1 << 30, 1 << 30),
            "table 0 had 1073741824, and 2 to 10000000 can be",
        ),
        (
            |given| given.globals.clear(),
            "it imports 1 globals, and 0 were given",
        ),
        (
            |given| given.globals[0].bits = 1 << 40,
            "global 0 was given what it cannot have",
        ),
        (
            |given| given.functions = vec![77],
            "a function of the host has a type that it does not have",
        ),
    ];
    for (change, said) in cases {
        assert_eq!(with(change), format!("{begins}{said}"));
    }
}

#[test]
fn a_record_of_another_module_is_refused() {
    let record = record(&during(Vec::new()));
    let other = wat::parse_str("(module)").unwrap();
    let said = refusal(&record, &other);
    assert!(
        said.starts_with("it was recorded of another module: one of "),
        "{said}"
    );
    let mut same_size = module();
    *same_size.last_mut().unwrap() ^= 1;
    let said = refusal(&record, &same_size);
    assert!(said.ends_with(" as well, which are others"), "{said}");
}

/// The file of a record, changed.
fn read(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = record(&during(Vec::new())).to_bytes().unwrap();
    change(&mut bytes);
    let length = bytes.len() as u64;
    let line = Record::read(&bytes[..], length).unwrap_err().to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

#[test]
fn a_damaged_file_is_refused() {
    let replaced = |from: &str, to: &str| {
        read(|bytes| {
            let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
            let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
            assert!(header.contains(from));
            let header = header.replace(from, to);
            bytes.splice(..end, header.into_bytes());
        })
    };
    assert_eq!(
        read(|bytes| bytes.truncate(bytes.len() - 3)),
        "cut off: it has 13 bytes of events, and its header says 16"
    );
    assert_eq!(
        read(|bytes| bytes.extend([0; 4])),
        "not a record alone: it has 20 bytes of events, and its header says 16"
    );
    // Two events that are as long change places.
    let reordered = read(|bytes| {
        let last = bytes.len() - 1;
        bytes.swap(last, last - 3);
    });
    assert_eq!(
        reordered,
        "damaged: its events are not those that were recorded"
    );
    let large = replaced(
        "\"events\":{\"bytes\":16",
        "\"events\":{\"bytes\":10000000000",
    );
    assert_eq!(
        large,
        "it has 10000000000 bytes of events; more than 1073741824 cannot be replayed"
    );
    assert_eq!(
        replaced("\"fathom_record\":1", "\"fathom_record\":2"),
        "a record of version 2; this program reads version 1"
    );
    let unknown = replaced("\"host\":", "\"guest\":1,\"host\":");
    assert!(
        unknown.starts_with(
            "no record: its first line is not the header of one (unknown field `guest`"
        ),
        "{unknown}"
    );
    for other in [
        &b""[..],
        b"\0asm\x01\0\0\0",
        b"{",
        b"{}\n",
        b"null\n",
        &[b'{'; 2_000_000],
    ] {
        let line = Record::read(other, other.len() as u64)
            .unwrap_err()
            .to_string();
        assert!(line.starts_with("no record: its first line"), "{line}");
    }
}

#[test]
fn numbers_that_are_too_long_are_no_event() {
    let with = |bytes: Vec<u8>| {
        let record = Record::new(&module(), String::new(), given(), bytes, 1);
        refusal(&record, &module())
    };
    let huge = [0xff; 12];
    for bytes in [
        vec![1],
        vec![99],
        [&[1, 0][..], &huge].concat(),
        // A length of all there could be, of bytes that are not there.
        [
            &[1, 0, 0][..],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ]
        .concat(),
        // As many values as there could be, and as many ranges.
        [&[6, 1][..], &[0xff, 0xff, 0xff, 0xff, 0x0f]].concat(),
        [&[20][..], &[0xff, 0xff, 0xff, 0xff, 0x0f]].concat(),
    ] {
        assert_eq!(with(bytes), "event 1 cannot be read");
    }
}

/// What a host can have changed, each once.
fn changes() -> Vec<Event<'static>> {
    vec![
        Event::Write {
            memory: 0,
            address: 300,
            bytes: b"abc",
        },
        Event::GrowMemory {
            memory: 0,
            pages: 2,
        },
        Event::SetElement {
            table: 0,
            index: 1,
            value: Reference::Func(1),
        },
        Event::GrowTable {
            table: 0,
            elements: 3,
            value: Reference::Host,
        },
        Event::SetGlobal {
            global: 1,
            value: u64::MAX,
        },
    ]
}

#[test]
fn what_is_written_is_read_again() {
    let more = [call(3), Event::Threw, call(4), Event::Trapped];
    let events = during([changes(), more.to_vec()].concat());
    let record = record(&events);
    let mut read = Events::new(&record.events);
    let again: Vec<_> = std::iter::from_fn(|| read.read().unwrap()).collect();
    assert_eq!(again, events);
}

/// A record of everything, bytes of it changed at random: a line or a valid module.
#[test]
fn whatever_is_changed_is_refused_or_makes_a_valid_module() {
    let more = [
        call(3),
        imported(),
        Event::Throw,
        Event::Threw,
        call(4),
        Event::Returned { hash: 7 },
    ];
    let events = during([changes(), more.to_vec()].concat());
    let whole = record(&events);
    let wasm = module();
    let (mut seed, mut made) = (1u64, 0);
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for _ in 0..20_000 {
        let mut bytes = whole.events.clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        let record = Record::new(&wasm, String::new(), given(), bytes, whole.header.count);
        match replay(&record, &wasm) {
            Ok(replay) => {
                let features = wasmparser::WasmFeatures::all();
                let mut validator = wasmparser::Validator::new_with_features(features);
                validator.validate_all(&replay.wasm).unwrap();
                made += 1;
            }
            Err(error) => assert_eq!(error.to_string().lines().count(), 1),
        }
    }
    assert!(made > 1000, "{made}");
}

#[test]
fn modules_that_cannot_be_replayed_say_why() {
    let cases = [
        (
            r#"(module (import "e" "m" (memory 1 1 shared)))"#,
            "its memory is shared between threads",
        ),
        (
            "(module (memory 0 1) (func (export \"f\")))",
            "its memory has no page at first, through which a record is read",
        ),
    ];
    for (text, said) in cases {
        let wasm = wat::parse_str(text).unwrap();
        let record = Record::new(&wasm, String::new(), Given::default(), Vec::new(), 0);
        assert_eq!(refusal(&record, &wasm), said);
    }
    let not_one = b"\0asm\x01\0\0\0\xff";
    let record = Record::new(not_one, String::new(), Given::default(), Vec::new(), 0);
    assert!(matches!(
        replay(&record, not_one),
        Err(ReplayError::Malformed(_))
    ));
}
