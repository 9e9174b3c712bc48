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
    fn a_missing_program_is_noticed() {
        let (_read, write) = io::pipe().unwrap();
        let mut command = Command::new("/no/such/program");
        let error = spawn_in_group(&mut command, Some(write.as_fd())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
