//! Damaged modules for `Module::new`. An error is right, acceptance too; a panic
//! is not.

use std::process::ExitCode;

use fathom_engine::{Bounds, Opt};
use fathom_fuzz::damage::damage;
use fathom_fuzz::generate::{self, Stream};
use fathom_fuzz::ours::Ours;
use fathom_fuzz::target::Target;

/// Damaged copies made of each generated module.
const COPIES: u64 = 20;

fn main() -> ExitCode {
    let engine = Ours::new(Bounds::Guard, Opt::None).expect("the engine works on this machine");
    Target::new("mutate", "modules, each damaged 20 times", 5_000).run(|case| {
        let module = generate::from_seed(case.seed).unwrap_or_default();
        for copy in 0..COPIES {
            let mut stream = Stream::new(case.seed.wrapping_mul(COPIES) + copy);
            let bytes = damage(&module, &mut stream);
            case.keep(&bytes);
            case.count("still valid", engine.compiles(&bytes).is_ok().into());
        }
        Ok(())
    })
}
