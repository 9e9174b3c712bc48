//! Generated modules in a pool, life after life, under every exact strategy.

use std::process::ExitCode;

use fathom_fuzz::ours::Ours;
use fathom_fuzz::target::Target;
use fathom_fuzz::{generate, lives};

fn main() -> ExitCode {
    let engines = Ours::all_exact().expect("every exact strategy works on this machine");
    Target::new("lives", "modules", 5_000).configurations(engines.len()).run(|case| {
        let Some(module) = generate::from_seed(case.seed) else {
            return Ok(());
        };
        case.keep(&module);
        for engine in &engines {
            let lived = lives::difference(engine.engine(), &module, case.seed);
            let lived = lived.map_err(|difference| format!("{}: {difference}", engine.name))?;
            case.count("lives", lived);
        }
        Ok(())
    })
}
