//! Small copies and fills among loads and stores, under every exact strategy: the bytes
//! after each call are those of a plain model.

use std::process::ExitCode;

use fathom_fuzz::copies;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let engines = copies::engines().expect("the engine works on this machine");
    let target = Target::new("copies", "programs", 2000).configurations(engines.len());
    target.run(|case| {
        let mut stream = Stream::new(case.seed);
        let (wasm, seen) = copies::check(&engines, &mut |end| stream.below(end))?;
        case.keep(&wasm);
        case.count("calls", seen.calls);
        case.count("calls that trapped", seen.trapped);
        case.count("copies and fills", seen.moved);
        Ok(())
    })
}
