//! Single instructions at extreme values: between our own levels and strategies,
//! with wasmtime, with a reference for scalars, and as constants with as parameters.

use std::process::ExitCode;

use fathom_engine::{Bounds, Opt};
use fathom_fuzz::instructions::{Call, Outcome, Program};
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let ours = configurations();
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("instructions", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| {
        // Without memories there is one strategy: as many again of numbers alone.
        let with_state = case.seed.is_multiple_of(2);
        let program = Program::from_seed(case.seed, with_state);
        case.keep(&program.wasm);
        let calls = || {
            program
                .calls
                .iter()
                .map(|call| (call.name.as_str(), &call.arguments[..]))
        };
        let (expected, memories) = peer
            .call(&program.wasm, calls())
            .map_err(|error| format!("wasmtime refuses it: {error:#}"))?;
        case.count("sequences", program.sequences.len() as u64);
        case.count("calls", program.calls.len() as u64);
        case.count(
            "traps",
            expected.iter().filter(|outcome| outcome.is_err()).count() as u64,
        );
        if let Some(wrong) = program.inconsistency(&expected) {
            return Err(format!("wasmtime by itself: {wrong}"));
        }
        let used = if with_state { &ours[..] } else { &ours[..2] };
        for engine in used {
            let (outcomes, left) = engine
                .call(&program.wasm, calls())
                .map_err(|error| format!("{}: {error}", engine.name))?;
            if let Some(wrong) = program.inconsistency(&outcomes) {
                return Err(format!("{} by itself: {wrong}", engine.name));
            }
            for (at, (one, other)) in outcomes.iter().zip(&expected).enumerate() {
                if program.differs(at, one, other, true) {
                    return Err(described(
                        &engine.name,
                        &program,
                        &program.calls[at],
                        one,
                        other,
                    ));
                }
            }
            if left != memories {
                return Err(format!(
                    "{}: memories {left:x?}, not {memories:x?}",
                    engine.name
                ));
            }
        }
        Ok(())
    })
}

fn described(name: &str, program: &Program, call: &Call, one: &Outcome, other: &Outcome) -> String {
    let text = call
        .sequence
        .map(|at| program.sequences[at].text())
        .unwrap_or_default();
    format!("{name}: {}: {one:x?}, not {other:x?}: {text}", call.name)
}

/// The two levels of the default strategy first, then the other strategies.
fn configurations() -> Vec<Ours> {
    let new = |(bounds, opt)| Ours::new(bounds, opt).expect("the engine works on this machine");
    let mut all: Vec<Ours> = [
        (Bounds::Guard, Opt::Speed),
        (Bounds::Guard, Opt::None),
        (Bounds::Trap, Opt::None),
    ]
    .into_iter()
    .map(new)
    .collect();
    let exact = Ours::all_exact().expect("every exact strategy works on this machine");
    let first = all[0].name.clone();
    all.extend(exact.into_iter().filter(|engine| engine.name != first));
    all
}
