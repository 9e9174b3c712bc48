//! A generated module on wasmtime and on engines of ours: what targets do that differ in the
//! engines.

use std::collections::HashSet;

use fathom_engine::{Codegen, Config, Error, Module};
use wasmparser::{Parser, Payload, TypeRef};

use crate::generate::Stream;
use crate::instructions::{Call, Outcome, Program};
use crate::observe::Ended;
use crate::ours::{Ours, choice, exact};
use crate::peer::Peer;
use crate::referring;
use crate::target::Case;

/// An access to a memory: as wasm-smith's modules have them.
const LOAD: &str = "(module (memory 1) (func (param i32) (result i32) (i32.load (local.get 0))))";

/// Our engine with code by LLVM, under each strategy that promises to be exact and whose accesses
/// LLVM takes, and as the last of the tiers.
///
/// # Errors
/// There is no clang.
pub fn by_llvm() -> Result<Vec<Ours>, Error> {
    let load = wat::parse_str(LOAD).expect("it is well-formed");
    let mut all = Vec::new();
    for bounds in exact() {
        let config = Config::new().bounds(choice(bounds));
        let config = config.codegen(Codegen::Llvm).collection_bytes(0);
        let ours = Ours::configured(format!("{bounds} by LLVM"), &config)?;
        if Module::new(&ours.engine, &load)?.fallbacks().is_empty() {
            all.push(ours);
        }
    }
    // Each function as soon as it was called: the last of the tiers, beside the first two.
    let tiers = Config::new().codegen(Codegen::TieredLlvm).tier_up(0);
    let tiers = tiers.collection_bytes(1);
    all.push(Ours::configured("in tiers to LLVM".to_owned(), &tiers)?);
    Ok(all)
}

/// Run a program of a case's seed that holds references while objects are made, as [`module`] does.
///
/// # Errors
/// In what they differ, with the name of ours.
pub fn referring<'o>(
    case: &mut Case,
    peer: &Peer,
    ours: impl IntoIterator<Item = &'o Ours>,
) -> Result<(), String> {
    let mut stream = Stream::new(case.seed);
    let text = referring::module(&mut |end| stream.below(end));
    let generated = wat::parse_str(&text).map_err(|error| format!("{error}\n{text}"))?;
    module(case, &generated, peer, ours)
}

/// Run a case's module, if its seed gives one, on wasmtime, then on each of these.
///
/// # Errors
/// In what they differ, with the name of ours.
pub fn wasmtime<'o>(
    case: &mut Case,
    of_seed: fn(u64) -> Option<Vec<u8>>,
    peer: &Peer,
    ours: impl IntoIterator<Item = &'o Ours>,
) -> Result<(), String> {
    let Some(generated) = of_seed(case.seed) else {
        return Ok(());
    };
    let has = has(&generated);
    case.count("with a shared memory of its own", has.shared_memory.into());
    case.count("with atomic instructions", has.atomics.into());
    case.count(
        "not compared: one shared memory twice",
        has.one_twice.into(),
    );
    if has.one_twice {
        return Ok(());
    }
    module(case, &generated, peer, ours)
}

/// Run a module on wasmtime, then on each of these.
///
/// # Errors
/// In what they differ, with the name of ours.
pub fn module<'o>(
    case: &mut Case,
    module: &[u8],
    peer: &Peer,
    ours: impl IntoIterator<Item = &'o Ours>,
) -> Result<(), String> {
    case.keep(module);
    let expected = peer.observe(module);
    case.count("ran", expected.instantiation.is_none().into());
    case.count("traps", expected.after_traps.len() as u64);
    if let Some(Ended::Refused(why)) = &expected.instantiation {
        return Err(format!("wasmtime refuses it: {why}"));
    }
    for engine in ours {
        let observed = match Module::new(&engine.engine, module) {
            Ok(module) => {
                let (all, left) = (module.code_places().count(), module.fallbacks().len());
                case.count("functions", all as u64);
                case.count("functions left to Cranelift", left as u64);
                engine.observe_module(&module)
            }
            Err(_) => engine.observe(module),
        };
        observed
            .agrees(&expected)
            .map_err(|difference| format!("{}: {difference}", engine.name))?;
    }
    Ok(())
}

/// Run a program of single instructions and short chains on wasmtime, then on each of these. Its
/// numbers are at the edges, signalling NaNs among them, and what arithmetic makes of those is
/// to be quiet: wasm-smith's modules make one NaN of all.
///
/// # Errors
/// In what they differ, from wasmtime, the reference, or themselves in another form.
pub fn instructions<'o>(
    case: &mut Case,
    program: &Program,
    peer: &Peer,
    ours: impl IntoIterator<Item = &'o Ours>,
) -> Result<(), String> {
    case.keep(&program.wasm);
    let calls = || {
        let calls = program.calls.iter();
        calls.map(|call| (call.name.as_str(), &call.arguments[..]))
    };
    let (expected, memories) = peer
        .call(&program.wasm, calls())
        .map_err(|error| format!("wasmtime refuses it: {error:#}"))?;
    case.count("sequences", program.sequences.len() as u64);
    case.count("calls", program.calls.len() as u64);
    let traps = expected.iter().filter(|outcome| outcome.is_err());
    case.count("traps", traps.count() as u64);
    if let Some(wrong) = program.inconsistency(&expected) {
        return Err(format!("wasmtime by itself: {wrong}"));
    }
    for engine in ours {
        let (outcomes, left) = engine
            .call(&program.wasm, calls())
            .map_err(|error| format!("{}: {error}", engine.name))?;
        if let Some(wrong) = program.inconsistency(&outcomes) {
            return Err(format!("{} by itself: {wrong}", engine.name));
        }
        for (at, (one, other)) in outcomes.iter().zip(&expected).enumerate() {
            if program.differs(at, one, other, true) {
                let call = &program.calls[at];
                return Err(described(&engine.name, program, call, one, other));
            }
        }
        if left != memories {
            let name = &engine.name;
            return Err(format!("{name}: memories {left:x?}, not {memories:x?}"));
        }
    }
    Ok(())
}

fn described(name: &str, program: &Program, call: &Call, one: &Outcome, other: &Outcome) -> String {
    let text = call
        .sequence
        .map(|at| program.sequences[at].text())
        .unwrap_or_default();
    format!("{name}: {}: {one:x?}, not {other:x?}: {text}", call.name)
}

/// Of what a module has, what is counted.
#[derive(Clone, Copy, Default)]
struct Has {
    shared_memory: bool,
    atomics: bool,
    /// A shared memory under two imports. wasmtime 48 asserts that memories are disjoint when one of
    /// its accesses faults (`InstanceHandle::wasm_fault`), and ends by that.
    one_twice: bool,
}

fn has(wasm: &[u8]) -> Has {
    let mut has = Has::default();
    for payload in Parser::new(0).parse_all(wasm).flatten() {
        match payload {
            Payload::ImportSection(imports) => {
                let shared = |ty: TypeRef| matches!(ty, TypeRef::Memory(ty) if ty.shared);
                let imports = imports.into_imports().flatten();
                let mut names = HashSet::new();
                has.one_twice = imports
                    .filter(|import| shared(import.ty))
                    .any(|import| !names.insert((import.module, import.name)));
            }
            Payload::MemorySection(memories) => {
                has.shared_memory |= memories.into_iter().flatten().any(|memory| memory.shared);
            }
            Payload::CodeSectionEntry(body) => {
                let operators = body.get_operators_reader().into_iter().flatten().flatten();
                has.atomics |= operators
                    .into_iter()
                    .any(|op| format!("{op:?}").contains("Atomic"));
            }
            _ => {}
        }
    }
    has
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shared_memory_twice_is_seen() {
        let twice = |text: &str| has(&wat::parse_str(text).expect("it is well-formed")).one_twice;
        let shared = r#"(import "" "m" (memory 0 2 shared))"#;
        assert!(twice(&format!("(module {shared} {shared})")));
        assert!(!twice(&format!("(module {shared})")));
        let other = shared.replace("\"m\"", "\"n\"");
        assert!(!twice(&format!("(module {shared} {other})")));
        // Memories of one instance's own are what they were before.
        let own = shared.replace(" shared", "");
        assert!(!twice(&format!("(module {own} {own})")));
    }
}
