//! Names of functions for perf(1): a line for each in a file of the process, as its
//! documentation of JIT interfaces has it (tools/perf/Documentation/jit-interface.txt).

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use rustix::fs::{Mode, OFlags};

use crate::compile::Artifact;
use crate::facts::error::{Error, Result};
use crate::facts::module::ModuleInfo;
use crate::facts::shown::Shown;

/// Append the functions that are in some code of a module, which is at the address `base`, from
/// `first` on: each one line, whatever it is called.
///
/// # Errors
/// A file that cannot be written to: another user's, or a link.
pub(crate) fn append(code: &Artifact, base: usize, info: &ModuleInfo, first: u32) -> Result<()> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let module = info.name.as_deref().filter(|name| !name.is_empty());
    let module = module.unwrap_or("wasm");
    let mut lines = String::new();
    for (func, range) in (first..).zip(&code.functions) {
        let start = base + range.offset as usize;
        let name = name(module, func, info.func_name(func));
        let _ = writeln!(lines, "{start:x} {:x} {}", range.len, Shown(&name));
    }
    // Not through a link that somebody else has put there, nor waiting for who reads a pipe.
    let own = OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC | own;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map(File::from);
    let written = file
        .map_err(Into::into)
        .and_then(|mut file| file.write_all(lines.as_bytes()));
    written.map_err(|error| Error::resource(format!("cannot write {path}"), error))
}

/// A function's name, behind its module's: perf passes over names of fewer than three bytes
/// (`dso__load_perf_map` in tools/perf/util/symbol.c), which none is so.
fn name(module: &str, func: u32, name: Option<&str>) -> String {
    match name {
        None | Some("") => format!("{module}: function {func}"),
        Some(name) => format!("{module}: {name}"),
    }
}
