//! How long collections took: how many, in all, the longest, and how they are distributed.
//!
//! A pause is counted in one of eight buckets for each doubling of nanoseconds, so that a quantile
//! is known to within an eighth, and all of it is as large after a million pauses as after one.

use std::time::Duration;

/// Buckets for each doubling: as many as three bits tell apart.
const BITS: u32 = 3;
/// The last is for all that take sixteen seconds or longer.
const BUCKETS: usize = 32 << BITS;

/// What the collections of a store took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Of each bucket; none until there was a pause.
    counts: Vec<u32>,
    count: u64,
    total: Duration,
    longest: Duration,
}

impl Pauses {
    /// One more.
    pub(crate) fn add(&mut self, pause: Duration) {
        self.counts.resize(BUCKETS, 0);
        let counted = &mut self.counts[bucket(pause)];
        *counted = counted.saturating_add(1);
        self.count += 1;
        self.total += pause;
        self.longest = self.longest.max(pause);
    }

    /// Those of another store as well.
    pub fn extend(&mut self, other: &Pauses) {
        self.counts
            .resize(self.counts.len().max(other.counts.len()), 0);
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            *own = own.saturating_add(*other);
        }
        self.count += other.count;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time of all of them.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The time of the longest.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// What so many of a thousand took at most, to within an eighth above: 990 for the 99th
    /// percentile. Nothing where there was none.
    pub fn within(&self, of_thousand: u32) -> Option<Duration> {
        let wanted = (self.count * u64::from(of_thousand.min(1000))).div_ceil(1000);
        let mut seen = 0;
        let reached = self.counts.iter().position(|counted| {
            seen += u64::from(*counted);
            seen >= wanted && seen > 0
        });
        reached.map(|at| end(at).min(self.longest))
    }
}

/// The bucket of a pause.
fn bucket(pause: Duration) -> usize {
    let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
    // Below eight nanoseconds each has its own.
    let doubling = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS + 1);
    let index = (u64::from(doubling) << BITS) + (nanos >> doubling);
    usize::try_from(index).map_or(BUCKETS - 1, |index| index.min(BUCKETS - 1))
}

/// The longest pause of a bucket.
fn end(bucket: usize) -> Duration {
    if bucket == BUCKETS - 1 {
        return Duration::MAX;
    }
    let (doubling, step) = match bucket >> BITS {
        0 => (0, bucket),
        doubling => (doubling - 1, (bucket & ((1 << BITS) - 1)) + (1 << BITS)),
    };
    Duration::from_nanos(((step as u64 + 1) << doubling) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for at in 0..BUCKETS - 1 {
            let last = end(at);
            assert_eq!(bucket(last), at, "{last:?}");
            assert_eq!(bucket(last + Duration::from_nanos(1)), at + 1, "{last:?}");
        }
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
        assert!(end(BUCKETS - 2) > Duration::from_secs(16));
    }

    #[test]
    fn quantiles_are_known_to_an_eighth() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.within(990), None);
        (1..=1000).for_each(|micros| pauses.add(Duration::from_micros(micros)));
        for of_thousand in [1, 500, 990, 999, 1000] {
            let exact = Duration::from_micros(u64::from(of_thousand));
            let found = pauses.within(of_thousand).unwrap();
            assert!(found >= exact && found <= exact + exact / 8, "{found:?}");
        }
        assert_eq!(pauses.within(1000), Some(pauses.longest()));
        assert_eq!(pauses.total(), Duration::from_micros(500_500));
    }

    #[test]
    fn those_of_two_stores_are_as_of_one() {
        let (mut one, mut other, mut both) =
            (Pauses::default(), Pauses::default(), Pauses::default());
        for nanos in 0..2000 {
            let pause = Duration::from_nanos(nanos * nanos);
            if nanos % 3 == 0 {
                one.add(pause)
            } else {
                other.add(pause)
            }
            both.add(pause);
        }
        one.extend(&other);
        assert_eq!(one, both);
    }
}
