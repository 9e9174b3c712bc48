//! Clocks.

use super::Call;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use rustix::time::{ClockId, Timespec};

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

/// `clock_res_get`.
pub(crate) fn clock_res_get(mem: &mut GuestMemory, id: u32, resolution: u32) -> Call {
    let time = rustix::time::clock_getres(host_clock(id)?);
    // Programs divide by it.
    mem.write_u64(resolution, nanoseconds(time).max(1))
}

/// `clock_time_get`. The precision asked for is never worse than ours.
pub(crate) fn clock_time_get(mem: &mut GuestMemory, id: u32, _precision: u64, time: u32) -> Call {
    let now = rustix::time::clock_gettime(host_clock(id)?);
    mem.write_u64(time, nanoseconds(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_tick_and_unknown_ones_are_invalid() {
        let mut bytes = [0; 16];
        for id in 0..4 {
            let mut mem = GuestMemory::new(&mut bytes);
            clock_res_get(&mut mem, id, 0).unwrap();
            clock_time_get(&mut mem, id, 0, 8).unwrap();
            assert!(bytes.iter().any(|&byte| byte != 0));
        }
        let mut mem = GuestMemory::new(&mut bytes);
        assert_eq!(clock_time_get(&mut mem, 4, 0, 8), Err(Errno::Inval));
        assert_eq!(clock_time_get(&mut mem, 0, 0, 9), Err(Errno::Fault));
    }
}
