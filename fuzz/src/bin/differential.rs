//! Generated modules under every exact strategy, in every way to compile, and on wasmtime.

use std::process::ExitCode;

use fathom_fuzz::beside;
use fathom_fuzz::generate;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let mut ours = Ours::all_exact().expect("every exact strategy works on this machine");
    ours.extend(Ours::all_other_ways().expect("so does each way to compile"));
    ours.extend(Ours::all_collecting().expect("so does each way to collect"));
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("differential", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| beside::wasmtime(case, generate::from_seed, &peer, &ours))
}
