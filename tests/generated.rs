//! A small number of generated and damaged modules, by the code of `fuzz/`: our
//! strategies against each other, and bytes that are no module. Many more of
//! both, and wasmtime to agree with: `make differential`, `make mutate`.

#[path = "../fuzz/src/damage.rs"]
mod damage;
#[path = "../fuzz/src/generate.rs"]
mod generate;
#[path = "../fuzz/src/observe.rs"]
mod observe;
#[path = "../fuzz/src/ours.rs"]
mod ours;

use fathom_engine::{Bounds, Opt};
use generate::Stream;
use observe::Ended;
use ours::Ours;
use rayon::prelude::*;

const MODULES: u64 = 600;
const DAMAGED: u64 = 6000;

#[test]
fn exact_strategies_agree() {
    let mut engines = Ours::all_exact().expect("every exact strategy works here");
    engines.push(Ours::new(Bounds::Guard, Opt::None).expect("so does the fast compiler"));
    let ran: u64 = (0..MODULES)
        .into_par_iter()
        .map(|seed| {
            let module = generate::from_seed(seed).expect("a module for every seed");
            let expected = engines[0].observe(&module);
            if let Some(Ended::Refused(why)) = &expected.instantiation {
                panic!("seed {seed}: refused: {why}");
            }
            for engine in &engines[1..] {
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
    assert!(ran > MODULES / 4, "only {ran} of {MODULES} modules ran");
}

#[test]
fn damaged_modules_are_errors_and_no_panics() {
    let engine = Ours::new(Bounds::Guard, Opt::None).expect("the engine works here");
    let refused: u64 = (0..DAMAGED)
        .into_par_iter()
        .map(|seed| {
            let module = generate::from_seed(seed / 20).expect("a module for every seed");
            let bytes = damage::damage(&module, &mut Stream::new(seed));
            u64::from(engine.compiles(&bytes).is_err())
        })
        .sum();
    assert!(
        refused > DAMAGED / 2,
        "only {refused} of {DAMAGED} were refused"
    );
}
