//! Any bytes for `Module::new`: an error or a module, never a panic.
#![no_main]

use std::sync::LazyLock;

use fathom_engine::{Bounds, Opt};
use fathom_fuzz::ours::Ours;
use libfuzzer_sys::fuzz_target;

static ENGINE: LazyLock<Ours> =
    LazyLock::new(|| Ours::new(Bounds::Guard, Opt::None).expect("the engine"));

fuzz_target!(|bytes: &[u8]| {
    let _ = ENGINE.compiles(bytes);
});
