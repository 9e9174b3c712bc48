//! Calls on open files and directories.

use super::*;
use crate::calls::dirs;
use crate::types::{FdFlags, FileType, Snapshot, Whence};
use std::io::Write;
use std::os::fd::OwnedFd;

pub(super) fn fdstat(guest: &mut Guest, fd: u32) -> (u8, u16, Rights, Rights) {
    guest
        .call(|ctx, mem| file::fd_fdstat_get(ctx, mem, fd, OUT))
        .unwrap();
    (
        guest.bytes[0],
        u16::from_le_bytes([guest.bytes[2], guest.bytes[3]]),
        Rights::from_bits(guest.u64(8)).unwrap(),
        Rights::from_bits(guest.u64(16)).unwrap(),
    )
}

#[test]
fn a_file_is_written_sought_and_read() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    assert_eq!(fd, 4);
    assert_eq!(guest.write(fd, b"hello world"), Ok(11));
    let seek = |guest: &mut Guest, delta, whence| {
        guest
            .call(|ctx, mem| file::fd_seek(ctx, mem, fd, delta, whence, OUT))
            .map(|()| guest.u64(OUT))
    };
    assert_eq!(seek(&mut guest, -5, Whence::End), Ok(6));
    assert_eq!(guest.read(fd, 64), Ok(b"world".to_vec()));
    assert_eq!(seek(&mut guest, 0, Whence::Cur), Ok(11));
    assert_eq!(seek(&mut guest, -1, Whence::Set), Err(Errno::Inval));
    assert_eq!(guest.read(fd, 64), Ok(Vec::new()));
    assert_eq!(guest.close(fd), Ok(()));
    assert_eq!(guest.close(fd), Err(Errno::Badf));
    assert_eq!(std::fs::read(guest.host("f")).unwrap(), b"hello world");
}

#[test]
fn positioned_transfers_leave_the_offset_alone() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    guest.write(fd, b"0123456789").unwrap();
    guest.bytes[DATA as usize..][..2].copy_from_slice(b"ab");
    let range = guest.range(2);
    guest
        .call(|ctx, mem| io::fd_pwrite(ctx, mem, fd, &range, 4, OUT))
        .unwrap();
    let range = guest.range(4);
    guest
        .call(|ctx, mem| io::fd_pread(ctx, mem, fd, &range, 3, OUT))
        .unwrap();
    assert_eq!(guest.u32(OUT), 4);
    assert_eq!(&guest.bytes[DATA as usize..][..4], b"3ab6");
    guest
        .call(|ctx, mem| file::fd_tell(ctx, mem, fd, OUT))
        .unwrap();
    assert_eq!(guest.u64(OUT), 10);
}

#[test]
fn several_ranges_are_one_transfer() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    let list = |guest: &mut Guest, ranges: &[(u32, u32)]| {
        list(ranges, &mut guest.bytes, LIST as usize);
        let count = u32::try_from(ranges.len()).unwrap();
        let memory = GuestMemory::new(&mut guest.bytes);
        let ranges = Iovecs::read(&memory, LIST, count, &|| false).unwrap();
        ranges.present(&Resident).unwrap()
    };
    guest.bytes[2048..2053].copy_from_slice(b"abcde");
    let ranges = list(&mut guest, &[(2050, 3), (2048, 2), (2048, 0)]);
    guest
        .call(|ctx, mem| io::fd_write(ctx, mem, fd, &ranges, OUT))
        .unwrap();
    assert_eq!(std::fs::read(guest.host("f")).unwrap(), b"cdeab");
    let ranges = list(&mut guest, &[(4000, 2), (3000, 100)]);
    guest
        .call(|ctx, mem| io::fd_pread(ctx, mem, fd, &ranges, 0, OUT))
        .unwrap();
    assert_eq!(guest.u32(OUT), 5);
    assert_eq!(&guest.bytes[4000..4002], b"cd");
    assert_eq!(&guest.bytes[3000..3003], b"eab");
}

#[test]
fn rights_decide_and_only_shrink() {
    let mut guest = Guest::new();
    guest.create("f");
    let fd = guest.open("f", Oflags::empty(), Rights::FD_READ).unwrap();
    assert_eq!(guest.write(fd, b"x"), Err(Errno::Notcapable));
    let tell = guest.call(|ctx, mem| file::fd_tell(ctx, mem, fd, OUT));
    assert_eq!(tell, Err(Errno::Notcapable));
    let fd = guest
        .open("f", Oflags::empty(), Rights::FD_READ | Rights::FD_WRITE)
        .unwrap();
    let set = |guest: &mut Guest, base: Rights| {
        file::fd_fdstat_set_rights(&mut guest.ctx, fd, base.bits(), 0)
    };
    assert_eq!(set(&mut guest, Rights::FD_WRITE), Ok(()));
    assert_eq!(guest.read(fd, 1), Err(Errno::Notcapable));
    assert_eq!(guest.write(fd, b"x"), Ok(1));
    assert_eq!(set(&mut guest, Rights::FD_READ), Err(Errno::Notcapable));
    let unknown = file::fd_fdstat_set_rights(&mut guest.ctx, fd, 1 << 40, 0);
    assert_eq!(unknown, Err(Errno::Notcapable));
}

#[test]
fn what_a_directory_does_not_hand_on_is_left_out() {
    let mut guest = Guest::new();
    guest.create("f");
    let inheriting = Rights::FD_READ | Rights::FD_FILESTAT_GET;
    let (base, inheriting) = (Rights::DIRECTORY.bits(), inheriting.bits());
    file::fd_fdstat_set_rights(&mut guest.ctx, 3, base, inheriting).unwrap();
    let fd = guest.open("f", Oflags::empty(), Rights::all()).unwrap();
    let (_, _, base, inherited) = fdstat(&mut guest, fd);
    assert_eq!(base, Rights::FD_READ | Rights::FD_FILESTAT_GET);
    assert_eq!(inherited.bits(), inheriting);
    let base = (Rights::DIRECTORY - Rights::PATH_FILESTAT_SET_SIZE).bits();
    file::fd_fdstat_set_rights(&mut guest.ctx, 3, base, inheriting).unwrap();
    let trunc = guest.open("f", Oflags::TRUNC, Rights::empty());
    assert_eq!(trunc, Err(Errno::Notcapable));
}

#[test]
fn directories_are_no_files_and_files_no_directories() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    assert_eq!(guest.read(3, 1), Err(Errno::Isdir));
    assert_eq!(guest.write(3, b"x"), Err(Errno::Isdir));
    let seek = guest.call(|ctx, mem| file::fd_seek(ctx, mem, 3, 0, Whence::Cur, OUT));
    assert_eq!(seek, Err(Errno::Isdir));
    assert_eq!(
        file::fd_filestat_set_size(&guest.ctx, 3, 0),
        Err(Errno::Isdir)
    );
    assert_eq!(file::fd_allocate(&guest.ctx, 3, 0, 1), Err(Errno::Isdir));
    let mut path = guest.path("x");
    path.fd = fd;
    let mkdir = guest.call(|ctx, mem| crate::calls::paths::path_create_directory(ctx, mem, path));
    assert_eq!(mkdir, Err(Errno::Notdir));
    let (kind, flags, base, inheriting) = fdstat(&mut guest, 3);
    assert_eq!((kind, flags), (FileType::Directory as u8, 0));
    assert_eq!(base, Rights::DIRECTORY);
    assert!(inheriting.contains(Rights::REGULAR_FILE));
}

#[test]
fn append_and_nonblock_can_be_changed_synchronisation_cannot() {
    let mut guest = Guest::new();
    let rights = Rights::REGULAR_FILE;
    let follow = LookupFlags::SYMLINK_FOLLOW;
    let append = u32::from(FdFlags::APPEND.bits());
    let fd = guest
        .open_as("f", follow, Oflags::CREAT, rights, append)
        .unwrap();
    guest.write(fd, b"ab").unwrap();
    guest
        .call(|ctx, mem| file::fd_seek(ctx, mem, fd, 0, Whence::Set, OUT))
        .unwrap();
    guest.write(fd, b"cd").unwrap();
    assert_eq!(fdstat(&mut guest, fd).1, FdFlags::APPEND.bits());
    let set = |guest: &mut Guest, flags: FdFlags| {
        file::fd_fdstat_set_flags(&mut guest.ctx, fd, u32::from(flags.bits()))
    };
    assert_eq!(set(&mut guest, FdFlags::NONBLOCK), Ok(()));
    assert_eq!(fdstat(&mut guest, fd).1, FdFlags::NONBLOCK.bits());
    assert_eq!(set(&mut guest, FdFlags::SYNC), Err(Errno::Inval));
    guest
        .call(|ctx, mem| file::fd_seek(ctx, mem, fd, 0, Whence::Set, OUT))
        .unwrap();
    guest.write(fd, b"ef").unwrap();
    assert_eq!(std::fs::read(guest.host("f")).unwrap(), b"efcd");
    let dsync = u32::from(FdFlags::DSYNC.bits());
    let synced = guest
        .open_as("f", follow, Oflags::empty(), rights, dsync)
        .unwrap();
    assert_eq!(fdstat(&mut guest, synced).1, FdFlags::DSYNC.bits());
}

#[test]
fn sizes_and_times() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    assert_eq!(file::fd_filestat_set_size(&guest.ctx, fd, 100), Ok(()));
    assert_eq!(file::fd_allocate(&guest.ctx, fd, 90, 20), Ok(()));
    let (atim, mtim) = (1, 2);
    let times = |guest: &Guest, a: u64, m: u64, flags: u32| {
        file::fd_filestat_set_times(&guest.ctx, fd, a, m, flags)
    };
    assert_eq!(
        times(&guest, 1_500_000_000_123_456_789, 42, atim | 4),
        Ok(())
    );
    guest
        .call(|ctx, mem| file::fd_filestat_get(ctx, mem, fd, OUT, Snapshot::One))
        .unwrap();
    assert_eq!(guest.bytes[16], FileType::RegularFile as u8);
    assert_eq!((guest.u64(24), guest.u64(32)), (1, 110));
    assert_eq!(
        (guest.u64(40), guest.u64(48)),
        (1_500_000_000_123_456_789, 42)
    );
    assert_eq!(times(&guest, 0, 0, atim | mtim), Err(Errno::Inval));
    assert_eq!(times(&guest, 0, 0, 1 << 4), Err(Errno::Inval));
    assert_eq!(times(&guest, u64::MAX, 0, atim), Ok(()));
    assert_eq!(
        file::fd_filestat_set_size(&guest.ctx, fd, u64::MAX),
        Err(Errno::Inval)
    );
}

#[test]
fn renumbering_moves_a_descriptor_over_another() {
    let mut guest = Guest::new();
    let (from, to) = (guest.create("from"), guest.create("to"));
    assert_eq!(file::fd_renumber(&mut guest.ctx, from, to), Ok(()));
    assert_eq!(guest.close(from), Err(Errno::Badf));
    guest.write(to, b"x").unwrap();
    assert_eq!(std::fs::read(guest.host("from")).unwrap(), b"x");
    assert_eq!(
        file::fd_renumber(&mut guest.ctx, to, from),
        Err(Errno::Badf)
    );
    assert_eq!(file::fd_renumber(&mut guest.ctx, to, to), Ok(()));
    assert_eq!(guest.create("lowest"), from);
}

#[test]
fn preopened_folders_are_found_by_counting_from_3() {
    let mut guest = Guest::new();
    guest
        .call(|ctx, mem| dirs::fd_prestat_get(ctx, mem, 3, OUT))
        .unwrap();
    assert_eq!((guest.u32(0), guest.u32(4)), (0, 1));
    let name = |guest: &mut Guest, fd, len| {
        guest.call(|ctx, mem| dirs::fd_prestat_dir_name(ctx, mem, fd, DATA, len))
    };
    assert_eq!(name(&mut guest, 3, 0), Err(Errno::Nametoolong));
    assert_eq!(name(&mut guest, 3, 2), Ok(()));
    assert_eq!(guest.bytes[DATA as usize], b'/');
    assert_eq!(name(&mut guest, 4, 1), Err(Errno::Badf));
    assert_eq!(name(&mut guest, 0, 1), Err(Errno::Badf));
}

#[test]
fn a_directory_is_listed_through_a_small_buffer() {
    let mut guest = Guest::new();
    for i in 0..20 {
        std::fs::write(guest.host(&format!("file{i}")), "").unwrap();
    }
    let (mut cookie, mut names) = (0, 0);
    loop {
        guest
            .call(|ctx, mem| dirs::fd_readdir(ctx, mem, 3, (DATA, 100), cookie, OUT, &|| false))
            .unwrap();
        let used = guest.u32(OUT);
        let (mut at, end) = (DATA, DATA + used);
        while at + 24 <= end && at + 24 + guest.u32(at + 16) <= end {
            cookie = guest.u64(at);
            at += 24 + guest.u32(at + 16);
            names += 1;
        }
        if used < 100 {
            break;
        }
    }
    assert_eq!(names, 22);
    let unknown =
        guest.call(|ctx, mem| dirs::fd_readdir(ctx, mem, 3, (DATA, 100), 99, OUT, &|| false));
    assert_eq!(unknown, Err(Errno::Inval));
    let fault =
        guest.call(|ctx, mem| dirs::fd_readdir(ctx, mem, 3, (65_000, 1000), 0, OUT, &|| false));
    assert_eq!(fault, Err(Errno::Fault));
}

#[test]
fn wrong_pointers_are_faults_and_change_nothing() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    let bad = 65_534;
    let range = guest.range(4);
    let write = guest.call(|ctx, mem| io::fd_write(ctx, mem, fd, &range, bad));
    assert_eq!(write, Err(Errno::Fault));
    assert_eq!(std::fs::metadata(guest.host("f")).unwrap().len(), 0);
    let path = guest.path("new");
    let args = OpenArgs {
        fd: 3,
        lookup: 0,
        path: path.ptr,
        path_len: path.len,
        oflags: u32::from(Oflags::CREAT.bits()),
        base: 0,
        inheriting: 0,
        fdflags: 0,
    };
    let open = guest.call(|ctx, mem| path_open(ctx, mem, args, bad));
    assert_eq!(open, Err(Errno::Fault));
    assert!(!guest.host("new").exists());
    let args = OpenArgs {
        path: u32::MAX,
        ..args
    };
    let open = guest.call(|ctx, mem| path_open(ctx, mem, args, OUT));
    assert_eq!(open, Err(Errno::Fault));
}

#[test]
fn advice_is_checked() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    for advice in 0..6 {
        assert_eq!(file::fd_advise(&guest.ctx, fd, 0, 10, advice), Ok(()));
    }
    assert_eq!(file::fd_advise(&guest.ctx, fd, 0, 0, 6), Err(Errno::Inval));
    assert_eq!(
        file::fd_advise(&guest.ctx, fd, u64::MAX, 1, 0),
        Err(Errno::Inval)
    );
    assert_eq!(file::fd_sync(&guest.ctx, fd), Ok(()));
    assert_eq!(file::fd_datasync(&guest.ctx, fd), Ok(()));
    assert_eq!(file::fd_sync(&guest.ctx, 3), Ok(()));
}

#[test]
fn streams_go_where_they_were_told_and_streams_do_not_seek() {
    let mut input = tempfile::tempfile().unwrap();
    let output = tempfile::tempfile().unwrap();
    input.write_all(b"input").unwrap();
    std::io::Seek::rewind(&mut input).unwrap();
    let mut kept = output.try_clone().unwrap();
    let mut guest = Guest::with(|builder| builder.stdin(input).stdout(output));
    assert_eq!(guest.read(0, 64), Ok(b"input".to_vec()));
    assert_eq!(guest.write(1, b"output"), Ok(6));
    assert_eq!(guest.write(2, b"lost"), Ok(4));
    assert_eq!(guest.read(1, 1), Err(Errno::Notcapable));
    assert_eq!(guest.write(0, b"x"), Err(Errno::Notcapable));
    let mut text = String::new();
    std::io::Seek::rewind(&mut kept).unwrap();
    std::io::Read::read_to_string(&mut kept, &mut text).unwrap();
    assert_eq!(text, "output");
    let (reader, writer) = std::io::pipe().unwrap();
    let mut guest = Guest::with(|builder| {
        builder
            .stdin(OwnedFd::from(reader))
            .stdout(OwnedFd::from(writer))
    });
    for fd in [0, 1] {
        let seek = guest.call(|ctx, mem| file::fd_seek(ctx, mem, fd, 0, Whence::Cur, OUT));
        assert_eq!(seek, Err(Errno::Spipe));
    }
}

/// The C library takes a character device that cannot seek for a terminal.
#[test]
fn a_terminal_is_told_from_other_devices() {
    let may_seek = Rights::FD_SEEK | Rights::FD_TELL;
    let device = |path: &str| std::fs::File::options().read(true).write(true).open(path);
    for path in ["/dev/null", "/dev/zero", "/dev/full"] {
        let mut guest = Guest::with(|builder| builder.stdout(device(path).unwrap()));
        let (kind, _, base, _) = fdstat(&mut guest, 1);
        assert_eq!(kind, FileType::CharacterDevice as u8, "{path}");
        assert!(base.contains(may_seek), "{path}: {base:?}");
        let seek = guest.call(|ctx, mem| file::fd_seek(ctx, mem, 1, 0, Whence::Cur, OUT));
        assert_eq!(seek, Ok(()), "{path}");
    }
    let mut guest = Guest::with(|builder| builder.stdin(device("/dev/zero").unwrap()));
    let range = guest.range(4);
    let read = guest.call(|ctx, mem| io::fd_pread(ctx, mem, 0, &range, 1 << 40, OUT));
    assert_eq!(read, Ok(()));
    // One side of a terminal of ours.
    let terminal = device("/dev/ptmx").unwrap();
    let mut guest = Guest::with(|builder| builder.stdout(terminal));
    let (kind, _, base, _) = fdstat(&mut guest, 1);
    assert_eq!(kind, FileType::CharacterDevice as u8);
    assert!(!base.intersects(may_seek), "{base:?}");
}

#[test]
fn an_inherited_stream_keeps_its_flags_on_the_host() {
    let mut guest = Guest::with(WasiCtxBuilder::inherit_stdio);
    let before = rustix::fs::fcntl_getfl(rustix::stdio::stderr()).unwrap();
    let nonblock = u32::from(FdFlags::NONBLOCK.bits());
    assert_eq!(
        file::fd_fdstat_set_flags(&mut guest.ctx, 2, nonblock),
        Ok(())
    );
    assert_eq!(fdstat(&mut guest, 2).1, FdFlags::NONBLOCK.bits());
    let after = rustix::fs::fcntl_getfl(rustix::stdio::stderr()).unwrap();
    assert_eq!(before, after);
}

#[test]
fn descriptors_are_limited() {
    let mut guest = Guest::with(|builder| builder.max_descriptors(6));
    assert_eq!(guest.create("a"), 4);
    assert_eq!(guest.create("b"), 5);
    // Nothing is made or emptied when there is no place for it.
    std::fs::write(guest.host("full"), "data").unwrap();
    let flags = Oflags::CREAT | Oflags::TRUNC;
    for path in ["full", "new"] {
        let opened = guest.open(path, flags, Rights::REGULAR_FILE);
        assert_eq!(opened, Err(Errno::Mfile), "{path}");
    }
    assert_eq!(std::fs::read(guest.host("full")).unwrap(), b"data");
    assert!(!guest.host("new").exists());
    // A place is given back by closing, renumbering, and an open that failed.
    guest.close(4).unwrap();
    let missing = guest.open("missing", Oflags::empty(), Rights::FD_READ);
    assert_eq!(missing, Err(Errno::Noent));
    assert_eq!(guest.create("c"), 4);
    assert_eq!(file::fd_renumber(&mut guest.ctx, 5, 4), Ok(()));
    assert_eq!(guest.create("d"), 5);
    let again = guest.open("d", Oflags::empty(), Rights::FD_READ);
    assert_eq!(again, Err(Errno::Mfile));
    // The lowest number first, whatever the order of closing.
    guest.close(4).unwrap();
    guest.close(3).unwrap();
    guest.close(5).unwrap();
    assert_eq!(guest.close(3), Err(Errno::Badf));
}

#[test]
fn descriptors_are_limited_without_being_asked() {
    let mut guest = Guest::new();
    guest.create("f");
    let opened = (0..2000).find_map(|_| {
        let opened = guest.open("f", Oflags::empty(), Rights::FD_READ);
        opened.err()
    });
    assert_eq!(opened, Some(Errno::Mfile));
    let last = u32::try_from(crate::DESCRIPTORS_MAX).unwrap() - 1;
    assert_eq!(guest.close(last), Ok(()));
    assert_eq!(guest.close(last + 1), Err(Errno::Badf));
}

#[test]
fn paths_that_no_kernel_takes_are_refused() {
    let mut guest = Guest::new();
    let long = "./".repeat(2047) + "f";
    assert_eq!(long.len(), 4095);
    assert!(guest.open(&long, Oflags::CREAT, Rights::FD_READ).is_ok());
    let longer = format!("/{long}");
    let opened = guest.open(&longer, Oflags::empty(), Rights::FD_READ);
    assert_eq!(opened, Err(Errno::Nametoolong));
}

/// They would be those of the host's `/dev/null`, or of its terminal.
#[test]
fn times_of_a_stream_are_not_the_guests_to_set() {
    let guest = Guest::new();
    let before = std::fs::metadata("/dev/null").unwrap().modified().unwrap();
    for fd in 0..3 {
        let set = file::fd_filestat_set_times(&guest.ctx, fd, 1, 1, 5);
        assert_eq!(set, Err(Errno::Notcapable));
    }
    let after = std::fs::metadata("/dev/null").unwrap().modified().unwrap();
    assert_eq!(before, after);
}
