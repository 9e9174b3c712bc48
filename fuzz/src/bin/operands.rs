//! Programs with many operands at a time, in every way to compile and on wasmtime; each under three
//! of the ways and strategies, in turn.

use std::process::ExitCode;

use fathom_fuzz::beside;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::operands;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let mut ours = Ours::all_other_ways().expect("each way to compile works on this machine");
    ours.extend(Ours::all_exact().expect("so does every exact strategy"));
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("operands", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| {
        let mut stream = Stream::new(case.seed);
        let text = operands::module(&mut |end| stream.below(end));
        let module = wat::parse_str(&text).map_err(|error| format!("{error}\n{text}"))?;
        let (turn, third) = (case.seed as usize, ours.len() / 3);
        let turns = (0..3).map(|nth| &ours[(turn + nth * third) % ours.len()]);
        beside::module(case, &module, &peer, turns)
    })
}
