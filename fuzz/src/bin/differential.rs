//! Generated modules under every exact strategy and on wasmtime, by seed:
//! `differential --count N --from SEED`. Ends with status 1 and the seeds
//! where they disagree.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_fuzz::generate;
use fathom_fuzz::observe::Ended;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use rayon::prelude::*;
use wasmparser::{Parser, Payload};

/// Modules between two lines of progress.
const PROGRESS_EVERY: u64 = 2000;

fn main() -> ExitCode {
    let count = argument("--count", 20_000);
    let from = argument("--from", 0);
    let ours = Ours::all_exact().expect("every exact strategy works on this machine");
    let peer = Peer::new().expect("wasmtime works on this machine");
    let [modules, ran, done] = [const { AtomicU64::new(0) }; 3];
    let [shared, atomics] = [const { AtomicU64::new(0) }; 2];
    let disagreements: Vec<String> = (from..from + count)
        .into_par_iter()
        .filter_map(|seed| {
            let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
            if finished.is_multiple_of(PROGRESS_EVERY) {
                eprintln!("{finished} of {count}");
            }
            let module = generate::from_seed(seed)?;
            modules.fetch_add(1, Ordering::Relaxed);
            let has = has(&module);
            shared.fetch_add(has.shared_memory.into(), Ordering::Relaxed);
            atomics.fetch_add(has.atomics.into(), Ordering::Relaxed);
            let expected = peer.observe(&module);
            if expected.instantiation.is_none() {
                ran.fetch_add(1, Ordering::Relaxed);
            } else if let Some(Ended::Refused(why)) = &expected.instantiation {
                return Some(format!("seed {seed}: wasmtime refuses it: {why}"));
            }
            ours.iter().find_map(|engine| {
                let difference = engine.observe(&module).agrees(&expected).err()?;
                Some(format!("seed {seed}, {}: {difference}", engine.name))
            })
        })
        .collect();
    for line in &disagreements {
        println!("{line}");
    }
    println!(
        "{} modules under {} strategies and on wasmtime, {} ran, {} disagree",
        modules.into_inner(),
        ours.len(),
        ran.into_inner(),
        disagreements.len()
    );
    println!(
        "with a shared memory of its own: {}, with atomic instructions: {}",
        shared.into_inner(),
        atomics.into_inner()
    );
    match disagreements.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words
        .next()
        .map_or(default, |word| word.parse().expect("a number"))
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
