//! Damaged programs, symbol maps, perf maps, jitdumps and records of the kernel for the readers
//! of them.
//! An error is right; a panic is not.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use fathom_fuzz::damage::damage;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;
use fathom_trace::code::jitdump;
use fathom_trace::code::listing::Disassembler;
use fathom_trace::profile::{first_record, functions_of, perf_map};
use fathom_trace::symbols::{Functions, SymbolMap};

const MAP: &str = "version = \"x 1\"\nfile = \"{tools}/x\"\nends = \"entry\"\n\
                   [functions]\nfd_write = [\"free\", \"malloc\"]\nfd_read = [\"read\"]\n";

const PERF_MAP: &str =
    "7f00 10 app: main\n0x7f08 20 wasm[0]::function[7]\n7f20 8 JS:a b-3-turbofan\n";

/// A library of the system's: some hundred symbols.
const LIBRARY: &str = "/lib/x86_64-linux-gnu/libdl.so.2";

/// A sample of two addresses, and a fork.
const RECORDS: [u8; 112] = {
    let mut bytes = [0; 112];
    (bytes[0], bytes[4], bytes[6], bytes[32]) = (9, 2, 56, 2);
    (bytes[56], bytes[62]) = (7, 56);
    bytes
};

/// A function of nine bytes of code: a jump over data.
const JITDUMP: [u8; 40 + 16 + 40 + 2 + 9] = {
    let mut bytes = [0; 107];
    (bytes[0], bytes[1], bytes[2], bytes[3]) = (0x44, 0x54, 0x69, 0x4A);
    (bytes[4], bytes[8], bytes[44], bytes[74], bytes[80]) = (1, 40, 67, 0x7f, 9);
    (bytes[96], bytes[98], bytes[99], bytes[106]) = (b'f', 0xeb, 6, 0xc3);
    bytes
};

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
        if let Ok(functions) = functions_of(&bytes) {
            case.count(
                "with functions by address",
                u64::from(!functions.is_empty()),
            );
            let _ = functions.at(stream.next_u64());
        }
        let listed = damage(PERF_MAP.as_bytes(), &mut stream);
        let listed = perf_map::parse(&String::from_utf8_lossy(&listed));
        case.count(
            "perf maps still read",
            u64::from(listed.at(0x7f00).is_some()),
        );
        records(&damage(&RECORDS, &mut stream));
        let dumped = jitdump::parse(&damage(&JITDUMP, &mut stream)).unwrap_or_default();
        case.count("jitdumps still read", u64::from(!dumped.is_empty()));
        for code in &dumped {
            lines(&code.bytes, code.address);
        }
        let from = stream.next_u64() as usize % bytes.len().max(1);
        lines(&bytes[from..bytes.len().min(from + 256)], 0);
        Ok(())
    })
}

/// Reads machine code, of which each byte is in one line.
fn lines(code: &[u8], address: u64) {
    let Ok(disassembler) = Disassembler::new() else {
        return;
    };
    let lines = disassembler.lines(code, address);
    assert_eq!(lines.is_empty(), code.is_empty());
    assert!(lines.is_sorted_by(|line, next| line.offset < next.offset));
    assert!(lines.iter().all(|line| (line.offset as usize) < code.len()));
}

/// Reads records to their end, which there is.
fn records(mut bytes: &[u8]) {
    while let Some((_, size)) = first_record(bytes) {
        assert!(size > 0, "a record without a byte");
        bytes = &bytes[size..];
    }
}
