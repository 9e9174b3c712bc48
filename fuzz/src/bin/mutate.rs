//! Damaged modules for `Module::new`, by seed: `mutate --count N --from SEED`.
//! An error is right, acceptance too; a panic ends with status 1 and its seed.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_engine::{Bounds, Opt};
use fathom_fuzz::damage::damage;
use fathom_fuzz::generate::{self, Stream};
use fathom_fuzz::ours::Ours;
use rayon::prelude::*;

/// Damaged copies made of each generated module.
const COPIES: u64 = 20;

fn main() -> ExitCode {
    let count = argument("--count", 100_000);
    let from = argument("--from", 0);
    let engine = Ours::new(Bounds::Guard, Opt::None).expect("the engine works on this machine");
    let [tried, accepted] = [const { AtomicU64::new(0) }; 2];
    let panics: Vec<String> = (from..from + count.div_ceil(COPIES))
        .into_par_iter()
        .flat_map_iter(|seed| {
            let module = generate::from_seed(seed).unwrap_or_default();
            let (engine, tried, accepted) = (&engine, &tried, &accepted);
            (0..COPIES).filter_map(move |copy| {
                let mut stream = Stream::new(seed * COPIES + copy);
                let bytes = damage(&module, &mut stream);
                tried.fetch_add(1, Ordering::Relaxed);
                match catch_unwind(std::panic::AssertUnwindSafe(|| engine.compiles(&bytes))) {
                    Ok(Ok(())) => {
                        accepted.fetch_add(1, Ordering::Relaxed);
                        None
                    }
                    Ok(Err(_)) => None,
                    Err(_) => Some(format!("seed {seed} copy {copy}: panicked")),
                }
            })
        })
        .collect();
    for line in &panics {
        println!("{line}");
    }
    println!(
        "{} damaged modules, {} still valid, {} panics",
        tried.into_inner(),
        accepted.into_inner(),
        panics.len()
    );
    match panics.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next().map_or(default, |word| word.parse().expect("a number"))
}
