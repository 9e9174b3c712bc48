//! Signals and forks while Wasm runs: each program does what it says, each signal
//! reaches whom it is for. What a seed does is the same each time; when signals arrive is
//! not.

use std::process::ExitCode;

use fathom_fuzz::generate::Stream;
use fathom_fuzz::signals::{self, Stage};
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    signals::begin();
    let stage = Stage::new().expect("the engine works on this machine");
    let target = Target::new("signals", "workers", 300).one_thread();
    target.configurations(stage.configurations()).run(|case| {
        let mut stream = Stream::new(case.seed);
        let seen = stage.check(&mut |end| stream.below(end))?;
        case.count("steps", seen.steps);
        case.count("traps", seen.traps);
        case.count("forks", seen.forks);
        case.count("signals", seen.signals);
        Ok(())
    })
}
