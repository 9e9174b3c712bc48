//! What stands out among traces, and why.
//!
//! ```text
//!  traces ─► Seen, in groups: one program at one size
//!     symptoms   a time, a count, a share or a growth that is not the others'
//!     causes     rows of CAUSES whose evidence is there
//!  a run with either is a Finding; symptoms without a cause are "unexplained"
//! ```
//!
//! What must stay true: pure functions; a run is compared with runs of the same program at
//! the same size, and with the middle of the other engines, so that one odd engine does not
//! make the others odd; nothing is guessed.

mod causes;
mod growth;
mod seen;

use causes::{BEYOND, MANY};
pub use causes::{CAUSES, Cause};
pub use seen::NATIVE;
use seen::{Seen, per};

use crate::trace::Trace;

/// A time this much over the middle of the others stands out.
const SLOW: f64 = 1.5;
/// And so many of their robust deviations.
const DEVIATIONS: f64 = 3.0;
/// What others scatter by at least, in logarithms: 15 %.
const SCATTER_MIN: f64 = 0.14;
/// A share of the time that differs by so much stands out.
const SHARE: f64 = 0.3;
/// Two requests, or none, for one.
const COUNT: f64 = 1.5;

/// What stands out of one run, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The program and its arguments but the size.
    pub family: String,
    /// The size, where it has one.
    pub size: Option<f64>,
    /// The engine; none where all have it.
    pub engine: Option<String>,
    /// What stands out, each with its figures.
    pub symptoms: Vec<String>,
    /// What explains it; empty: unexplained.
    pub causes: Vec<Explained>,
}

/// A cause with what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// [`Cause::name`].
    pub name: &'static str,
    /// [`Cause::words`].
    pub words: &'static str,
    /// Its figures.
    pub evidence: String,
}

/// A run among the others.
pub struct Group<'a> {
    all: &'a [Seen],
    of: &'a Seen,
}

impl<'a> Group<'a> {
    fn same(&self) -> impl Iterator<Item = &'a Seen> {
        let of = self.of;
        let same = move |seen: &&Seen| seen.family == of.family && seen.size == of.size;
        self.all.iter().filter(same)
    }

    /// The same on other engines.
    fn peers(&self) -> impl Iterator<Item = &'a Seen> {
        let of = self.of;
        self.same()
            .filter(move |seen| !seen.is_native() && seen.engine != of.engine)
    }

    /// The same as native code.
    pub fn native(&self) -> Option<&'a Seen> {
        self.same().find(|seen| seen.is_native())
    }

    /// The middle of the other engines; none where there are fewer than two.
    pub fn median(&self, of: impl Fn(&Seen) -> f64) -> Option<f64> {
        median(self.peers().map(of).collect())
    }

    /// The same engine and program at other sizes, each among the others there.
    pub fn other_sizes(&self, of: &'a Seen) -> impl Iterator<Item = (&'a Seen, Group<'a>)> {
        let all = self.all;
        let others = all.iter().filter(move |seen| {
            seen.engine == of.engine && seen.family == of.family && seen.size != of.size
        });
        others.map(move |of| (of, Group { all, of }))
    }
}

/// The middle; none of fewer than two.
fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    Some(match values.len() % 2 {
        0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    })
}

/// What stands out among traces, and why, in the order of the traces.
pub fn explain(traces: &[Trace]) -> Vec<Finding> {
    let all: Vec<Seen> = traces.iter().map(Seen::of).collect();
    let mut findings = Vec::new();
    for of in all.iter().filter(|seen| !seen.is_native()) {
        let group = Group { all: &all, of };
        let symptoms = symptoms(of, &group);
        let explained = |cause: &Cause| {
            let asked = !cause.is_of_time || !symptoms.is_empty();
            let evidence = asked.then(|| (cause.evidence)(of, &group)).flatten()?;
            Some(Explained {
                name: cause.name,
                words: cause.words,
                evidence,
            })
        };
        let causes: Vec<Explained> = CAUSES.iter().filter_map(explained).collect();
        if !symptoms.is_empty() || !causes.is_empty() {
            findings.push(Finding {
                family: of.family.clone(),
                size: of.size,
                engine: Some(of.engine.clone()),
                symptoms,
                causes,
            });
        }
    }
    shared(&all, findings)
}

/// What all engines have is said once.
fn shared(all: &[Seen], findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in &findings {
        let group = |of: &Seen| of.family == finding.family && of.size == finding.size;
        let alike = |other: &&Finding| other.family == finding.family && other.size == finding.size;
        let engines = all.iter().filter(|seen| group(seen) && !seen.is_native());
        let engines = engines.count();
        let is_shared = |cause: &&Explained| {
            let who = findings.iter().filter(alike);
            let who = who.filter(|other| other.has(cause.name)).count();
            who > 1 && who == engines
        };
        let (of_all, own): (Vec<&Explained>, Vec<&Explained>) =
            finding.causes.iter().partition(is_shared);
        for cause in &of_all {
            let mut known = merged.iter().filter(alike);
            if !known.any(|other| other.engine.is_none() && other.has(cause.name)) {
                merged.push(Finding {
                    engine: None,
                    symptoms: Vec::new(),
                    causes: vec![(*cause).clone()],
                    ..finding.clone()
                });
            }
        }
        let is_left = !finding.symptoms.is_empty() && of_all.is_empty();
        if !own.is_empty() || is_left {
            merged.push(Finding {
                causes: own.into_iter().cloned().collect(),
                ..finding.clone()
            });
        }
    }
    merged
}

impl Finding {
    /// Whether this cause is one of its.
    pub fn has(&self, cause: &str) -> bool {
        self.causes.iter().any(|own| own.name == cause)
    }
}

/// What stands out of one run.
fn symptoms(of: &Seen, group: &Group<'_>) -> Vec<String> {
    let slow = slow(of, group);
    let all = [slow, share(of, group), count(of), growth::odd(of, group)];
    all.into_iter().flatten().collect()
}

fn slow(of: &Seen, group: &Group<'_>) -> Option<String> {
    let usual = group.median(|peer| peer.wall_ns)?;
    let ratio = per(of.wall_ns, usual);
    let off = group.median(|peer| (peer.wall_ns / usual).ln().abs())?;
    let scatter = (1.4826 * off).max(SCATTER_MIN);
    (ratio >= SLOW && ratio.ln() >= DEVIATIONS * scatter).then(|| {
        let ms = of.wall_ns / 1e6;
        format!("{ms:.1} ms, {ratio:.1} times the median of the other engines")
    })
}

fn share(of: &Seen, group: &Group<'_>) -> Option<String> {
    let own = |seen: &Seen| per(seen.calls_ns, seen.wall_ns);
    let usual = group.median(own)?;
    // Threads that wait in a call do not take the program's time.
    let is_whole = own(of) <= 1.0 && usual <= 1.0;
    (of.has_kernel && is_whole && (own(of) - usual).abs() >= SHARE).then(|| {
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        format!(
            "{} of its time in system calls, others {}",
            percent(own(of)),
            percent(usual)
        )
    })
}

fn count(of: &Seen) -> Option<String> {
    let ratio = per(of.moved.calls, of.asked.calls);
    let odd = !(1.0 / COUNT..COUNT).contains(&ratio);
    let is_many = of.asked.calls >= MANY && (of.moved.calls - of.asked.calls).abs() >= BEYOND;
    (of.has_kernel && is_many && odd)
        .then(|| format!("{ratio:.2} transferring system calls for each transferring WASI call"))
}

#[cfg(test)]
mod tests;
