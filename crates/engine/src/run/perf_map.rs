//! Names of functions for perf(1): a line for each in a file of the process, as its
//! documentation of JIT interfaces has it (tools/perf/Documentation/jit-interface.txt).

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use rustix::fs::{Mode, OFlags};

use crate::compile::Artifact;
use crate::facts::error::{Error, Result};
use crate::facts::module::ModuleInfo;

/// Append the functions that are in some code of a module, which is at the address `base`, from `first` on.
///
/// # Errors
/// A file that cannot be written to: another user's, or a link.
pub(crate) fn append(code: &Artifact, base: usize, info: &ModuleInfo, first: u32) -> Result<()> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let module = info.name.as_deref().unwrap_or("wasm");
    let mut lines = String::new();
    for (func, range) in (first..).zip(&code.functions) {
        let start = base + range.offset as usize;
        let name = match info.func_name(func) {
            Some(name) => name.to_owned(),
            None => format!("function {func}"),
        };
        // A name has no line of its own.
        let name = format!("{module}: {name}").replace(char::is_control, " ");
        let _ = writeln!(lines, "{start:x} {:x} {name}", range.len);
    }
    // Not through a link that somebody else has put there.
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map(File::from);
    let written = file
        .map_err(Into::into)
        .and_then(|mut file| file.write_all(lines.as_bytes()));
    written.map_err(|error| Error::resource(format!("cannot write {path}"), error))
}
