//! Single instructions at extreme values: between our own levels, generators and strategies,
//! with wasmtime, with a reference for scalars, and as constants with as parameters.

use std::process::ExitCode;

use fathom_engine::{Bounds, Opt};
use fathom_fuzz::beside;
use fathom_fuzz::instructions::Program;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

/// The first configurations, which are of one strategy.
const UNDER_ONE: usize = 6;

fn main() -> ExitCode {
    let ours = configurations();
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("instructions", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| {
        // Without memories there is one strategy: as many again of numbers alone.
        let with_state = case.seed.is_multiple_of(2);
        let program = Program::from_seed(case.seed, with_state);
        let used = if with_state {
            &ours[..]
        } else {
            &ours[..UNDER_ONE]
        };
        beside::instructions(case, &program, &peer, used)
    })
}

/// The two levels of the default strategy first and the other ways to compile under it, then those
/// under the other strategies.
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
    let ways = Ours::all_other_ways().expect("so does each way to compile");
    all.splice(2..2, ways);
    let exact = Ours::all_exact().expect("every exact strategy works on this machine");
    let first = all[0].name.clone();
    all.extend(exact.into_iter().filter(|engine| engine.name != first));
    all
}
