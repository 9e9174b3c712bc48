//! Generated modules under every exact strategy and on wasmtime.

use std::process::ExitCode;

use fathom_fuzz::generate;
use fathom_fuzz::observe::Ended;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;
use wasmparser::{Parser, Payload};

fn main() -> ExitCode {
    let ours = Ours::all_exact().expect("every exact strategy works on this machine");
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("differential", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| {
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
        for engine in &ours {
            let observed = engine.observe(&module);
            observed
                .agrees(&expected)
                .map_err(|difference| format!("{}: {difference}", engine.name))?;
        }
        Ok(())
    })
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
