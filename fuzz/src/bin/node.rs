//! Generated modules, every second one with structures and arrays, on node: its compilers, V8's,
//! have nothing in common with Cranelift, which wasmtime and ours have.

use std::process::ExitCode;

use fathom_engine::Module;
use fathom_fuzz::generate;
use fathom_fuzz::node::{Gone, Nodes};
use fathom_fuzz::ours::Ours;
use fathom_fuzz::target::{Case, Target};

fn main() -> ExitCode {
    let mut ours = Ours::all_collecting().expect("each way to collect works on this machine");
    ours.extend(Ours::all_exact().expect("so does every exact strategy"));
    ours.extend(Ours::all_other_ways().expect("and every way to compile"));
    let nodes = Nodes::new().expect("there is a node: make tools");
    let target = Target::new("node", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| beside(case, &nodes, &ours))
}

/// How many of ours run a module behind the first, in turn.
const OTHERS: usize = 3;

/// The first of ours beside node, others beside the first.
fn beside(case: &mut Case, nodes: &Nodes, ours: &[Ours]) -> Result<(), String> {
    let Some(wasm) = generate::for_javascript(case.seed) else {
        return Ok(());
    };
    case.keep(&wasm);
    let first = &ours[0];
    let module = Module::new(&first.engine, &wasm).map_err(|error| error.to_string())?;
    let expected = first.observe_module(&module);
    case.count("ran", expected.instantiation.is_none().into());
    case.count("traps", expected.after_traps.len() as u64);
    match nodes.observe(&module, &wasm, &expected) {
        Ok(observed) => expected
            .agrees(&observed)
            .map_err(|difference| format!("{} beside node: {difference}", first.name))?,
        Err(Gone::Refused(why)) => {
            case.count("refused by node", 1);
            eprintln!("seed {}: {why}", case.seed);
        }
        Err(Gone::Died(why)) => return Err(why),
    }
    let others = &ours[1..];
    for nth in 0..OTHERS {
        let engine = &others[(case.seed as usize * OTHERS + nth) % others.len()];
        let observed = engine.observe(&wasm);
        observed
            .agrees(&expected)
            .map_err(|difference| format!("{}: {difference}", engine.name))?;
    }
    Ok(())
}
