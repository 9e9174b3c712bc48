//! How much clang may use.
//!
//! What is given to it is bounded by counts, as for Cranelift (`budget.rs`), and by what is
//! weighed of a function (`weight.rs`). What it makes of that is not: a text that it is slow
//! with, or that it never returns from, is taken from it. Each call has processor time by
//! the length of its functions and memory by that of its text, and all calls of a module end by a time of the module's;
//! what is not compiled by then is Cranelift's.
//!
//! What must stay true: a module that clang was late with is in no cache, since another
//! time it may have other code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::Limit;

/// Processor time that every call has: many times what starting clang takes.
const LEAST: Duration = Duration::from_secs(3);

/// What each byte of the functions' WebAssembly has besides: three times what clang takes at its
/// full level, of whole programs.
const BYTE: Duration = Duration::from_micros(100);

/// Time that may pass for each of processor time: other programs want the processors too.
const WALL: u32 = 4;

/// Memory that every call has, and each byte of its text besides: more than twice what clang has.
const LEAST_BYTES: u64 = 256 << 20;
const TEXT_BYTE_BYTES: u64 = 32;

/// How much it is that clang is given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// Bytes of bodies.
    pub wasm: usize,
    /// Bytes of what is made of them.
    pub text: usize,
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Size>>(all: I) -> Size {
        all.fold(Size::default(), |sum, one| Size {
            wasm: sum.wasm + one.wasm,
            text: sum.text + one.text,
        })
    }
}

/// What is left for a module.
pub(super) struct Pace {
    /// A multiple of the default; none: no bound.
    factor: Option<u32>,
    /// When all of it is over.
    end: Option<Instant>,
    was_late: AtomicBool,
}

impl Pace {
    /// For a module of so much, beginning now.
    pub fn new(factor: Option<u32>, size: Size) -> Pace {
        let time = |factor| time(factor, size).saturating_mul(WALL);
        let end = factor.and_then(|factor| Instant::now().checked_add(time(factor)));
        Pace {
            factor,
            end,
            was_late: AtomicBool::new(false),
        }
    }

    /// What a call with so much may use; none: as much as it likes.
    ///
    /// # Errors
    /// No time is left.
    pub fn limit(&self, size: Size) -> Result<Option<Limit>, String> {
        let (Some(factor), Some(end)) = (self.factor, self.end) else {
            return Ok(None);
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.late();
            return Err("clang took longer for the module than it may".to_owned());
        }
        let cpu = time(factor, size);
        Ok(Some(Limit {
            cpu,
            wall: left.min(cpu.saturating_mul(WALL)),
            bytes: memory(factor, size),
        }))
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

/// Processor time for so much.
fn time(factor: u32, size: Size) -> Duration {
    let bytes = u32::try_from(size.wasm).unwrap_or(u32::MAX);
    (LEAST.saturating_add(BYTE.saturating_mul(bytes))).saturating_mul(factor.max(1))
}

/// Memory for so much.
fn memory(factor: u32, size: Size) -> u64 {
    let all = LEAST_BYTES.saturating_add(TEXT_BYTE_BYTES.saturating_mul(size.text as u64));
    all.saturating_mul(u64::from(factor.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size { wasm: 1, text: 1 };

    #[test]
    fn what_it_may_use_grows_with_the_size_and_the_budget() {
        let large = Size {
            wasm: 60_000,
            text: 1 << 20,
        };
        let limit = |factor, size| Pace::new(factor, large).limit(size).unwrap();
        assert_eq!(limit(None, SMALL), None);
        let [one, much, more] = [(1, SMALL), (1, large), (3, SMALL)]
            .map(|(factor, size)| limit(Some(factor), size).unwrap());
        assert!(one.cpu >= LEAST && one.wall >= one.cpu && one.bytes >= LEAST_BYTES);
        for other in [much, more] {
            assert!(other.cpu > one.cpu && other.wall > one.wall && other.bytes > one.bytes);
        }
        // As docs/LIMITS.md says: 3 s, and 100 ms for each kilobyte.
        assert_eq!(much.cpu, Duration::from_secs(9));
        assert_eq!(much.bytes, 288 << 20);
        // No budget at all bounds as the default does.
        assert_eq!(limit(Some(0), SMALL).unwrap().cpu, one.cpu);
    }

    #[test]
    fn a_module_that_is_late_stays_late() {
        let pace = Pace {
            factor: Some(1),
            end: Some(Instant::now()),
            was_late: AtomicBool::new(false),
        };
        assert!(pace.limit(SMALL).is_err());
        assert!(pace.was_late());
    }
}
