//! `fathom run --perf-map`: names of a module's functions for profilers.
//!
//! The file is one that `perf` looks for (tools/perf/Documentation/jit-interface.txt): a line
//! for each function, its address and bytes in hexadecimal digits, and its name.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::Context;
use fathom_engine::Module;

use crate::one_line::printable;

/// Bytes of the shortest name that perf keeps.
const NAME_MIN: usize = 3;

/// Writes `/tmp/perf-PID.map` for this process.
///
/// # Errors
/// It cannot be written, or is there: somebody else's may be a trap.
pub fn write(module: &Module) -> anyhow::Result<()> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.with_context(|| format!("--perf-map: {path}"))?;
    let text = text(module);
    (file.write_all(text.as_bytes())).with_context(|| format!("--perf-map: {path}"))
}

fn text(module: &Module) -> String {
    let mut text = String::new();
    for (func, address, bytes) in module.code_places() {
        let name = name(func, module.info().func_name(func));
        let _ = writeln!(text, "{address:x} {bytes:x} {name}");
    }
    text
}

/// A function's name in a line: perf passes over those of fewer than [`NAME_MIN`] bytes
/// (`dso__load_perf_map` in tools/perf/util/symbol.c), and others may be taken for a line of
/// their own.
fn name(func: u32, name: Option<&str>) -> String {
    match name {
        None | Some("") => format!("wasm function {func}"),
        Some(name) if name.len() < NAME_MIN => format!("{} (function {func})", printable(name)),
        Some(name) => printable(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_long_enough_and_a_line() {
        assert_eq!(name(3, None), "wasm function 3");
        assert_eq!(name(3, Some("")), "wasm function 3");
        assert_eq!(name(3, Some("f")), "f (function 3)");
        assert_eq!(name(3, Some("ab")), "ab (function 3)");
        assert_eq!(name(3, Some("abc")), "abc");
        assert_eq!(name(3, Some("a\nb")), "a\\nb");
    }
}
