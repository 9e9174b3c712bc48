//! `poll_oneoff`.

use super::*;
use crate::SUBSCRIPTIONS_MAX;
use crate::calls::poll::{PollArgs, poll_oneoff};
use crate::types::Snapshot;
use std::io::Write;
use std::time::{Duration, Instant};

/// Where subscriptions are, and where events go.
const SUBSCRIPTIONS: u32 = 4096;
const EVENTS: u32 = 8192;

struct Sub {
    kind: u8,
    fd_or_clock: u32,
    timeout_ns: u64,
    absolute: bool,
}

const MONOTONIC: u32 = 1;

fn after(timeout: Duration) -> Sub {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap();
    Sub {
        kind: 0,
        fd_or_clock: MONOTONIC,
        timeout_ns,
        absolute: false,
    }
}

fn on_fd(kind: u8, fd: u32) -> Sub {
    Sub {
        kind,
        fd_or_clock: fd,
        timeout_ns: 0,
        absolute: false,
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Got {
    index: u64,
    error: u16,
    kind: u8,
    nbytes: u64,
    hangup: bool,
}

fn got(index: u64, error: Errno, kind: u8) -> Got {
    Got {
        index,
        error: error as u16,
        kind,
        nbytes: 0,
        hangup: false,
    }
}

fn poll_raw(guest: &mut Guest, input: u32, count: u32) -> Result<(), Errno> {
    let args = PollArgs {
        input,
        output: EVENTS,
        count,
        nevents: OUT,
    };
    guest.call(|ctx, mem| poll_oneoff(ctx, mem, args, Snapshot::One, &|| false))
}

/// Polls; the user data of each subscription is its index.
fn poll(guest: &mut Guest, subs: &[Sub]) -> Result<Vec<Got>, Errno> {
    for (index, sub) in subs.iter().enumerate() {
        let record = &mut guest.bytes[SUBSCRIPTIONS as usize + index * 48..][..48];
        record.fill(0);
        record[0..8].copy_from_slice(&(index as u64).to_le_bytes());
        record[8] = sub.kind;
        record[16..20].copy_from_slice(&sub.fd_or_clock.to_le_bytes());
        record[24..32].copy_from_slice(&sub.timeout_ns.to_le_bytes());
        record[40] = u8::from(sub.absolute);
    }
    let count = u32::try_from(subs.len()).unwrap();
    poll_raw(guest, SUBSCRIPTIONS, count)?;
    let events = (0..guest.u32(OUT)).map(|i| {
        let at = EVENTS + i * 32;
        let byte = |offset: u32| guest.bytes[(at + offset) as usize];
        Got {
            index: guest.u64(at),
            error: u16::from_le_bytes([byte(8), byte(9)]),
            kind: byte(10),
            nbytes: guest.u64(at + 16),
            hangup: byte(24) == 1,
        }
    });
    Ok(events.collect())
}

#[test]
fn a_relative_clock_waits_and_the_earliest_wins() {
    let mut guest = Guest::new();
    let start = Instant::now();
    let wait = Duration::from_millis(30);
    let events = poll(&mut guest, &[after(Duration::from_secs(60)), after(wait)]);
    assert_eq!(events, Ok(vec![got(1, Errno::Success, 0)]));
    assert!(start.elapsed() >= wait);
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn absolute_times_in_the_past_are_due() {
    let mut guest = Guest::new();
    let past = |clock| Sub {
        kind: 0,
        fd_or_clock: clock,
        timeout_ns: 1,
        absolute: true,
    };
    let events = poll(&mut guest, &[past(0), past(1)]).unwrap();
    assert_eq!(
        events,
        [got(0, Errno::Success, 0), got(1, Errno::Success, 0)]
    );
    let now = std::time::SystemTime::now();
    let soon = now.duration_since(std::time::UNIX_EPOCH).unwrap() + Duration::from_millis(20);
    let timeout_ns = u64::try_from(soon.as_nanos()).unwrap();
    let start = Instant::now();
    let future = Sub {
        kind: 0,
        fd_or_clock: 0,
        timeout_ns,
        absolute: true,
    };
    assert_eq!(poll(&mut guest, &[future]).unwrap().len(), 1);
    assert!(start.elapsed() >= Duration::from_millis(10));
}

#[test]
fn what_cannot_be_waited_for_is_an_event_at_once() {
    let mut guest = Guest::new();
    let clock = |id| Sub {
        kind: 0,
        fd_or_clock: id,
        timeout_ns: 0,
        absolute: false,
    };
    let far = after(Duration::from_secs(60));
    let subs = [far, on_fd(1, 99), clock(2), clock(9), on_fd(7, 0)];
    let events = poll(&mut guest, &subs).unwrap();
    let expected = [
        got(1, Errno::Badf, 1),
        got(2, Errno::Notsup, 0),
        got(3, Errno::Inval, 0),
        got(4, Errno::Inval, 7),
    ];
    assert_eq!(events, expected);
    assert_eq!(poll(&mut guest, &[]), Err(Errno::Inval));
    assert_eq!(poll_raw(&mut guest, u32::MAX, 1), Err(Errno::Fault));
}

#[test]
fn files_are_always_ready_and_say_what_is_left() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    guest.write(fd, b"12345").unwrap();
    guest
        .call(|ctx, mem| file::fd_seek(ctx, mem, fd, 2, crate::types::Whence::Set, OUT))
        .unwrap();
    let events = poll(&mut guest, &[on_fd(1, fd), on_fd(2, fd)]).unwrap();
    let read = Got {
        nbytes: 3,
        ..got(0, Errno::Success, 1)
    };
    assert_eq!(events, [read, got(1, Errno::Success, 2)]);
}

#[test]
fn a_pipe_is_ready_when_it_has_data_or_its_writer_is_gone() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut guest = Guest::with(|builder| builder.stdin(std::os::fd::OwnedFd::from(reader)));
    let short = || after(Duration::from_millis(5));
    let events = poll(&mut guest, &[on_fd(1, 0), short()]).unwrap();
    assert_eq!(events, [got(1, Errno::Success, 0)]);
    writer.write_all(b"abc").unwrap();
    let events = poll(&mut guest, &[on_fd(1, 0), after(Duration::from_secs(60))]).unwrap();
    assert_eq!(
        events,
        [Got {
            nbytes: 3,
            ..got(0, Errno::Success, 1)
        }]
    );
    drop(writer);
    assert_eq!(guest.read(0, 9), Ok(b"abc".to_vec()));
    let events = poll(&mut guest, &[on_fd(1, 0)]).unwrap();
    assert_eq!(
        events,
        [Got {
            hangup: true,
            ..got(0, Errno::Success, 1)
        }]
    );
    assert_eq!(guest.read(0, 9), Ok(Vec::new()));
}

#[test]
fn a_broken_pipe_is_an_errno_or_the_end() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut guest = Guest::with(|builder| builder.stdout(std::os::fd::OwnedFd::from(writer)));
    assert_eq!(guest.write(1, b"x"), Err(Errno::Pipe));
    assert!(!guest.ctx.ends_on(1, Errno::Pipe));
    let guest = Guest::with(|builder| builder.ends_on_broken_pipe(true));
    assert!(guest.ctx.ends_on(1, Errno::Pipe));
    assert!(!guest.ctx.ends_on(5, Errno::Pipe));
    assert!(!guest.ctx.ends_on(1, Errno::Badf));
}

#[test]
fn more_subscriptions_than_the_limit_are_refused() {
    let mut guest = Guest::with(|builder| builder.max_subscriptions(2));
    let due = || after(Duration::ZERO);
    assert_eq!(poll(&mut guest, &[due(), due()]).unwrap().len(), 2);
    assert_eq!(poll(&mut guest, &[due(), due(), due()]), Err(Errno::Inval));
    let mut guest = Guest::new();
    guest.bytes.resize(SUBSCRIPTIONS_MAX * 56 + 8192, 0);
    let most = u32::try_from(SUBSCRIPTIONS_MAX).unwrap();
    assert_eq!(poll_raw(&mut guest, 8192, most), Ok(()));
    assert_eq!(poll_raw(&mut guest, 8192, most + 1), Err(Errno::Inval));
    assert_eq!(poll_raw(&mut guest, 8192, u32::MAX), Err(Errno::Inval));
}
