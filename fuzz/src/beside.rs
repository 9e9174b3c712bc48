//! A generated module on wasmtime and on engines of ours: what two targets do, which differ in
//! the engines.

use fathom_engine::{Codegen, Config, Error, Module};
use wasmparser::{Parser, Payload};

use crate::generate;
use crate::observe::Ended;
use crate::ours::{Ours, choice, exact};
use crate::peer::Peer;
use crate::target::Case;

/// An access to a memory: as wasm-smith's modules have them.
const LOAD: &str = "(module (memory 1) (func (param i32) (result i32) (i32.load (local.get 0))))";

/// Our engine with code by LLVM, under each strategy that promises to be exact and whose accesses
/// LLVM takes.
///
/// # Errors
/// There is no clang.
pub fn by_llvm() -> Result<Vec<Ours>, Error> {
    let load = wat::parse_str(LOAD).expect("it is well-formed");
    let mut all = Vec::new();
    for bounds in exact() {
        let config = Config::new().bounds(choice(bounds));
        let config = config.codegen(Codegen::Llvm);
        let ours = Ours::configured(format!("{bounds} by LLVM"), &config)?;
        if Module::new(&ours.engine, &load)?.kept().is_empty() {
            all.push(ours);
        }
    }
    Ok(all)
}

/// Run a case's module on wasmtime, then on each of these.
///
/// # Errors
/// In what they differ, with the name of ours.
pub fn wasmtime<'o>(
    case: &mut Case,
    peer: &Peer,
    ours: impl IntoIterator<Item = &'o Ours>,
) -> Result<(), String> {
    let Some(module) = generate::from_seed(case.seed) else {
        return Ok(());
    };
    case.keep(&module);
    let has = has(&module);
    case.count("with a shared memory of its own", has.shared_memory.into());
    case.count("with atomic instructions", has.atomics.into());
    let expected = peer.observe(&module);
    case.count("ran", expected.instantiation.is_none().into());
    if let Some(Ended::Refused(why)) = &expected.instantiation {
        return Err(format!("wasmtime refuses it: {why}"));
    }
    for engine in ours {
        let observed = match Module::new(&engine.engine, &module) {
            Ok(module) => {
                let (all, left) = (module.code_places().count(), module.kept().len());
                case.count("functions", all as u64);
                case.count("functions left to Cranelift", left as u64);
                engine.observe_module(&module)
            }
            Err(_) => engine.observe(&module),
        };
        observed
            .agrees(&expected)
            .map_err(|difference| format!("{}: {difference}", engine.name))?;
    }
    Ok(())
}

/// Of what a module has, what is counted.
#[derive(Clone, Copy, Default)]
struct Has {
    shared_memory: bool,
    atomics: bool,
}

fn has(wasm: &[u8]) -> Has {
    let mut has = Has::default();
    for payload in Parser::new(0).parse_all(wasm).flatten() {
        match payload {
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
