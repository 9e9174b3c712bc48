//! Files that are read are not written, and what is written has a place.
//!
//! What must stay true: a command line that names its input, or a campaign's samples, as its
//! output is refused before anything is written; one whose output cannot be made, before the
//! work that would be lost.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, ensure};
use fathom_sys::regular;
use rustix::fs::Access;

use crate::report::STDOUT;

/// How much of a file says what it is.
const START_BYTES: u64 = 1 << 20;

/// Refuses to write where one of the inputs is, by whatever name, or where a campaign's samples
/// are.
///
/// # Errors
/// If it is so.
pub fn spare<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> anyhow::Result<()> {
    let Some(there) = fs::metadata(output).ok().filter(fs::Metadata::is_file) else {
        return Ok(());
    };
    if output == Path::new(STDOUT) {
        return Ok(());
    }
    let name = output.display();
    for input in inputs {
        let is_read = fs::metadata(input)
            .is_ok_and(|read| (read.dev(), read.ino()) == (there.dev(), there.ino()));
        ensure!(
            !is_read,
            "{name}: it is {}, which is read: write to another file",
            input.display()
        );
    }
    ensure!(
        !start(output).is_some_and(|start| is_campaign(&start)),
        "{name}: a campaign's samples are there: write to another file"
    );
    Ok(())
}

/// Refuses to begin where a file that is to be written in the end cannot be made.
///
/// # Errors
/// If it is so.
pub fn has_place(output: &Path) -> anyhow::Result<()> {
    if output == Path::new(STDOUT) || output.exists() {
        return Ok(());
    }
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let may_make = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::access(folder.unwrap_or(Path::new(".")), may_make)
        .with_context(|| output.display().to_string())
}

/// Whether a file that begins so is a campaign, of any version.
fn is_campaign(start: &[u8]) -> bool {
    let line = start.split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.starts_with(b"{") && has(line, br#""record":"campaign""#))
}

/// Whether bytes have others in them.
pub fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// How a regular file begins; nothing where it cannot be read.
pub fn start(path: &Path) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    let file = regular::open(path).ok()?;
    file.take(START_BYTES).read_to_end(&mut start).ok()?;
    Some(start)
}
