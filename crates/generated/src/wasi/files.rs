//! Calls on open files, and those on nothing.

use std::num::NonZeroU64;
use std::os::fd::AsFd;

use rustix::fs::{Advice, FallocateFlags, FileType, OFlags, SeekFrom, Timespec, Timestamps};

use super::guest::{ARGS, MEMORY_BYTES, SUBSCRIPTIONS};
use super::native::{Answer, Expected, Open, errno, kind, number, rights, type_number};
use super::{DATA, LIST, Outcome, Pair, fits};

/// `O_DSYNC`, of x86-64 and AArch64.
const DSYNC: OFlags = OFlags::from_bits_retain(0x1000);

/// Times below this were set, and not by a clock: two weeks of 1970.
const SET_NS: u64 = 1_200_000_000_000_000;

/// A list of ranges, or what is wrong with it.
type Ranges = Result<Vec<(u32, u32)>, u16>;

impl Pair {
    pub(super) fn close(&mut self) -> Outcome {
        let fd = self.dice.fd();
        // The streams stay, to be met with.
        if fd < 3 || (fd == 3 && !self.dice.once_in(20)) {
            return Ok(());
        }
        let expected = self.native.close(fd);
        self.is("fd_close", &[fd.into()], expected)
    }

    pub(super) fn renumber(&mut self) -> Outcome {
        let (from, to) = (self.dice.fd(), self.dice.fd());
        if from == 3 || to == 3 {
            return Ok(());
        }
        let expected = self.native.renumber(from, to);
        self.is("fd_renumber", &[from.into(), to.into()], expected)
    }

    fn is(&mut self, name: &str, args: &[u64], expected: Answer) -> Outcome {
        self.check(name, args, Expected::Is(expected), &[])
            .map(drop)
    }

    /// A list of ranges in both memories: its place, its length, and the ranges if
    /// all is well with them.
    fn ranges(&mut self) -> (u32, u32, Ranges) {
        let mut ranges = Vec::new();
        let empties = if self.dice.once_in(40) { 1500 } else { 0 };
        ranges.resize(empties, (DATA, 0));
        for _ in 0..self.dice.below(5) {
            // Near each other, so that some overlap.
            let ptr = DATA + self.dice.below(300) as u32;
            let len = self.dice.below(200) as u32;
            ranges.push((ptr, self.dice.pick(&[len, len, len, 0, 1])));
        }
        if self.dice.once_in(60) {
            ranges.push((self.dice.pick(&[u32::MAX, MEMORY_BYTES as u32 - 4]), 5));
        }
        let bytes: Vec<u8> = (ranges.iter())
            .flat_map(|(ptr, len)| [ptr.to_le_bytes(), len.to_le_bytes()].concat())
            .collect();
        self.put(LIST, &bytes);
        let count = ranges.len() as u32;
        if self.dice.once_in(80) {
            let (ptr, count) = self
                .dice
                .pick(&[(u32::MAX, 1), (LIST, u32::MAX), (LIST, 1 << 20)]);
            return (ptr, count, Err(errno::FAULT));
        }
        let well = ranges.iter().try_for_each(|&(ptr, len)| fits(ptr, len));
        (LIST, count, well.map(|()| ranges))
    }

    /// `fd_read` and `fd_pread`.
    pub(super) fn read(&mut self) -> Outcome {
        let (ptr, count, ranges) = self.ranges();
        let (fd, out, at) = (self.file_fd(), self.out(4), self.dice.wide());
        let positioned = self.dice.once_in(2);
        let expected = ranges.and_then(|ranges| {
            let total: usize = ranges.iter().map(|&(_, len)| len as usize).sum();
            let file = self.transfer(fd, rights::READ, positioned)?.fd.clone();
            fits(out, 4)?;
            let mut buffer = vec![0; total];
            let got = match positioned {
                true => rustix::io::pread(&file, &mut buffer, at),
                false => rustix::io::read(&file, &mut buffer),
            };
            let got = got.map_err(number)?;
            let mut rest = &buffer[..got];
            for (ptr, len) in ranges {
                let (now, later) = rest.split_at(rest.len().min(len as usize));
                self.store(ptr, now)?;
                rest = later;
            }
            self.store(out, &(got as u32).to_le_bytes())
        });
        let [fd, ptr, count, out] = [fd, ptr, count, out].map(u64::from);
        match positioned {
            true => self.is("fd_pread", &[fd, ptr, count, at, out], expected),
            false => self.is("fd_read", &[fd, ptr, count, out], expected),
        }
    }

    /// `fd_write` and `fd_pwrite`.
    pub(super) fn write(&mut self) -> Outcome {
        let noise: Vec<u8> = (0..64).map(|_| self.dice.next() as u8).collect();
        let place = DATA + self.dice.below(300) as u32;
        self.put(place, &noise);
        let (ptr, count, ranges) = self.ranges();
        let (fd, out, at) = (self.file_fd(), self.out(4), self.dice.wide());
        let positioned = self.dice.once_in(2);
        let expected = ranges.and_then(|ranges| {
            let file = self.transfer(fd, rights::WRITE, positioned)?.fd.clone();
            fits(out, 4)?;
            let bytes: Vec<u8> = (ranges.iter())
                .flat_map(|&(ptr, len)| self.memory[ptr as usize..][..len as usize].to_vec())
                .collect();
            let put = match positioned {
                true => rustix::io::pwrite(&file, &bytes, at),
                false => rustix::io::write(&file, &bytes),
            };
            self.store(out, &(put.map_err(number)? as u32).to_le_bytes())
        });
        let [fd, ptr, count, out] = [fd, ptr, count, out].map(u64::from);
        match positioned {
            true => self.is("fd_pwrite", &[fd, ptr, count, at, out], expected),
            false => self.is("fd_write", &[fd, ptr, count, out], expected),
        }
    }

    fn transfer(&self, fd: u32, right: u64, positioned: bool) -> Result<&Open, u16> {
        let file = self.native.file(fd, right)?;
        if positioned {
            if !file.has_positions(rights::SEEK) {
                return Err(errno::SPIPE);
            }
            file.allows(rights::SEEK)?;
        }
        Ok(file)
    }

    fn seekable(&self, fd: u32, moves: bool) -> Result<&Open, u16> {
        let file = self.native.file(fd, 0)?;
        if !file.has_positions(rights::TELL) {
            return Err(errno::SPIPE);
        }
        if moves || file.base & rights::SEEK == 0 {
            file.allows(if moves { rights::SEEK } else { rights::TELL })?;
        }
        Ok(file)
    }

    pub(super) fn seek(&mut self) -> Outcome {
        let (fd, delta, out) = (self.file_fd(), self.dice.wide().cast_signed(), self.out(8));
        let delta = if self.dice.once_in(4) {
            delta.wrapping_neg()
        } else {
            delta
        };
        let whence = self.dice.pick(&[0, 0, 1, 1, 2, 2, 3]);
        let native = || {
            let to = match whence {
                0 => SeekFrom::Start(delta.cast_unsigned()),
                1 => SeekFrom::Current(delta),
                2 => SeekFrom::End(delta),
                _ => return Err(errno::INVAL),
            };
            let file = self.seekable(fd, whence != 1 || delta != 0)?;
            fits(out, 8)?;
            rustix::fs::seek(&*file.fd, to).map_err(number)
        };
        let expected = native().and_then(|at| self.store(out, &at.to_le_bytes()));
        let args = [fd.into(), delta.cast_unsigned(), whence, out.into()];
        self.is("fd_seek", &args, expected)
    }

    pub(super) fn tell(&mut self) -> Outcome {
        let (fd, out) = (self.file_fd(), self.out(8));
        let file = self.seekable(fd, false);
        let at = file.and_then(|file| rustix::fs::tell(&*file.fd).map_err(number));
        let expected = at.and_then(|at| self.store(out, &at.to_le_bytes()));
        self.is("fd_tell", &[fd.into(), out.into()], expected)
    }

    pub(super) fn allocate(&mut self) -> Outcome {
        let (fd, offset, len) = (self.file_fd(), self.dice.modest(), self.dice.modest());
        let file = self.native.file(fd, rights::ALLOCATE);
        let expected = file.and_then(|file| {
            rustix::fs::fallocate(&*file.fd, FallocateFlags::empty(), offset, len).map_err(number)
        });
        self.is("fd_allocate", &[fd.into(), offset, len], expected)
    }

    pub(super) fn set_size(&mut self) -> Outcome {
        let (fd, size) = (self.file_fd(), self.dice.wide());
        let file = self.native.file(fd, rights::SET_SIZE);
        let expected = file.and_then(|file| rustix::fs::ftruncate(&*file.fd, size).map_err(number));
        self.is("fd_filestat_set_size", &[fd.into(), size], expected)
    }

    /// Times and flags, and what the host makes of them.
    pub(super) fn times(&mut self) -> ([u64; 3], Result<Timestamps, u16>) {
        let [atim, mtim] = [0; 2].map(|_| self.dice.below(SET_NS));
        let flags = self.dice.flags(4);
        let one = |ns: u64, given: bool, now: bool| {
            let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
            match (given, now) {
                (true, true) => Err(errno::INVAL),
                (true, false) => Ok(time(
                    (ns / 1_000_000_000) as i64,
                    (ns % 1_000_000_000) as i64,
                )),
                (false, true) => Ok(time(0, rustix::fs::UTIME_NOW)),
                (false, false) => Ok(time(0, rustix::fs::UTIME_OMIT)),
            }
        };
        let times = match flags > 15 {
            true => Err(errno::INVAL),
            false => one(atim, flags & 1 != 0, flags & 2 != 0).and_then(|last_access| {
                Ok(Timestamps {
                    last_access,
                    last_modification: one(mtim, flags & 4 != 0, flags & 8 != 0)?,
                })
            }),
        };
        ([atim, mtim, flags.into()], times)
    }

    pub(super) fn set_times(&mut self) -> Outcome {
        let fd = self.file_fd();
        let ([atim, mtim, flags], times) = self.times();
        let expected = times.and_then(|times| {
            let file = self.native.get(fd)?;
            file.allows(rights::SET_TIMES)?;
            rustix::fs::futimens(&*file.fd, &times).map_err(number)
        });
        let args = [fd.into(), atim, mtim, flags];
        self.is("fd_filestat_set_times", &args, expected)
    }

    pub(super) fn advise(&mut self) -> Outcome {
        let (fd, offset, len) = (self.file_fd(), self.dice.wide(), self.dice.wide());
        let advice = self.dice.pick(&[0, 1, 2, 3, 4, 5, 6, 99]);
        let native = || {
            use Advice::{DontNeed, NoReuse, Normal, Random, Sequential, WillNeed};
            let all = [Normal, Sequential, Random, WillNeed, DontNeed, NoReuse];
            let advice = all.get(advice as usize).ok_or(errno::INVAL)?;
            if offset.max(len) > i64::MAX as u64 {
                return Err(errno::INVAL);
            }
            let file = self.native.file(fd, rights::ADVISE)?;
            rustix::fs::fadvise(&*file.fd, offset, NonZeroU64::new(len), *advice).map_err(number)
        };
        let expected = native();
        self.is("fd_advise", &[fd.into(), offset, len, advice], expected)
    }

    pub(super) fn sync(&mut self) -> Outcome {
        let fd = self.file_fd();
        let (name, right) = self.dice.pick(&[("fd_sync", 1 << 4), ("fd_datasync", 1)]);
        // To wait for a disk once in a while is enough.
        if self.dice.once_in(8) || self.native.get(fd).is_err() {
            let expected = self.native.get(fd).and_then(|file| {
                file.allows(right)?;
                rustix::fs::fdatasync(&*file.fd).map_err(number)
            });
            return self.is(name, &[fd.into()], expected);
        }
        Ok(())
    }

    fn flags_of(file: &Open) -> u16 {
        let host = rustix::fs::fcntl_getfl(&*file.fd).expect("an open descriptor");
        let sync = host.contains(OFlags::SYNC);
        let bit = |has: bool, at: u16| u16::from(has) << at;
        bit(host.contains(OFlags::APPEND), 0)
            | bit(!sync && host.contains(DSYNC), 1)
            | bit(host.contains(OFlags::NONBLOCK), 2)
            | bit(sync, 4)
    }

    pub(super) fn fdstat(&mut self) -> Outcome {
        let (fd, out) = (self.file_fd(), self.out(24));
        let record = self.native.get(fd).map(|file| {
            let mut record = [0; 24];
            record[0] = type_number(file.kind);
            record[2..4].copy_from_slice(&Pair::flags_of(file).to_le_bytes());
            record[8..16].copy_from_slice(&file.base.to_le_bytes());
            record[16..24].copy_from_slice(&file.inheriting.to_le_bytes());
            record
        });
        let expected = record.and_then(|record| self.store(out, &record));
        self.is("fd_fdstat_get", &[fd.into(), out.into()], expected)
    }

    pub(super) fn set_flags(&mut self) -> Outcome {
        let (fd, flags) = (self.file_fd(), self.dice.flags(5));
        let native = || {
            if flags > 31 {
                return Err(errno::INVAL);
            }
            let file = self.native.get(fd)?;
            file.allows(rights::SET_FLAGS)?;
            if (flags as u16 ^ Pair::flags_of(file)) & 0b11010 != 0 {
                return Err(errno::INVAL);
            }
            let mut host = rustix::fs::fcntl_getfl(&*file.fd).map_err(number)?;
            host.set(OFlags::APPEND, flags & 1 != 0);
            host.set(OFlags::NONBLOCK, flags & 4 != 0);
            rustix::fs::fcntl_setfl(&*file.fd, host).map_err(number)
        };
        let expected = native();
        self.is("fd_fdstat_set_flags", &[fd.into(), flags.into()], expected)
    }

    pub(super) fn set_rights(&mut self) -> Outcome {
        let (fd, base, inheriting) = (self.file_fd(), self.dice.rights(), self.dice.rights());
        // Else all rights are gone too soon.
        if fd <= 3 {
            return Ok(());
        }
        let mut native = || {
            let file = self.native.get_mut(fd)?;
            if base & !file.base != 0 || inheriting & !file.inheriting != 0 {
                return Err(errno::NOTCAPABLE);
            }
            (file.base, file.inheriting) = (base, inheriting);
            Ok(())
        };
        let expected = native();
        self.is(
            "fd_fdstat_set_rights",
            &[fd.into(), base, inheriting],
            expected,
        )
    }

    /// Compares a filestat that the guest was given at `out`.
    #[allow(
        clippy::useless_conversion,
        reason = "a link count has 32 bits on aarch64 and riscv64"
    )]
    pub(super) fn same_stat(&mut self, out: u32, stat: &rustix::fs::Stat) -> Outcome {
        let at = |offset: u32| {
            let at = (out + offset) as usize;
            u64::from_le_bytes(self.memory[at..at + 8].try_into().expect("eight bytes"))
        };
        // The type is one byte, with nothing behind it.
        let type_of = u64::from(type_number(kind(stat)));
        for (what, got, host) in [
            ("type", at(16), type_of),
            ("links", at(24), u64::from(stat.st_nlink)),
            ("size", at(32), stat.st_size.cast_unsigned()),
        ] {
            if got != host {
                return Err(format!("{what} {got}, not {host}"));
            }
        }
        let host = |seconds: i64, ns: u64| seconds.cast_unsigned() * 1_000_000_000 + ns;
        let is_file = kind(stat) == FileType::RegularFile;
        for (what, got, host, compared) in [
            // Folders and links are read by what compares them, too.
            (
                "read",
                at(40),
                host(stat.st_atime, stat.st_atime_nsec),
                is_file,
            ),
            (
                "written",
                at(48),
                host(stat.st_mtime, stat.st_mtime_nsec),
                true,
            ),
        ] {
            if compared && got.min(host) < SET_NS && got != host {
                return Err(format!("last {what} at {got}, not {host}"));
            }
        }
        Ok(())
    }

    pub(super) fn filestat(&mut self) -> Outcome {
        let (fd, out) = (self.file_fd(), self.out(64));
        let file = self.native.get(fd).and_then(|file| {
            file.allows(rights::FILESTAT_GET)?;
            rustix::fs::fstat(&*file.fd).map_err(number)
        });
        let expected = file.and_then(|_| fits(out, 64));
        let args = [fd.into(), out.into()];
        match self.check(
            "fd_filestat_get",
            &args,
            Expected::Is(expected),
            &[(out, 64)],
        )? {
            true => self.same_stat(out, &file.expect("it succeeded")),
            false => Ok(()),
        }
    }

    pub(super) fn prestat(&mut self) -> Outcome {
        let (fd, out) = (self.file_fd(), self.out(8));
        let preopened = self.native.get(fd).and_then(|file| match file.preopened {
            true => Ok(()),
            false => Err(errno::BADF),
        });
        if self.dice.once_in(2) {
            let expected = preopened.and_then(|()| self.store(out, &(1u64 << 32).to_le_bytes()));
            return self.is("fd_prestat_get", &[fd.into(), out.into()], expected);
        }
        let len = self.dice.pick(&[0, 1, 2, u32::MAX]);
        let expected = preopened.and_then(|()| match len {
            0 => Err(errno::NAMETOOLONG),
            _ => self.store(out, b"/"),
        });
        let args = [fd, out, len].map(u64::from);
        self.is("fd_prestat_dir_name", &args, expected)
    }

    /// On files, folders and `/dev/null`: all ready at once.
    pub(super) fn poll(&mut self) -> Outcome {
        let count = 1 + self.dice.below(4) as u32;
        let mut events = Vec::new();
        for index in 0..count {
            let (fd, kind) = (self.file_fd(), self.dice.pick(&[1, 1, 2, 2, 3]));
            let mut record = [0; 48];
            record[0] = index as u8;
            record[8] = kind;
            record[16..20].copy_from_slice(&fd.to_le_bytes());
            self.put(LIST + index * 48, &record);
            let ready = self.ready(fd, kind);
            let mut event = [0; 32];
            event[0] = index as u8;
            event[8..10].copy_from_slice(&ready.err().unwrap_or(0).to_le_bytes());
            event[10] = kind;
            event[16..24].copy_from_slice(&ready.unwrap_or(0).to_le_bytes());
            events.extend(event);
        }
        let asked = match self.dice.once_in(30) {
            true => self.dice.pick(&[0, SUBSCRIPTIONS + 1, u32::MAX]),
            false => count,
        };
        // Events may overwrite the subscriptions.
        let output = self
            .dice
            .pick(&[LIST, LIST + 16, 0x300, MEMORY_BYTES as u32 - 16]);
        let out = self.out(4);
        let native = || {
            if asked == 0 || asked > SUBSCRIPTIONS {
                return Err(errno::INVAL);
            }
            fits(output, asked * 32)?;
            fits(out, 4)?;
            self.store(output, &events)?;
            self.store(out, &count.to_le_bytes())
        };
        let expected = { native }();
        let args = [LIST, output, asked, out].map(u64::from);
        self.is("poll_oneoff", &args, expected)
    }

    fn ready(&self, fd: u32, kind: u8) -> Result<u64, u16> {
        let right = match kind {
            1 => rights::READ,
            2 => rights::WRITE,
            _ => return Err(errno::INVAL),
        };
        let file = self.native.get(fd)?;
        file.allows(right | rights::POLL)?;
        if kind == 2 || file.kind != FileType::RegularFile {
            return Ok(0);
        }
        let size = rustix::fs::fstat(&*file.fd).map_or(0, |stat| stat.st_size.cast_unsigned());
        let at = rustix::fs::tell(file.fd.as_fd()).unwrap_or(0);
        Ok(size.saturating_sub(at))
    }

    /// Arguments, clocks, random bytes.
    pub(super) fn host(&mut self) -> Outcome {
        let out = self.out(64);
        match self.dice.below(4) {
            0 => {
                let expected = fits(out, 64);
                let args = [out.into(), 64];
                let own = [(out, 64)];
                self.check("random_get", &args, Expected::Is(expected), &own)
                    .map(drop)
            }
            1 => {
                let (id, name) = (self.dice.pick(&[0, 1, 2, 3, 4, u64::MAX]), "clock_time_get");
                let known = if id > 3 { Err(errno::INVAL) } else { Ok(()) };
                let expected = known.and_then(|()| fits(out, 8));
                let args = [id, 0, out.into()];
                self.check(name, &args, Expected::Is(expected), &[(out, 8)])
                    .map(drop)
            }
            2 => {
                let bytes: usize = ARGS.iter().map(|arg| arg.len() + 1).sum();
                let (count, size) = (ARGS.len() as u32, bytes as u32);
                let expected = self.store(out, &count.to_le_bytes());
                let expected = expected.and_then(|()| self.store(0x80, &size.to_le_bytes()));
                self.is("args_sizes_get", &[out.into(), 0x80], expected)
            }
            _ => {
                // Pointers inside, strings where there may be no room.
                let mut native = || {
                    let mut at = out;
                    for (index, arg) in ARGS.iter().enumerate() {
                        self.store(0x40 + index as u32 * 4, &at.to_le_bytes())?;
                        self.store(at, format!("{arg}\0").as_bytes())?;
                        at = at.checked_add(arg.len() as u32 + 1).ok_or(errno::FAULT)?;
                    }
                    Ok(())
                };
                let expected = native();
                self.is("args_get", &[0x40, out.into()], expected)
            }
        }
    }

    /// There are none.
    pub(super) fn socket(&mut self) -> Outcome {
        let (fd, out) = (self.file_fd(), 0x40);
        let expected = self.native.get(fd).and(Err(errno::NOTSOCK));
        if self.dice.once_in(2) {
            return self.is("sock_shutdown", &[fd.into(), 1], expected);
        }
        self.put(LIST, &[0; 8]);
        let args = [fd.into(), LIST.into(), 1, 0, out, out];
        self.is("sock_recv", &args, expected)
    }
}
