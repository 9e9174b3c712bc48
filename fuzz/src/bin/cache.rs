//! Generated modules from the folder of compiled ones, sound and damaged.

use std::process::ExitCode;

use fathom_engine::Bounds;
use fathom_fuzz::target::Target;
use fathom_fuzz::{cached, generate};

/// The strategies take turns: what is in the folder differs by their code alone.
const STRATEGIES: [Bounds; 3] = [Bounds::Guard, Bounds::Trap, Bounds::Uffd];

fn main() -> ExitCode {
    let folders = std::env::temp_dir().join(format!("fathom-fuzz-cache-{}", std::process::id()));
    let target = Target::new("cache", "modules", 2_000).configurations(STRATEGIES.len());
    let status = target.run(|case| {
        let Some(module) = generate::from_seed(case.seed) else {
            return Ok(());
        };
        case.keep(&module);
        let bounds = STRATEGIES[(case.seed % STRATEGIES.len() as u64) as usize];
        let folder = folders.join(case.seed.to_string());
        let seen = cached::difference(bounds, &folder, &module, case.seed)?;
        case.count("from the folder", seen.found);
        case.count("damaged entries", seen.damaged);
        Ok(())
    });
    std::fs::remove_dir_all(folders).ok();
    status
}
