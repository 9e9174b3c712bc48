//! Modules that are made to be dear, and modules that are not: compiled within a
//! bound of time and of memory, optimised or not; what is compiled plainly, for it
//! would take too long otherwise, does what the rest does.

use std::process::ExitCode;
use std::time::Duration;

use fathom_engine::{Bounds, Codegen, CompileBudget, Config, Engine, Module, Opt};
use fathom_fuzz::generate::{self, Stream};
use fathom_fuzz::ours::Ours;
use fathom_fuzz::target::{Target, processor_time};

#[path = "../../../crates/engine/tests/bombs/encode.rs"]
mod encode;
#[path = "../../../crates/engine/tests/bombs/objects.rs"]
mod objects;
#[path = "../../../crates/engine/tests/bombs/shapes.rs"]
mod shapes;

/// Lengths of the dear modules, in bytes.
const BYTES: std::ops::Range<usize> = 500..200_000;

/// What one may take of the processors, with what other threads of the target take
/// at the same time.
const TIME_MAX: Duration = Duration::from_secs(20);
/// What the process may have, for all its threads.
const BYTES_MAX: u64 = 2 << 30;

fn main() -> ExitCode {
    let engines: Vec<Engine> = configurations()
        .map(|config| Engine::new(&config).expect("the engine works on this machine"))
        .collect();
    let optimised = Ours::new(Bounds::Guard, Opt::Speed).expect("so does the whole of it");
    let plain = Config::new().compile_budget(CompileBudget::times(0));
    let plain = Ours::configured("budget 0".to_owned(), &plain).expect("and what is plain");
    Target::new("compile", "modules", 2_000)
        .configurations(engines.len() + 2)
        .run(|case| {
            let mut stream = Stream::new(case.seed);
            let small = generate::from_seed(case.seed).unwrap_or_default();
            case.keep(&small);
            let expected = optimised.observe(&small);
            plain.observe(&small).agrees(&expected)?;
            let shape = shapes::ALL[stream.below(shapes::ALL.len())];
            let bytes = BYTES.start + stream.below(BYTES.end - BYTES.start);
            let dear = (shape.make)(bytes);
            case.keep(&dear);
            for engine in &engines {
                let start = processor_time();
                match Module::new(engine, &dear) {
                    Ok(module) => case.count("not optimised", module.over_budget().len() as u64),
                    Err(_) => case.count("refused", 1),
                }
                let took = processor_time().saturating_sub(start);
                if took > TIME_MAX && again(engine, &dear) > TIME_MAX {
                    let (codegen, opt) = (engine.codegen(), engine.opt());
                    return Err(format!(
                        "{} by {codegen} at {opt}, {bytes} bytes: {took:?}",
                        shape.name
                    ));
                }
            }
            match resident_most() {
                Some(most) if most > BYTES_MAX => Err(format!("{most} bytes of memory")),
                _ => Ok(()),
            }
        })
}

/// Both levels of Cranelift, and what is made in one pass.
fn configurations() -> impl Iterator<Item = Config> {
    let direct = cfg!(target_arch = "x86_64").then(|| Config::new().codegen(Codegen::Direct));
    let cranelift = Opt::ALL.map(|opt| Config::new().opt(opt));
    cranelift.into_iter().chain(direct)
}

/// What it takes once more: the first time may have been other threads' doing.
fn again(engine: &Engine, dear: &[u8]) -> Duration {
    let start = processor_time();
    let _ = Module::new(engine, dear);
    processor_time().saturating_sub(start)
}

/// The most memory that this process had, in bytes.
fn resident_most() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
