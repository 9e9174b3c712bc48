//! A campaign that goes on until a difference of some size would be found.
//!
//! ```text
//!  3 rounds ─▶ what more of them would tell ─▶ about so many, so long ─▶ rounds
//!                 ▲ again after 6, 12, 24 …                               │
//!                 └──────────── would it be found by now? yes: the end ◀──┘
//! ```
//!
//! What must stay true: what is asked is how much rounds scatter, never whether anything
//! differs; each round is for everything. Who stops at the first round in which little scatter
//! is seen has chosen a moment of luck, so it has to be seen in several in a row.

use std::time::Duration;

use super::{Clock, Ended, Note, Session};

/// Rounds by which it is judged first.
const PILOT: u32 = 3;
/// Rounds in a row after which a difference would be found.
const HELD: u32 = 3;
/// What is still to be measured, as far as the rounds so far tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Rounds that there are.
    pub round: u32,
    /// Rounds in all.
    pub rounds: u32,
    /// What those that are left will take.
    pub left: Duration,
    /// The difference that is to be found, relative.
    pub wanted: f64,
    /// The one that would be found then.
    pub seen: f64,
    /// The one that would be found by any number of rounds, where that is more than wanted.
    pub limit: Option<f64>,
}

impl Outlook {
    /// Whether what is wanted would be found.
    pub fn is_enough(&self) -> bool {
        self.seen <= self.wanted
    }
}

/// How far the search is.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Rounds in a row after which it would have been found.
    held: u32,
    last: Option<Outlook>,
}

impl Session<'_> {
    /// Whether it ends before a round, of which these cells are left; what is still to be
    /// measured is said from time to time.
    pub(super) fn sought(
        &mut self,
        round: u32,
        next: &[usize],
        wanted: f64,
        search: &mut Search,
        clock: &mut Clock,
    ) -> Option<Ended> {
        let seen = (round >= self.pace.rounds_wanted.max(1))
            .then(|| self.stopping.detectable(self.results.campaign()));
        search.held = match seen.flatten() {
            Some(seen) if seen <= wanted => search.held + 1,
            _ => 0,
        };
        if search.held >= HELD {
            return Some(Ended::Detectable { rounds: round });
        }
        let is_time = match search.last {
            None => round >= PILOT,
            Some(_) => round.is_multiple_of(PILOT) && (round / PILOT).is_power_of_two(),
        };
        if is_time && let Some(outlook) = self.outlook(round, next, wanted, clock) {
            search.last = Some(outlook);
            clock.rounds_expected = Some(outlook.rounds);
            self.observer.note(Note::Outlook(outlook));
        }
        let is_limited = search.last.is_some_and(|last| last.limit.is_some());
        let is_whole = round >= self.pace.rounds_wanted;
        (is_limited && is_whole).then_some(Ended::Limited { rounds: round })
    }

    fn outlook(&self, round: u32, next: &[usize], wanted: f64, clock: &Clock) -> Option<Outlook> {
        let a_round = clock.expect(self.plan, next);
        let most = self.plan.config.rounds;
        let fit = match clock.left() {
            Some(left) if !a_round.is_zero() => left.as_secs_f64() / a_round.as_secs_f64(),
            _ => f64::INFINITY,
        };
        // A cast of what is too large is the largest.
        let most = most.min(round.saturating_add(fit as u32)).max(round);
        let (rounds, seen) = self.enough(round, wanted, most)?;
        let limit = self.stopping.limit(self.results.campaign());
        let limit = limit.filter(|limit| *limit > wanted);
        let rounds = match limit {
            Some(_) => rounds.min(self.pace.rounds_wanted.max(round)),
            None => rounds,
        };
        Some(Outlook {
            round,
            rounds,
            left: a_round.saturating_mul(rounds - round),
            wanted,
            seen,
            limit,
        })
    }

    /// The rounds after which a difference of a size would be found, or the most that there
    /// can be; and what would be found then.
    fn enough(&self, round: u32, wanted: f64, most: u32) -> Option<(u32, f64)> {
        let mut rounds = round.max(self.pace.rounds_wanted).min(most);
        loop {
            let seen = self.stopping.forecast(self.results.campaign(), rounds)?;
            if seen <= wanted || rounds == most {
                return Some(((rounds + HELD - 1).min(most), seen));
            }
            // By a fifth: it is a forecast.
            rounds = (rounds + 1).max(rounds + rounds / 5).min(most);
        }
    }
}
