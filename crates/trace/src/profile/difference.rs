//! What takes longer than in another profile, path by path.
//!
//! ```text
//!  start ─ run ─ main ─ sort ─ memcpy     a stack
//!                main ─ sort ─ memcpy     its path, where the other has no start and no run
//! ```
//!
//! A path is made of functions that both profiles have, so that what one of them inlines
//! everywhere parts no paths, and begins at the program's `main` where there is one: what calls
//! it is not the program's. A path's time is that of its last function with all it calls.
//!
//! What must stay true: code without a name is on no path; what the other has no sample of is
//! no difference, since that is also how inlined functions look.

use std::collections::{BTreeMap, BTreeSet};

use super::{Frame, Origin, Profile};

/// Differences of counts below so many standard deviations are none.
pub(super) const SIGMAS: f64 = 2.0;

/// The path of all samples.
pub(super) const ALL: usize = 0;

/// A function, and whether it is the program's: an engine's `malloc` is another one.
type Step<'a> = (&'a str, bool);

/// How a path's time is beside the other's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Compared {
    /// Longer by so much, or shorter.
    Differs { ns: f64 },
    /// Too few samples to tell them apart.
    Alike,
    /// The other has no such path.
    Alone,
}

/// A profile beside another.
pub(super) struct Difference<'a> {
    common: BTreeSet<Step<'a>>,
    /// By what they go on from.
    paths: BTreeMap<(usize, Step<'a>), usize>,
    /// Of each path, here and there.
    samples: Vec<[u64; 2]>,
    periods_ns: [u64; 2],
    /// Of the other, in functions on paths that are not here.
    missing: u64,
}

impl<'a> Difference<'a> {
    /// Of one profile, from another.
    pub(super) fn new(here: &'a Profile, there: &'a Profile) -> Difference<'a> {
        let common = steps(here).intersection(&steps(there)).copied().collect();
        let mut all = Difference {
            common,
            paths: BTreeMap::new(),
            samples: vec![[0, 0]],
            periods_ns: [here.period_ns, there.period_ns],
            missing: 0,
        };
        for (which, profile) in [here, there].into_iter().enumerate() {
            for (stack, count) in &profile.stacks {
                let paths = all.of(stack);
                let own = paths.last().copied().flatten();
                for path in [Some(ALL)].into_iter().chain(paths).flatten() {
                    all.samples[path][which] += count;
                }
                if which == 1 && own.is_none_or(|own| all.samples[own][0] == 0) {
                    all.missing += count;
                }
            }
        }
        all
    }

    /// The path of each frame of a stack; none of one that only one of them has.
    pub(super) fn of(&mut self, stack: &'a [Frame]) -> Vec<Option<usize>> {
        let mut path = ALL;
        let mut is_before_main = true;
        let paths = stack.iter().map(|frame| {
            let step = step(frame).filter(|step| self.common.contains(step))?;
            if is_before_main && step == ("main", true) {
                (path, is_before_main) = (ALL, false);
            }
            let next = self.samples.len();
            path = *self.paths.entry((path, step)).or_insert(next);
            if path == next {
                self.samples.push([0, 0]);
            }
            Some(path)
        });
        paths.collect()
    }

    /// How a path is beside the other's.
    pub(super) fn compared(&self, path: usize) -> Compared {
        let [here, there] = self.samples[path].map(|count| count as f64);
        let [period, other] = self.periods_ns.map(|ns| ns as f64);
        let ns = here * period - there * other;
        // A count varies as one of a Poisson process: by its root.
        let deviation = (here * period.powi(2) + there * other.powi(2)).sqrt();
        match there > 0.0 {
            false => Compared::Alone,
            true if ns.abs() > SIGMAS * deviation => Compared::Differs { ns },
            true => Compared::Alike,
        }
    }

    /// The other's time on a path.
    pub(super) fn other_ns(&self, path: usize) -> u64 {
        self.samples[path][1] * self.periods_ns[1]
    }

    /// The other's time in functions on paths that are not here.
    pub(super) fn missing_ns(&self) -> u64 {
        self.missing * self.periods_ns[1]
    }

    /// The largest difference of a path.
    pub(super) fn largest_ns(&self) -> f64 {
        let all = (0..self.samples.len()).map(|path| match self.compared(path) {
            Compared::Differs { ns } => ns.abs(),
            Compared::Alike | Compared::Alone => 0.0,
        });
        all.fold(0.0, f64::max)
    }
}

fn step(frame: &Frame) -> Option<Step<'_>> {
    let is_program = frame.origin == Origin::Program;
    (frame.origin != Origin::Unnamed).then_some((&frame.name, is_program))
}

fn steps(profile: &Profile) -> BTreeSet<Step<'_>> {
    profile.stacks.keys().flatten().filter_map(step).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::speedscope::tests::frame;
    use super::*;

    /// Of stacks of names: the program's, those of a file in angle brackets, and `?`.
    pub(in crate::profile) fn profile(stacks: &[(&str, u64)]) -> Profile {
        let library = || Origin::File {
            path: "/x".to_owned(),
            is_named: true,
        };
        let named = |name: &str| match name {
            "?" => frame("(code without a name)", Origin::Unnamed),
            name if name.starts_with('<') => frame(name, library()),
            name => frame(name, Origin::Program),
        };
        let stack = |names: &str| names.split(' ').map(named).collect();
        Profile {
            stacks: stacks
                .iter()
                .map(|(names, count)| (stack(names), *count))
                .collect(),
            period_ns: 1_000_000,
            ..Profile::default()
        }
    }

    #[test]
    fn paths_are_matched_by_what_both_have_from_main_on() {
        let here = profile(&[
            ("<start> _start main sort wrap copy", 900),
            ("<start> _start main sort", 100),
            ("<start> _start main ?", 50),
            ("<start> <compile>", 300),
        ]);
        let there = profile(&[
            ("libc_start main sort copy", 400),
            ("libc_start main sort", 110),
            ("libc_start main tell copy", 7),
            ("main ?", 60),
        ]);
        let mut all = Difference::new(&here, &there);
        let stack = here.stacks.keys().find(|stack| stack.len() == 6).unwrap();
        let paths = all.of(stack);
        let at = |depth: usize| paths[depth].map(|path| all.compared(path));
        let differs = |ms: f64| Some(Compared::Differs { ns: ms * 1e6 });
        assert_eq!([at(0), at(1), at(4)], [None; 3]);
        assert_eq!(at(2), differs(1050.0 - 577.0));
        assert_eq!(at(3), differs(1000.0 - 510.0));
        assert_eq!(at(5), differs(500.0));
        assert_eq!(all.compared(ALL), Compared::Differs { ns: 773e6 });
        assert_eq!(all.largest_ns(), 773e6);
        // `tell` is not in both, and `main copy` is not here; what has no name is nowhere.
        assert_eq!(all.missing_ns(), 67_000_000);
        assert_eq!(all.other_ns(paths[5].unwrap()), 400_000_000);
    }

    #[test]
    fn what_too_few_samples_say_is_no_difference() {
        let of = |here: u64, there: u64| {
            let (here, there) = (profile(&[("main", here)]), profile(&[("main", there)]));
            Difference::new(&here, &there).compared(ALL)
        };
        assert_eq!(of(100, 100), Compared::Alike);
        assert_eq!(of(120, 100), Compared::Alike);
        assert_eq!(of(131, 100), Compared::Differs { ns: 31e6 });
        assert_eq!(of(100, 131), Compared::Differs { ns: -31e6 });
        assert_eq!(of(1, 3), Compared::Alike);
        assert_eq!(of(100, 0), Compared::Alone);
    }
}
