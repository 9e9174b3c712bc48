//! Damaged DWARF for the reader of source lines. Nothing is right to be told; a panic and no end
//! are wrong.

use std::process::ExitCode;

use fathom_engine::DebugInfo;
use fathom_fuzz::damage::damage;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;

#[path = "../../../crates/engine/tests/common/dwarf.rs"]
mod dwarf;

/// Of each place: calls that were inlined, and the function.
const SYMBOLS_MAX: usize = 65;

fn main() -> ExitCode {
    let versions = [4, 5].map(|version| [4, 8].map(|width| dwarf::sections(version, width)));
    let whole = versions.concat();
    Target::new("lines", "modules with DWARF", 200_000).run(|case| {
        let mut stream = Stream::new(case.seed);
        let mut sections = whole[stream.below(whole.len())].clone();
        for _ in 0..=stream.below(2) {
            let at = stream.below(sections.len());
            sections[at].1 = damage(&sections[at].1, &mut stream);
        }
        let wasm = dwarf::module(&sections);
        case.keep(&wasm);
        let Some(debug) = DebugInfo::of(&wasm) else {
            return Ok(());
        };
        let offsets = 0..dwarf::CODE + 64;
        let symbols = debug.symbols(offsets.clone());
        case.count("with trouble", u64::from(symbols.trouble().is_some()));
        let counts = offsets.map(|offset| symbols.at(offset).len());
        let most = counts.max().unwrap_or_default();
        case.count("places still told", u64::from(most > 0));
        match most <= SYMBOLS_MAX {
            true => Ok(()),
            false => Err(format!("{most} symbols of one place")),
        }
    })
}
