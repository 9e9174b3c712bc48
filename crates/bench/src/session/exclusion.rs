//! Who is left out, so that the others get the rounds that it takes to say anything.
//!
//! An interpreter can take a third of a round. Where a campaign's time does not
//! suffice for all, a few rounds of everybody tell nothing; enough rounds of most
//! do, and the slowest keep the rounds that they have.
//!
//! What must stay true: who is compared with (native code, the first row, the
//! controls of both) never is left out, and nobody is where that would not be enough
//! either.

use std::collections::BTreeSet;
use std::time::Duration;

use fathom_record::SandboxId;

/// What a sandbox takes in a round.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// What would be left out.
    pub sandbox: SandboxId,
    /// All its cells together.
    pub round: Duration,
    /// Whether the others are compared with it.
    pub is_needed: bool,
}

/// What to leave out of `rounds` further rounds so that those end within `left`: the slowest
/// first, and no more of them than it takes.
pub(super) fn excluded(mut shares: Vec<Share>, rounds: u32, left: Duration) -> BTreeSet<SandboxId> {
    let mut round: Duration = shares.iter().map(|share| share.round).sum();
    let fits = |round: Duration| round.saturating_mul(rounds) <= left;
    shares.retain(|share| !share.is_needed);
    shares.sort_by(|a, b| {
        b.round
            .cmp(&a.round)
            .then_with(|| a.sandbox.cmp(&b.sandbox))
    });
    let mut excluded = BTreeSet::new();
    for share in shares {
        if fits(round) {
            break;
        }
        round = round.saturating_sub(share.round);
        excluded.insert(share.sandbox);
    }
    match fits(round) {
        true => excluded,
        false => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use fathom_record::Sandbox;

    use super::*;

    fn names(seconds: u64) -> Vec<String> {
        let share = |name: &str, seconds, is_needed| Share {
            sandbox: Sandbox::new(name, "guard").id(),
            round: Duration::from_secs(seconds),
            is_needed,
        };
        let shares = vec![
            share("native", 50, true),
            share("fast", 10, false),
            share("slow", 40, false),
            share("slower", 60, false),
        ];
        let name = |id: &SandboxId| id.as_str().split('/').next().unwrap_or_default().to_owned();
        let excluded = excluded(shares, 4, Duration::from_secs(seconds));
        excluded.iter().map(name).collect()
    }

    #[test]
    fn the_slowest_are_left_out_and_no_more_than_it_takes() {
        assert!(names(640).is_empty(), "everybody fits");
        assert_eq!(names(639), ["slower"]);
        assert_eq!(names(400), ["slower"]);
        assert_eq!(names(399), ["slow", "slower"]);
    }

    #[test]
    fn nobody_is_left_out_in_vain_and_who_is_needed_never() {
        assert_eq!(names(200).len(), 3, "native code alone fits");
        assert!(names(199).is_empty());
        assert!(excluded(Vec::new(), 4, Duration::ZERO).is_empty());
    }
}
