//! Where a process's stack begins, drawn anew in every round.
//!
//! ```text
//!  top of the stack   | arguments | environment, with the padding | auxiliary | main's frames …
//! ```
//!
//! What lies before the first frame moves all of them: with an environment that is some
//! bytes longer the same locals share other lines of cache with the same data (Mytkowicz
//! and others, "Producing wrong data without doing anything obviously wrong!", 2009).
//! The kernel moves the stack too where it randomises addresses, but a host may not let
//! it. The C runners do the same to the stacks of their threads, by the request's seed.

use std::process::Command;

/// The variable that takes the room. Nobody reads it.
const NAME: &str = "FATHOM_PADDING";
/// Within a page: what lies further away is in another page whatever is done.
const BYTES: u64 = 4096;
/// Stacks are aligned to so many bytes.
const ALIGNED: u64 = 16;

/// Gives a process an environment that is longer by what a round's seed says; as it was
/// where layouts are not to vary.
pub(crate) fn pad(command: &mut Command, seed: u64) {
    if seed != 0 {
        command.env(NAME, "x".repeat(bytes(seed)));
    }
}

fn bytes(seed: u64) -> usize {
    // The upper half: the lower one decides functions' order elsewhere.
    let drawn = (seed >> 32) % BYTES;
    (drawn - drawn % ALIGNED) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn stacks_begin_all_over_a_page() {
        let seeds = (0..4096_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let places: BTreeSet<usize> = seeds.map(bytes).collect();
        assert!(places.len() > 200, "{} places", places.len());
        assert!(places.iter().all(|place| *place < 4096 && place % 16 == 0));
    }

    #[test]
    fn what_does_not_vary_is_left_as_it_is() {
        let padded = |seed| {
            let mut command = Command::new("env");
            pad(command.env_clear(), seed);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert_eq!(padded(0), "");
        assert_eq!(padded(33 << 32), format!("{NAME}={}\n", "x".repeat(32)));
    }
}
