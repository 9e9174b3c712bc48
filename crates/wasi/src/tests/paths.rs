//! Calls on paths, above all the ones that try to leave the folder.

use super::*;
use crate::calls::paths::*;
use crate::types::{FileType, Snapshot};
use std::os::unix::fs::symlink;

type PathCall = fn(&WasiCtx, &GuestMemory, GuestPath) -> Result<(), Errno>;

fn on(guest: &mut Guest, call: PathCall, path: &str) -> Result<(), Errno> {
    let path = guest.path(path);
    guest.call(|ctx, mem| call(ctx, mem, path))
}

fn mkdir(guest: &mut Guest, path: &str) -> Result<(), Errno> {
    on(guest, path_create_directory, path)
}

fn rmdir(guest: &mut Guest, path: &str) -> Result<(), Errno> {
    on(guest, path_remove_directory, path)
}

fn unlink(guest: &mut Guest, path: &str) -> Result<(), Errno> {
    on(guest, path_unlink_file, path)
}

fn rename(guest: &mut Guest, old: &str, new: &str) -> Result<(), Errno> {
    let (old, new) = (guest.path(old), guest.path(new));
    guest.call(|ctx, mem| path_rename(ctx, mem, old, new))
}

fn link(guest: &mut Guest, old: &str, new: &str) -> Result<(), Errno> {
    let (old, new) = (guest.path(old), guest.path(new));
    guest.call(|ctx, mem| path_link(ctx, mem, 0, old, new))
}

fn make_symlink(guest: &mut Guest, target: &str, new: &str) -> Result<(), Errno> {
    let (target, new) = (guest.path(target), guest.path(new));
    guest.call(|ctx, mem| path_symlink(ctx, mem, (target.ptr, target.len), new))
}

fn readlink(guest: &mut Guest, path: &str, len: u32) -> Result<String, Errno> {
    let path = guest.path(path);
    guest.call(|ctx, mem| path_readlink(ctx, mem, path, (DATA, len), OUT))?;
    let used = guest.u32(OUT) as usize;
    Ok(String::from_utf8(guest.bytes[DATA as usize..][..used].to_vec()).unwrap())
}

/// The type and the size.
fn stat(guest: &mut Guest, path: &str, follow: bool) -> Result<(u8, u64), Errno> {
    let path = guest.path(path);
    let flags = u32::from(follow);
    guest.call(|ctx, mem| path_filestat_get(ctx, mem, flags, path, OUT, Snapshot::One))?;
    Ok((guest.bytes[16], guest.u64(32)))
}

fn set_times(guest: &mut Guest, path: &str, follow: bool, mtim_ns: u64) -> Result<(), Errno> {
    let path = guest.path(path);
    let times = (0, mtim_ns, 4);
    guest.call(|ctx, mem| path_filestat_set_times(ctx, mem, u32::from(follow), path, times))
}

/// A folder beside the guest's, with links from inside that lead to it.
fn surrounded() -> Guest {
    let guest = Guest::new();
    let outside = guest.temp.path().join("outside");
    std::fs::create_dir_all(outside.join("dir")).unwrap();
    std::fs::write(outside.join("file"), "secret").unwrap();
    std::fs::create_dir(guest.host("sub")).unwrap();
    std::fs::write(guest.host("inside"), "i").unwrap();
    symlink(&outside, guest.host("absolute")).unwrap();
    symlink("../outside", guest.host("relative")).unwrap();
    symlink("../outside/file", guest.host("tofile")).unwrap();
    symlink("../outside/dir", guest.host("todir")).unwrap();
    symlink("../outside/new", guest.host("dangling")).unwrap();
    guest
}

/// Paths of things outside: to read, to change, to make.
const OUTSIDE: [&str; 6] = [
    "../outside/file",
    "sub/../../outside/file",
    "absolute/file",
    "relative/file",
    "todir/../file",
    "/etc/passwd",
];

fn snapshot_of(guest: &Guest) -> Vec<String> {
    let outside = guest.temp.path().join("outside");
    let mut names: Vec<_> = std::fs::read_dir(&outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.push(std::fs::read_to_string(outside.join("file")).unwrap());
    let modified = std::fs::metadata(outside.join("file")).unwrap().modified();
    names.push(format!("{modified:?}"));
    names
}

#[test]
fn no_call_reaches_anything_outside() {
    let mut guest = surrounded();
    let before = snapshot_of(&guest);
    let everything = Rights::all();
    for path in OUTSIDE {
        let escape = Err(Errno::Perm);
        let opened = guest.open(path, Oflags::empty(), Rights::FD_READ);
        assert_eq!(opened, Err(Errno::Perm), "{path}");
        let created = guest.open(path, Oflags::CREAT | Oflags::TRUNC, everything);
        assert_eq!(created, Err(Errno::Perm), "{path}");
        assert_eq!(mkdir(&mut guest, path), escape, "{path}");
        assert_eq!(rmdir(&mut guest, path), escape, "{path}");
        assert_eq!(unlink(&mut guest, path), escape, "{path}");
        assert_eq!(rename(&mut guest, path, "stolen"), escape, "{path}");
        assert_eq!(rename(&mut guest, "inside", path), escape, "{path}");
        assert_eq!(link(&mut guest, path, "stolen"), escape, "{path}");
        assert_eq!(link(&mut guest, "inside", path), escape, "{path}");
        assert_eq!(make_symlink(&mut guest, "x", path), escape, "{path}");
        assert_eq!(readlink(&mut guest, path, 9), Err(Errno::Perm), "{path}");
        for follow in [false, true] {
            assert_eq!(stat(&mut guest, path, follow), Err(Errno::Perm), "{path}");
            assert_eq!(set_times(&mut guest, path, follow, 1), escape, "{path}");
        }
    }
    assert_eq!(snapshot_of(&guest), before);
    assert!(!guest.host("stolen").exists());
}

/// A final component that is a link is either not followed, or refused.
#[test]
fn final_links_lead_nowhere() {
    let mut guest = surrounded();
    let before = snapshot_of(&guest);
    for path in ["tofile", "absolute", "relative", "todir", "dangling"] {
        let opened = guest.open(path, Oflags::CREAT, Rights::all());
        assert_eq!(opened, Err(Errno::Perm), "{path}");
        assert_eq!(stat(&mut guest, path, true), Err(Errno::Perm), "{path}");
        assert_eq!(set_times(&mut guest, path, true, 1), Err(Errno::Perm));
        let (kind, _) = stat(&mut guest, path, false).unwrap();
        assert_eq!(kind, FileType::SymbolicLink as u8);
        assert_eq!(set_times(&mut guest, path, false, 1), Ok(()));
        // With a slash the kernel would follow it in every call.
        let slash = format!("{path}/");
        assert_eq!(stat(&mut guest, &slash, false), Err(Errno::Perm), "{path}");
        assert!(mkdir(&mut guest, &slash).is_err());
        assert!(rmdir(&mut guest, &slash).is_err());
        assert!(unlink(&mut guest, &slash).is_err());
        assert!(rename(&mut guest, &slash, "stolen").is_err());
        assert!(rename(&mut guest, "sub", &slash).is_err());
        assert!(link(&mut guest, &slash, "stolen").is_err());
        assert!(link(&mut guest, "inside", &slash).is_err());
        assert!(make_symlink(&mut guest, "x", &slash).is_err());
        assert!(readlink(&mut guest, &slash, 99).is_err());
        assert!(
            guest
                .open(&slash, Oflags::empty(), Rights::FD_READ)
                .is_err()
        );
    }
    // The links themselves are the guest's to remove.
    assert_eq!(unlink(&mut guest, "tofile"), Ok(()));
    assert_eq!(snapshot_of(&guest), before);
}

/// A link that the guest makes is as harmless as one it found; its absolute
/// target, which the host would follow, is refused.
#[test]
fn links_of_the_guests_own_lead_nowhere_either() {
    let mut guest = surrounded();
    assert_eq!(
        make_symlink(&mut guest, "/etc", "etc"),
        Err(Errno::Notcapable)
    );
    assert_eq!(make_symlink(&mut guest, "../outside", "out"), Ok(()));
    assert_eq!(readlink(&mut guest, "out", 99), Ok("../outside".into()));
    let opened = guest.open("out/file", Oflags::empty(), Rights::FD_READ);
    assert_eq!(opened, Err(Errno::Perm));
    assert_eq!(make_symlink(&mut guest, "inside", "in"), Ok(()));
    assert!(guest.open("in", Oflags::empty(), Rights::FD_READ).is_ok());
}

#[test]
fn a_folder_beneath_a_folder_is_no_way_out() {
    let mut guest = surrounded();
    let sub = guest
        .open("sub", Oflags::DIRECTORY, Rights::DIRECTORY)
        .unwrap();
    // From the subfolder, its parent is outside, though the guest has it.
    let mut path = guest.path("../inside");
    path.fd = sub;
    let result = guest.call(|ctx, mem| path_filestat_get(ctx, mem, 1, path, OUT, Snapshot::One));
    assert_eq!(result, Err(Errno::Perm));
    // A folder moved while open does not widen what is beneath it.
    assert_eq!(rename(&mut guest, "sub", "moved"), Ok(()));
    let mut path = guest.path("..");
    path.fd = sub;
    let result = guest.call(|ctx, mem| path_filestat_get(ctx, mem, 1, path, OUT, Snapshot::One));
    assert_eq!(result, Err(Errno::Perm));
}

#[test]
fn folders_are_made_and_removed() {
    let mut guest = Guest::new();
    assert_eq!(mkdir(&mut guest, "a/"), Ok(()));
    assert_eq!(mkdir(&mut guest, "a"), Err(Errno::Exist));
    assert_eq!(mkdir(&mut guest, "a/b/c"), Err(Errno::Noent));
    assert_eq!(mkdir(&mut guest, "a/b"), Ok(()));
    assert_eq!(rmdir(&mut guest, "a"), Err(Errno::Notempty));
    assert_eq!(unlink(&mut guest, "a"), Err(Errno::Isdir));
    assert_eq!(unlink(&mut guest, "a/"), Err(Errno::Isdir));
    assert_eq!(rmdir(&mut guest, "a/b/"), Ok(()));
    guest.create("a/f");
    assert_eq!(rmdir(&mut guest, "a/f"), Err(Errno::Notdir));
    assert_eq!(unlink(&mut guest, "a/f/"), Err(Errno::Notdir));
    assert_eq!(unlink(&mut guest, "a/f"), Ok(()));
    assert_eq!(unlink(&mut guest, "a/f"), Err(Errno::Noent));
    assert_eq!(unlink(&mut guest, ""), Err(Errno::Noent));
    assert_eq!(unlink(&mut guest, "a\0b"), Err(Errno::Inval));
    let long = "x".repeat(300);
    assert_eq!(mkdir(&mut guest, &long), Err(Errno::Nametoolong));
}

#[test]
fn trailing_slashes_ask_for_a_directory() {
    let mut guest = Guest::new();
    guest.create("f");
    mkdir(&mut guest, "d").unwrap();
    assert_eq!(rename(&mut guest, "f/", "g"), Err(Errno::Notdir));
    assert_eq!(rename(&mut guest, "f", "g/"), Err(Errno::Notdir));
    assert_eq!(rename(&mut guest, "d/", "e/"), Ok(()));
    assert_eq!(link(&mut guest, "f", "g/"), Err(Errno::Noent));
    assert_eq!(link(&mut guest, "f", "e/"), Err(Errno::Exist));
    assert_eq!(make_symlink(&mut guest, "x", "g/"), Err(Errno::Noent));
    assert_eq!(make_symlink(&mut guest, "x", "e/"), Err(Errno::Exist));
    assert_eq!(make_symlink(&mut guest, "x", "f/"), Err(Errno::Notdir));
    assert_eq!(stat(&mut guest, "f/", true), Err(Errno::Notdir));
    assert_eq!(
        stat(&mut guest, "e/", false).unwrap().0,
        FileType::Directory as u8
    );
    let opened = guest.open("f/", Oflags::empty(), Rights::FD_READ);
    assert_eq!(opened, Err(Errno::Notdir));
}

#[test]
fn links_and_their_targets() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    guest.write(fd, b"12345").unwrap();
    assert_eq!(link(&mut guest, "f", "hard"), Ok(()));
    assert_eq!(link(&mut guest, "f", "hard"), Err(Errno::Exist));
    assert_eq!(make_symlink(&mut guest, "f", "soft"), Ok(()));
    let regular = FileType::RegularFile as u8;
    assert_eq!(stat(&mut guest, "hard", false), Ok((regular, 5)));
    assert_eq!(stat(&mut guest, "soft", true), Ok((regular, 5)));
    assert_eq!(
        stat(&mut guest, "soft", false),
        Ok((FileType::SymbolicLink as u8, 1))
    );
    assert_eq!(link(&mut guest, "soft", "hardsoft"), Ok(()));
    assert_eq!(readlink(&mut guest, "hardsoft", 99), Ok("f".into()));
    assert_eq!(readlink(&mut guest, "f", 99), Err(Errno::Inval));
    make_symlink(&mut guest, "target", "long").unwrap();
    assert_eq!(readlink(&mut guest, "long", 4), Ok("targ".into()));
    let nofollow = LookupFlags::empty();
    let opened = guest.open_as("soft", nofollow, Oflags::empty(), Rights::FD_READ, 0);
    assert_eq!(opened, Err(Errno::Loop));
    make_symlink(&mut guest, "loop", "loop").unwrap();
    let opened = guest.open("loop", Oflags::empty(), Rights::FD_READ);
    assert_eq!(opened, Err(Errno::Loop));
    assert_eq!(set_times(&mut guest, "soft", true, 7), Ok(()));
    let modified = std::fs::metadata(guest.host("f"))
        .unwrap()
        .modified()
        .unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_nanos(), 7);
}

/// Where two things are wrong, the one that the kernel tells.
#[test]
fn errors_come_in_the_kernels_order() {
    let mut guest = surrounded();
    assert_eq!(rename(&mut guest, "missing/", "."), Err(Errno::Busy));
    assert_eq!(rename(&mut guest, ".", "missing/"), Err(Errno::Busy));
    assert_eq!(link(&mut guest, "missing", "sub/"), Err(Errno::Noent));
    assert_eq!(link(&mut guest, "inside", "sub/"), Err(Errno::Exist));
    assert_eq!(make_symlink(&mut guest, "", "sub/"), Err(Errno::Noent));
    assert_eq!(make_symlink(&mut guest, "x", "sub/"), Err(Errno::Exist));
}

#[test]
fn a_directory_is_opened_with_all_rights_and_has_its_own() {
    let mut guest = Guest::new();
    std::fs::create_dir(guest.host("d")).unwrap();
    for path in [".", "d"] {
        let fd = guest.open(path, Oflags::DIRECTORY, Rights::all()).unwrap();
        let (_, _, base, _) = super::files::fdstat(&mut guest, fd);
        assert_eq!(base, Rights::DIRECTORY, "{path}");
    }
    guest.open("f", Oflags::CREAT, Rights::all()).unwrap();
    let file = guest.open("f", Oflags::DIRECTORY, Rights::all());
    assert_eq!(file, Err(Errno::Notdir));
}

#[test]
fn opening_makes_excludes_and_empties() {
    let mut guest = Guest::new();
    let exclusive = Oflags::CREAT | Oflags::EXCL;
    let fd = guest.open("f", exclusive, Rights::FD_WRITE).unwrap();
    guest.write(fd, b"data").unwrap();
    let again = guest.open("f", exclusive, Rights::FD_WRITE);
    assert_eq!(again, Err(Errno::Exist));
    // Emptying needs no right to write to what is opened.
    guest.open("f", Oflags::TRUNC, Rights::empty()).unwrap();
    assert_eq!(std::fs::metadata(guest.host("f")).unwrap().len(), 0);
    let dir = guest.open("f", Oflags::DIRECTORY, Rights::empty());
    assert_eq!(dir, Err(Errno::Notdir));
    let both = guest.open("d", Oflags::DIRECTORY | Oflags::CREAT, Rights::empty());
    assert_eq!(both, Err(Errno::Inval));
    let write = Rights::FD_READ | Rights::FD_WRITE;
    // A directory is not opened for writing, unless one is asked for: then that is left out.
    assert_eq!(guest.open(".", Oflags::empty(), write), Err(Errno::Isdir));
    assert!(guest.open(".", Oflags::empty(), Rights::DIRECTORY).is_ok());
    assert_eq!(guest.open("", Oflags::empty(), write), Err(Errno::Noent));
}
