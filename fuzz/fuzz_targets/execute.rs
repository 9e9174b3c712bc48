//! Generated modules under every exact strategy and on wasmtime.
#![no_main]

use std::sync::LazyLock;

use fathom_fuzz::generate;
use fathom_fuzz::ours::Ours;
use fathom_fuzz::peer::Peer;
use libfuzzer_sys::fuzz_target;

static OURS: LazyLock<Vec<Ours>> = LazyLock::new(|| Ours::all_exact().expect("strategies"));
static PEER: LazyLock<Peer> = LazyLock::new(|| Peer::new().expect("wasmtime"));

fuzz_target!(|bytes: &[u8]| {
    let Some(module) = generate::from_bytes(bytes) else {
        return;
    };
    let expected = PEER.observe(&module);
    for ours in OURS.iter() {
        if let Err(difference) = ours.observe(&module).agrees(&expected) {
            panic!("{}: {difference}", ours.name);
        }
    }
});
