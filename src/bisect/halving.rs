//! Which release is looked at next, and what was found: no engine, no clock.
//!
//! What must stay true: the first release is as the good one and the last as the bad one
//! was; of what lies between, only what was told is believed.

use std::collections::BTreeSet;

use fathom_stats::Ratio;

/// What a release was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// As the good one.
    Good,
    /// As the bad one.
    Bad,
    /// It cannot be measured here.
    Broken,
}

/// Releases in order, of which the first is good and the last is bad.
#[derive(Clone, Debug)]
pub struct Halving {
    good: usize,
    bad: usize,
    broken: BTreeSet<usize>,
}

impl Halving {
    /// Of so many releases, two or more.
    pub fn of(releases: usize) -> Halving {
        Halving {
            good: 0,
            bad: releases.saturating_sub(1),
            broken: BTreeSet::new(),
        }
    }

    /// The release to look at: the one nearest to the middle of what is not known.
    pub fn next(&self) -> Option<usize> {
        let between = (self.good + 1..self.bad).filter(|at| !self.broken.contains(at));
        between.min_by_key(|at| (2 * at).abs_diff(self.good + self.bad))
    }

    /// What a release that was looked at is.
    pub fn tell(&mut self, at: usize, found: Found) {
        match found {
            Found::Good => self.good = at,
            Found::Bad => self.bad = at,
            Found::Broken => drop(self.broken.insert(at)),
        }
    }

    /// The last that is known to be good, and the first that is known to be bad.
    pub fn ends(&self) -> (usize, usize) {
        (self.good, self.bad)
    }
}

/// What a release is like by its ratio to the good one, where that of the bad one to the good
/// one is `whole`: on which side of the middle between the two it is. `None` where its interval
/// holds the middle, so that it may be either.
pub fn side(ratio: &Ratio, whole: f64) -> Option<Found> {
    let middle = whole.sqrt();
    let interval = ratio.interval.as_ref().ok()?;
    (!interval.contains(middle)).then(|| nearer(ratio.value, whole))
}

/// The one of both that a ratio to the good one is nearer to.
pub fn nearer(value: f64, whole: f64) -> Found {
    match value.ln() / whole.ln() > 0.5 {
        true => Found::Bad,
        false => Found::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_stats::ratio;

    /// Halves until nothing is left; the releases that were looked at, and what remains.
    fn halve(releases: usize, found: impl Fn(usize) -> Found) -> (Vec<usize>, (usize, usize)) {
        let mut halving = Halving::of(releases);
        let mut asked = Vec::new();
        while let Some(at) = halving.next() {
            asked.push(at);
            halving.tell(at, found(at));
        }
        (asked, halving.ends())
    }

    #[test]
    fn the_change_is_found_wherever_it_is() {
        for releases in 2..40 {
            for first_bad in 1..releases {
                let found = |at| {
                    if at < first_bad {
                        Found::Good
                    } else {
                        Found::Bad
                    }
                };
                let (asked, ends) = halve(releases, found);
                assert_eq!(ends, (first_bad - 1, first_bad));
                assert!(
                    asked.len() <= (releases as f64).log2().ceil() as usize,
                    "{asked:?}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_measured_is_left_out_and_what_remains_is_said() {
        let found = |at| match at {
            3..=5 => Found::Broken,
            0..=2 => Found::Good,
            _ => Found::Bad,
        };
        assert_eq!(halve(10, found).1, (2, 6));
        assert_eq!(halve(5, |_| Found::Broken).1, (0, 4));
    }

    #[test]
    fn a_release_is_on_the_side_of_the_middle_that_its_interval_is_on() {
        let of = |ratio: f64, scatter: f64| {
            let pairs: Vec<(f64, f64)> = (0..9)
                .map(|at| {
                    (
                        100.0 * ratio * (1.0 + scatter * f64::from(at % 3 - 1)),
                        100.0,
                    )
                })
                .collect();
            ratio::paired(&pairs).unwrap()
        };
        for (value, scatter, whole, expected) in [
            (1.00, 0.001, 1.2, Some(Found::Good)),
            (1.21, 0.001, 1.2, Some(Found::Bad)),
            (1.05, 0.001, 1.2, Some(Found::Good)),
            (0.95, 0.001, 1.2, Some(Found::Good)),
            (1.0954, 0.01, 1.2, None),
            // It got faster.
            (0.80, 0.001, 0.8, Some(Found::Bad)),
            (1.30, 0.001, 0.8, Some(Found::Good)),
        ] {
            assert_eq!(
                side(&of(value, scatter), whole),
                expected,
                "{value} of {whole}"
            );
        }
    }
}
