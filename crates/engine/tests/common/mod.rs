//! Engines for tests that run under every strategy.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::Write as _;
use std::sync::Mutex;

use fathom_engine::*;

/// The strategies of which it has been said that they are left out.
static SKIPPED: Mutex<Vec<Bounds>> = Mutex::new(Vec::new());

/// An engine with `bounds` for 32-bit memories.
pub fn engine(bounds: Bounds) -> Option<Engine> {
    engine_with(
        Config::new().bounds(BoundsChoice::Named(bounds)),
        bounds,
        "(module (memory 1))",
    )
}

/// An engine with this configuration, of which `bounds` is one strategy; `None`
/// where the host, or this instruction set, lacks what the strategy needs for the
/// memory of `module`, which is said past the harness, because it hides what a test
/// prints.
pub fn engine_with(config: Config, bounds: Bounds, module: &str) -> Option<Engine> {
    let wasm = wat::parse_str(module).unwrap();
    let made = Engine::new(&config.allow_unchecked(true))
        .and_then(|engine| Module::new(&engine, &wasm).map(|_| engine));
    match made {
        Err(error) if !bounds.needs().is_empty() => {
            let mut skipped = SKIPPED.lock().unwrap();
            if !skipped.contains(&bounds) {
                skipped.push(bounds);
                let _ = writeln!(std::io::stderr(), "SKIPPED under {bounds}: {error}");
            }
            None
        }
        made => Some(made.expect("a strategy that needs nothing of the host")),
    }
}
