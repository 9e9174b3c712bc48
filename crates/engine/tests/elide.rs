//! Leaving checks out changes nothing that a program or its host can see.
//!
//! Functions are made up from a seed (`common/loops.rs`). Each is called
//! with numbers from around everything that a reservation depends on, with and
//! without the elision of checks and guards against speculation; results, traps, the
//! place of the trap, what was counted on the way and the memory's bytes must be
//! the same.

#[path = "common/loops.rs"]
mod loops;

use fathom_engine::*;
use loops::{Numbers, PARAMS, module};

/// What can be seen of a call. The place of a trap is not compared byte by byte:
/// where the code generator makes a load part of the instruction that uses what
/// is loaded, a fault has that one's.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    trap: Option<TrapCode>,
    seen: u64,
    steps: u64,
    memory: Vec<u8>,
}

struct Subject {
    module: Module,
}

impl Subject {
    fn new(bounds: Bounds, (elide, spectre): (Elide, bool), wasm: &[u8]) -> Subject {
        let config = Config::new()
            .bounds(BoundsChoice::Named(bounds))
            .elide(elide)
            .spectre(spectre);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, wasm).unwrap();
        Subject { module }
    }

    fn call(&self, args: &[Val]) -> Outcome {
        let mut store = Store::new(self.module.engine(), ());
        let given = self.module.imports().map(|(_, _, ty)| match ty {
            ExternType::Memory(ty) => MemoryType {
                min: 1,
                max: Some(3),
                ..ty
            },
            other => panic!("{other}"),
        });
        let given: Vec<Extern> = given
            .map(|ty| Extern::Memory(Memory::new(&mut store, ty).unwrap()))
            .collect();
        let instance = Instance::new(&mut store, &self.module, &given).unwrap();
        let memory = instance.get_memory(&store, "memory").unwrap();
        // Bytes that are no zeros, to be loaded as parts of indices.
        for (i, byte) in memory.data_mut(&mut store).iter_mut().enumerate() {
            *byte = (i * 7 + i / 251) as u8;
        }
        let run = instance.get_func(&store, "run").unwrap();
        let result = run.call(&mut store, args, &mut []);
        let trap = result.err().map(|error| {
            let trap = error.trap().unwrap_or_else(|| panic!("{error}"));
            trap.code
        });
        let global = |store: &Store<()>, name| match instance.get_export(store, name) {
            Some(Extern::Global(global)) => match global.get(store) {
                Val::I64(value) => value.cast_unsigned(),
                other => panic!("{other:?}"),
            },
            _ => panic!("no global {name}"),
        };
        Outcome {
            trap,
            seen: global(&store, "seen"),
            steps: global(&store, "steps"),
            memory: memory.data(&store).to_vec(),
        }
    }
}

/// Numbers around what matters.
fn argument(numbers: &mut Numbers, memory64: bool) -> Val {
    let near = numbers.one_of(&[-24, -16, -9, -8, -7, -1, 0, 0, 0, 1, 7, 8, 16, 64, 4096]);
    match memory64 {
        true => {
            let around = numbers.one_of(&[
                0,
                0,
                0,
                0,
                1024,
                1024,
                32_768,
                65_536,
                65_536,
                131_072,
                1 << 28,
                -(1 << 28),
                1 << 31,
                1 << 32,
                (1 << 32) + 65_536,
                1 << 36,
                1 << 47,
                i64::MIN,
            ]);
            Val::I64(around + near.max(if around == i64::MIN { 0 } else { near }))
        }
        false => {
            let around = numbers.one_of(&[
                0,
                0,
                0,
                0,
                1024,
                1024,
                32_768,
                65_536,
                65_536,
                131_072,
                1 << 28,
                -(1 << 28),
                i32::MIN,
            ]);
            Val::I32(around.wrapping_add(near as i32))
        }
    }
}

fn compare(seeds: std::ops::Range<u64>, bounds: Bounds, memory64: bool) {
    let mut trapped = 0;
    let mut calls = 0;
    for seed in seeds {
        let text = module(seed, memory64);
        let wasm = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let subject = |choices| Subject::new(bounds, choices, &wasm);
        let plain = subject((Elide::Off, false));
        let others = others(seed).into_iter();
        let others: Vec<_> = others.map(|choices| (choices, subject(choices))).collect();
        let mut numbers = Numbers(seed + 1);
        for _ in 0..10 {
            let args: Vec<Val> = (0..PARAMS)
                .map(|_| argument(&mut numbers, memory64))
                .collect();
            let expected = plain.call(&args);
            calls += 1;
            trapped += u32::from(expected.trap.is_some());
            for ((elide, spectre), subject) in &others {
                let found = subject.call(&args);
                if found != expected {
                    let differs = found
                        .memory
                        .iter()
                        .zip(&expected.memory)
                        .position(|(a, b)| a != b);
                    panic!(
                        "seed {seed} under {bounds}, elide {elide}, spectre {spectre}, {args:?}:\n\
                         trap {:?}, expected {:?}; seen {} and {}; steps {} and {}; memory \
                         differs at {differs:?}\n{text}",
                        found.trap,
                        expected.trap,
                        found.seen,
                        expected.seen,
                        found.steps,
                        expected.steps
                    );
                }
            }
        }
    }
    // Neither kind of end is missing.
    assert!(
        trapped > calls / 10 && trapped < calls * 19 / 20,
        "{trapped} of {calls} trapped"
    );
}

/// What is compared with every check and no guard: half of the modules with guards,
/// half without.
fn others(seed: u64) -> Vec<(Elide, bool)> {
    let spectre = seed.is_multiple_of(2);
    let choices = Elide::ALL.into_iter().map(|elide| (elide, spectre));
    choices
        .filter(|choice| *choice != (Elide::Off, false))
        .collect()
}

/// How many modules each case tries.
fn modules() -> u64 {
    let chosen = std::env::var("FATHOM_ELIDE_MODULES").ok();
    chosen.and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// Under every exact strategy, each with modules of its own.
fn compare_all(memory64: bool) {
    let all = Bounds::forms_for(memory64).filter(|b| b.guarantee() == Guarantee::Exact);
    for (number, bounds) in (0..).zip(all) {
        let config = Config::new().bounds(BoundsChoice::Named(bounds));
        match Engine::new(&config) {
            Ok(_) => {
                let first = number << 20;
                compare(first..first + modules(), bounds, memory64);
            }
            Err(error) => println!("SKIPPED under {bounds}: {error}"),
        }
    }
}

#[test]
fn nothing_changes_for_64_bit_memories() {
    compare_all(true);
}

#[test]
fn nothing_changes_for_32_bit_memories() {
    compare_all(false);
}

/// A memory of more than half of what 32 bits can name: a page and two GiB.
const HALF_PAGES: u32 = (1 << 15) + 1;

/// Accesses one after the other, whose indices are one number and constants of about half a turn;
/// the last is far beyond its index.
fn straight(numbers: &mut Numbers) -> String {
    let mut body = String::new();
    let before = numbers.below(3) + 2;
    for place in 0..=before {
        let constant = numbers.one_of(&[0, 8, 0x7fff_ffff, 0x7fff_fffe, -0x8000_0000]);
        let offset = match place == before {
            true => numbers.one_of(&[0xffff_fff0_u32, 0xffff_ffff]),
            false => numbers.one_of(&[0, 0, 8]),
        };
        let index = format!("(i32.add (local.get 0) (i32.const {constant}))");
        body += &match numbers.below(4) {
            0 => format!("(i32.store8 offset={offset} {index} (local.get $sum))"),
            _ => format!(
                "(local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31))
                   (i32.load8_u offset={offset} {index})))"
            ),
        };
    }
    format!(
        r#"(module (memory {HALF_PAGES} {HALF_PAGES}) (func (export "run") (param i32) (result i32)
            (local $sum i32) (local.set $sum (i32.const 1)) {body} (local.get $sum)))"#
    )
}

/// What calls with these arguments come to, one after the other in one store.
fn ends(bounds: Bounds, choices: (Elide, bool), wasm: &[u8], args: &[i32]) -> Vec<String> {
    let Subject { module } = Subject::new(bounds, choices, wasm);
    let mut store = Store::new(module.engine(), ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let run = instance.get_func(&store, "run").unwrap();
    let end = |arg: &i32| {
        let mut sum = [Val::I32(0)];
        match run.call(&mut store, &[Val::I32(*arg)], &mut sum) {
            Ok(()) => format!("{:?}", sum[0]),
            Err(error) => format!("{:?}", error.trap().unwrap().code),
        }
    };
    args.iter().map(end).collect()
}

/// Of two facts of one number each may mean another number that is congruent to it.
#[test]
fn what_is_known_of_congruent_numbers_is_not_put_together() {
    let exact = Bounds::forms_for(false).filter(|b| b.guarantee() == Guarantee::Exact);
    for bounds in exact.filter(|bounds| bounds.missing().is_none()) {
        let mut traps = 0;
        for seed in 0..3 * modules() {
            let mut numbers = Numbers(seed);
            let text = straight(&mut numbers);
            let wasm = wat::parse_str(&text).unwrap();
            let mut near = |around: i32| around.wrapping_add(numbers.below(9) as i32 - 4);
            let half = i32::MIN;
            let args = [half, half + 1, half + 0x1_0000, 0, -1, 0x1_0000].map(&mut near);
            let expected = ends(bounds, (Elide::Off, false), &wasm, &args);
            traps += expected.iter().filter(|end| end.contains("Bounds")).count();
            for elide in Elide::ALL {
                let choices = (elide, seed.is_multiple_of(4));
                let found = ends(bounds, choices, &wasm, &args);
                assert_eq!(
                    found, expected,
                    "seed {seed} under {bounds}, {choices:?}, {args:?}\n{text}"
                );
            }
        }
        assert!(traps > 0, "{bounds}");
    }
}
