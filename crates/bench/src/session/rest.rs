//! Who rests, so that the others get the rounds that it takes to say anything.
//!
//! An interpreter can take a third of a round. Where a campaign's time does not
//! suffice for all, a few rounds of everybody tell nothing; enough rounds of most
//! do, and the slowest keep the rounds that they have. A row that can be measured
//! is worth more than a control of one, so controls rest before rows do.
//!
//! What must stay true: who is compared with (native code, the first row, the
//! controls of both) never rests, nobody does where that would not be enough
//! either, and no control is measured without its row.

use std::collections::BTreeSet;
use std::time::Duration;

use fathom_record::{Cell, SandboxId};

/// What rests together: a sandbox's rows or their controls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The sandbox.
    pub sandbox: SandboxId,
    /// Whether it is the controls.
    pub is_control: bool,
}

impl Part {
    /// The part that a cell belongs to.
    pub(super) fn of(cell: &Cell) -> Part {
        Part {
            sandbox: cell.sandbox.id(),
            is_control: cell.is_control(),
        }
    }
}

/// What a part takes in a round.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// What would rest.
    pub part: Part,
    /// All its cells together.
    pub round: Duration,
    /// Whether the others are compared with it.
    pub is_needed: bool,
}

/// What to leave out of `rounds` further rounds so that those end within `left`:
/// controls before rows, the slowest first, and no more of them than it takes.
pub(super) fn resting(mut shares: Vec<Share>, rounds: u32, left: Duration) -> BTreeSet<Part> {
    let mut round: Duration = shares.iter().map(|share| share.round).sum();
    let fits = |round: Duration| round.saturating_mul(rounds) <= left;
    shares.retain(|share| !share.is_needed);
    shares.sort_by(|a, b| {
        let kind = b.part.is_control.cmp(&a.part.is_control);
        kind.then_with(|| b.round.cmp(&a.round))
            .then_with(|| a.part.cmp(&b.part))
    });
    let mut resting = BTreeSet::new();
    let mut taken = 0;
    for share in &shares {
        if fits(round) {
            break;
        }
        round = round.saturating_sub(share.round);
        resting.insert(share.part.clone());
        taken += 1;
    }
    if !fits(round) {
        return BTreeSet::new();
    }
    // Where a slow row rests, there may be time again for controls of others.
    let quickest_first = shares[..taken].iter().rev();
    for share in quickest_first.filter(|share| share.part.is_control) {
        let row = Part {
            is_control: false,
            ..share.part.clone()
        };
        if !resting.contains(&row) && fits(round + share.round) {
            round += share.round;
            resting.remove(&share.part);
        }
    }
    resting
}

#[cfg(test)]
mod tests {
    use fathom_record::Sandbox;

    use super::*;

    fn share(name: &str, seconds: u64, is_needed: bool) -> Share {
        let (engine, is_control) = match name.strip_suffix(" control") {
            Some(engine) => (engine, true),
            None => (name, false),
        };
        let sandbox = Sandbox::new(engine, "guard");
        Share {
            part: Part {
                sandbox: sandbox.id(),
                is_control,
            },
            round: Duration::from_secs(seconds),
            is_needed,
        }
    }

    fn names(seconds: u64) -> Vec<String> {
        let shares = vec![
            share("native", 50, true),
            share("fast", 10, false),
            share("slow", 40, false),
            share("slower", 60, false),
        ];
        named(&resting(shares, 4, Duration::from_secs(seconds)))
    }

    fn named(parts: &BTreeSet<Part>) -> Vec<String> {
        let name = |part: &Part| {
            let engine = part.sandbox.as_str().split('/').next().unwrap_or_default();
            format!("{engine}{}", if part.is_control { " control" } else { "" })
        };
        parts.iter().map(name).collect()
    }

    #[test]
    fn the_slowest_rest_and_no_more_than_it_takes() {
        assert!(names(640).is_empty(), "everybody fits");
        assert_eq!(names(639), ["slower"]);
        assert_eq!(names(400), ["slower"]);
        assert_eq!(names(399), ["slow", "slower"]);
    }

    #[test]
    fn controls_rest_before_rows_and_come_back_where_a_row_makes_room() {
        let shares = vec![
            share("native", 10, true),
            share("native control", 10, true),
            share("fast", 10, false),
            share("fast control", 10, false),
            share("slow", 60, false),
            share("slow control", 60, false),
        ];
        let within = |seconds| named(&resting(shares.clone(), 1, Duration::from_secs(seconds)));
        assert!(within(160).is_empty());
        assert_eq!(within(159), ["slow control"]);
        assert_eq!(within(99), ["fast control", "slow control"]);
        // Without the slow row the other's control fits again.
        assert_eq!(within(40), ["slow", "slow control"]);
        assert_eq!(within(30), ["fast control", "slow", "slow control"]);
    }

    #[test]
    fn nobody_rests_in_vain_and_who_is_needed_never() {
        assert_eq!(names(200).len(), 3, "native code alone fits");
        assert!(names(199).is_empty());
        let nobody = resting(Vec::new(), 4, Duration::ZERO);
        assert!(nobody.is_empty());
    }
}
