//! Who rests, so that the others get the rounds that it takes to say anything.
//!
//! An interpreter can take a third of a round. Where a campaign's time does not
//! suffice for all, a few rounds of everybody tell nothing; enough rounds of most
//! do, and the slowest keep the rounds that they have.
//!
//! What must stay true: who is compared with (native code, what has a control)
//! never rests, and nobody does where that would not be enough either.

use std::collections::BTreeSet;
use std::time::Duration;

use fathom_record::SandboxId;

/// What a sandbox takes in a round.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// The sandbox that rests.
    pub sandbox: SandboxId,
    /// All its cells together.
    pub round: Duration,
    /// Whether the others are compared with it.
    pub is_needed: bool,
}

/// The sandboxes to leave out of `rounds` further rounds so that those end within
/// `left`: the slowest first, and no more of them than it takes.
pub(super) fn resting(mut shares: Vec<Share>, rounds: u32, left: Duration) -> BTreeSet<SandboxId> {
    let mut round: Duration = shares.iter().map(|share| share.round).sum();
    let fits = |round: Duration| round.saturating_mul(rounds) <= left;
    shares.retain(|share| !share.is_needed);
    shares.sort_by(|a, b| {
        b.round
            .cmp(&a.round)
            .then_with(|| a.sandbox.cmp(&b.sandbox))
    });
    let mut resting = BTreeSet::new();
    for share in shares {
        if fits(round) {
            return resting;
        }
        round = round.saturating_sub(share.round);
        resting.insert(share.sandbox);
    }
    match fits(round) && !resting.is_empty() {
        true => resting,
        false => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use fathom_record::{Opt, Sandbox};

    use super::*;

    fn share(engine: &str, seconds: u64, is_needed: bool) -> Share {
        let sandbox = Sandbox {
            engine: engine.to_owned(),
            version: None,
            strategy: "guard".to_owned(),
            opt: Opt::Speed,
            backend: None,
            elide: None,
            spectre: None,
        };
        Share {
            sandbox: sandbox.id(),
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
        let resting = resting(shares, 4, Duration::from_secs(seconds));
        resting.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_slowest_rest_and_no_more_than_it_takes() {
        assert!(names(640).is_empty(), "everybody fits");
        assert_eq!(names(639), ["slower/guard/speed"]);
        assert_eq!(names(400), ["slower/guard/speed"]);
        assert_eq!(names(399), ["slow/guard/speed", "slower/guard/speed"]);
    }

    #[test]
    fn nobody_rests_in_vain_and_who_is_needed_never() {
        assert_eq!(names(200).len(), 3, "native code alone fits");
        assert!(names(199).is_empty());
        let nobody = resting(Vec::new(), 4, Duration::ZERO);
        assert!(nobody.is_empty());
    }
}
