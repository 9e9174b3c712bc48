//! Clocks.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use rustix::time::{ClockId, Timespec};
use std::time::Duration;

/// The host's clock of a guest's clock number.
///
/// # Errors
/// `Errno::Inval` for a number that the interface does not define.
pub(crate) fn host_clock(id: u32) -> Result<ClockId, Errno> {
    match id {
        0 => Ok(ClockId::Realtime),
        1 => Ok(ClockId::Monotonic),
        2 => Ok(ClockId::ProcessCPUTime),
        3 => Ok(ClockId::ThreadCPUTime),
        _ => Err(Errno::Inval),
    }
}

/// A time in nanoseconds; one before the clock's zero is 0.
pub(crate) fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

/// What an embedder's clock says, where there is one of this number: its step and its
/// time, in nanoseconds.
///
/// # Errors
/// `Errno::Notsup` for the processor's time: a guest that is given a clock is not to see
/// the host's.
fn given(ctx: &WasiCtx, id: ClockId) -> Result<Option<[u64; 2]>, Errno> {
    let given = &ctx.given;
    let whole = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Ok(match (id, &given.wall, &given.monotonic) {
        (ClockId::Realtime, Some(clock), _) => Some([clock.resolution(), clock.now()].map(whole)),
        (ClockId::Monotonic, _, Some(clock)) => Some([clock.resolution(), clock.now()]),
        (ClockId::Realtime | ClockId::Monotonic, _, _) | (_, None, None) => None,
        _ => return Err(Errno::Notsup),
    })
}

/// What is left until an embedder's clock reaches a time, in nanoseconds; nothing where
/// the clock is the host's.
pub(crate) fn left_of_given(ctx: &WasiCtx, id: ClockId, until: u64) -> Result<Option<u64>, Errno> {
    Ok(given(ctx, id)?.map(|[_, now]| until.saturating_sub(now)))
}

/// `clock_res_get`.
pub(crate) fn clock_res_get(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    id: u32,
    resolution: u32,
) -> Call {
    let id = host_clock(id)?;
    let step = match given(ctx, id)? {
        Some([step, _]) => step,
        None => nanoseconds(rustix::time::clock_getres(id)),
    };
    // Programs divide by it.
    mem.write_u64(resolution, step.max(1))
}

/// `clock_time_get`. The precision asked for is never worse than ours.
pub(crate) fn clock_time_get(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    id: u32,
    _precision: u64,
    time: u32,
) -> Call {
    let id = host_clock(id)?;
    let now = match given(ctx, id)? {
        Some([_, now]) => now,
        None => nanoseconds(rustix::time::clock_gettime(id)),
    };
    mem.write_u64(time, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::WasiCtxBuilder;

    #[test]
    fn clocks_tick_and_unknown_ones_are_invalid() {
        let ctx = WasiCtxBuilder::new().build().unwrap();
        let mut bytes = [0; 16];
        for id in 0..4 {
            let mut mem = GuestMemory::new(&mut bytes);
            clock_res_get(&ctx, &mut mem, id, 0).unwrap();
            clock_time_get(&ctx, &mut mem, id, 0, 8).unwrap();
            assert!(bytes.iter().any(|&byte| byte != 0));
        }
        let mut mem = GuestMemory::new(&mut bytes);
        assert_eq!(clock_time_get(&ctx, &mut mem, 4, 0, 8), Err(Errno::Inval));
        assert_eq!(clock_time_get(&ctx, &mut mem, 0, 0, 9), Err(Errno::Fault));
    }
}
