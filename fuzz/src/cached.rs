//! Modules that come from the folder of compiled ones, sound and damaged.
//!
//! What must stay true: whatever lies in the folder, a module does what its bytes
//! say. What is found sound is used, anything else is compiled again.

use std::fs;
use std::path::Path;

use fathom_engine::{Bounds, Config, Module};

use crate::damage::damage;
use crate::generate::Stream;
use crate::ours::Ours;

/// Damaged copies of an entry that are tried.
const COPIES: usize = 6;

/// What was seen of one module.
#[derive(Default)]
pub struct Seen {
    /// How often its code came from the folder.
    pub found: u64,
    /// How often the entry was damaged.
    pub damaged: u64,
}

/// Compile a module with an empty folder, take it from there, damage what lies there and
/// take it again.
pub fn difference(bounds: Bounds, folder: &Path, wasm: &[u8], seed: u64) -> Result<Seen, String> {
    fs::remove_dir_all(folder).ok();
    let config = Config::new().cache_dir(Some(folder.to_owned()));
    let config = match bounds {
        Bounds::Guard | Bounds::GUARD64 => config,
        other => config.bounds(fathom_engine::BoundsChoice::Named(other)),
    };
    let engine =
        Ours::configured(format!("{bounds}, cached"), &config).map_err(|e| e.to_string())?;
    let mut seen = Seen::default();
    let expected = engine.observe(wasm);
    let again = |what: &str| {
        let found = Module::new(engine.engine(), wasm).is_ok_and(|module| module.from_cache());
        let observed = engine.observe(wasm);
        let agrees = observed.agrees(&expected);
        agrees.map_err(|difference| format!("{}, {what}: {difference}", engine.name))?;
        Ok::<u64, String>(found.into())
    };
    let found = again("from the folder")?;
    let entries = || fs::read_dir(folder).into_iter().flatten().flatten();
    if found == 0 && entries().count() > 0 {
        return Err(format!("{bounds}: a sound entry is not used"));
    }
    seen.found += found;
    let mut stream = Stream::new(seed);
    for _ in 0..COPIES {
        for entry in entries() {
            let path = entry.path();
            let Ok(bytes) = fs::read(&path) else { continue };
            let spoiled = damage(&bytes, &mut stream);
            if spoiled != bytes && fs::write(&path, spoiled).is_ok() {
                seen.damaged += 1;
            }
        }
        // Damaged it is compiled and written again; then it is found.
        again("from a damaged entry")?;
        seen.found += again("after a damaged entry")?;
    }
    fs::remove_dir_all(folder).ok();
    Ok(seen)
}
