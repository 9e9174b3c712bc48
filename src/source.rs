//! What sources call things: names as they were written, and places as `file:line:column`.

use std::borrow::Cow;
use std::path::Path;

use fathom_engine::{DebugInfo, FrameSymbol, Listing, NoSymbols, Symbols};

/// A name as it was written in Rust, if it is one that Rust mangled; C++'s are written
/// out by the linker already. Control characters are as they were.
pub fn as_written(name: &str) -> Cow<'_, str> {
    match rustc_demangle::try_demangle(name) {
        // Without the hash: the index tells functions apart.
        Ok(name) => Cow::Owned(format!("{name:#}")),
        Err(_) => Cow::Borrowed(name),
    }
}

/// The places of a listing's instructions.
pub fn of_listings(wasm: &[u8], listings: &[Listing]) -> Symbols {
    let lines = listings.iter().flat_map(|listing| &listing.code);
    let offsets = lines.filter_map(|line| line.wasm_offset);
    of_offsets(wasm, offsets)
}

/// The places of instructions, by their offsets from the start of a module.
pub fn of_offsets(wasm: &[u8], offsets: impl Iterator<Item = u32>) -> Symbols {
    let debug = DebugInfo::of(wasm);
    debug
        .map(|debug| debug.symbols(offsets))
        .unwrap_or_default()
}

/// Where an instruction stems from: its place, and the calls by whose inlining it came there.
pub fn whence(symbols: &[FrameSymbol]) -> Option<String> {
    let (innermost, around) = symbols.split_first()?;
    let mut text = place(innermost)?;
    for caller in around {
        let called = place(caller).unwrap_or_else(|| "?".to_owned());
        text.push_str(&format!(", inlined at {called}"));
    }
    Some(text)
}

/// A place; nothing where its file is not known. A file below this folder has its path from
/// here.
pub fn place(symbol: &FrameSymbol) -> Option<String> {
    let line = line(symbol)?;
    // What the compiler made has no line, and no column.
    match symbol.column().filter(|_| symbol.line().is_some()) {
        Some(column) => Some(format!("{line}:{column}")),
        None => Some(line),
    }
}

/// A place without its column.
pub fn line(symbol: &FrameSymbol) -> Option<String> {
    let file = Path::new(symbol.file()?);
    let folder = std::env::current_dir().ok();
    let below = folder.and_then(|folder| file.strip_prefix(folder).ok());
    let file = below.unwrap_or(file).display();
    match symbol.line() {
        Some(line) => Some(format!("{file}:{line}")),
        None => Some(file.to_string()),
    }
}

/// The line that says why places are missing.
pub fn trouble(file: &str, trouble: &NoSymbols) -> String {
    format!("fathom: {file}: not every source line is known: {trouble}")
}
