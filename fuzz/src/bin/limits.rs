//! Generated modules in stores that may have little (`limits.rs`), under every exact
//! strategy in turn; and the process does not grow by it.

use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_engine::{Bounds, BoundsChoice, Config, Engine, Guarantee};
use fathom_fuzz::generate;
use fathom_fuzz::limits;
use fathom_fuzz::target::Target;

/// Cases until the process is as large as it will be.
const WARM: u64 = 500;
/// What it may be larger afterwards: allocators keep some.
const GROWTH_BYTES: u64 = 256 << 20;

static CASES: AtomicU64 = AtomicU64::new(0);
static WARM_BYTES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let exact = Bounds::all_for(false).filter(|b| b.guarantee() == Guarantee::Exact);
    let engines: Vec<Engine> = exact
        .map(|bounds| {
            let choice = match bounds {
                Bounds::Guard => BoundsChoice::Auto,
                other => BoundsChoice::Named(other),
            };
            let engine = limits::engine(Config::new().bounds(choice));
            engine.expect("every exact strategy works on this machine")
        })
        .collect();
    Target::new("limits", "modules", 5_000)
        .configurations(engines.len())
        .run(|case| {
            let module = generate::from_seed(case.seed).unwrap_or_default();
            case.keep(&module);
            let engine = &engines[case.seed as usize % engines.len()];
            let numbers = limits::case(engine, &module, case.seed)?;
            case.count("instances", numbers.instances);
            case.count("instances refused", numbers.refused);
            case.count("growths", numbers.grown);
            case.count("growths refused", numbers.not_grown);
            case.count("calls ended at a limit", numbers.ended);
            is_flat()
        })
}

/// Whether the process is about as large as it was when it was warm.
fn is_flat() -> Result<(), String> {
    let cases = CASES.fetch_add(1, Ordering::Relaxed);
    if !cases.is_multiple_of(100) {
        return Ok(());
    }
    let now = resident_bytes().ok_or("no /proc/self/statm")?;
    let warm = WARM_BYTES.load(Ordering::Relaxed);
    if cases <= WARM || warm == 0 {
        WARM_BYTES.fetch_max(now, Ordering::Relaxed);
    } else if now > warm + GROWTH_BYTES {
        return Err(format!("{now} bytes resident, {warm} after {WARM} cases"));
    }
    Ok(())
}

fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
