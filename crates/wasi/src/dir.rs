//! Reading directories.
//!
//! The kernel's own positions are opaque 64-bit values, but a C library of a
//! 32-bit guest keeps them in a `long`. The guest's cookies are therefore
//! counts: cookie `n` is the place after the `n`-th entry. [`DirStream`]
//! remembers the kernel's position after the entries it has read ([`Positions`]),
//! so going back costs one seek, and reading on costs no seek at all.

use crate::errno::Errno;
use crate::ranges::Stopped;
use crate::types::{FileType, encode_dirent};
use rustix::fs::{AtFlags, RawDir, SeekFrom};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

/// How much the kernel is asked for at once, in bytes.
const BATCH_BYTES: usize = 16 << 10;

/// Positions that are kept of one directory: 64 KiB of them.
const POSITIONS_MAX: usize = 8192;

#[derive(Debug)]
struct Entry {
    name: Box<[u8]>,
    ino: u64,
    filetype: FileType,
    /// The kernel's position after this entry.
    after: u64,
}

/// The kernel's positions after every `step`-th entry: each, until there are
/// [`POSITIONS_MAX`]; then every second is forgotten, and again.
#[derive(Debug)]
struct Positions {
    step: u64,
    /// Cookie `(i + 1) * step` is the position `kept[i]`.
    kept: Vec<u64>,
    /// The greatest cookie that was noted.
    last: u64,
}

impl Default for Positions {
    fn default() -> Positions {
        Positions {
            step: 1,
            kept: Vec::new(),
            last: 0,
        }
    }
}

impl Positions {
    /// The kernel is at `position` after `cookie` entries. Cookies come without
    /// gaps, but some again.
    fn note(&mut self, cookie: u64, position: u64) {
        self.last = self.last.max(cookie);
        if !cookie.is_multiple_of(self.step) {
            return;
        }
        let index = usize::try_from(cookie / self.step - 1).unwrap_or(usize::MAX);
        if let Some(kept) = self.kept.get_mut(index) {
            *kept = position;
            return;
        }
        self.kept.push(position);
        // Every second goes: a directory of any size takes the same room, and a step
        // back costs twice the reading.
        if self.kept.len() == POSITIONS_MAX {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.step *= 2;
        }
    }

    /// The last cookie up to this one whose position is known, and that.
    ///
    /// # Errors
    /// `Errno::Inval` for a cookie that was never noted.
    fn before(&self, cookie: u64) -> Result<(u64, u64), Errno> {
        if cookie > self.last {
            return Err(Errno::Inval);
        }
        let count = cookie / self.step;
        let position = match count.checked_sub(1) {
            None => 0,
            Some(index) => *usize::try_from(index)
                .ok()
                .and_then(|index| self.kept.get(index))
                .ok_or(Errno::Inval)?,
        };
        Ok((count * self.step, position))
    }
}

/// Where reading a directory stands.
#[derive(Debug, Default)]
pub(crate) struct DirStream {
    /// Entries read from the kernel that come next, the first having the
    /// number `at`.
    ahead: VecDeque<Entry>,
    /// The number of the next entry, which is its cookie: entries before it.
    at: u64,
    positions: Positions,
    /// The kernel has no more entries after `ahead`.
    ended: bool,
}

impl DirStream {
    /// Hands entries from `cookie` on to `put`, each piece of bytes with its
    /// place among `room` bytes, the last one cut when it does not fit. Returns
    /// the number of bytes handed on, which is less than `room` only at the end of
    /// the directory.
    ///
    /// # Errors
    /// `Errno::Inval` for a cookie that was never handed out, `Errno::Intr` when
    /// the guest is `stopped`, that of `put`, else what the host answers.
    pub(crate) fn read(
        &mut self,
        dir: BorrowedFd<'_>,
        cookie: u64,
        room: u32,
        mut put: impl FnMut(u32, &[u8]) -> Result<(), Errno>,
        stopped: Stopped,
    ) -> Result<u32, Errno> {
        self.seek(dir, cookie)?;
        let mut used = 0;
        while used < room {
            if self.ahead.is_empty() {
                // Once for each call of the kernel: a directory may have millions.
                if stopped() {
                    return Err(Errno::Intr);
                }
                self.fetch(dir)?;
            }
            let Some(entry) = self.ahead.front() else {
                break;
            };
            let next = self.at + 1;
            let name_len = u32::try_from(entry.name.len()).map_err(|_| Errno::Overflow)?;
            let head = encode_dirent(next, entry.ino, name_len, entry.filetype);
            for bytes in [&head[..], &entry.name] {
                let fits = bytes.len().min((room - used) as usize);
                put(used, &bytes[..fits])?;
                // At most the room, so it has 32 bits.
                used += fits as u32;
            }
            if used == room {
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
            self.at += 1;
            self.positions.note(self.at, entry.after);
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
        let (at, position) = self.positions.before(cookie)?;
        rustix::fs::seek(dir, SeekFrom::Start(position))?;
        self.ahead.clear();
        self.ended = false;
        self.at = at;
        while self.at < cookie {
            if self.ahead.is_empty() {
                self.fetch(dir)?;
            }
            if self.ahead.is_empty() {
                // It has fewer entries than it had: this is their end.
                self.at = cookie;
            }
            self.advance();
        }
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
            // Else it would ask the kernel again, for entries that may not be wanted.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::DIRENT_BYTES;
    use std::collections::BTreeSet;
    use std::os::fd::AsFd;

    /// The least buffer that can hold any entry whole, in bytes.
    const ENTRY_BYTES_MAX: usize = DIRENT_BYTES + 255;

    fn read_into(
        stream: &mut DirStream,
        dir: BorrowedFd<'_>,
        cookie: u64,
        out: &mut [u8],
    ) -> Result<usize, Errno> {
        let room = u32::try_from(out.len()).unwrap();
        let put = |at: u32, bytes: &[u8]| {
            out[at as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        };
        let used = stream.read(dir, cookie, room, put, &|| false)?;
        Ok(used as usize)
    }

    /// What a guest reads out of its buffer: (next cookie, name), and whether
    /// the directory ended.
    fn read(
        stream: &mut DirStream,
        dir: BorrowedFd<'_>,
        cookie: u64,
        size: usize,
    ) -> (Vec<(u64, String)>, bool) {
        let mut buffer = vec![0; size];
        let used = read_into(stream, dir, cookie, &mut buffer).unwrap();
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
        let unknown = read_into(&mut stream, dir.as_fd(), 503, &mut [0; 64]);
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

    /// More entries than positions that are kept.
    #[test]
    fn a_cookie_of_a_large_directory_leads_back_too() {
        let temp = tempfile::tempdir().unwrap();
        let count = POSITIONS_MAX as u64 * 2 + 10;
        for i in 0..count - 2 {
            std::fs::write(temp.path().join(format!("{i}")), "").unwrap();
        }
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut stream = DirStream::default();
        let all = walk(&mut stream, dir.as_fd(), 1 << 20);
        assert_eq!(all.len() as u64, count);
        assert!(stream.positions.kept.len() < POSITIONS_MAX);
        assert_eq!(stream.positions.step, 4);
        for cookie in [1, 3, 5, 4000, 8191, 8192, 8193, count - 1, 4001] {
            let (entries, _) = read(&mut stream, dir.as_fd(), cookie, 4096);
            assert_eq!(
                entries[0],
                all[usize::try_from(cookie).unwrap()],
                "{cookie}"
            );
        }
        let (rest, ended) = read(&mut stream, dir.as_fd(), count, 4096);
        assert!(rest.is_empty() && ended);
    }

    #[test]
    fn a_guest_that_is_stopped_reads_no_further() {
        let temp = tempfile::tempdir().unwrap();
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut stream = DirStream::default();
        let stopped = stream.read(dir.as_fd(), 0, 64, |_, _| Ok(()), &|| true);
        assert_eq!(stopped, Err(Errno::Intr));
    }
}
