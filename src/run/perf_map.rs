//! `fathom run --perf-map`: names of a module's functions for profilers.
//!
//! The file is one that `perf` looks for (tools/perf/Documentation/jit-interface.txt): a line
//! for each function, its address and bytes in hexadecimal digits, and its name.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::Context;
use fathom_engine::Module;

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
        let name = match module.info().func_name(func) {
            Some(name) => name.replace(char::is_control, " "),
            None => format!("wasm function {func}"),
        };
        let _ = writeln!(text, "{address:x} {bytes:x} {name}");
    }
    text
}
