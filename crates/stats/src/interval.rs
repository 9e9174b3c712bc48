//! Weighted sums of groups of round values, and their intervals.
//!
//! Everything compared here is a weighted sum of the means of groups of round
//! values (logarithms):
//!
//! | comparison | groups | weights |
//! |---|---|---|
//! | two cells of a campaign, paired by round | 1 | 1 |
//! | two rows of a campaign over W workloads | W | 1/W |
//! | one cell in two campaigns | 2 | 1, −1 |
//!
//! A group's variance has two parts. The rounds' own scatter, widened by their
//! serial correlation, is known with few degrees of freedom. The
//! **systematic** part stands for what no number of rounds shows, one fixed layout
//! above all; it is given and not estimated. The interval is
//!
//! ```text
//!   Σ w θ  ±  t(ν) · sqrt( Σ w² ( s² + a² ) )
//! ```
//!
//! with Welch and Satterthwaite's degrees of freedom ν. Workloads are fixed: they
//! are the suite, not a sample of all programs.
//!
//! Means and no estimate that resists wild rounds: where a child's time depends
//! on how its code lies, the mean over layouts is what is asked for, and an
//! estimate that takes the rarer of two modes for wild answers another question.
//! docs/RATIONALE.md has the figures.

use crate::NoEstimate;
use crate::moderate::{Prior, Variance};
use crate::serial::Serial;
use crate::student::{quantile_two_sided, t_975, two_sided, upper};

/// Rounds below which nothing has an interval, and nothing is said to differ
/// or not to.
pub const ROUNDS_MIN: usize = 5;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Interval {
    /// Whether it holds a value; its ends belong to it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Both ends through a growing function.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval {
            low: f(self.low),
            high: f(self.high),
        }
    }
}

/// What a group of round values says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// The mean.
    pub(crate) estimate: f64,
    /// The variance of the mean, from the rounds' scatter; 0 for a single
    /// round, which has none.
    scatter: Variance,
    /// The variance that rounds do not show.
    systematic: f64,
    /// Rounds, 1 or more.
    pub(crate) rounds: usize,
    /// Rounds below which it has no error.
    least: usize,
    /// Whether its estimate leaves rounds out.
    is_part: bool,
}

impl Group {
    /// From values that are there and are numbers.
    /// Their mean is known by `counted` of them.
    pub(crate) fn of(values: &[f64], counted: usize, systematic: f64, serial: Serial) -> Group {
        let rounds = values.len();
        let n = rounds as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let worth = serial.worth(rounds);
        let value = match rounds {
            0 | 1 => 0.0,
            _ => worth.widening * squares / (n * (n - 1.0)),
        };
        Group {
            estimate: mean,
            scatter: Variance {
                value,
                freedom: worth.freedom * degrees(counted) / degrees(rounds),
            },
            systematic,
            rounds,
            least: ROUNDS_MIN,
            is_part: counted < rounds,
        }
    }

    /// The same where so many rounds are enough.
    pub(crate) fn with_least(self, least: usize) -> Group {
        Group { least, ..self }
    }

    /// Groups of one pair of rows, each made sharper by the others. Where rounds are left out, a
    /// group that scatters more than the others all the same was disturbed in those that are
    /// left, and stays as wide as it is.
    pub(crate) fn moderated(groups: &[Group]) -> Vec<Group> {
        let scatters: Vec<Variance> = groups
            .iter()
            .filter(|group| group.rounds > 1)
            // The variance of the mean has the rounds in it, and groups may
            // have more or fewer.
            .map(Group::of_a_round)
            .collect();
        let prior = Prior::of(&scatters);
        let one = |group: &Group| {
            let Some(prior) = prior.filter(|_| group.rounds > 1) else {
                return *group;
            };
            let own = group.of_a_round();
            let scatter = prior.moderate(own);
            let least = if group.is_part { own.value } else { 0.0 };
            Group {
                scatter: Variance {
                    value: scatter.value.max(least) / group.rounds as f64,
                    freedom: scatter.freedom,
                },
                ..*group
            }
        };
        groups.iter().map(one).collect()
    }

    /// The group by its rounds alone, and the variance that they do not show.
    pub(crate) fn parted(&self) -> (Group, f64) {
        let rounds = Group {
            systematic: 0.0,
            ..*self
        };
        (rounds, self.systematic)
    }

    /// Of the mean.
    pub(crate) fn variance(&self) -> f64 {
        self.scatter.value + self.systematic
    }

    fn of_a_round(&self) -> Variance {
        Variance {
            value: self.scatter.value * self.rounds as f64,
            freedom: self.scatter.freedom,
        }
    }
}

fn degrees(rounds: usize) -> f64 {
    rounds.saturating_sub(1).max(1) as f64
}

/// A variance that every group has beside its own, and that is estimated from how groups
/// differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interaction {
    /// What groups differ by, their noise included.
    pub(crate) left: Variance,
    /// What they differ by for their noise.
    pub(crate) noise: f64,
}

impl Interaction {
    /// None, which is known.
    pub(crate) const NONE: Interaction = Interaction {
        left: Variance {
            value: 0.0,
            freedom: f64::INFINITY,
        },
        noise: 0.0,
    };

    /// What is not noise.
    pub(crate) fn variance(&self) -> f64 {
        (self.left.value - self.noise).max(0.0)
    }
}

/// A weighted sum of groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sum {
    /// The sum of the groups' means, each by its weight.
    pub(crate) estimate: f64,
    /// Its standard error and the degrees of freedom of that.
    pub(crate) error: Result<Error, NoEstimate>,
}

/// How far an estimate may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// The standard error of the logarithm.
    pub log: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
}

impl Sum {
    /// Of groups by their weights; no error if one has too few rounds.
    pub(crate) fn of(groups: &[(f64, Group)]) -> Sum {
        Sum::with(groups, Interaction::NONE, 0.0)
    }

    /// Of groups by their weights that have a variance beside their own each, and one all
    /// together.
    pub(crate) fn with(groups: &[(f64, Group)], each: Interaction, all: f64) -> Sum {
        let estimate = groups
            .iter()
            .map(|(weight, group)| weight * group.estimate)
            .sum();
        let fewest = groups.iter().map(|(_, group)| group);
        let fewest = fewest.min_by_key(|group| group.rounds);
        let (have, need) = fewest.map_or((0, ROUNDS_MIN), |group| (group.rounds, group.least));
        if have < need {
            let error = Err(NoEstimate::TooFewSamples { have, need });
            return Sum { estimate, error };
        }
        let scatter = |(weight, group): &(f64, Group)| weight * weight * group.scatter.value;
        let systematic: f64 = groups
            .iter()
            .map(|(weight, group)| weight * weight * group.systematic)
            .sum();
        let systematic = systematic + all;
        let weights: f64 = groups.iter().map(|(weight, _)| weight * weight).sum();
        let scatters: f64 = groups.iter().map(scatter).sum();
        let variance = scatters + weights * each.variance();
        let squares: f64 = groups
            .iter()
            .map(|one| scatter(one).powi(2) / one.1.scatter.freedom)
            .sum();
        // As badly known as all that groups differ by, also where little of it is left.
        let squares = squares + (weights * each.left.value).powi(2) / each.left.freedom;
        let freedom = (variance + systematic).powi(2) / squares;
        let error = Error {
            log: (variance + systematic).sqrt(),
            // No scatter at all: nothing says how well that is known but the
            // rounds themselves.
            freedom: if freedom.is_nan() {
                groups.iter().map(|(_, group)| group.scatter.freedom).sum()
            } else {
                freedom
            },
        };
        Sum {
            estimate,
            error: Ok(error),
        }
    }

    /// The 95 % interval.
    pub(crate) fn interval(&self) -> Result<Interval, NoEstimate> {
        let error = self.error?;
        let reach = t_975(error.freedom) * error.log;
        Ok(Interval {
            low: self.estimate - reach,
            high: self.estimate + reach,
        })
    }
}

impl Error {
    /// The chance that an estimate is at least so far from 0 if the truth is 0.
    pub(crate) fn chance_of(&self, log: f64) -> f64 {
        match log.abs() {
            // Also without any error.
            0.0 => 1.0,
            far => two_sided(far / self.log, self.freedom),
        }
    }

    /// The larger of the two chances that an estimate is as near to 0 as it is
    /// though the truth is `limit` away on one side: two one-sided tests.
    pub(crate) fn chance_within(&self, log: f64, limit: f64) -> f64 {
        let left = limit - log.abs();
        match left {
            left if left <= 0.0 => 1.0,
            left => upper(left / self.log, self.freedom),
        }
    }

    /// The smallest true difference that is found eight times of ten by a test
    /// at the level `alpha`, as a logarithm.
    pub(crate) fn detectable(&self, alpha: f64) -> f64 {
        // Two sided at 0.4 is one sided at 0.2.
        let power = quantile_two_sided(0.4, self.freedom);
        (quantile_two_sided(alpha, self.freedom) + power) * self.log
    }
}
