//! The kernel's interfaces, from a guest that was given the host's root.

use super::*;
use crate::calls::paths::*;
use crate::types::Snapshot;
use crate::{BuildError, HostDir};
use std::os::unix::fs::symlink;

/// The host's root.
const ROOT: u32 = 4;

fn guest() -> Guest {
    Guest::with(|builder| {
        builder
            .preopened_dir("/", "/", DirPerms::all(), FilePerms::all())
            .unwrap()
    })
}

fn at(guest: &mut Guest, path: &str) -> GuestPath {
    GuestPath {
        fd: ROOT,
        ..guest.path(path)
    }
}

fn open(guest: &mut Guest, path: &str, oflags: Oflags) -> Result<u32, Errno> {
    let path = at(guest, path);
    let args = OpenArgs {
        fd: path.fd,
        lookup: 1,
        path: path.ptr,
        path_len: path.len,
        oflags: u32::from(oflags.bits()),
        base: Rights::all().bits(),
        inheriting: Rights::all().bits(),
        fdflags: 0,
    };
    guest.call(|ctx, mem| path_open(ctx, mem, args, OUT))?;
    Ok(guest.u32(OUT))
}

#[test]
fn the_hosts_own_memory_is_out_of_reach() {
    let mut guest = guest();
    symlink("/proc/self/mem", guest.host("absolute")).unwrap();
    let inside = guest.host("").to_str().unwrap()[1..].to_owned();
    let up = "../".repeat(inside.matches('/').count() + 1);
    symlink(format!("{up}proc/self/mem"), guest.host("relative")).unwrap();
    for path in [
        "proc/self/mem".to_owned(),
        "proc/self/maps".to_owned(),
        "proc/thread-self/mem".to_owned(),
        "proc".to_owned(),
        format!("{inside}relative"),
        format!("{inside}absolute"),
    ] {
        for oflags in [Oflags::empty(), Oflags::TRUNC, Oflags::CREAT] {
            let opened = open(&mut guest, &path, oflags);
            // A folder is refused as one where it is to be changed.
            assert!(
                matches!(opened, Err(Errno::Perm | Errno::Isdir)),
                "{path}: {opened:?}"
            );
        }
    }
    // From the guest's own folder it is an escape.
    let escape = guest.open("relative", Oflags::empty(), Rights::FD_READ);
    assert_eq!(escape, Err(Errno::Perm));
}

#[test]
fn no_call_reaches_into_an_interface() {
    let mut guest = guest();
    let status = at(&mut guest, "proc/self/status");
    let own = at(&mut guest, "tmp");
    let refused = Err(Errno::Perm);
    let stat = |guest: &mut Guest, path| {
        guest.call(|ctx, mem| path_filestat_get(ctx, mem, 1, path, OUT, Snapshot::One))
    };
    assert_eq!(stat(&mut guest, status), refused);
    let link = at(&mut guest, "proc/self/exe");
    let read = guest.call(|ctx, mem| path_readlink(ctx, mem, link, (DATA, 99), OUT));
    assert_eq!(read, refused);
    guest.call(|ctx, mem| {
        assert_eq!(path_unlink_file(ctx, mem, status), refused);
        assert_eq!(path_create_directory(ctx, mem, status), refused);
        assert_eq!(path_remove_directory(ctx, mem, status), refused);
        assert_eq!(path_rename(ctx, mem, status, own), refused);
        assert_eq!(path_rename(ctx, mem, own, status), refused);
        assert_eq!(path_link(ctx, mem, 0, status, own), refused);
        assert_eq!(
            path_filestat_set_times(ctx, mem, 1, status, (0, 0, 1)),
            refused
        );
    });
    // That it is there, anybody may know.
    let mount = at(&mut guest, "proc");
    assert_eq!(stat(&mut guest, mount), Ok(()));
}

#[test]
fn harmless_devices_can_be_used_and_others_not() {
    let mut guest = guest();
    for path in ["dev/zero", "dev/null", "dev/urandom"] {
        let fd = open(&mut guest, path, Oflags::empty()).unwrap();
        assert!(guest.read(fd, 9).is_ok(), "{path}");
        guest.close(fd).unwrap();
    }
    for path in ["dev/tty", "dev/kmsg", "dev/vda", "dev/loop0", "dev/console"] {
        if std::fs::symlink_metadata(format!("/{path}")).is_ok() {
            let opened = open(&mut guest, path, Oflags::empty());
            assert_eq!(opened, Err(Errno::Perm), "{path}");
        }
    }
    // Also where the folder is of the same mount.
    let mut guest = Guest::with(|builder| {
        builder
            .preopened_dir("/dev", "/dev", DirPerms::all(), FilePerms::all())
            .unwrap()
    });
    assert_eq!(open(&mut guest, "ptmx", Oflags::empty()), Err(Errno::Perm));
    assert!(open(&mut guest, "zero", Oflags::empty()).is_ok());
}

#[test]
fn an_interface_is_given_by_its_name_only() {
    let builder = || WasiCtxBuilder::new();
    let error = builder()
        .preopened_dir("/proc/self", "p", DirPerms::all(), FilePerms::all())
        .unwrap_err();
    assert!(matches!(
        error,
        BuildError::KernelFiles { what: "proc", .. }
    ));
    let folder = std::fs::File::open("/proc").unwrap();
    let error = builder()
        .preopened_dir(folder, "p", DirPerms::all(), FilePerms::all())
        .unwrap_err();
    assert!(matches!(
        error,
        BuildError::KernelFiles { what: "proc", .. }
    ));
    let mut guest = Guest::with(|builder| {
        let proc = HostDir::Kernel("/proc".into());
        builder
            .preopened_dir(proc, "p", DirPerms::all(), FilePerms::all())
            .unwrap()
    });
    assert!(open(&mut guest, "self/status", Oflags::empty()).is_ok());
    assert_eq!(
        open(&mut guest, "../etc/passwd", Oflags::empty()),
        Err(Errno::Perm)
    );
}
