//! Folders that are given to read only, or in part.

use super::*;
use crate::calls::paths::*;
use crate::types::{Snapshot, Whence};

/// The folder that all is allowed in, and one where less is, with a file `f` of
/// one byte and a folder `sub` with another in each.
const ALL: u32 = 3;
const LESS: u32 = 4;

fn guest(dir: DirPerms, file: FilePerms) -> Guest {
    let temp = tempfile::tempdir().unwrap();
    let less = temp.path().join("less");
    std::fs::create_dir(&less).unwrap();
    let guest = Guest::in_folder(temp, |builder| {
        builder.preopened_dir(&less, "less", dir, file).unwrap()
    });
    for folder in [&less, &guest.host("")] {
        std::fs::create_dir(folder.join("sub")).unwrap();
        std::fs::write(folder.join("f"), "x").unwrap();
        std::fs::write(folder.join("sub/f"), "y").unwrap();
        std::os::unix::fs::symlink("f", folder.join("link")).unwrap();
    }
    guest
}

fn at(guest: &mut Guest, fd: u32, path: &str) -> GuestPath {
    GuestPath {
        fd,
        ..guest.path(path)
    }
}

fn open(guest: &mut Guest, fd: u32, path: &str, oflags: Oflags) -> Result<u32, Errno> {
    let path = at(guest, fd, path);
    let args = OpenArgs {
        fd,
        lookup: 1,
        path: path.ptr,
        path_len: path.len,
        oflags: u32::from(oflags.bits()),
        // A folder cannot be opened for writing.
        base: match oflags.contains(Oflags::DIRECTORY) {
            true => Rights::DIRECTORY.bits(),
            false => Rights::all().bits(),
        },
        inheriting: Rights::all().bits(),
        fdflags: 0,
    };
    guest.call(|ctx, mem| path_open(ctx, mem, args, OUT))?;
    Ok(guest.u32(OUT))
}

/// Every call that changes something, on paths that start at `fd`.
fn changes(guest: &mut Guest, fd: u32) -> Vec<(&'static str, Result<(), Errno>)> {
    let opens = [
        ("create", "new", Oflags::CREAT),
        ("create what is there", "f", Oflags::CREAT),
        ("exclude", "newer", Oflags::CREAT | Oflags::EXCL),
        ("truncate", "f", Oflags::TRUNC),
    ];
    let mut all: Vec<_> = opens
        .map(|(name, path, oflags)| (name, open(guest, fd, path, oflags).map(drop)))
        .into();
    let paths = [
        "made", "sub", "f", "f", "moved", "linked", "f", "symbolic", "gone",
    ];
    let [made, sub, f, own, moved, linked, timed, symbolic, gone] =
        paths.map(|path| at(guest, fd, path));
    let (elsewhere, theirs) = (at(guest, ALL, "elsewhere"), at(guest, ALL, "f"));
    let here = at(guest, fd, "from");
    guest.call(|ctx, mem| {
        let times = (5, 5, 5);
        all.extend([
            (
                "set times",
                path_filestat_set_times(ctx, mem, 1, timed, times),
            ),
            ("mkdir", path_create_directory(ctx, mem, made)),
            ("link", path_link(ctx, mem, 0, f, linked)),
            ("link out", path_link(ctx, mem, 0, f, elsewhere)),
            ("link in", path_link(ctx, mem, 0, theirs, here)),
            (
                "symlink",
                path_symlink(ctx, mem, (own.ptr, own.len), symbolic),
            ),
            ("rename", path_rename(ctx, mem, f, moved)),
            ("rename out", path_rename(ctx, mem, f, elsewhere)),
            ("rename in", path_rename(ctx, mem, theirs, gone)),
            ("unlink", path_unlink_file(ctx, mem, f)),
            ("rmdir", path_remove_directory(ctx, mem, sub)),
        ]);
    });
    all.push((
        "set times of it",
        file::fd_filestat_set_times(&guest.ctx, fd, 1, 1, 1),
    ));
    all
}

/// What is in the folder: names, contents and times.
fn tree(guest: &Guest) -> Vec<String> {
    let less = guest.temp.path().join("less");
    let mut found = Vec::new();
    for folder in [less.clone(), less.join("sub")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            let text = std::fs::read_to_string(entry.path()).ok();
            found.push(format!("{:?} {:?} {text:?}", entry.path(), meta.modified()));
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_changed_in_a_folder_that_is_read_only() {
    let mut guest = guest(DirPerms::READ, FilePerms::READ);
    let before = tree(&guest);
    let sub = open(&mut guest, LESS, "sub", Oflags::DIRECTORY).unwrap();
    let deeper = open(&mut guest, sub, ".", Oflags::DIRECTORY).unwrap();
    for fd in [LESS, sub, deeper] {
        for (name, outcome) in changes(&mut guest, fd) {
            assert_eq!(outcome, Err(Errno::Notcapable), "{name} in {fd}");
        }
    }
    for (fd, path) in [(LESS, "f"), (LESS, "link"), (sub, "f")] {
        let fd = open(&mut guest, fd, path, Oflags::empty()).unwrap();
        assert_eq!(guest.read(fd, 9).unwrap().len(), 1);
        let refused = Err(Errno::Notcapable);
        assert_eq!(guest.write(fd, b"z").map(drop), refused);
        let range = guest.range(1);
        let put = guest.call(|ctx, mem| io::fd_pwrite(ctx, mem, fd, &range, 0, OUT));
        assert_eq!(put, refused);
        assert_eq!(file::fd_allocate(&guest.ctx, fd, 0, 9), refused);
        assert_eq!(file::fd_filestat_set_size(&guest.ctx, fd, 0), refused);
        assert_eq!(
            file::fd_filestat_set_times(&guest.ctx, fd, 1, 1, 1),
            refused
        );
        // The host's descriptor cannot either.
        let flags = rustix::fs::fcntl_getfl(guest.ctx.table().get(fd).unwrap()).unwrap();
        assert_eq!(
            flags & rustix::fs::OFlags::RWMODE,
            rustix::fs::OFlags::RDONLY
        );
        // Rights that were never there are not to be had.
        let wider = Rights::FD_READ | Rights::FD_WRITE;
        let set = file::fd_fdstat_set_rights(&mut guest.ctx, fd, wider.bits(), 0);
        assert_eq!(set, refused);
        // Over another descriptor it is no more than it was.
        let other = guest.create("other");
        file::fd_renumber(&mut guest.ctx, fd, other).unwrap();
        assert_eq!(guest.write(other, b"z").map(drop), refused);
    }
    assert_eq!(tree(&guest), before);
    // What only looks is allowed.
    let path = at(&mut guest, LESS, "f");
    let stat = guest.call(|ctx, mem| path_filestat_get(ctx, mem, 1, path, OUT, Snapshot::One));
    assert_eq!(stat, Ok(()));
    let path = at(&mut guest, LESS, "link");
    let link = guest.call(|ctx, mem| path_readlink(ctx, mem, path, (DATA, 9), OUT));
    assert_eq!(link, Ok(()));
}

#[test]
fn all_of_it_is_possible_where_it_is_allowed() {
    let mut guest = guest(DirPerms::all(), FilePerms::all());
    for (name, outcome) in changes(&mut guest, LESS) {
        // Because of what the calls before have made.
        let expected = match name {
            "rename out" | "unlink" => Err(Errno::Noent),
            "rmdir" => Err(Errno::Notempty),
            _ => Ok(()),
        };
        assert_eq!(outcome, expected, "{name}");
    }
}

#[test]
fn what_is_moved_elsewhere_gains_nothing() {
    for (dir, file) in [
        (DirPerms::all(), FilePerms::READ),
        (DirPerms::all(), FilePerms::WRITE),
        (DirPerms::MUTATE, FilePerms::all()),
    ] {
        let mut guest = guest(dir, file);
        let paths = ["f", "sub", "renamed", "linked"];
        let [f, sub, renamed, linked] = paths.map(|path| at(&mut guest, LESS, path));
        let (out, theirs) = (at(&mut guest, ALL, "out"), at(&mut guest, ALL, "f"));
        guest.call(|ctx, mem| {
            for from in [f, sub] {
                assert_eq!(path_rename(ctx, mem, from, out), Err(Errno::Notcapable));
                assert_eq!(path_link(ctx, mem, 0, from, out), Err(Errno::Notcapable));
            }
            // Within the folder, and into it, nothing is gained.
            assert_eq!(path_link(ctx, mem, 0, f, linked), Ok(()));
            assert_eq!(path_rename(ctx, mem, f, renamed), Ok(()));
            assert_eq!(path_rename(ctx, mem, theirs, f), Ok(()));
        });
        if dir.contains(DirPerms::READ) {
            let sub = open(&mut guest, LESS, "sub", Oflags::DIRECTORY).unwrap();
            let beneath = at(&mut guest, sub, "f");
            let moved = guest.call(|ctx, mem| path_rename(ctx, mem, beneath, out));
            assert_eq!(moved, Err(Errno::Notcapable));
        }
    }
}

#[test]
fn each_permission_is_one_of_its_own() {
    let mut guest = guest(DirPerms::READ, FilePerms::all());
    let fd = open(&mut guest, LESS, "f", Oflags::TRUNC).unwrap();
    assert_eq!(guest.write(fd, b"new"), Ok(3));
    let made = open(&mut guest, LESS, "new", Oflags::CREAT);
    assert_eq!(made, Err(Errno::Notcapable));
    drop(guest);

    let mut guest = self::guest(DirPerms::all(), FilePerms::WRITE);
    let fd = open(&mut guest, LESS, "new", Oflags::CREAT).unwrap();
    assert_eq!(guest.write(fd, b"new"), Ok(3));
    let back = guest.call(|ctx, mem| file::fd_seek(ctx, mem, fd, 0, Whence::Set, OUT));
    assert_eq!(back, Ok(()));
    assert_eq!(guest.read(fd, 1), Err(Errno::Notcapable));
    drop(guest);

    let mut guest = self::guest(DirPerms::MUTATE, FilePerms::all());
    let opened = open(&mut guest, LESS, "f", Oflags::empty());
    assert_eq!(opened, Err(Errno::Notcapable));
    let path = at(&mut guest, LESS, "made");
    let made = guest.call(|ctx, mem| path_create_directory(ctx, mem, path));
    assert_eq!(made, Ok(()));
}
