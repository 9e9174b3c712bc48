//! What the traced runs of a cell saw, over its repeats.
//!
//! ```text
//!  traced runs ──▶ calls of some names ─┬─ count  least and most of a run
//!                                       ├─ total  mean over the runs, with its interval
//!                                       └─ each   the same for one call
//! ```
//!
//! What must stay true: what seeing a call adds is taken off each run before anything is
//! made of it; a time that was not seen is absent and never 0.

use std::collections::BTreeMap;

use fathom_record::campaign::{Seen, Threads, Traced};
use fathom_record::{Campaign, CellId};

use crate::NoEstimate;
use crate::ratio::{Ratio, paired};
use crate::waterfall::{Value, value};

/// The traced runs of a cell, by their number.
#[derive(Clone, Debug)]
pub struct Tracing<'a> {
    runs: BTreeMap<u32, &'a Traced>,
}

/// The least and the most of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub low: u64,
    /// The most; the same where all runs agree.
    pub high: u64,
}

impl Range {
    fn of(counts: impl Iterator<Item = u64>) -> Option<Range> {
        let mut range: Option<Range> = None;
        for count in counts {
            let before = range.unwrap_or(Range {
                low: count,
                high: count,
            });
            range = Some(Range {
                low: before.low.min(count),
                high: before.high.max(count),
            });
        }
        range
    }

    /// What is between.
    pub fn middle(self) -> f64 {
        (self.low as f64 + self.high as f64) / 2.0
    }
}

/// Calls of some kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// How many in a run.
    pub count: Range,
    /// How long they took together; absent where no time was seen.
    pub total: Option<Value>,
    /// How long one of them took; absent where there was none.
    pub each: Option<Value>,
}

impl<'a> Tracing<'a> {
    /// Of a cell.
    pub fn of(campaign: &'a Campaign, cell: &CellId) -> Tracing<'a> {
        let own = campaign.traced.iter().filter(|run| run.cell == *cell);
        // The later of two counts.
        Tracing {
            runs: own.map(|run| (run.repeat, run)).collect(),
        }
    }

    /// How many there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// WASI calls of the functions that are wanted; none where they were not seen.
    pub fn functions(&self, wanted: impl Fn(&str) -> bool) -> Option<Calls> {
        calls(self.of_functions(wanted).into_values().collect())
    }

    /// System calls that are wanted, of all threads; none where they were not seen.
    pub fn system(&self, wanted: impl Fn(&str) -> bool) -> Option<Calls> {
        calls(self.of_system(wanted).into_values().collect())
    }

    /// How often a thread waited in a system call.
    pub fn waits(&self) -> Option<Range> {
        Range::of(self.threads().map(|(_, threads)| threads.waits))
    }

    /// The time of system calls over that of another cell's, in the repeats that both have.
    ///
    /// # Errors
    /// Too few repeats, or a time that is not positive.
    pub fn system_over(
        &self,
        other: &Tracing<'_>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Ratio, NoEstimate> {
        let (own, others) = (self.of_system(&wanted), other.of_system(&wanted));
        let pairs = own.iter().filter_map(|(repeat, seen)| {
            let other = others.get(repeat)?;
            Some((seen.ns, other.ns))
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        paired(&pairs)
    }

    fn of_functions(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<u32, Sum> {
        let runs = self.runs.iter();
        runs.filter_map(|(repeat, run)| {
            let functions = run.functions.as_ref()?;
            Some((*repeat, Sum::of(functions, &wanted)))
        })
        .collect()
    }

    fn of_system(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<u32, Sum> {
        self.threads()
            .map(|(repeat, threads)| (repeat, Sum::of(&threads.calls, &wanted)))
            .collect()
    }

    fn threads(&self) -> impl Iterator<Item = (u32, &'a Threads)> {
        let runs = self.runs.iter();
        runs.filter_map(|(repeat, run)| Some((*repeat, run.threads.as_ref()?)))
    }
}

/// Calls of one run.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    ns: f64,
    is_timed: bool,
}

impl Sum {
    fn of(all: &BTreeMap<String, Seen>, wanted: impl Fn(&str) -> bool) -> Sum {
        let mut sum = Sum::default();
        for (_, seen) in all.iter().filter(|(name, _)| wanted(name)) {
            sum.count += seen.count;
            sum.ns += seen.net_ns();
            sum.is_timed |= seen.total_ns > 0;
        }
        sum
    }
}

fn calls(runs: Vec<Sum>) -> Option<Calls> {
    let count = Range::of(runs.iter().map(|run| run.count))?;
    let is_timed = count.high == 0 || runs.iter().any(|run| run.is_timed);
    let total = || value(runs.iter().map(|run| run.ns).collect(), Vec::new());
    let each = || {
        let each = runs.iter().map(|run| run.ns / run.count as f64);
        value(each.collect(), Vec::new())
    };
    Some(Calls {
        count,
        total: is_timed.then(total),
        each: (is_timed && count.low > 0).then(each),
    })
}

#[cfg(test)]
mod tests {
    use fathom_record::campaign::{Config, FORMAT_VERSION};
    use fathom_record::{Header, Host};

    use super::*;

    fn seen(count: u64, total_ns: u64) -> Seen {
        Seen {
            count,
            total_ns,
            each_ns: 10.0,
        }
    }

    fn campaign(runs: u32) -> Campaign {
        let mut campaign = Campaign::new(Header {
            format: FORMAT_VERSION,
            tool: String::new(),
            name: String::new(),
            date: String::new(),
            command: Vec::new(),
            request: None,
            host: Host::default(),
            config: Config::default(),
            workloads: Vec::new(),
            cells: Vec::new(),
        });
        for repeat in 0..runs {
            campaign.traced.push(Traced {
                cell: CellId::from_text("a"),
                repeat,
                wasi: None,
                calls: None,
                functions: Some(BTreeMap::from([
                    ("fd_write".to_owned(), seen(10, 1100 + u64::from(repeat))),
                    ("fd_seek".to_owned(), seen(2, 0)),
                ])),
                threads: Some(Threads {
                    count: 1,
                    calls: BTreeMap::from([(
                        "writev".to_owned(),
                        seen(9 + u64::from(repeat), 500),
                    )]),
                    waits: 3,
                }),
            });
        }
        campaign
    }

    #[test]
    fn what_looking_adds_is_taken_off() {
        let campaign = campaign(5);
        let tracing = Tracing::of(&campaign, &CellId::from_text("a"));
        let writes = tracing.functions(|name| name == "fd_write").unwrap();
        assert_eq!(writes.count, Range { low: 10, high: 10 });
        let total = writes.total.unwrap();
        assert!((total.ns - 1002.0).abs() < 1e-9, "{total:?}");
        assert!(total.interval.unwrap().contains(1002.0));
        assert!((writes.each.unwrap().ns - 100.2).abs() < 1e-9);
        let system = tracing.system(|_| true).unwrap();
        assert_eq!(system.count, Range { low: 9, high: 13 });
        assert_eq!(tracing.waits(), Some(Range { low: 3, high: 3 }));
        let same = tracing.system_over(&tracing, |_| true).unwrap();
        assert!((same.value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_time_that_was_not_seen_is_none() {
        let campaign = campaign(2);
        let tracing = Tracing::of(&campaign, &CellId::from_text("a"));
        let seeks = tracing.functions(|name| name == "fd_seek").unwrap();
        assert_eq!((seeks.total, seeks.each), (None, None));
        let none = tracing.functions(|name| name == "fd_read").unwrap();
        assert_eq!((none.count.high, none.each), (0, None));
        let writes = tracing.functions(|name| name == "fd_write").unwrap();
        assert!(
            writes.total.unwrap().interval.is_err(),
            "two runs are too few"
        );
        let other = Tracing::of(&campaign, &CellId::from_text("b"));
        assert!(other.functions(|_| true).is_none() && other.waits().is_none());
    }
}
