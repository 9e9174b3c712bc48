//! Generated modules with structures and arrays, collected at every allocation or never, under
//! every exact strategy, and on wasmtime. Every second one holds references meanwhile.

use std::process::ExitCode;

use fathom_fuzz::beside;
use fathom_fuzz::generate;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let mut ours = Ours::all_collecting().expect("each way to collect works on this machine");
    ours.extend(Ours::all_exact().expect("so does every exact strategy"));
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("objects", "modules", 20_000).configurations(ours.len() + 1);
    target.run(|case| match case.seed.is_multiple_of(2) {
        true => beside::wasmtime(case, generate::with_objects, &peer, &ours),
        false => beside::referring(case, &peer, &ours),
    })
}
