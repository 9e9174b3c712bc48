//! Calls on paths.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno as Host;

use super::guest::MEMORY_BYTES;
use super::native::{
    Answer, Entry, Expected, Open, entry, errno, number, open_beneath, rights, type_number,
};
use super::{DATA, Outcome, PATHS, Pair, fits};

/// `O_DSYNC`, of x86-64 and AArch64.
const DSYNC: OFlags = OFlags::from_bits_retain(0x1000);

/// The longest path that the kernel takes.
const PATH_BYTES_MAX: usize = 4095;

/// A path of the guest.
struct Given {
    fd: u32,
    ptr: u32,
    len: u32,
    bytes: Vec<u8>,
}

impl Given {
    fn args(&self) -> [u64; 3] {
        [self.fd, self.ptr, self.len].map(u64::from)
    }

    fn has_slash(&self) -> bool {
        self.bytes.last() == Some(&b'/')
    }
}

/// Where a path leads: its folder, and its entry there.
struct Found {
    dir: Open,
    entry: Entry,
}

impl Found {
    /// What is expected where the kernel answered this to the whole path.
    fn answer(&self, native: Result<(), Host>) -> Expected {
        match native {
            Ok(()) => Expected::Is(Ok(())),
            Err(_) if self.entry.slash_behind_no_dir || self.entry.is_parent => Expected::Fails,
            Err(error) => Expected::Is(Err(number(error))),
        }
    }
}

impl Pair {
    fn given(&mut self, area: usize) -> Given {
        let (fd, bytes) = (self.dir_fd(), self.dice.path());
        let (mut ptr, mut len) = (PATHS[area], bytes.len() as u32);
        self.put(ptr, &bytes);
        if self.dice.once_in(100) {
            (ptr, len) = self
                .dice
                .pick(&[(u32::MAX, 1), (ptr, u32::MAX), (ptr, 1 << 20)]);
        }
        Given {
            fd,
            ptr,
            len,
            bytes,
        }
    }

    /// The folder that the path starts at; and nothing wrong with the path itself.
    fn start(&self, given: &Given, right: u64) -> Result<Open, u16> {
        let dir = self.native.dir(given.fd, right)?.clone();
        fits(given.ptr, given.len)?;
        match given.bytes.len() > PATH_BYTES_MAX {
            true => Err(errno::NAMETOOLONG),
            false => Ok(dir),
        }
    }

    fn find(&self, given: &Given, right: u64) -> Result<Found, u16> {
        let dir = self.start(given, right)?;
        let entry = entry(&dir, &given.bytes)?;
        Ok(Found { dir, entry })
    }

    pub(super) fn open(&mut self) -> Outcome {
        let given = self.given(0);
        let (lookup, oflags) = (self.dice.flags(1), self.dice.flags(4));
        let fdflags = self.dice.pick(&[0, 0, 0, 0, 1, 4, 2, 16, 32]);
        let (base, inheriting, out) = (self.dice.rights(), self.dice.rights(), self.out(4));
        let mut native = || -> Answer {
            if lookup > 1 || oflags > 15 || fdflags > 31 {
                return Err(errno::INVAL);
            }
            fits(out, 4)?;
            let mut needed = rights::OPEN;
            for (flag, right) in [(1, rights::CREATE_FILE), (8, rights::PATH_SET_SIZE)] {
                needed |= if oflags & flag != 0 { right } else { 0 };
            }
            let dir = self.native.dir(given.fd, needed)?.clone();
            let [base, inheriting] = [base, inheriting].map(|asked| asked & dir.inheriting);
            if oflags & 3 == 3 {
                return Err(errno::INVAL);
            }
            self.start(&given, needed)?;
            self.native.has_room()?;
            let flags = host_flags(lookup, oflags, fdflags, base);
            let mode = Mode::from_raw_mode(0o666);
            let fd = open_beneath(dir.fd.as_fd(), &given.bytes, flags, mode)?;
            let fd = self.native.insert(fd, base, inheriting);
            self.store(out, &fd.to_le_bytes())
        };
        let expected = Expected::Is(native());
        let [fd, ptr, len] = given.args();
        let (lookup, oflags) = (lookup.into(), oflags.into());
        let args = [
            fd,
            lookup,
            ptr,
            len,
            oflags,
            base,
            inheriting,
            fdflags.into(),
            out.into(),
        ];
        self.check("path_open", &args, expected, &[]).map(drop)
    }

    pub(super) fn make_or_remove(&mut self) -> Outcome {
        let given = self.given(0);
        let call = self.dice.below(3);
        let (name, right) = [
            ("path_create_directory", 1 << 9),
            ("path_remove_directory", 1 << 25),
            ("path_unlink_file", 1 << 26),
        ][call as usize];
        let expected = match self.find(&given, right) {
            Err(error) => Expected::Is(Err(error)),
            Ok(found) => {
                let (dir, path) = (&*found.dir.fd, &*given.bytes);
                found.answer(match call {
                    0 => rustix::fs::mkdirat(dir, path, Mode::from_raw_mode(0o777)),
                    1 => rustix::fs::unlinkat(dir, path, AtFlags::REMOVEDIR),
                    _ => rustix::fs::unlinkat(dir, path, AtFlags::empty()),
                })
            }
        };
        self.check(name, &given.args(), expected, &[]).map(drop)
    }

    /// Two paths, their folders first.
    fn find_both(&self, given: &[Given; 2], rights: [u64; 2]) -> Result<[Found; 2], u16> {
        let starts = [
            self.start(&given[0], rights[0])?,
            self.start(&given[1], rights[1])?,
        ];
        let entries = [
            entry(&starts[0], &given[0].bytes)?,
            entry(&starts[1], &given[1].bytes)?,
        ];
        let [(dir, entry), new] = {
            let [a, b] = starts;
            let [c, d] = entries;
            [(a, c), (b, d)]
        };
        let old = Found { dir, entry };
        let (dir, entry) = new;
        Ok([old, Found { dir, entry }])
    }

    fn both(found: &[Found; 2], native: Result<(), Host>) -> Expected {
        match native {
            Err(Host::INVAL) => Expected::Fails,
            Err(_) => {
                let [old, new] = found.each_ref().map(|found| found.answer(native));
                if old == Expected::Fails { old } else { new }
            }
            Ok(()) => Expected::Is(Ok(())),
        }
    }

    pub(super) fn rename(&mut self) -> Outcome {
        let given = [self.given(0), self.given(1)];
        let expected = match self.find_both(&given, [1 << 16, 1 << 17]) {
            Err(error) => Expected::Is(Err(error)),
            Ok(found) => {
                let (old, new) = (&*found[0].dir.fd, &*found[1].dir.fd);
                let native = rustix::fs::renameat(old, &*given[0].bytes, new, &*given[1].bytes);
                Pair::both(&found, native)
            }
        };
        let args = given.map(|given| given.args()).concat();
        self.check("path_rename", &args, expected, &[]).map(drop)
    }

    pub(super) fn link(&mut self) -> Outcome {
        let given = [self.given(0), self.given(1)];
        let flags = self.dice.pick(&[0, 0, 0, 0, 0, 0, 0, 1, 2]);
        let expected = match self.find_both(&given, [1 << 11, 1 << 12]) {
            // Links are not followed beneath a folder.
            _ if flags != 0 => Expected::Is(Err(errno::INVAL)),
            Err(error) => Expected::Is(Err(error)),
            Ok(found) => {
                let (old, new) = (&*found[0].dir.fd, &*found[1].dir.fd);
                let (from, to) = (&*given[0].bytes, &*given[1].bytes);
                let native = match found[0].entry.slash_behind_no_dir {
                    // It would be followed, perhaps out of the folder.
                    true => Err(Host::NOTDIR),
                    false => rustix::fs::linkat(old, from, new, to, AtFlags::empty()),
                };
                Pair::both(&found, native)
            }
        };
        let [old, new] = given.map(|given| given.args());
        let args = [&old[..1], &[flags], &old[1..], &new].concat();
        self.check("path_link", &args, expected, &[]).map(drop)
    }

    pub(super) fn symlink(&mut self) -> Outcome {
        let (target, given) = (self.given(0), self.given(1));
        let native = || {
            let found = self.find(&given, 1 << 24)?;
            fits(target.ptr, target.len)?;
            if target.bytes.len() > PATH_BYTES_MAX {
                return Err(errno::NAMETOOLONG);
            }
            if target.bytes.first() == Some(&b'/') {
                return Err(errno::NOTCAPABLE);
            }
            let (dir, path) = (&*found.dir.fd, &*given.bytes);
            let native = rustix::fs::symlinkat(&*target.bytes, dir, path);
            // Which path is looked at first is nobody's concern.
            let both_wrong = target.bytes.is_empty() && path.contains(&0);
            match target.bytes.contains(&0) || both_wrong {
                true => Ok(Expected::Fails),
                false => Ok(found.answer(native)),
            }
        };
        let expected = native().unwrap_or_else(|error| Expected::Is(Err(error)));
        let [fd, ptr, len] = given.args();
        let args = [target.ptr.into(), target.len.into(), fd, ptr, len];
        self.check("path_symlink", &args, expected, &[]).map(drop)
    }

    pub(super) fn read_link(&mut self) -> Outcome {
        let given = self.given(0);
        let (len, out) = (self.dice.pick(&[0u32, 1, 3, 64, 200]), self.out(4));
        let mut native = || {
            fits(out, 4)?;
            let found = self.find(&given, 1 << 15)?;
            let link = rustix::fs::readlinkat(&*found.dir.fd, &*given.bytes, Vec::new());
            let link = match link {
                // The sides have names of their own.
                Ok(link) if link.as_bytes().starts_with(b"/") => return Ok(None),
                Ok(link) if !found.entry.slash_behind_no_dir => link.into_bytes(),
                // It was followed.
                Ok(_) => return Ok(Some(Expected::Fails)),
                Err(error) => return Ok(Some(found.answer(Err(error)))),
            };
            let fits_in = &link[..link.len().min(len as usize)];
            self.store(DATA, fits_in)?;
            self.store(out, &(fits_in.len() as u32).to_le_bytes())?;
            Ok(Some(Expected::Is(Ok(()))))
        };
        let expected = native().unwrap_or_else(|error| Some(Expected::Is(Err(error))));
        let Some(expected) = expected else {
            return Ok(());
        };
        let [fd, ptr, path_len] = given.args();
        let args = [fd, ptr, path_len, DATA.into(), len.into(), out.into()];
        self.check("path_readlink", &args, expected, &[]).map(drop)
    }

    /// Opens what the path names, only to point at it.
    fn point(&self, given: &Given, right: u64, follow: bool) -> Result<std::os::fd::OwnedFd, u16> {
        let dir = self.start(given, right)?;
        let mut flags = OFlags::PATH;
        flags.set(OFlags::NOFOLLOW, !follow && !given.has_slash());
        open_beneath(dir.fd.as_fd(), &given.bytes, flags, Mode::empty())
    }

    pub(super) fn path_stat(&mut self) -> Outcome {
        let (given, follow, out) = (self.given(0), self.dice.flags(1), self.out(64));
        let native = || match follow > 1 {
            true => Err(errno::INVAL),
            false => {
                let fd = self.point(&given, 1 << 18, follow == 1)?;
                rustix::fs::fstat(fd).map_err(number)
            }
        };
        let stat = native();
        let expected = Expected::Is(stat.and_then(|_| fits(out, 64)));
        let [fd, ptr, len] = given.args();
        let args = [fd, follow.into(), ptr, len, out.into()];
        match self.check("path_filestat_get", &args, expected, &[(out, 64)])? {
            true => self.same_stat(out, &stat.expect("it succeeded")),
            false => Ok(()),
        }
    }

    pub(super) fn path_set_times(&mut self) -> Outcome {
        let (given, follow) = (self.given(0), self.dice.flags(1));
        let ([atim, mtim, flags], times) = self.times();
        let native = || {
            let known = if follow > 1 {
                Err(errno::INVAL)
            } else {
                Ok(())
            };
            let times = known.and(times)?;
            let fd = self.point(&given, 1 << 20, follow == 1)?;
            rustix::fs::utimensat(fd, c"", &times, AtFlags::EMPTY_PATH).map_err(number)
        };
        let expected = Expected::Is(native());
        let [fd, ptr, len] = given.args();
        let args = [fd, follow.into(), ptr, len, atim, mtim, flags];
        self.check("path_filestat_set_times", &args, expected, &[])
            .map(drop)
    }

    /// Lists a folder through a buffer of any size, and at any cookie.
    pub(super) fn list(&mut self) -> Outcome {
        let fd = self.dir_fd();
        let dir = self.native.dir(fd, rights::READDIR);
        let expected = dir.and_then(|dir| {
            let entries = Dir::read_from(&*dir.fd).map_err(number)?.map(|entry| {
                let entry = entry.map_err(number)?;
                let kind = type_number(entry.file_type());
                Ok((entry.file_name().to_bytes().to_vec(), kind))
            });
            let entries: BTreeMap<Vec<u8>, u8> = entries.collect::<Result<_, u16>>()?;
            // A folder that was removed has not even `.`; rustix takes the
            // kernel's error for the end.
            (!entries.is_empty()).then_some(entries).ok_or(errno::NOENT)
        });
        if self.dice.once_in(4) {
            return self.list_anywhere(fd, expected.map(drop));
        }
        // An entry must fit.
        let room = self.dice.pick(&[300, 301, 512, 4000]);
        let (mut cookie, mut found) = (0, BTreeMap::new());
        loop {
            let args = [fd.into(), DATA.into(), room, cookie, 0x40];
            let own = [(DATA, room as u32), (0x40, 4)];
            let answer = Expected::Is(expected.as_ref().map(drop).map_err(|error| *error));
            if !self.check("fd_readdir", &args, answer, &own)? {
                return Ok(());
            }
            let used = u32::from_le_bytes(self.memory[0x40..0x44].try_into().expect("four"));
            let mut rest = &self.memory[DATA as usize..][..used as usize];
            while let Some((head, behind)) = rest.split_at_checked(24) {
                let len = u32::from_le_bytes(head[16..20].try_into().expect("four")) as usize;
                let Some((name, behind)) = behind.split_at_checked(len) else {
                    break;
                };
                cookie = u64::from_le_bytes(head[..8].try_into().expect("eight"));
                if found.insert(name.to_vec(), head[20]).is_some() {
                    return Err(format!("{name:?} twice"));
                }
                rest = behind;
            }
            if u64::from(used) < room {
                break;
            }
        }
        match expected {
            Ok(expected) if expected != found => Err(format!("{found:?}, not {expected:?}")),
            _ => Ok(()),
        }
    }

    /// Whatever is asked, only the buffer is written to.
    fn list_anywhere(&mut self, fd: u32, dir: Answer) -> Outcome {
        let cookie = self.dice.wide();
        let room = self
            .dice
            .pick(&[0, 1, 23, 24, 25, 5000, MEMORY_BYTES as u32 - DATA]);
        let args = [fd.into(), DATA.into(), room.into(), cookie, 0x40];
        let own = [(DATA, room), (0x40, 4)];
        let expected = match (dir, cookie) {
            // Of two errors either: the folder is gone, and nobody was at the cookie.
            (Err(errno::NOENT), 1..) => Expected::Fails,
            (Err(error), _) => Expected::Is(Err(error)),
            (Ok(()), 0) => Expected::Is(Ok(())),
            // As many entries as that there are not.
            (Ok(()), 1000..) => Expected::Is(Err(errno::INVAL)),
            // Where the guest has been, or not.
            (Ok(()), _) => return Ok(()),
        };
        self.check("fd_readdir", &args, expected, &own).map(drop)
    }
}

/// What the host is told, by the rights that are asked for.
fn host_flags(lookup: u32, oflags: u32, fdflags: u32, base: u64) -> OFlags {
    let reads = base & (rights::READ | rights::READDIR) != 0;
    // A directory that is asked for as one is not written.
    let writes = base & (rights::WRITE | rights::ALLOCATE | rights::SET_SIZE) != 0;
    let writes = writes && oflags & 2 == 0;
    let mut flags = match (reads, writes) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    for (set, flag) in [
        (oflags & 1 != 0, OFlags::CREATE),
        (oflags & 2 != 0, OFlags::DIRECTORY),
        (oflags & 4 != 0, OFlags::EXCL),
        (oflags & 8 != 0, OFlags::TRUNC),
        (lookup & 1 == 0, OFlags::NOFOLLOW),
        (fdflags & 1 != 0, OFlags::APPEND),
        (fdflags & 2 != 0, DSYNC),
        (fdflags & 4 != 0, OFlags::NONBLOCK),
        (fdflags & 24 != 0, OFlags::SYNC),
    ] {
        if set {
            flags |= flag;
        }
    }
    flags
}
