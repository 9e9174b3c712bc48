//! Children which cannot outlive us, and whose whole family can be ended.
//!
//! A measured engine may hang, crash or start processes of its own. It
//! therefore leads a process group (one signal reaches them all), dies when
//! the thread that started it dies, and gets one extra descriptor to report on.
#![allow(unsafe_code)]

use std::{
    io,
    os::{
        fd::{AsRawFd, BorrowedFd},
        unix::process::CommandExt,
    },
    process::{Child, Command},
};

/// Starts a command as the leader of a new process group, with `inherited`
/// open in it under the same number as here.
///
/// The child is killed when the *thread* which called this ends
/// (`PR_SET_PDEATHSIG`), so call it from a thread which lives as long as the
/// child should.
///
/// # Errors
/// What [`Command::spawn`] reports.
pub fn spawn_in_group(command: &mut Command, inherited: BorrowedFd<'_>) -> io::Result<Child> {
    let fd = inherited.as_raw_fd();
    command.process_group(0);
    // SAFETY: the closure runs between fork and exec and makes two system
    // calls which are async-signal-safe; it allocates nothing. `inherited` is
    // borrowed for the whole of this function, so its number stays valid.
    unsafe {
        command.pre_exec(move || {
            let flags = libc::fcntl(fd, libc::F_GETFD);
            if flags < 0 || libc::fcntl(fd, libc::F_SETFD, flags & !libc::FD_CLOEXEC) < 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Read, os::fd::AsFd};

    #[test]
    fn the_child_leads_its_group_and_can_write_to_the_descriptor() {
        let (mut read, write) = io::pipe().unwrap();
        let script = format!("echo $$ >&{}; read x", write.as_raw_fd());
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .stdin(std::process::Stdio::piped());
        let mut child = spawn_in_group(&mut command, write.as_fd()).unwrap();
        drop((write, command));
        let mut said = [0; 32];
        let length = read.read(&mut said).unwrap();
        let pid = std::str::from_utf8(&said[..length]).unwrap().trim();
        assert_eq!(pid, child.id().to_string());
        let group = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
