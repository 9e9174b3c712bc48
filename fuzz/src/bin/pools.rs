//! Leases in pools under every form of every strategy: each is what it would be in an
//! instance of its own. Every other module is one that wasm-smith made.

use std::process::ExitCode;

use fathom_fuzz::generate::{self, Stream};
use fathom_fuzz::pools;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let engines = pools::engines().expect("the engine works on this machine");
    let target = Target::new("pools", "modules", 500).configurations(engines.len());
    target.run(|case| {
        let mut stream = Stream::new(case.seed);
        let text = pools::module(&mut |end| stream.below(end));
        let wasm = match case.seed % 2 {
            0 => wat::parse_str(text).expect("a module"),
            _ => generate::from_seed(case.seed).unwrap_or_default(),
        };
        case.keep(&wasm);
        let steps = stream.next_u64();
        for (name, engine) in &engines {
            let mut stream = Stream::new(steps);
            let seen = pools::check(engine, &wasm, &mut |end| stream.below(end));
            let seen = seen.map_err(|why| format!("{name}: {why}"))?;
            case.count("leases", seen.leases);
            case.count("leases after another", seen.again);
            case.count("steps", seen.steps);
            case.count("steps that failed", seen.failed);
        }
        Ok(())
    })
}
