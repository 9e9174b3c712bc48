//! Which strategy is in force: the one that was named, or for `auto` the
//! cheapest exact one that this host allows, found by making a memory under it
//! once, when the engine is made.
//!
//! What a host refuses is address space (`ulimit -v`, few levels of page
//! tables). Next to the strategy that is cheapest is not the next cheapest with
//! the same appetite, but one that does with less: a smaller limit to growth,
//! then `trap`, which reserves for a 32-bit memory what it may grow to and not all its
//! indices, then `debug`, which reserves nothing beyond.

use fathom_sys::cells::Domain;

use crate::bounds::{
    Bounds, BoundsChoice, GrowthLimits, MAX_PAGES_64, MemoryPlan, WASM_PAGE_BYTES, candidates,
};
use crate::facts::bytes::Bytes;
use crate::facts::types::MemoryType;
use crate::run::config::Config;
use crate::run::memory::LinearMemory;

/// What is in force for memories of one index type.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    /// The strategy.
    pub bounds: Bounds,
    /// How far memories can grow.
    pub limits: GrowthLimits,
    /// Why it is not what `auto` takes where nothing is in its way.
    pub because: Option<String>,
}

impl InForce {
    /// What a configuration means here, for memories of an index type.
    pub fn new(config: &Config, memory64: bool) -> InForce {
        let with = |bounds, most, because| InForce {
            bounds,
            limits: GrowthLimits {
                undeclared_64: config.undeclared_pages_64(),
                most,
            },
            because,
        };
        if let BoundsChoice::Named(bounds) = config.choice(memory64) {
            return with(bounds, MAX_PAGES_64, None);
        }
        let mut refused = None;
        for (bounds, most) in candidates(memory64) {
            let candidate = with(*bounds, *most, None);
            match (candidate.attempt(memory64), refused.take()) {
                (Ok(()), None) => return candidate,
                (Ok(()), Some(why)) => {
                    let most = Bytes(most * WASM_PAGE_BYTES);
                    let because = format!("{why}; memories grow to {most} at most");
                    return with(*bounds, candidate.limits.most, Some(because));
                }
                (Err(why), first) => refused = first.or(Some(why)),
            }
        }
        // Nothing works: a memory says so when it is made.
        let (bounds, most) = candidates(memory64)[0];
        with(bounds, most, None)
    }

    /// Make a memory that may grow as far as any, and drop it.
    fn attempt(&self, memory64: bool) -> Result<(), String> {
        let ty = MemoryType {
            min: 1,
            memory64,
            ..MemoryType::default()
        };
        let plan = MemoryPlan::new(self.bounds, &ty, self.limits).map_err(|e| e.to_string())?;
        LinearMemory::attempt(plan, ty, Domain::Open)
            .map(drop)
            .map_err(|(step, error)| {
                let why = plan.why(step, &error);
                format!("the host refuses {}: {why}", plan.bounds)
            })
    }
}
