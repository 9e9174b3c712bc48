//! `poll_oneoff`: waiting for clocks and descriptors.
//!
//! All subscriptions are read before the first event is written, since the two
//! arrays may overlap. The host waits once, in `ppoll`, for at most the time
//! until the earliest clock. A subscription that cannot be waited for (no such
//! descriptor, no right, unknown clock) is an event with an error at once,
//! as is one on a regular file, which is always ready. What the host holds
//! meanwhile grows with the subscriptions, whose number is limited for that.

use super::Call;
use super::clock::{host_clock, left_of_given, nanoseconds};
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::ranges::Stopped;
use crate::table::Descriptor;
use crate::types::{self, FileType, Rights, Snapshot};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::time::ClockId;

bitflags::bitflags! {
    #[derive(Clone, Copy)]
    struct ClockFlags: u16 {
        const ABSTIME = 1 << 0;
    }
}

const EVENT_BYTES: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// The clock reaches this time in nanoseconds.
    Clock(ClockKind, u64),
    Read(u32),
    Write(u32),
    /// Cannot be waited for.
    Bad {
        kind: u8,
        error: Errno,
    },
}

/// The clocks that can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockKind {
    Realtime,
    Monotonic,
}

impl ClockKind {
    fn now_ns(self) -> u64 {
        nanoseconds(rustix::time::clock_gettime(match self {
            ClockKind::Realtime => ClockId::Realtime,
            ClockKind::Monotonic => ClockId::Monotonic,
        }))
    }
}

#[derive(Clone, Copy, Debug)]
struct Subscription {
    userdata: u64,
    want: Want,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    userdata: u64,
    error: Errno,
    kind: u8,
    nbytes: u64,
    hangup: bool,
}

impl Event {
    fn encode(&self) -> [u8; EVENT_BYTES as usize] {
        let mut out = [0; EVENT_BYTES as usize];
        out[0..8].copy_from_slice(&self.userdata.to_le_bytes());
        out[8..10].copy_from_slice(&(self.error as u16).to_le_bytes());
        out[10] = self.kind;
        out[16..24].copy_from_slice(&self.nbytes.to_le_bytes());
        out[24] = u8::from(self.hangup);
        out
    }
}

/// The guest's arguments to `poll_oneoff`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollArgs {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) count: u32,
    pub(crate) nevents: u32,
}

/// `poll_oneoff`, until `stopped` when a wait is interrupted.
pub(crate) fn poll_oneoff(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    args: PollArgs,
    snapshot: Snapshot,
    stopped: Stopped,
) -> Call {
    let PollArgs {
        input,
        output,
        count,
        nevents,
    } = args;
    if count == 0 || count as usize > ctx.max_subscriptions {
        return Err(Errno::Inval);
    }
    let events_bytes = count.checked_mul(EVENT_BYTES).ok_or(Errno::Fault)?;
    mem.check(output, events_bytes)?;
    mem.check(nevents, 4)?;
    let subscriptions = read_subscriptions(ctx, mem, input, count, snapshot)?;
    // The table is not locked while it waits: other threads go on opening and closing.
    let events = wait(ctx, &subscriptions, stopped)?;
    let mut at = output;
    for event in &events {
        mem.write(at, &event.encode())?;
        // Inside the range that was checked, but for the step after the last.
        at = at.wrapping_add(EVENT_BYTES);
    }
    mem.write_u32(
        nevents,
        u32::try_from(events.len()).map_err(|_| Errno::Overflow)?,
    )
}

fn read_subscriptions(
    ctx: &WasiCtx,
    mem: &GuestMemory,
    input: u32,
    count: u32,
    snapshot: Snapshot,
) -> Result<Vec<Subscription>, Errno> {
    // Snapshot 0 has an identifier of 8 bytes before the clock's number.
    let (bytes, clock_at) = match snapshot {
        Snapshot::One => (48, 16),
        Snapshot::Zero => (56, 24),
    };
    let all = mem.slice(input, count.checked_mul(bytes).ok_or(Errno::Fault)?)?;
    Ok(all
        .chunks_exact(bytes as usize)
        .map(|record| Subscription {
            userdata: u64_at(record, 0),
            want: read_want(ctx, record, clock_at),
        })
        .collect())
}

fn read_want(ctx: &WasiCtx, record: &[u8], clock_at: usize) -> Want {
    let fd = u32::from_le_bytes([record[16], record[17], record[18], record[19]]);
    match record[8] {
        0 => read_clock(ctx, &record[clock_at..])
            .unwrap_or_else(|error| Want::Bad { kind: 0, error }),
        1 => Want::Read(fd),
        2 => Want::Write(fd),
        kind => Want::Bad {
            kind,
            error: Errno::Inval,
        },
    }
}

/// A clock subscription; a relative time counts from now.
fn read_clock(ctx: &WasiCtx, record: &[u8]) -> Result<Want, Errno> {
    let id = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
    let timeout = u64_at(record, 8);
    let flags: ClockFlags = types::flags(u32::from(u16::from_le_bytes([record[24], record[25]])))?;
    let host = host_clock(id)?;
    let clock = match host {
        ClockId::Realtime => ClockKind::Realtime,
        ClockId::Monotonic => ClockKind::Monotonic,
        // Time does not pass on a CPU clock while its owner waits.
        _ => return Err(Errno::Notsup),
    };
    let timeout = match flags.contains(ClockFlags::ABSTIME) {
        true => match left_of_given(ctx, host, timeout)? {
            // It passes in the host's time.
            Some(left) => left,
            None => return Ok(Want::Clock(clock, timeout)),
        },
        false => timeout,
    };
    // A time span is one whatever the clock: setting the realtime clock changes nothing.
    let monotonic = ClockKind::Monotonic;
    let deadline = monotonic.now_ns().saturating_add(timeout);
    Ok(Want::Clock(monotonic, deadline))
}

fn u64_at(record: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&record[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// What can be said of a subscription without waiting.
enum State {
    Done(Event),
    Clock(ClockKind, u64),
    Polled(Descriptor),
}

fn state(ctx: &WasiCtx, subscription: &Subscription) -> State {
    let (kind, fd, right) = match subscription.want {
        Want::Clock(clock, deadline_ns) => return State::Clock(clock, deadline_ns),
        Want::Bad { kind, error } => return State::Done(event(subscription, kind, error)),
        Want::Read(fd) => (1, fd, Rights::FD_READ),
        Want::Write(fd) => (2, fd, Rights::FD_WRITE),
    };
    let checked = ctx.table().get(fd).and_then(|file| {
        // A listening socket is waited for by reading, with no right to read.
        let needed = if file.is_socket() {
            Rights::empty()
        } else {
            right
        };
        file.allows(needed | Rights::POLL_FD_READWRITE)?;
        Ok(file)
    });
    match checked {
        Err(error) => State::Done(event(subscription, kind, error)),
        Ok(file) => match file.filetype {
            FileType::RegularFile | FileType::Directory => {
                let mut done = event(subscription, kind, Errno::Success);
                done.nbytes = bytes_left(&file, kind);
                State::Done(done)
            }
            _ => State::Polled(file),
        },
    }
}

fn event(subscription: &Subscription, kind: u8, error: Errno) -> Event {
    Event {
        userdata: subscription.userdata,
        error,
        kind,
        nbytes: 0,
        hangup: false,
    }
}

/// What a read of a regular file would still find.
fn bytes_left(file: &Descriptor, kind: u8) -> u64 {
    if kind != 1 || file.filetype != FileType::RegularFile {
        return 0;
    }
    let size = rustix::fs::fstat(file).map_or(0, |stat| stat.st_size);
    let at = rustix::fs::tell(file).unwrap_or(0);
    u64::try_from(size).unwrap_or(0).saturating_sub(at)
}

/// Waits until at least one subscription has an event; returns all that have.
fn wait(
    ctx: &WasiCtx,
    subscriptions: &[Subscription],
    stopped: Stopped,
) -> Result<Vec<Event>, Errno> {
    let states: Vec<State> = subscriptions.iter().map(|s| state(ctx, s)).collect();
    let ready = states.iter().any(|state| matches!(state, State::Done(_)));
    let mut fds: Vec<PollFd> = states
        .iter()
        .zip(subscriptions)
        .filter_map(|(state, subscription)| match state {
            State::Polled(file) => Some(PollFd::new(file, wanted(subscription))),
            _ => None,
        })
        .collect();
    loop {
        let timeout_ns = if ready { Some(0) } else { shortest_ns(&states) };
        let timeout = timeout_ns.map(timespec);
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) if !stopped() => continue,
            Err(error) => return Err(error.into()),
        }
        let events = collect(&states, subscriptions, &fds);
        // Nothing, when the realtime clock was set back meanwhile.
        if !events.is_empty() {
            return Ok(events);
        }
    }
}

fn wanted(subscription: &Subscription) -> PollFlags {
    match subscription.want {
        Want::Write(_) => PollFlags::OUT,
        _ => PollFlags::IN,
    }
}

/// The time until the first clock, in nanoseconds; none without a clock.
fn shortest_ns(states: &[State]) -> Option<u64> {
    states
        .iter()
        .filter_map(|state| match state {
            State::Clock(clock, deadline_ns) => Some(deadline_ns.saturating_sub(clock.now_ns())),
            _ => None,
        })
        .min()
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    }
}

fn collect(states: &[State], subscriptions: &[Subscription], fds: &[PollFd]) -> Vec<Event> {
    let mut fds = fds.iter();
    let mut events = Vec::new();
    for (state, subscription) in states.iter().zip(subscriptions) {
        match state {
            State::Done(done) => events.push(*done),
            State::Clock(clock, deadline_ns) => {
                if clock.now_ns() >= *deadline_ns {
                    events.push(event(subscription, 0, Errno::Success));
                }
            }
            State::Polled(file) => {
                let found = fds.next().map_or(PollFlags::empty(), PollFd::revents);
                events.extend(found_event(subscription, file, found));
            }
        }
    }
    events
}

fn found_event(subscription: &Subscription, file: &Descriptor, found: PollFlags) -> Option<Event> {
    if found.is_empty() {
        return None;
    }
    let reads = matches!(subscription.want, Want::Read(_));
    let mut event = event(subscription, if reads { 1 } else { 2 }, Errno::Success);
    if found.contains(PollFlags::NVAL) {
        event.error = Errno::Badf;
        return Some(event);
    }
    // An error is reported by the read or write that now does not wait.
    event.hangup = found.intersects(PollFlags::HUP | PollFlags::ERR);
    if reads {
        event.nbytes = rustix::io::ioctl_fionread(file).unwrap_or(0);
    }
    Some(event)
}
