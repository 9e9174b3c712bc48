//! Engines for tests that run under every strategy.

use std::io::Write as _;
use std::sync::Mutex;

use fathom_engine::*;

/// The strategies of which it has been said that they are left out.
static SKIPPED: Mutex<Vec<Bounds>> = Mutex::new(Vec::new());

/// An engine under `bounds`; `None` where the host lacks what the strategy needs,
/// which is said past the harness, because it hides what a test prints.
pub fn engine(bounds: Bounds) -> Option<Engine> {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true);
    match Engine::new(&config) {
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
