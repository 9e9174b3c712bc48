//! Reading directories.
//!
//! The kernel's own positions are opaque 64-bit values, but a C library of a
//! 32-bit guest keeps them in a `long`. The guest's cookies are therefore
//! counts: cookie `n` is the place after the `n`-th entry. [`DirStream`]
//! remembers the kernel's position after each entry it has read, so going back
//! costs one seek, and reading on costs no seek at all.

use crate::errno::Errno;
use crate::types::{FileType, encode_dirent};
use rustix::fs::{AtFlags, RawDir, SeekFrom};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

/// How much the kernel is asked for at once, in bytes.
const BATCH_BYTES: usize = 16 << 10;

#[derive(Debug)]
struct Entry {
    name: Box<[u8]>,
    ino: u64,
    filetype: FileType,
    /// The kernel's position after this entry.
    after: u64,
}

/// Where reading a directory stands.
#[derive(Debug, Default)]
pub(crate) struct DirStream {
    /// Entries read from the kernel that come next, the first having the
    /// number `at`.
    ahead: VecDeque<Entry>,
    /// The number of the next entry, which is its cookie: entries before it.
    at: u64,
    /// The kernel's position after entry `i`.
    after: Vec<u64>,
    /// The kernel has no more entries after `ahead`.
    ended: bool,
}

impl DirStream {
    /// Fills `out` with entries from `cookie` on, the last one cut when it does
    /// not fit; returns the number of bytes written, which is less than
    /// `out` has only at the end of the directory.
    ///
    /// # Errors
    /// `Errno::Inval` for a cookie that was never handed out, else what the
    /// host answers.
    pub(crate) fn read(
        &mut self,
        dir: BorrowedFd<'_>,
        cookie: u64,
        out: &mut [u8],
    ) -> Result<usize, Errno> {
        self.seek(dir, cookie)?;
        let mut used = 0;
        while used < out.len() {
            if self.ahead.is_empty() {
                self.fetch(dir)?;
            }
            let Some(entry) = self.ahead.front() else {
                break;
            };
            let next = self.at + 1;
            let name_len = u32::try_from(entry.name.len()).map_err(|_| Errno::Overflow)?;
            let head = encode_dirent(next, entry.ino, name_len, entry.filetype);
            used += copy(&head, &mut out[used..]);
            used += copy(&entry.name, &mut out[used..]);
            if used == out.len() {
                // Perhaps cut: it stays, the guest asks for it again.
                break;
            }
            self.advance();
        }
        Ok(used)
    }

    /// Steps over the first entry ahead.
    fn advance(&mut self) {
        if let Some(entry) = self.ahead.pop_front() {
            let index = usize::try_from(self.at).unwrap_or(usize::MAX);
            if index < self.after.len() {
                self.after[index] = entry.after;
            } else {
                self.after.push(entry.after);
            }
            self.at += 1;
        }
    }

    /// Goes to `cookie`.
    fn seek(&mut self, dir: BorrowedFd<'_>, cookie: u64) -> Result<(), Errno> {
        // Going on, a little ahead included: the guest has taken all entries
        // but the one that was cut.
        while cookie != 0 && self.at < cookie && !self.ahead.is_empty() {
            self.advance();
        }
        if cookie == self.at && cookie != 0 {
            return Ok(());
        }
        let position = match cookie.checked_sub(1) {
            None => 0,
            Some(index) => *usize::try_from(index)
                .ok()
                .and_then(|index| self.after.get(index))
                .ok_or(Errno::Inval)?,
        };
        rustix::fs::seek(dir, SeekFrom::Start(position))?;
        self.ahead.clear();
        self.ended = false;
        self.at = cookie;
        Ok(())
    }

    /// Asks the kernel for the next entries.
    fn fetch(&mut self, dir: BorrowedFd<'_>) -> Result<(), Errno> {
        if self.ended {
            return Ok(());
        }
        let mut buffer = [MaybeUninit::uninit(); BATCH_BYTES];
        let mut batch = RawDir::new(dir, &mut buffer);
        while let Some(entry) = batch.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            self.ahead.push_back(Entry {
                // The parent of a preopened directory is none of the guest's
                // business; 0 is "not known".
                ino: if name == b".." { 0 } else { entry.ino() },
                filetype: entry.file_type().into(),
                after: entry.next_entry_cookie(),
                name: name.into(),
            });
            if batch.is_buffer_empty() {
                break;
            }
        }
        self.ended = self.ahead.is_empty();
        for entry in &mut self.ahead {
            entry.settle_type(dir);
        }
        Ok(())
    }
}

impl Entry {
    /// Some file systems do not tell the type with the name.
    fn settle_type(&mut self, dir: BorrowedFd<'_>) {
        if self.filetype != FileType::Unknown || &*self.name == b".." {
            return;
        }
        if let Ok(stat) = rustix::fs::statat(dir, &*self.name, AtFlags::SYMLINK_NOFOLLOW) {
            self.filetype = rustix::fs::FileType::from_raw_mode(stat.st_mode).into();
        }
    }
}

/// Copies what fits.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::DIRENT_BYTES;
    use std::collections::BTreeSet;
    use std::os::fd::AsFd;

    /// The least buffer that can hold any entry whole, in bytes.
    const ENTRY_BYTES_MAX: usize = DIRENT_BYTES + 255;

    /// What a guest reads out of its buffer: (next cookie, name), and whether
    /// the directory ended.
    fn read(
        stream: &mut DirStream,
        dir: BorrowedFd<'_>,
        cookie: u64,
        size: usize,
    ) -> (Vec<(u64, String)>, bool) {
        let mut buffer = vec![0; size];
        let used = stream.read(dir, cookie, &mut buffer).unwrap();
        let mut entries = Vec::new();
        let mut rest = &buffer[..used];
        while rest.len() >= DIRENT_BYTES {
            let next = u64::from_le_bytes(rest[..8].try_into().unwrap());
            let len = u32::from_le_bytes(rest[16..20].try_into().unwrap()) as usize;
            if rest.len() < DIRENT_BYTES + len {
                break;
            }
            let name = &rest[DIRENT_BYTES..][..len];
            entries.push((next, String::from_utf8(name.to_vec()).unwrap()));
            rest = &rest[DIRENT_BYTES + len..];
        }
        (entries, used < size)
    }

    fn walk(stream: &mut DirStream, dir: BorrowedFd<'_>, size: usize) -> Vec<(u64, String)> {
        let (mut all, mut cookie) = (Vec::new(), 0);
        loop {
            let (entries, ended) = read(stream, dir, cookie, size);
            if let Some((next, _)) = entries.last() {
                cookie = *next;
            }
            all.extend(entries);
            if ended {
                return all;
            }
        }
    }

    #[test]
    fn every_entry_comes_once_whatever_the_buffer() {
        let temp = tempfile::tempdir().unwrap();
        for i in 0..1000 {
            std::fs::write(temp.path().join(format!("file.{i}")), "").unwrap();
        }
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut stream = DirStream::default();
        for size in [ENTRY_BYTES_MAX, 300, 4096, 1 << 20] {
            let all = walk(&mut stream, dir.as_fd(), size);
            assert_eq!(all.len(), 1002, "buffer of {size}");
            let names: BTreeSet<_> = all.iter().map(|(_, name)| name).collect();
            assert_eq!(names.len(), 1002);
            for (count, (next, _)) in all.iter().enumerate() {
                assert_eq!(*next, count as u64 + 1);
            }
        }
    }

    #[test]
    fn a_cookie_leads_back_to_its_place() {
        let temp = tempfile::tempdir().unwrap();
        for i in 0..500 {
            std::fs::write(temp.path().join(format!("{i}")), "").unwrap();
        }
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut stream = DirStream::default();
        let all = walk(&mut stream, dir.as_fd(), 4096);
        for cookie in [1, 250, 7, 501, 3] {
            let (entries, _) = read(&mut stream, dir.as_fd(), cookie, 4096);
            assert_eq!(entries[0], all[usize::try_from(cookie).unwrap()]);
        }
        let (rest, ended) = read(&mut stream, dir.as_fd(), 502, 4096);
        assert!(rest.is_empty() && ended);
        let unknown = stream.read(dir.as_fd(), 503, &mut [0; 64]);
        assert_eq!(unknown, Err(Errno::Inval));
    }

    #[test]
    fn a_new_entry_is_seen_after_starting_again() {
        let temp = tempfile::tempdir().unwrap();
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut stream = DirStream::default();
        assert_eq!(walk(&mut stream, dir.as_fd(), 4096).len(), 2);
        std::fs::write(temp.path().join("new"), "").unwrap();
        assert_eq!(walk(&mut stream, dir.as_fd(), 4096).len(), 3);
    }
}
