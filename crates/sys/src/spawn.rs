//! Children which cannot outlive us, and whose whole family can be ended.
//!
//! A measured engine may hang, crash or start processes of its own. It
//! therefore leads a process group (one signal reaches them all), dies when
//! the thread that started it dies, and gets one extra descriptor to report on.
#![allow(unsafe_code)]

use std::{
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, IntoRawFd, RawFd},
        unix::process::CommandExt,
    },
    process::{Child, Command},
};

/// The number under which a child finds its extra descriptor. A single digit:
/// some shells redirect to no other.
pub const EXTRA_FD: RawFd = 3;

/// Starts a command as the leader of a new process group, with `extra`, where there is
/// one, open in it as [`EXTRA_FD`].
///
/// The child is killed when the *thread* which called this ends
/// (`PR_SET_PDEATHSIG`), so call it from a thread which lives as long as the
/// child should.
///
/// # Errors
/// What [`Command::spawn`] reports.
pub fn spawn_in_group(command: &mut Command, extra: Option<BorrowedFd<'_>>) -> io::Result<Child> {
    if let Some(extra) = extra {
        reserve_number(extra)?;
    }
    let fd = extra.map(|extra| extra.as_raw_fd());
    command.process_group(0);
    // SAFETY: the closure runs between fork and exec and makes system calls
    // which are async-signal-safe; it allocates nothing. `extra` is borrowed
    // for the whole of this function, so its number stays valid.
    unsafe {
        command.pre_exec(move || {
            let inherited = match fd {
                None => 0,
                Some(EXTRA_FD) => libc::fcntl(EXTRA_FD, libc::F_SETFD, 0),
                // The copy does not close on exec.
                Some(fd) => libc::dup2(fd, EXTRA_FD),
            };
            if inherited < 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    command.spawn()
}

/// Has a command end with the thread that starts it (`PR_SET_PDEATHSIG`), and not begin where
/// that has ended by then.
pub fn ends_with_us(command: &mut Command) -> &mut Command {
    let parent = std::process::id().cast_signed();
    // SAFETY: the closure runs between fork and exec and makes system calls only, all of them
    // async-signal-safe; it allocates nothing.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            // Whose parent ended before that has another one, and nobody to wait for it.
            match libc::getppid() == parent {
                true => Ok(()),
                false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            }
        })
    }
}

/// What a child may use; nothing: as much as its parent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// Seconds of processor time. Then it gets SIGXCPU, and a second later SIGKILL.
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory of its own (`RLIMIT_DATA`), and of one file that it writes. Of addresses it
    /// may have [`ADDRESSES_BESIDE`] more, for its program.
    pub memory_bytes: Option<u64>,
}

/// Bytes of addresses that a program and its libraries may have besides its memory.
pub const ADDRESSES_BESIDE: u64 = 2 << 30;

/// Starts a command as the leader of a new process group, with limits and without core files.
///
/// The child is killed when the *thread* which called this ends (`PR_SET_PDEATHSIG`), and is not
/// begun where that has ended by then. So is not what it starts itself, which has the limits.
///
/// # Errors
/// What [`Command::spawn`] reports.
pub fn spawn_bounded(command: &mut Command, allowed: Allowed) -> io::Result<Child> {
    let memory = allowed.memory_bytes;
    let limits = [
        (libc::RLIMIT_CORE, Some((0, 0))),
        (
            libc::RLIMIT_CPU,
            allowed.cpu_seconds.map(|all| (all, all + 1)),
        ),
        (libc::RLIMIT_DATA, memory.map(|all| (all, all))),
        (libc::RLIMIT_FSIZE, memory.map(|all| (all, all))),
        (
            libc::RLIMIT_AS,
            memory
                .map(|all| all.saturating_add(ADDRESSES_BESIDE))
                .map(|all| (all, all)),
        ),
    ];
    ends_with_us(command).process_group(0);
    // SAFETY: the closure runs between fork and exec and makes system calls only, all of them
    // async-signal-safe; it allocates nothing.
    unsafe {
        command.pre_exec(move || {
            for (which, limit) in limits {
                if let Some((soft, hard)) = limit {
                    lower(which, soft, hard)?;
                }
            }
            Ok(())
        });
    }
    command.spawn()
}

/// Sets a limit of this process; where it has a lower one, that stays.
fn lower(which: libc::__rlimit_resource_t, soft: u64, hard: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls are given a struct of their own kind.
    let failed = unsafe {
        libc::getrlimit(which, &raw mut limit) < 0 || {
            limit.rlim_max = limit.rlim_max.min(hard);
            limit.rlim_cur = limit.rlim_cur.min(soft).min(limit.rlim_max);
            libc::setrlimit(which, &raw const limit) < 0
        }
    };
    match failed {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// Starts a command whose end the calling thread can look at before it is over: see
/// [`wait_with_memory`], which it must be waited for with.
///
/// # Errors
/// What [`Command::spawn`] reports.
///
/// [`wait_with_memory`]: crate::usage::wait_with_memory
pub fn spawn_traced(command: &mut Command) -> io::Result<Child> {
    // SAFETY: one system call between fork and exec. Where it is not allowed, the child
    // is one as any other.
    unsafe {
        command.pre_exec(|| {
            libc::ptrace(libc::PTRACE_TRACEME);
            Ok(())
        });
    }
    command.spawn()
}

/// Sees to it that the number is in use here. Otherwise the pipe by which
/// [`Command::spawn`] learns that a program cannot be started might get it,
/// and the child would overwrite that.
fn reserve_number(any: BorrowedFd<'_>) -> io::Result<()> {
    let lowest_free = rustix::io::fcntl_dupfd_cloexec(any, EXTRA_FD)?;
    if lowest_free.as_raw_fd() == EXTRA_FD {
        // Kept for good, but not as a copy of `any`, whose other end waits for
        // all copies to be closed.
        let null = std::fs::File::open("/dev/null")?;
        let mut kept = lowest_free;
        rustix::io::dup3(&null, &mut kept, rustix::io::DupFlags::CLOEXEC)?;
        let _ = kept.into_raw_fd();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Read, os::fd::AsFd};

    #[test]
    fn the_child_leads_its_group_and_can_write_to_the_descriptor() {
        let (mut read, write) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ >&3; read x"])
            .stdin(std::process::Stdio::piped());
        let mut child = spawn_in_group(&mut command, Some(write.as_fd())).unwrap();
        drop((write, command));
        let mut said = [0; 32];
        let length = read.read(&mut said).unwrap();
        let pid = std::str::from_utf8(&said[..length]).unwrap().trim();
        assert_eq!(pid, child.id().to_string());
        let group = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_bounded_child_has_limits_and_ends_with_its_thread() {
        let said = tempfile();
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -t; ulimit -c; ulimit -d; exec sleep 600"])
            .stdout(said.try_clone().unwrap());
        let allowed = Allowed {
            cpu_seconds: Some(7),
            memory_bytes: Some(512 << 20),
        };
        let thread = std::thread::spawn(move || {
            let child = spawn_bounded(&mut command, allowed).unwrap();
            let group = rustix::process::Pid::from_child(&child);
            assert_eq!(rustix::process::getpgid(Some(group)).unwrap(), group);
            let started = std::time::Instant::now();
            while said.metadata().unwrap().len() < 11 {
                assert!(started.elapsed().as_secs() < 60);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            (child, said)
        });
        let (mut child, said) = thread.join().unwrap();
        let status = child.wait().unwrap();
        use std::os::unix::{fs::FileExt, process::ExitStatusExt};
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        let mut text = [0; 11];
        said.read_exact_at(&mut text, 0).unwrap();
        assert_eq!(&text, b"7\n0\n524288\n");
    }

    #[test]
    fn a_bounded_child_computes_no_longer_than_it_may() {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        let allowed = Allowed {
            cpu_seconds: Some(1),
            ..Allowed::default()
        };
        let status = spawn_bounded(&mut command, allowed)
            .unwrap()
            .wait()
            .unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(libc::SIGXCPU));
    }

    fn tempfile() -> std::fs::File {
        let fd = rustix::fs::memfd_create("said", rustix::fs::MemfdFlags::CLOEXEC);
        fd.unwrap().into()
    }

    #[test]
    fn a_missing_program_is_noticed() {
        let (_read, write) = io::pipe().unwrap();
        let mut command = Command::new("/no/such/program");
        let error = spawn_in_group(&mut command, Some(write.as_fd())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
