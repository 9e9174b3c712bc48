//! Programs that throw and catch in both forms of exceptions against a slow interpreter of ours, in
//! the ways to compile, some of them in turn, and on stacks with little room.

use std::process::ExitCode;

use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;
use fathom_fuzz::throwing::{self, Case};

fn main() -> ExitCode {
    let engines = throwing::engines().expect("the engine works on this machine");
    let target = Target::new("throwing", "programs", 1000).configurations(engines.len());
    target.run(|seed| {
        let mut stream = Stream::new(seed.seed);
        let case = Case::random(&mut |end| stream.below(end));
        seed.keep(&case.wasm);
        let seen = case.check(&throwing::in_turn(&engines, seed.seed))?;
        let numbers = seen.numbers;
        for (what, count) in [
            ("calls", seen.calls),
            ("calls with values", seen.values),
            ("that trapped", seen.traps),
            ("that threw", seen.exceptions),
            ("caught", numbers.caught),
            ("caught in the older form", numbers.caught_older),
            ("delegated", numbers.delegated),
            ("raised again", numbers.again),
            ("calls on tight stacks", seen.depths),
            ("without room", seen.full),
            ("functions left to Cranelift", seen.left),
        ] {
            seed.count(what, count);
        }
        Ok(())
    })
}
