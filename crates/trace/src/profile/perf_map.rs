//! Functions that a process has named in `/tmp/perf-PID.map`: a line each, its address, its
//! length and its name (tools/perf/Documentation/jit-interface.txt).
//!
//! What must stay true: any text is read; a line that is none is passed over.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use fathom_sys::regular;

use super::ranges::Ranges;

/// Bytes of a file that are read.
const BYTES_MAX: u64 = 1 << 30;

/// The functions of a text. Code may come to be where other code was: the last line counts.
pub fn parse(text: &str) -> Ranges<Rc<str>> {
    let mut functions = Ranges::default();
    for line in text.lines() {
        let mut parts = line.splitn(3, ' ');
        let mut number = || {
            let digits = parts.next()?;
            let digits = digits.strip_prefix("0x").unwrap_or(digits);
            u64::from_str_radix(digits, 16).ok()
        };
        let (Some(start), Some(bytes)) = (number(), number()) else {
            continue;
        };
        if let Some(name) = parts.next() {
            functions.put(start, bytes, Rc::from(name));
        }
    }
    functions
}

/// The file of a process that has ended, which was asked for and is of no further use: it is
/// read and removed. One that was not written since `since` is another process's.
///
/// # Errors
/// Why what is there cannot be read.
pub fn take(pid: u32, since: SystemTime) -> io::Result<Option<Ranges<Rc<str>>>> {
    let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
    match read(&path, since) {
        Ok(text) => {
            if text.is_some() {
                std::fs::remove_file(&path)?;
            }
            Ok(text.as_deref().map(parse))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(path: &Path, since: SystemTime) -> io::Result<Option<String>> {
    // Not what a link shows that somebody else has put there.
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_file() || found.modified()? < since {
        return Ok(None);
    }
    if found.len() > BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let bytes = regular::read(path)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_of_all_engines_are_read_and_others_passed_over() {
        let text = "7f00 10 app: main\n0x8000 20 wasm[0]::function[7]\n9000 8 JS:a b-3-turbofan\n\
                    7f00 10\nzz 1 x\n\n7f08 4 later\n7fff";
        let functions = parse(text);
        let name = |address| functions.at(address).map(|(_, name)| &**name);
        assert_eq!(name(0x7f00), Some("app: main"));
        assert_eq!(name(0x7f0b), Some("later"));
        assert_eq!(name(0x7f0c), Some("app: main"));
        assert_eq!(name(0x7f10), None);
        assert_eq!(name(0x801f), Some("wasm[0]::function[7]"));
        assert_eq!(name(0x9007), Some("JS:a b-3-turbofan"));
    }

    #[test]
    fn a_file_is_taken_once_and_only_if_it_is_new() {
        // No process has such a number (PID_MAX_LIMIT is 4,194,304).
        let pid = 4_100_000_000 + std::process::id() % 1000;
        let path = format!("/tmp/perf-{pid}.map");
        let before = SystemTime::now() - Duration::from_secs(5);
        assert!(take(pid, before).unwrap().is_none());
        std::fs::write(&path, "10 10 a\n").unwrap();
        let later = SystemTime::now() + Duration::from_secs(5);
        assert!(take(pid, later).unwrap().is_none());
        let functions = take(pid, before).unwrap().unwrap();
        assert_eq!(functions.at(0x1f).map(|(_, name)| &**name), Some("a"));
        assert!(take(pid, before).unwrap().is_none());
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let linked = take(pid, SystemTime::UNIX_EPOCH);
        std::fs::remove_file(&path).unwrap();
        assert!(linked.unwrap().is_none());
    }
}
