//! One child, from its start to the last trace of it.
//!
//! ```text
//!   request ──memfd──▶ stdin ┌───────┐ events fd ──▶ lines (bounded)
//!                            │ child │ stdout     ──▶ tail  (noise)
//!   deadline, cancel ──kill─▶└───────┘ stderr     ──▶ tail  (noise)
//! ```
//!
//! One thread and one `poll` loop; nothing blocks on a child which does not
//! read, write or end. Whatever happens, when [`supervise`] returns the child
//! has been reaped and nothing it started is running: see [`Family`].

use std::{
    fs,
    io::{self, Read, Seek, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use fathom_record::protocol::EVENTS_FD_ENV;
use fathom_sys::{spawn::EXTRA_FD, usage::Usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    family::{End, Family, TICK},
    watch::Watch,
};
use crate::scratch::Scratch;

/// Events beyond this are dropped and the child is ended: it is broken.
const EVENTS_BYTES_MAX: usize = 64 << 20;
/// How much of the end of stdout and stderr is kept, each.
const TAIL_BYTES_MAX: usize = 16 << 10;
/// How much a child can say before it waits for us.
const PIPE_BYTES: usize = 1 << 20;
/// How long we do not listen after it has said something.
const REST: Duration = Duration::from_millis(5);
/// How long a child may take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// In all.
    Whole(Duration),
    /// From its start to the first event, from each to the next, and to its end.
    Silence(Duration),
}

impl Limit {
    /// When it is over for who has just begun or said something.
    fn deadline(self) -> Instant {
        let (Limit::Whole(limit) | Limit::Silence(limit)) = self;
        Instant::now() + limit
    }
}

/// All that is left of a child.
#[derive(Debug)]
pub(crate) struct Remains {
    pub end: End,
    /// What it wrote to the events descriptor.
    pub events: Vec<u8>,
    /// The end of what it wrote to stdout.
    pub stdout_tail: Vec<u8>,
    /// The end of what it wrote to stderr.
    pub stderr_tail: Vec<u8>,
    /// What the child itself used (its waited-for children included).
    pub usage: Usage,
}

/// Runs a command to its end, with `input` as its standard input.
///
/// # Errors
/// When the child cannot be started or watched. What the child does is never
/// an error here: see [`End`].
pub(crate) fn supervise(
    command: &mut Command,
    input: &[u8],
    limit: Limit,
    cancel: &AtomicBool,
) -> io::Result<Remains> {
    supervise_watched(command, input, limit, cancel, &mut ())
}

/// As [`supervise`], and tells what the child says as it says it.
pub(crate) fn supervise_watched(
    command: &mut Command,
    input: &[u8],
    limit: Limit,
    cancel: &AtomicBool,
    watcher: &mut dyn Watch,
) -> io::Result<Remains> {
    let (events, events_write) = io::pipe()?;
    // What it leaves, killed or not, goes with this. Where there can be none, it is on its own.
    let temporary = Scratch::new().ok();
    // So that a child need not wait for a parent that rests; less is no harm.
    let _ = rustix::pipe::fcntl_setpipe_size(&events, PIPE_BYTES);
    command
        .stdin(Stdio::from(in_memory(input)?))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env(EVENTS_FD_ENV, EXTRA_FD.to_string());
    if let Some(temporary) = &temporary {
        command.env("TMPDIR", temporary.path());
    }
    let mut family = Family::start(command, Some(events_write.as_fd()))?;
    drop(events_write);
    let child = family.child();
    let mut streams = [
        Stream::new(Some(events.into()), EVENTS_BYTES_MAX, Overflow::Stop),
        Stream::new(
            child.stdout.take().map(Into::into),
            TAIL_BYTES_MAX,
            Overflow::KeepTail,
        ),
        Stream::new(
            child.stderr.take().map(Into::into),
            TAIL_BYTES_MAX,
            Overflow::KeepTail,
        ),
    ];
    let watched = watch(&family, &mut streams, limit, cancel, watcher);
    // Also after a normal end: what it left behind would disturb the next cell.
    let reaped = family.end();
    let killed = watched?;
    let (ended, usage) = reaped?;
    for stream in &mut streams {
        stream.drain();
    }
    let [events, stdout, stderr] = streams;
    Ok(Remains {
        end: killed.unwrap_or(End::Own(ended)),
        events: events.kept,
        stdout_tail: stdout.kept,
        stderr_tail: stderr.kept,
        usage,
    })
}

/// Reads the streams until the child ends (`None`) or must be killed.
fn watch(
    family: &Family,
    streams: &mut [Stream; 3],
    limit: Limit,
    cancel: &AtomicBool,
    watcher: &mut dyn Watch,
) -> io::Result<Option<End>> {
    let mut deadline = limit.deadline();
    let pidfd = family.pidfd()?;
    for stream in streams.iter() {
        stream.set_nonblocking()?;
    }
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Ok(Some(End::Cancelled));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(End::TimedOut));
        }
        if wait_ready(&pidfd, streams, left.min(TICK))? {
            return Ok(None);
        }
        for stream in streams.iter_mut() {
            stream.drain();
        }
        if streams[0].overflowed {
            return Ok(Some(End::Flooded));
        }
        if let Some(lines) = streams[0].new_lines() {
            watcher.saw(family.id(), lines);
            if let Limit::Silence(_) = limit {
                deadline = limit.deadline();
            }
            // Short programs say a lot: to wake up for each word would take
            // processor time from those who are measured.
            if wait_ready(&pidfd, &[], REST.min(left))? {
                return Ok(None);
            }
        }
    }
}

/// Waits until something can be read; true when the child has ended.
fn wait_ready(pidfd: &OwnedFd, streams: &[Stream], limit: Duration) -> io::Result<bool> {
    let mut fds = vec![PollFd::new(pidfd, PollFlags::IN)];
    for stream in streams {
        if let Some(fd) = stream.open() {
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
    }
    let limit = Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    match poll(&mut fds, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(fds[0].revents().contains(PollFlags::IN))
}

/// What happens to a stream which is longer than its bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Stop,
    KeepTail,
}

/// One of the child's outputs: what has been kept of it, within a bound.
struct Stream {
    file: Option<fs::File>,
    kept: Vec<u8>,
    bytes_max: usize,
    on_overflow: Overflow,
    overflowed: bool,
    /// How much of it was told as whole lines.
    told: usize,
}

impl Stream {
    fn new(fd: Option<OwnedFd>, bytes_max: usize, on_overflow: Overflow) -> Self {
        Self {
            file: fd.map(fs::File::from),
            kept: Vec::new(),
            bytes_max,
            on_overflow,
            overflowed: false,
            told: 0,
        }
    }

    fn open(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        self.open().map_or(Ok(()), |fd| {
            rustix::io::ioctl_fionbio(fd, true).map_err(Into::into)
        })
    }

    /// Reads what is there now, without waiting.
    fn drain(&mut self) {
        let mut block = [0; 16 << 10];
        // A bound on the rounds too: a child which writes for ever must not
        // keep us from looking at the clock.
        for _ in 0..64 {
            let Some(file) = &mut self.file else { return };
            match file.read(&mut block) {
                Ok(0) => self.file = None,
                Ok(length) => self.keep(&block[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.file = None,
            }
        }
    }

    /// The whole lines that came since it was last asked, of a stream that
    /// keeps its beginning.
    fn new_lines(&mut self) -> Option<&[u8]> {
        let new = &self.kept[self.told..];
        let end = new.iter().rposition(|&byte| byte == b'\n')? + 1;
        let from = self.told;
        self.told += end;
        Some(&self.kept[from..self.told])
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.overflowed && self.on_overflow == Overflow::Stop {
            return;
        }
        self.kept.extend_from_slice(bytes);
        if self.kept.len() <= self.bytes_max {
            return;
        }
        self.overflowed = true;
        match self.on_overflow {
            Overflow::Stop => self.kept.truncate(self.bytes_max),
            Overflow::KeepTail => {
                let excess = self.kept.len() - self.bytes_max;
                self.kept.drain(..excess);
            }
        }
    }
}

/// A file which exists in memory alone: unlike a pipe, it can hold a request
/// of any length without anyone reading it.
fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create("fathom-request", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = fs::File::from(fd);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fathom_sys::usage::Ended;

    use super::*;

    fn run(script: &str, limit_ms: u64) -> Remains {
        run_within(script, Limit::Whole(Duration::from_millis(limit_ms)))
    }

    fn run_within(script: &str, limit: Limit) -> Remains {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        supervise(
            &mut command,
            b"the request\n",
            limit,
            &AtomicBool::new(false),
        )
        .unwrap()
    }

    fn alive(pid: &str) -> bool {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn streams_are_kept_apart_and_the_status_is_known() {
        let remains = run(
            "read line; echo \"$line\" >&$FATHOM_EVENTS_FD; echo out; echo err >&2; exit 4",
            9000,
        );
        assert_eq!(remains.end, End::Own(Ended::Exited(4)));
        assert_eq!(remains.events, b"the request\n");
        assert_eq!(remains.stdout_tail, b"out\n");
        assert_eq!(remains.stderr_tail, b"err\n");
        assert!(remains.usage.faults_minor > 0);
    }

    #[test]
    fn what_a_killed_child_left_is_gone() {
        let script = "echo half > $TMPDIR/written; echo $TMPDIR; sleep 100";
        let remains = run(script, 300);
        assert_eq!(remains.end, End::TimedOut);
        let folder = String::from_utf8(remains.stdout_tail).unwrap();
        let folder = Path::new(folder.trim_end());
        assert!(folder.is_absolute() && !folder.exists(), "{folder:?}");
    }

    #[test]
    fn a_hanging_child_is_killed_when_its_time_is_up() {
        let started = Instant::now();
        let remains = run("echo begun >&$FATHOM_EVENTS_FD; while :; do :; done", 200);
        assert_eq!(remains.end, End::TimedOut);
        assert_eq!(remains.events, b"begun\n");
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn who_says_something_now_and_then_has_time() {
        let limit = Limit::Silence(Duration::from_secs(4));
        let talk = "for i in 1 2 3 4 5; do echo $i >&$FATHOM_EVENTS_FD; sleep 1; done";
        let remains = run_within(talk, limit);
        assert_eq!(remains.end, End::Own(Ended::Exited(0)));
        let remains = run_within("echo 1 >&$FATHOM_EVENTS_FD; sleep 300", limit);
        assert_eq!(remains.end, End::TimedOut);
        assert_eq!(remains.events, b"1\n");
    }

    #[test]
    fn grandchildren_do_not_outlive_the_child_even_outside_its_group() {
        let script = "sleep 300 & echo $! >&$FATHOM_EVENTS_FD; \
                      setsid sleep 300 & echo $! >&$FATHOM_EVENTS_FD; sleep 0.1; exit 0";
        let remains = run(script, 9000);
        assert_eq!(remains.end, End::Own(Ended::Exited(0)));
        let pids = String::from_utf8(remains.events).unwrap();
        assert_eq!(pids.lines().count(), 2);
        // Killed, but perhaps not yet through the kernel's last steps.
        let deadline = Instant::now() + Duration::from_secs(5);
        while pids.lines().any(alive) {
            assert!(Instant::now() < deadline, "still running: {pids}");
        }
    }

    #[test]
    fn noise_is_bounded_and_its_end_is_kept() {
        let remains = run("seq 1 200000; echo last", 20_000);
        assert!(remains.stdout_tail.len() <= TAIL_BYTES_MAX);
        assert!(remains.stdout_tail.ends_with(b"200000\nlast\n"));
    }

    #[test]
    fn a_flood_of_events_ends_the_child() {
        let remains = run("exec yes >&$FATHOM_EVENTS_FD", 60_000);
        assert_eq!(remains.end, End::Flooded);
        assert_eq!(remains.events.len(), EVENTS_BYTES_MAX);
    }

    #[test]
    fn a_signal_is_told_from_an_exit() {
        let remains = run("kill -SEGV $$", 9000);
        assert_eq!(remains.end, End::Own(Ended::Signalled(11)));
    }

    #[test]
    fn cancelling_kills_at_once() {
        let mut command = Command::new("sleep");
        command.arg("300");
        let cancel = AtomicBool::new(true);
        let remains = supervise(
            &mut command,
            b"",
            Limit::Whole(Duration::from_secs(300)),
            &cancel,
        )
        .unwrap();
        assert_eq!(remains.end, End::Cancelled);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let mut command = Command::new("/no/such/program");
        let error = supervise(
            &mut command,
            b"",
            Limit::Whole(Duration::from_secs(1)),
            &AtomicBool::new(false),
        );
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
