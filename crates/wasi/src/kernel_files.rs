//! Files that are no data, but ways into the kernel and into processes.
//!
//! A folder such as `/` has more beneath it than files: `/proc/self/mem` is the
//! memory of the very process that runs the guest, `/proc/sys` and `/sys` change
//! the kernel, `/dev/mem` and `/dev/sda` are what every other file is kept in.
//! Whoever gives a guest such a folder means the files in it, so these are
//! refused, as if they were outside the folder:
//! - whatever is on a file system of [`KERNEL`], unless the folder itself is on
//!   one of that kind, which only
//!   [`HostDir::Kernel`](crate::HostDir::Kernel) makes;
//! - devices, but those of [`DEVICES`], to open. They can be listed, renamed and
//!   removed like any entry of their folder.
//!
//! What must stay true: it is the opened descriptor that is looked at, so that no
//! link, mount or rename meanwhile makes a difference. Links that the kernel makes
//! up (`/proc/self/fd/3`, `/proc/self/root`) are never followed at all.

use crate::errno::Errno;
use rustix::fs::FileType;
use std::os::fd::BorrowedFd;

/// File systems whose files are the kernel's interfaces, by the number that
/// fstatfs(2) tells. From `linux/magic.h`, but configfs (`fs/configfs/mount.c`), mqueue
/// (`ipc/mqueue.c`), nfsd (`fs/nfsd/nfsctl.c`), `rpc_pipefs` (`net/sunrpc/rpc_pipe.c`),
/// functionfs and gadgetfs (`drivers/usb/gadget`), ibmasmfs (`drivers/misc/ibmasm`) and
/// oprofilefs (`drivers/oprofile/oprofilefs.c`, until 5.11).
const KERNEL: &[(u32, &str)] = &[
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6265_6570, "configfs"),
    (0xde5e_81e4, "efivarfs"),
    (0xcafe_4a11, "bpf"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6165_676c, "pstore"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x5a3c_69f0, "apparmorfs"),
    (0x6e73_6673, "nsfs"),
    (0x5049_4446, "pidfs"),
    (0x1cd1, "devpts"),
    (0x0765_5821, "resctrl"),
    (0x6573_5543, "fusectl"),
    (0x6c6f_6f70, "binderfs"),
    (0xabba_1974, "xenfs"),
    (0x1980_0202, "mqueue"),
    (0x6e66_7364, "nfsd"),
    (0x6759_6969, "rpc_pipefs"),
    (0x0a64_7361, "functionfs"),
    (0xaee7_1ee7, "gadgetfs"),
    (0x6672_6f67, "ibmasmfs"),
    (0x6f70_726f, "oprofilefs"),
    (0x0187, "autofs"),
    (0x9fa1, "openpromfs"),
    (0x9fa2, "usbfs"),
];

/// Character devices that are harmless, by major and minor number: null, zero,
/// full, random, urandom (`Documentation/admin-guide/devices.txt`).
const DEVICES: &[(u32, u32)] = &[(1, 3), (1, 5), (1, 7), (1, 8), (1, 9)];

/// The name of the kernel's interface that `fd` belongs to, if it does.
///
/// # Errors
/// What the host answers to `fstatfs`.
pub(crate) fn interface(fd: BorrowedFd<'_>) -> Result<Option<&'static str>, Errno> {
    // The number has 32 bits, however wide the field is.
    let magic = rustix::fs::fstatfs(fd)?.f_type.cast_unsigned() & 0xffff_ffff;
    let found = KERNEL
        .iter()
        .find(|(number, _)| u64::from(*number) == magic);
    Ok(found.map(|(_, name)| *name))
}

/// Refuses what was opened beneath `dir` but belongs to an interface of the
/// kernel that `dir` is no part of.
///
/// # Errors
/// `Errno::Perm`.
pub(crate) fn refuse_interface(dir: BorrowedFd<'_>, opened: BorrowedFd<'_>) -> Result<(), Errno> {
    match interface(opened)? {
        Some(name) if interface(dir)? != Some(name) => Err(Errno::Perm),
        _ => Ok(()),
    }
}

/// Refuses a device that is not harmless.
///
/// # Errors
/// `Errno::Perm`.
pub(crate) fn refuse_device(opened: BorrowedFd<'_>) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(opened)?;
    let number = (
        rustix::fs::major(stat.st_rdev),
        rustix::fs::minor(stat.st_rdev),
    );
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Err(Errno::Perm),
        FileType::CharacterDevice if !DEVICES.contains(&number) => Err(Errno::Perm),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::AsFd;

    fn open(path: &str) -> Option<std::os::fd::OwnedFd> {
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
    }

    #[test]
    fn interfaces_are_told_from_folders() {
        // Not every container has all of them.
        for (path, name) in [("/proc", "proc"), ("/sys", "sysfs"), ("/dev/pts", "devpts")] {
            let Some(fd) = open(path) else { continue };
            assert_eq!(interface(fd.as_fd()), Ok(Some(name)), "{path}");
        }
        let temp = tempfile::tempdir().unwrap();
        let folder = open(temp.path().to_str().unwrap()).unwrap();
        assert_eq!(interface(folder.as_fd()), Ok(None));
        let memory = open("/proc/self/mem").unwrap();
        assert_eq!(
            refuse_interface(folder.as_fd(), memory.as_fd()),
            Err(Errno::Perm)
        );
        let proc = open("/proc").unwrap();
        assert_eq!(refuse_interface(proc.as_fd(), memory.as_fd()), Ok(()));
    }

    /// Whatever is mounted here under one of the names has its number.
    #[test]
    fn what_is_mounted_is_told_by_its_number() {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut found = 0;
        for line in mounts.lines() {
            let (places, kinds) = line.split_once(" - ").unwrap();
            let path = places.split(' ').nth(4).unwrap();
            let kind = kinds.split(' ').next().unwrap();
            let is_last = mounts
                .lines()
                .rfind(|line| line.split(' ').nth(4) == Some(path));
            if is_last != Some(line) || !KERNEL.iter().any(|(_, name)| *name == kind) {
                continue;
            }
            let Some(fd) = open(path) else { continue };
            assert_eq!(interface(fd.as_fd()), Ok(Some(kind)), "{path}");
            found += 1;
        }
        assert!(found > 0, "procfs at least: {mounts}");
    }

    /// Whatever this kernel mounts by one of the names, which is most of them for root and few for
    /// others, has its number.
    #[test]
    fn what_can_be_mounted_is_told_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let user: &[&str] = match rustix::process::geteuid().is_root() {
            true => &[],
            false => &["--user", "--map-root-user"],
        };
        let mut found = Vec::new();
        // Mounting these would change what the machine does.
        let has_effects = |name: &str| name.starts_with("cgroup") || name == "resctrl";
        for (number, name) in KERNEL.iter().filter(|(_, name)| !has_effects(name)) {
            // A name space of its own, which ends with the process.
            let output = std::process::Command::new("unshare")
                .args(user)
                .args(["--mount", "--ipc", "--net", "sh", "-c"])
                .arg("mount -t \"$0\" none \"$1\" && stat -f -c %t \"$1\"")
                .args([name.as_ref(), folder.path().as_os_str()])
                .output();
            let told = output.map(|output| String::from_utf8(output.stdout).unwrap());
            let told = told.unwrap_or_default();
            if let Ok(told) = u32::from_str_radix(told.trim(), 16) {
                assert_eq!(told, *number, "{name}");
                found.push(*name);
            }
        }
        match found.is_empty() {
            true => println!("SKIPPED: nothing may be mounted here"),
            false => println!("mounted: {}", found.join(" ")),
        }
    }

    #[test]
    fn devices_are_refused_but_those_that_are_harmless() {
        for path in [
            "/dev/null",
            "/dev/zero",
            "/dev/full",
            "/dev/random",
            "/dev/urandom",
        ] {
            let device = open(path).unwrap();
            assert_eq!(refuse_device(device.as_fd()), Ok(()), "{path}");
        }
        for path in [
            "/dev/tty",
            "/dev/mem",
            "/dev/kmsg",
            "/dev/fuse",
            "/dev/ptmx",
            "/dev/vda",
        ] {
            let Some(device) = open(path) else { continue };
            assert_eq!(refuse_device(device.as_fd()), Err(Errno::Perm), "{path}");
        }
    }

    #[test]
    fn numbers_and_names_are_there_once() {
        for (index, (number, name)) in KERNEL.iter().enumerate() {
            let mut others = KERNEL[..index].iter();
            assert!(!others.any(|(n, s)| n == number || s == name), "{name}");
        }
    }
}
