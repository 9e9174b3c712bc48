//! Waiting until other programs leave the processors that a campaign needs.
//!
//! ```text
//!  /proc/stat, twice ─▶ processors in use ─▶ enough idle? ─ yes ─▶ measure
//!        ▲                                       │ no, for `limit` at most
//!        └───────────────────────────────────────┘
//! ```
//!
//! The load average is not what is asked: it lags by a minute both ways, and counts what
//! this command itself ran before.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::Duration,
};

use fathom_sys::usage::CpuTimes;

/// The time of one reading.
pub const PERIOD: Duration = Duration::from_millis(500);
/// As long is waited where nobody says anything else.
pub const LIMIT: Duration = Duration::from_secs(60);
/// Readings in a row that must be quiet after one that was not: a gap between two
/// compilations is no end of a build.
const QUIET_ENOUGH: u32 = 3;
/// What a quiet machine may have in use, in processors.
const SLACK: f64 = 0.25;

/// What other programs use, and what a campaign needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Processors that are in use.
    pub used: f64,
    /// Processors that the campaign needs at once.
    pub needed: u32,
    /// Processors that there are.
    pub cpus: u32,
}

impl Demand {
    /// Whether there are enough for both.
    fn is_met(&self) -> bool {
        let needed = self.needed.min(self.cpus);
        self.used + f64::from(needed) <= f64::from(self.cpus) + SLACK
    }
}

/// How waiting ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waited {
    /// Enough processors are idle, after this time.
    Idle(Duration),
    /// The time was up, and they still were not.
    Busy(Demand),
    /// The user does not want to go on.
    Stopped,
}

/// Waits until `needed` processors are idle, for `limit` at most. `tell` hears of every
/// reading that is not quiet, with the time that went by.
pub fn wait(
    needed: u32,
    limit: Duration,
    stop: &AtomicBool,
    tell: impl FnMut(Demand, Duration),
) -> Waited {
    let mut before = CpuTimes::read().ok();
    let cpus = before.as_ref().map_or(1, |times| times.count() as u32);
    let read = || {
        sleep(PERIOD);
        let now = CpuTimes::read().ok();
        let spent = now.as_ref().zip(before.as_ref());
        let busy = spent.and_then(|(now, before)| now.since(before).all().busy());
        before = now;
        busy.map(|share| share * f64::from(cpus))
    };
    wait_by(read, needed, cpus, limit, stop, tell)
}

/// As [`wait`], by readings of whatever kind, each of one [`PERIOD`]. A machine that cannot
/// be read is taken to be idle.
fn wait_by(
    mut read: impl FnMut() -> Option<f64>,
    needed: u32,
    cpus: u32,
    limit: Duration,
    stop: &AtomicBool,
    mut tell: impl FnMut(Demand, Duration),
) -> Waited {
    let (mut waited, mut quiet, mut wanted) = (Duration::ZERO, 0, 1);
    loop {
        if stop.load(Ordering::Relaxed) {
            return Waited::Stopped;
        }
        let Some(used) = read() else {
            return Waited::Idle(waited);
        };
        let demand = Demand { used, needed, cpus };
        if demand.is_met() {
            quiet += 1;
        } else {
            (quiet, wanted) = (0, QUIET_ENOUGH);
        }
        if quiet == wanted {
            return Waited::Idle(waited);
        }
        if waited >= limit {
            return Waited::Busy(demand);
        }
        if quiet == 0 {
            tell(demand, waited);
        }
        waited += PERIOD;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors in use at each reading; `needed` of `cpus`, for so many periods at most,
    /// and a user who stops it after so many.
    struct Case {
        used: &'static [f64],
        of: (u32, u32),
        periods_max: u32,
        stops_after: usize,
        readings: usize,
        ends: &'static str,
    }

    const NEVER: usize = usize::MAX;
    #[rustfmt::skip]
    const CASES: [Case; 11] = [
        // A quiet machine costs one reading; another program on the other processor is no hindrance.
        Case { used: &[0.0], of: (1, 2), periods_max: 120, stops_after: NEVER, readings: 1, ends: "idle 0" },
        Case { used: &[1.2], of: (1, 2), periods_max: 120, stops_after: NEVER, readings: 1, ends: "idle 0" },
        // It is, for two threads, and on one processor.
        Case { used: &[1.0, 0.1, 0.0, 0.2], of: (2, 2), periods_max: 120, stops_after: NEVER, readings: 4, ends: "idle 3" },
        Case { used: &[0.9, 0.0, 0.0, 0.0], of: (1, 1), periods_max: 120, stops_after: NEVER, readings: 4, ends: "idle 3" },
        // More threads than processors need all of them, and no more.
        Case { used: &[0.1], of: (16, 2), periods_max: 120, stops_after: NEVER, readings: 1, ends: "idle 0" },
        // A gap is no end.
        Case { used: &[2.0, 0.5, 2.0, 0.5, 0.5, 2.0, 0.0, 0.0, 0.0], of: (1, 2), periods_max: 120, stops_after: NEVER, readings: 9, ends: "idle 8" },
        // Who does not want to wait is told by one reading.
        Case { used: &[2.0], of: (1, 2), periods_max: 0, stops_after: NEVER, readings: 1, ends: "busy 2.0" },
        Case { used: &[0.0], of: (1, 2), periods_max: 0, stops_after: NEVER, readings: 1, ends: "idle 0" },
        // The time is bounded, also by a machine that is quiet now and then.
        Case { used: &[2.0, 1.9, 2.0, 1.8], of: (1, 2), periods_max: 3, stops_after: NEVER, readings: 4, ends: "busy 1.8" },
        // A user is heard within a period.
        Case { used: &[2.0, 2.0, 2.0], of: (1, 2), periods_max: 120, stops_after: 2, readings: 2, ends: "stopped" },
        // A machine that does not say is not waited for.
        Case { used: &[], of: (1, 2), periods_max: 120, stops_after: NEVER, readings: 1, ends: "idle 0" },
    ];

    #[test]
    fn other_programs_are_waited_for_as_long_as_is_allowed() {
        for (number, case) in CASES.iter().enumerate() {
            let stop = AtomicBool::new(false);
            let (mut readings, (needed, cpus)) = (0, case.of);
            let read = || {
                readings += 1;
                stop.store(readings >= case.stops_after, Ordering::Relaxed);
                case.used.get(readings - 1).copied()
            };
            let ended = wait_by(
                read,
                needed,
                cpus,
                PERIOD * case.periods_max,
                &stop,
                |_, _| (),
            );
            let said = match ended {
                Waited::Idle(time) => format!("idle {}", time.as_millis() / PERIOD.as_millis()),
                Waited::Busy(demand) => format!("busy {:.1}", demand.used),
                Waited::Stopped => "stopped".to_owned(),
            };
            let expected = (case.readings, case.ends.to_owned());
            assert_eq!((readings, said), expected, "case {number}");
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        let stop = AtomicBool::new(false);
        let ended = wait(1, Duration::ZERO, &stop, |_, _| ());
        assert_ne!(ended, Waited::Stopped);
        assert_eq!(
            wait(1, LIMIT, &AtomicBool::new(true), |_, _| ()),
            Waited::Stopped
        );
    }
}
