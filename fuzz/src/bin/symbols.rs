//! Damaged programs and symbol maps for the reader of both. An error is right; a panic is
//! not.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use fathom_fuzz::damage::damage;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;
use fathom_trace::symbols::{Functions, SymbolMap};

const MAP: &str = "version = \"x 1\"\nfile = \"{tools}/x\"\nends = \"entry\"\n\
                   [functions]\nfd_write = [\"free\", \"malloc\"]\nfd_read = [\"read\"]\n";

/// A library of the system's: some hundred symbols.
const LIBRARY: &str = "/lib/x86_64-linux-gnu/libdl.so.2";

fn main() -> ExitCode {
    let program = fs::read(LIBRARY).or_else(|_| fs::read("/bin/true"));
    let program = program.expect("a library of the system's");
    // Most of a file is code, which nobody reads: what is looked at is where it begins.
    Target::new("symbols", "programs and maps", 20_000).run(|case| {
        let mut stream = Stream::new(case.seed);
        let bytes = damage(&program, &mut stream);
        case.keep(&bytes);
        let functions = Functions::of(&bytes).unwrap_or_default();
        case.count(
            "programs still read",
            u64::from(functions.single().count() > 0),
        );
        let text = damage(MAP.as_bytes(), &mut stream);
        if let Ok(map) = SymbolMap::parse(&String::from_utf8_lossy(&text)) {
            case.count("maps still read", 1);
            let _ = map.find(Path::new(LIBRARY), &functions);
        }
        Ok(())
    })
}
