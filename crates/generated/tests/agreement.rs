//! A small number of what the targets of `fuzz` run: our strategies against each other,
//! instructions at extreme values, what is rewritten, and bytes that are no module. Many more of
//! all, and wasmtime to agree with: `make fuzz`.

#[cfg(target_arch = "x86_64")]
use std::path::PathBuf;

use fathom_engine::{Bounds, CompileBudget, Config, Opt};
#[cfg(target_arch = "x86_64")]
use fathom_engine::{BoundsChoice, Codegen};
use fathom_generated::generate::{self, Stream};
use fathom_generated::instructions::Program;
use fathom_generated::observe::Ended;
use fathom_generated::ours::Ours;
#[cfg(target_arch = "x86_64")]
use fathom_generated::ours::ways;
use fathom_generated::rewrites::{self, Loops};
#[cfg(target_arch = "x86_64")]
use fathom_generated::throwing::{self, Case};
#[cfg(target_arch = "x86_64")]
use fathom_generated::{continuations, frames};
use fathom_generated::{copies, damage, limits, operands, referring};
use rayon::prelude::*;

const MODULES: u64 = 600;
const OBJECTS: u64 = 300;
/// A run of clang each, and that under two strategies.
#[cfg(target_arch = "x86_64")]
const BY_LLVM: u64 = 60;
/// Programs that hold references.
const REFERRING: u64 = 30;
/// Of the pairs of frames, so that each way to compile has its turn.
#[cfg(target_arch = "x86_64")]
const EVERY_PAIR: usize = 4;
const DAMAGED: u64 = 6000;
const INSTRUCTIONS: u64 = 60;
#[cfg(target_arch = "x86_64")]
const INSTRUCTIONS_BY_LLVM: u64 = 30;
const LIMITED: u64 = 800;
const CONTINUED: u64 = 250;
#[cfg(target_arch = "x86_64")]
const THROWING: u64 = 240;
const REWRITTEN: u64 = 40;
const COPIED: u64 = 60;
const WITH_OPERANDS: u64 = 60;

/// So many, or some of them where an emulator takes twenty times as long.
fn cases(count: u64) -> u64 {
    match std::env::var_os("FATHOM_EMULATOR").is_some_and(|it| !it.is_empty()) {
        true => count / 20,
        false => count,
    }
}

#[test]
fn exact_strategies_agree() {
    let modules = cases(MODULES);
    let mut engines = Ours::all_exact().expect("every exact strategy works here");
    engines.push(Ours::new(Bounds::Guard, Opt::None).expect("so does the fast compiler"));
    let plain = Config::new().compile_budget(CompileBudget::times(0));
    let plain = Ours::configured("budget 0".to_owned(), &plain);
    engines.push(plain.expect("so does what is compiled beyond the budget"));
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    let ran: u64 = (0..modules)
        .into_par_iter()
        .map(|seed| {
            let module = generate::from_seed(seed).expect("a module for every seed");
            let expected = engines[0].observe(&module);
            if let Some(Ended::Refused(why)) = &expected.instantiation {
                panic!("seed {seed}: refused: {why}");
            }
            for engine in engines[1..].iter().chain(in_turn(&ways, seed)) {
                if let Err(difference) = engine.observe(&module).agrees(&expected) {
                    panic!(
                        "seed {seed}, {} against {}: {difference}",
                        engine.name, engines[0].name
                    );
                }
            }
            u64::from(expected.instantiation.is_none())
        })
        .sum();
    assert!(ran > modules / 4, "only {ran} of {modules} modules ran");
}

/// With structures and arrays, whenever they are collected.
#[test]
fn collections_change_nothing() {
    let objects = cases(OBJECTS);
    let engines = Ours::all_collecting().expect("they work here");
    let mut engines = engines;
    engines.splice(0..0, Ours::all_exact().expect("so do these"));
    let ran: u64 = (0..objects)
        .into_par_iter()
        .map(|seed| {
            let module = generate::with_objects(seed).expect("a module for every seed");
            let expected = engines[0].observe(&module);
            if let Some(Ended::Refused(why)) = &expected.instantiation {
                panic!("seed {seed}: refused: {why}");
            }
            for engine in &engines[1..] {
                if let Err(difference) = engine.observe(&module).agrees(&expected) {
                    let (one, other) = (&engine.name, &engines[0].name);
                    panic!("seed {seed}, {one} against {other}: {difference}");
                }
            }
            u64::from(expected.instantiation.is_none())
        })
        .sum();
    assert!(ran > objects / 4, "only {ran} of {objects} modules ran");
}

/// By programs that hold references while others are made, and by LLVM, too, where it is.
#[test]
fn what_is_referred_to_is_there_whenever_objects_are_collected() {
    let mut engines = Ours::all_collecting().expect("they work here");
    #[cfg(target_arch = "x86_64")]
    engines.extend(llvm(BoundsChoice::Auto));
    let never = engines
        .iter()
        .position(|one| one.name == "never collecting");
    let never = engines.remove(never.expect("there is one that never collects"));
    (0..REFERRING).into_par_iter().for_each(|seed| {
        let mut stream = Stream::new(seed);
        let text = referring::module(&mut |end| stream.below(end));
        let module = wat::parse_str(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let expected = never.observe(&module);
        assert!(expected.instantiation.is_none(), "seed {seed}: it runs");
        for engine in &engines {
            if let Err(difference) = engine.observe(&module).agrees(&expected) {
                panic!("seed {seed}, {}: {difference}", engine.name);
            }
        }
    });
}

/// One of them, another for the next seed; nothing of none.
fn in_turn(all: &[Ours], seed: u64) -> Option<&Ours> {
    all.get(seed as usize % all.len().max(1))
}

/// What compiles, where it is; where not, that is said.
#[cfg(target_arch = "x86_64")]
fn zig() -> Option<PathBuf> {
    let zig = ways::zig();
    if zig.is_none() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
    }
    zig
}

/// The other code generator, where its compiler is; it is as slow as it is thorough.
#[cfg(target_arch = "x86_64")]
fn llvm(bounds: BoundsChoice) -> Option<Ours> {
    let config = Config::new()
        .bounds(bounds)
        .codegen(Codegen::Llvm)
        .collection_bytes(0)
        .clang(Some(zig()?));
    let engine = Ours::configured(format!("{bounds} --codegen llvm"), &config);
    Some(engine.expect("it works with this compiler"))
}

#[test]
#[cfg(target_arch = "x86_64")]
fn both_code_generators_agree() {
    let cranelift = Ours::new(Bounds::Guard, Opt::Speed).expect("the engine works here");
    for bounds in [BoundsChoice::Auto, BoundsChoice::Named(Bounds::Trap)] {
        let Some(llvm) = llvm(bounds) else { return };
        (0..BY_LLVM).into_par_iter().for_each(|seed| {
            let module = match seed.is_multiple_of(2) {
                true => generate::from_seed(seed),
                false => generate::with_objects(seed),
            };
            let module = module.expect("a module for every seed");
            let expected = cranelift.observe(&module);
            if let Err(difference) = llvm.observe(&module).agrees(&expected) {
                panic!("seed {seed}, {}: {difference}", llvm.name);
            }
        });
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn frames_of_any_shape_stay_on_their_stack() {
    let Some(zig) = zig() else { return };
    let pairs = frames::pairs(Some(zig)).expect("it works with this compiler");
    (0_u64..)
        .zip(&pairs)
        .step_by(EVERY_PAIR)
        .collect::<Vec<_>>()
        .into_par_iter()
        .for_each(|(seed, pair)| {
            let mut stream = Stream::new(seed);
            let (text, module) = frames::module(&mut |end| stream.below(end)).expect("a module");
            let seen = frames::check(pair, &module);
            let seen = seen.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
            assert!(seen.depths > seen.full, "seed {seed}: {seen:?}");
            println!("seed {seed}: {} functions left to Cranelift", seen.kept);
        });
}

#[test]
#[cfg(target_arch = "x86_64")]
fn both_code_generators_agree_on_instructions_at_extreme_values() {
    let cranelift = Ours::new(Bounds::Guard, Opt::Speed).expect("the engine works here");
    let Some(llvm) = llvm(BoundsChoice::Auto) else {
        return;
    };
    (0..INSTRUCTIONS_BY_LLVM)
        .into_par_iter()
        .for_each(|seed| agree_on_instructions(&[&cranelift, &llvm], seed));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn continuations_do_what_the_interpreter_says() {
    let engines = continuations::engines().expect("the engine works here");
    let switches: u64 = (0..CONTINUED)
        .into_par_iter()
        .map(|seed| {
            let mut stream = Stream::new(seed);
            let checked = continuations::check(&engines, &mut |end| stream.below(end));
            let (_, seen) = checked.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            seen.switches
        })
        .sum();
    assert!(switches > CONTINUED, "only {switches} switches");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn throwing_and_catching_does_what_the_interpreter_says() {
    let engines = throwing::engines().expect("the engine works here");
    let all: Vec<throwing::Seen> = (0..THROWING)
        .into_par_iter()
        .map(|seed| {
            let mut stream = Stream::new(seed);
            let case = Case::random(&mut |end| stream.below(end));
            let checked = case.check(&throwing::in_turn(&engines, seed));
            checked.unwrap_or_else(|why| panic!("seed {seed}: {why}"))
        })
        .collect();
    let sum = |of: fn(&throwing::Seen) -> u64| all.iter().map(of).sum::<u64>();
    let ends = [sum(|s| s.values), sum(|s| s.traps), sum(|s| s.exceptions)];
    let calls: u64 = ends.iter().sum();
    assert!(ends.iter().all(|some| *some > calls / 8), "{ends:?}");
    let (depths, full) = (sum(|s| s.depths), sum(|s| s.full));
    for (what, least, number) in [
        ("clauses entered", 2 * THROWING, sum(|s| s.numbers.caught)),
        (
            "of the older form",
            THROWING,
            sum(|s| s.numbers.caught_older),
        ),
        ("delegated", THROWING / 2, sum(|s| s.numbers.delegated)),
        ("raised again", THROWING / 2, sum(|s| s.numbers.again)),
        ("calls by the host", THROWING / 2, sum(|s| s.numbers.nested)),
        ("calls without room", depths / 4, full),
        ("calls with room", depths / 8, depths - full),
    ] {
        println!("{what}: {number}");
        assert!(number > least, "only {number} {what}");
    }
}

#[test]
fn many_operands_come_to_the_same() {
    let programs = cases(WITH_OPERANDS);
    let plain = Ours::plain().expect("strategy debug works here");
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    let trapped: usize = (0..programs)
        .into_par_iter()
        .map(|seed| {
            let mut stream = Stream::new(seed);
            let text = operands::module(&mut |end| stream.below(end));
            let module = wat::parse_str(&text).expect("it is well-formed");
            let expected = plain.observe(&module);
            assert_eq!(expected.instantiation, None, "seed {seed}");
            for turn in 0..3 {
                let engine = in_turn(&ways, seed + turn * (ways.len() as u64 / 3));
                let observed = engine.map_or_else(|| expected.clone(), |e| e.observe(&module));
                if let Err(difference) = observed.agrees(&expected) {
                    panic!("seed {seed}, {}: {difference}", engine.expect("one").name);
                }
            }
            expected.after_traps.len()
        })
        .sum();
    let calls = 12 * programs as usize;
    assert!((calls / 10..calls * 3 / 4).contains(&trapped), "{trapped}");
}

#[test]
fn small_copies_do_what_the_model_does() {
    let copied = cases(COPIED);
    let engines = copies::engines().expect("every exact strategy works here");
    let all: Vec<copies::Seen> = (0..copied)
        .into_par_iter()
        .map(|seed| {
            let mut stream = Stream::new(seed);
            let checked = copies::check(&engines, &mut |end| stream.below(end));
            checked.unwrap_or_else(|why| panic!("seed {seed}: {why}")).1
        })
        .collect();
    let sum = |of: fn(&copies::Seen) -> u64| all.iter().map(of).sum::<u64>();
    let (calls, trapped, moved) = (sum(|s| s.calls), sum(|s| s.trapped), sum(|s| s.moved));
    assert!(
        trapped > calls / 10 && trapped < calls * 9 / 10,
        "{trapped} of {calls} calls trapped"
    );
    assert!(moved > calls / 2, "only {moved} copies in {calls} calls");
}

#[test]
fn limits_hold() {
    let limited = cases(LIMITED);
    let engine = |bounds| {
        let config = fathom_engine::Config::new().opt(Opt::None);
        limits::engine(config.bounds(fathom_engine::BoundsChoice::Named(bounds)))
    };
    let engines = [Bounds::Trap, Bounds::Uffd, Bounds::Debug]
        .map(|bounds| engine(bounds).expect("it works here"));
    let all: Vec<limits::Numbers> = (0..limited)
        .into_par_iter()
        .map(|seed| {
            let module = generate::from_seed(seed).expect("a module for every seed");
            let engine = &engines[seed as usize % engines.len()];
            limits::case(engine, &module, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"))
        })
        .collect();
    let sum = |of: fn(&limits::Numbers) -> u64| all.iter().map(of).sum::<u64>();
    for (what, least, number) in [
        ("instances", limited, sum(|n| n.instances)),
        ("instances refused", limited, sum(|n| n.refused)),
        ("growths", limited / 4, sum(|n| n.grown)),
        ("growths refused", limited / 4, sum(|n| n.not_grown)),
        ("calls ended", 1, sum(|n| n.ended)),
    ] {
        eprintln!("{what}: {number}");
        assert!(number >= least, "only {number} {what}");
    }
}

#[test]
fn what_is_rewritten_does_what_it_did() {
    let rewritten = cases(REWRITTEN);
    let plain = Ours::plain().expect("strategy debug works here");
    let all = Ours::all_rewriting().expect("every exact strategy works here");
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    let ways: Vec<Ours> = ways.into_iter().map(Ours::bounded).collect();
    let trapped: usize = (0..rewritten)
        .into_par_iter()
        .map(|seed| {
            let loops = match seed.is_multiple_of(2) {
                true => Loops::Endless,
                false => Loops::Counted,
            };
            let module = rewrites::from_seed(seed, loops);
            let expected = plain.observe(&module);
            assert_eq!(expected.instantiation, None, "seed {seed}");
            for engine in all.iter().chain(in_turn(&ways, seed)) {
                if let Err(difference) = engine.observe(&module).agrees(&expected) {
                    panic!("seed {seed}, {}: {difference}", engine.name);
                }
            }
            expected.after_traps.len()
        })
        .sum();
    let traps = trapped as u64 / rewritten;
    assert!((2..14).contains(&traps), "{traps} of 15 calls trap");
}

#[test]
fn damaged_modules_are_errors_and_no_panics() {
    let damaged = cases(DAMAGED);
    let engine = Ours::new(Bounds::Guard, Opt::None).expect("the engine works here");
    let refused: u64 = (0..damaged)
        .into_par_iter()
        .map(|seed| {
            let module = generate::from_seed(seed / 20).expect("a module for every seed");
            let bytes = damage::damage(&module, &mut Stream::new(seed));
            u64::from(engine.compiles(&bytes).is_err())
        })
        .sum();
    assert!(
        refused > damaged / 2,
        "only {refused} of {damaged} were refused"
    );
}

#[test]
fn instructions_at_extreme_values_agree() {
    let programs = cases(INSTRUCTIONS);
    let mut engines = Ours::all_exact().expect("every exact strategy works here");
    engines.insert(
        0,
        Ours::new(Bounds::Guard, Opt::None).expect("so does the fast compiler"),
    );
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    (0..programs).into_par_iter().for_each(|seed| {
        let engines: Vec<&Ours> = engines.iter().chain(in_turn(&ways, seed)).collect();
        agree_on_instructions(&engines, seed);
    });
}

/// Engines against the first of them.
fn agree_on_instructions(engines: &[&Ours], seed: u64) {
    let program = Program::from_seed(seed, seed.is_multiple_of(2));
    let calls = || {
        program
            .calls
            .iter()
            .map(|call| (call.name.as_str(), &call.arguments[..]))
    };
    let mut expected = None;
    for engine in engines {
        let name = &engine.name;
        let found = engine.call(&program.wasm, calls()).expect("it runs");
        if let Some(wrong) = program.inconsistency(&found.0) {
            panic!("seed {seed}, {name} by itself: {wrong}");
        }
        let (outcomes, memories) = expected.get_or_insert(found.clone());
        assert_eq!(found.1, *memories, "seed {seed}, {name}: memories");
        for (at, call) in program.calls.iter().enumerate() {
            if program.differs(at, &found.0[at], &outcomes[at], false) {
                let text = call.sequence.map(|at| program.sequences[at].text());
                panic!(
                    "seed {seed}, {name}: {:x?}, not {:x?}: {text:?}",
                    found.0[at], outcomes[at]
                );
            }
        }
    }
}
