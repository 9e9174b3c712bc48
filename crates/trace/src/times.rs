//! How long something took, many times: count, total, extremes and a histogram in powers
//! of two.

use serde::{Deserialize, Serialize};

/// Buckets of a histogram: 0, and one for each power of two.
pub const BUCKETS: usize = 40;

/// Times of calls, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Calls.
    pub count: u64,
    /// All together.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Bucket 0 holds calls of 0 ns, bucket i those of 2^(i-1) ns to 2^i; empty ones at
    /// the end are left out.
    pub buckets: Vec<u64>,
}

impl Times {
    /// The mean, 0 where there is none.
    pub fn mean_ns(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.total_ns as f64 / count as f64,
        }
    }

    /// The time that this part of the calls does not exceed, as well as the histogram can
    /// tell: within a bucket calls are taken to be spread evenly.
    pub fn quantile_ns(&self, part: f64) -> f64 {
        let wanted = part.clamp(0.0, 1.0) * self.count as f64;
        let mut below = 0.0;
        for (bucket, &calls) in self.buckets.iter().enumerate() {
            let calls = calls as f64;
            if calls > 0.0 && below + calls >= wanted {
                let (low, high) = edges(bucket);
                let at = low + (high - low) * ((wanted - below) / calls);
                return at.clamp(self.min_ns as f64, self.max_ns as f64);
            }
            below += calls;
        }
        self.max_ns as f64
    }

    /// One more call.
    pub fn add(&mut self, ns: u64) {
        self.min_ns = if self.count == 0 {
            ns
        } else {
            self.min_ns.min(ns)
        };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        self.total_ns += ns;
        let bucket = bucket_of(ns);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    /// These and those.
    pub fn merge(&mut self, other: &Times) {
        if other.count == 0 {
            return;
        }
        self.min_ns = match self.count {
            0 => other.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.total_ns += other.total_ns;
        let len = self.buckets.len().max(other.buckets.len());
        self.buckets.resize(len, 0);
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += more;
        }
    }
}

/// The bucket of a time.
pub fn bucket_of(ns: u64) -> usize {
    (u64::BITS - ns.leading_zeros()).min(BUCKETS as u32 - 1) as usize
}

/// What a bucket's times are between.
fn edges(bucket: usize) -> (f64, f64) {
    match bucket {
        0 => (0.0, 0.0),
        _ => (2f64.powi(bucket as i32 - 1), 2f64.powi(bucket as i32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_powers_of_two() {
        for (ns, bucket) in [
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 2),
            (4, 3),
            (1023, 10),
            (1024, 11),
        ] {
            assert_eq!(bucket_of(ns), bucket, "{ns}");
            let (low, high) = edges(bucket);
            assert!(low <= ns as f64 && (ns as f64) < high.max(1.0), "{ns}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_between_the_extremes_and_rise() {
        let mut times = Times::default();
        for ns in 1..=1000 {
            times.add(ns);
        }
        assert_eq!((times.count, times.min_ns, times.max_ns), (1000, 1, 1000));
        assert!((times.mean_ns() - 500.5).abs() < 1e-9);
        let median = times.quantile_ns(0.5);
        assert!((400.0..600.0).contains(&median), "{median}");
        let mut last = 0.0;
        for percent in 0..=100 {
            let at = times.quantile_ns(f64::from(percent) / 100.0);
            assert!(
                at >= last && (1.0..=1000.0).contains(&at),
                "{percent}: {at}"
            );
            last = at;
        }
        assert_eq!(Times::default().quantile_ns(0.5), 0.0);
    }

    #[test]
    fn merged_times_are_those_of_all_calls() {
        let [mut a, mut b, mut all] = [Times::default(), Times::default(), Times::default()];
        for ns in [5, 900, 17] {
            a.add(ns);
            all.add(ns);
        }
        for ns in [3, 70_000] {
            b.add(ns);
            all.add(ns);
        }
        a.merge(&b);
        a.merge(&Times::default());
        assert_eq!(a, all);
        let mut empty = Times::default();
        empty.merge(&all);
        assert_eq!(empty, all);
    }
}
