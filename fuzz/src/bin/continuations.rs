//! Programs of continuations against a slow interpreter of ours, optimised and not, with
//! and without fuel.

use std::process::ExitCode;

use fathom_fuzz::continuations;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let engines = continuations::engines().expect("the engine works on this machine");
    let target = Target::new("continuations", "programs", 2000).configurations(engines.len());
    target.run(|case| {
        let mut stream = Stream::new(case.seed);
        let (wasm, seen) = continuations::check(&engines, &mut |end| stream.below(end))?;
        case.keep(&wasm);
        case.count("calls", seen.calls);
        case.count("calls that failed", seen.failed);
        case.count("switches", seen.switches);
        Ok(())
    })
}
