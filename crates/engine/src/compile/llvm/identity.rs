//! Which compiler a file is, known without starting it: what it said of itself can be kept from
//! one program to the next.
//!
//! What must stay true: a compiler that is another one has another identity, or none.
//! - It is one file. A program that loads libraries, and a script, can become another one while
//!   their files stay as they are, so they have no identity. Nor has what is named neither clang nor
//!   zig behind all links: it may look for a compiler itself.
//! - The file is told from others by device and inode, and from what it was by its size and by
//!   when it was changed, which is a time that nobody can set.
//! - That time is as coarse as the host's timer. What was changed a moment ago could be changed again
//!   within the same tick, so it has no identity yet.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use object::Endianness;
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

/// How long ago a file was changed at least.
const SETTLED: Duration = Duration::from_secs(2);

/// Bytes of a program that its headers are looked for in.
const HEAD_BYTES: usize = 4096;

/// What the file of a compiler is known by; nothing where that does not say enough.
pub(super) fn of(path: &Path) -> Option<String> {
    seen_at(path, SystemTime::now())
}

fn seen_at(path: &Path, now: SystemTime) -> Option<String> {
    let real = path.canonicalize().ok()?;
    let name = real.file_name()?.to_str()?;
    if !(name.starts_with("clang") || name.starts_with("zig")) {
        return None;
    }
    let file = File::open(&real).ok()?;
    let about = file.metadata().ok()?;
    let changed = Duration::new(
        about.ctime().try_into().ok()?,
        about.ctime_nsec().try_into().ok()?,
    );
    let age = now.duration_since(SystemTime::UNIX_EPOCH + changed);
    if age.ok()? < SETTLED || !is_alone(&file) {
        return None;
    }
    Some(format!(
        "{}|{}|{}|{}|{}|{}|{}|{}",
        path.display(),
        real.display(),
        about.dev(),
        about.ino(),
        about.size(),
        about.mtime(),
        about.mtime_nsec(),
        changed.as_nanos(),
    ))
}

/// Whether a file is a program that no other file is loaded for.
fn is_alone(file: &File) -> bool {
    let mut head = [0; HEAD_BYTES];
    let read = file.read_at(&mut head, 0);
    let head = read.map_or(&[][..], |bytes| &head[..bytes]);
    let Ok(header) = FileHeader64::<Endianness>::parse(head) else {
        return false;
    };
    let Ok(endian) = header.endian() else {
        return false;
    };
    // All of them are in the head, or there is an error.
    let parts = header.program_headers(endian, head);
    parts.is_ok_and(|parts| {
        !parts.is_empty() && parts.iter().all(|part| part.p_type(endian) != PT_INTERP)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A program of one part, of this type; it does not run.
    pub(in super::super) fn program(part: object::elf::ProgramType) -> Vec<u8> {
        let mut bytes = vec![0; 256];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        for (at, value) in [(16, 2u16), (18, 62), (20, 1), (52, 64), (54, 56), (56, 1)] {
            bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes[32] = 64;
        bytes[64..68].copy_from_slice(&part.0.to_le_bytes());
        bytes
    }

    /// The identity that a file has once it is left alone.
    fn settled(path: &Path) -> Option<String> {
        seen_at(path, SystemTime::now() + 2 * SETTLED)
    }

    #[test]
    fn another_compiler_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clang-20");
        fs::write(&path, program(object::elf::PT_LOAD)).unwrap();
        assert_eq!(of(&path), None, "it was changed a moment ago");
        let first = settled(&path).unwrap();
        assert_eq!(settled(&path).unwrap(), first);
        // Changed where it is, as long as before, and with the time it had.
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let mut other = program(object::elf::PT_LOAD);
        other[255] = 1;
        fs::write(&path, other).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
        let second = settled(&path).unwrap();
        assert_ne!(second, first);
        // Another file in its place.
        let beside = folder.path().join("zig");
        fs::write(&beside, program(object::elf::PT_LOAD)).unwrap();
        fs::rename(&beside, &path).unwrap();
        assert_ne!(settled(&path).unwrap(), second);
    }

    #[test]
    fn what_is_not_all_of_a_compiler_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            settled(&path)
        };
        let whole = program(object::elf::PT_LOAD);
        assert!(named("zig", &whole).is_some());
        assert_eq!(named("clang", &program(PT_INTERP)), None);
        assert_eq!(named("clang", b"#!/bin/sh\nexec clang-21 \"$@\"\n"), None);
        assert_eq!(named("clang", b""), None);
        assert_eq!(named("clang", &whole[..100]), None);
        assert_eq!(named("ccache", &whole), None);
        let link = folder.path().join("clang-20");
        symlink("ccache", &link).unwrap();
        assert_eq!(settled(&link), None);
        assert_eq!(settled(&folder.path().join("clang-22")), None);
    }
}
