//! Programs at the edges of what the compiler rewrites, under every exact strategy with
//! all of its rewrites and with less, and in one pass, against `debug` at `--opt none` without
//! any.
//!
//! Every other seed's module has loops without end, which only a trap keeps from being
//! reached. wasmtime is not asked about those: the version it is pinned to lets
//! Cranelift delete that trap, and hangs. Nor is it about shared memories that are imported
//! twice: where one faults, it finds the address in two memories and panics
//! (`fault.is_none()`, wasmtime 48.0.8, `Store::wasm_fault`).

use std::process::ExitCode;

use fathom_fuzz::observe::Ended;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::rewrites::{self, Loops};
use fathom_fuzz::target::Target;
use wasmparser::{Parser, Payload, TypeRef};

fn main() -> ExitCode {
    let plain = Ours::plain().expect("strategy debug works on this machine");
    let mut all = Ours::all_rewriting().expect("every exact strategy works on this machine");
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    all.extend(ways.into_iter().map(Ours::bounded));
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("rewrites", "modules", 2000).configurations(all.len() + 2);
    target.run(|case| {
        let loops = match case.seed.is_multiple_of(2) {
            true => Loops::Endless,
            false => Loops::Counted,
        };
        let module = rewrites::from_seed(case.seed, loops);
        case.keep(&module);
        let expected = plain.observe(&module);
        if let Some(Ended::Refused(why)) = &expected.instantiation {
            return Err(format!("refused: {why}"));
        }
        case.count("calls", expected.calls.len() as u64);
        case.count("traps", expected.after_traps.len() as u64);
        if loops == Loops::Counted && !imports_shared_memories(&module) {
            let observed = peer.observe(&module);
            case.count("on wasmtime, too", 1);
            expected
                .agrees(&observed)
                .map_err(|difference| format!("{}, wasmtime: {difference}", plain.name))?;
        }
        for engine in &all {
            let observed = engine.observe(&module);
            observed
                .agrees(&expected)
                .map_err(|difference| format!("{}: {difference}", engine.name))?;
        }
        Ok(())
    })
}

fn imports_shared_memories(wasm: &[u8]) -> bool {
    let is_shared = |ty: TypeRef| matches!(ty, TypeRef::Memory(memory) if memory.shared);
    Parser::new(0)
        .parse_all(wasm)
        .flatten()
        .any(|payload| match payload {
            Payload::ImportSection(imports) => imports
                .into_imports()
                .flatten()
                .any(|import| is_shared(import.ty)),
            _ => false,
        })
}
