//! How steadily a machine computes.
//!
//! ```text
//!  the same work again and again ─▶ laps ─▶ the fastest, the median
//! ```
//!
//! What a hypervisor or a neighbour on the same core takes away shows in no count of a virtual
//! machine: its processors look idle, and `steal` is zero. It shows in laps that take longer than
//! others of the same work.
//!
//! What must stay true: nothing is judged by it. It says beforehand what intervals to expect.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long the machine is looked at: phases in which every lap is slow last up to a second.
pub const PERIOD: Duration = Duration::from_millis(1500);
/// Additions of a lap: a tenth of a millisecond and more, shorter than what takes a processor away.
const LAP: u64 = 200_000;
/// Of looks at this kind of machine while it was quiet the median lap took up to a tenth longer.
const STEADY: f64 = 1.25;

/// Laps of the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Nanoseconds of the fastest.
    pub fastest_ns: u64,
    /// Nanoseconds of the median.
    pub median_ns: u64,
}

impl Steadiness {
    /// Computes for a time, on the processor where the thread is.
    pub fn measure(period: Duration) -> Self {
        let start = Instant::now();
        let mut laps = vec![lap()];
        while start.elapsed() < period {
            laps.push(lap());
        }
        Self::of(laps)
    }

    /// Of laps, one at least.
    fn of(mut laps: Vec<u64>) -> Self {
        laps.sort_unstable();
        Self {
            fastest_ns: laps[0],
            median_ns: laps[laps.len() / 2],
        }
    }

    /// How many times the fastest lap the median one takes.
    pub fn factor(&self) -> f64 {
        self.median_ns as f64 / self.fastest_ns.max(1) as f64
    }

    /// Whether something takes the processor away.
    pub fn is_disturbed(&self) -> bool {
        self.factor() > STEADY
    }
}

fn lap() -> u64 {
    let start = Instant::now();
    let mut sum = 0;
    for number in 0..LAP {
        sum = black_box(sum + number);
    }
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_disturbed_where_most_laps_are_slow() {
        let quiet = Steadiness::of(vec![100, 104, 250, 101, 102]);
        assert_eq!((quiet.fastest_ns, quiet.median_ns), (100, 102));
        assert!(!quiet.is_disturbed(), "{quiet:?}");
        let shared = Steadiness::of(vec![230, 100, 235, 240, 101]);
        assert!(shared.is_disturbed(), "{shared:?}");
        assert!((shared.factor() - 2.3).abs() < 1e-9);
    }

    #[test]
    fn this_machine_is_looked_at_for_as_long_as_is_asked() {
        let start = Instant::now();
        let seen = Steadiness::measure(Duration::from_millis(20));
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert!(0 < seen.fastest_ns && seen.fastest_ns <= seen.median_ns);
    }
}
