//! How long clang may take.
//!
//! What is given to it is bounded by counts, as for Cranelift (`budget.rs`), and what it
//! makes of that is not: a text that it is slow with, or that it never returns from, is
//! taken from it after a time. Each call has a time by the length of its text, and all
//! calls of a module end by a time of the module's; what is not compiled by then is
//! Cranelift's.
//!
//! What must stay true: a module that clang was late with is in no cache, since another
//! time it may have other code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What every text has: many times what starting clang takes.
const LEAST: Duration = Duration::from_secs(60);

/// What each byte of text has besides: ten times what clang takes at its full level.
const BYTE: Duration = Duration::from_micros(200);

/// The time that is left for a module.
pub(super) struct Pace {
    /// A multiple of the default; none: no bound.
    factor: Option<u32>,
    /// When all of it is over.
    end: Option<Instant>,
    was_late: AtomicBool,
}

impl Pace {
    /// For a module of so many bytes of text, beginning now.
    pub fn new(factor: Option<u32>, bytes: usize) -> Pace {
        let end = factor.and_then(|factor| Instant::now().checked_add(time(factor, bytes)));
        Pace {
            factor,
            end,
            was_late: AtomicBool::new(false),
        }
    }

    /// How long a call with so many bytes may take; none: as long as it likes.
    ///
    /// # Errors
    /// No time is left.
    pub fn limit(&self, bytes: usize) -> Result<Option<Duration>, String> {
        let (Some(factor), Some(end)) = (self.factor, self.end) else {
            return Ok(None);
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.late();
            return Err("clang took longer for the module than it may".to_owned());
        }
        Ok(Some(left.min(time(factor, bytes))))
    }

    /// A call took longer than it may.
    pub fn late(&self) {
        self.was_late.store(true, Ordering::Relaxed);
    }

    /// Whether any did.
    pub fn was_late(&self) -> bool {
        self.was_late.load(Ordering::Relaxed)
    }
}

fn time(factor: u32, bytes: usize) -> Duration {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    (LEAST.saturating_add(BYTE.saturating_mul(bytes))).saturating_mul(factor.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_with_the_text_and_the_budget() {
        let limit = |factor, bytes| Pace::new(factor, 1 << 20).limit(bytes).unwrap();
        assert_eq!(limit(None, 1), None);
        assert!(limit(Some(1), 1).unwrap() >= LEAST);
        assert!(limit(Some(1), 1 << 19) > limit(Some(1), 1));
        assert!(limit(Some(3), 1) > limit(Some(1), 1));
        // No budget at all bounds as the default does.
        assert!(limit(Some(0), 1).unwrap() >= LEAST);
    }

    #[test]
    fn a_module_that_is_late_stays_late() {
        let pace = Pace {
            factor: Some(1),
            end: Some(Instant::now()),
            was_late: AtomicBool::new(false),
        };
        assert!(pace.limit(1).is_err());
        assert!(pace.was_late());
    }
}
