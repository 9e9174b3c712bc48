//! Generated modules under every exact strategy, by Cranelift and in one pass, and on wasmtime.

use std::process::ExitCode;

use fathom_fuzz::beside;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let mut ours = Ours::all_exact().expect("every exact strategy works on this machine");
    ours.extend(Ours::all_direct().expect("so does what is made in one pass"));
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("differential", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| beside::wasmtime(case, &peer, &ours))
}
