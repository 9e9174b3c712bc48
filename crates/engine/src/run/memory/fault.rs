//! What it means for a memory that an access faulted.
//!
//! ```text
//!   front guard | shadow, slack |---- memory ----|---- inaccessible ----|    reservation
//!      out           probe         in bounds: no                out
//!                                  fault of its
//! ```
//!
//! Called by the fault handler: no lock, no allocation.

use super::LinearMemory;
use crate::bounds::{Growth, Place};

/// Bytes of the widest access, less one: how far in front of the end one that
/// straddles it may begin.
const STRADDLE: usize = 15;

/// What a memory makes of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The access was out of bounds.
    OutOfBounds,
    /// The read of a byte of shadow that stands for bytes in bounds: to go on as if
    /// it had read zero.
    Probe,
}

impl LinearMemory {
    /// Why an access to it may fault at `address`, which the processor does not say
    /// of one outside every address space; nothing where it can be no access to this
    /// memory.
    pub fn meaning_of_fault(&self, address: Option<usize>) -> Option<Meaning> {
        if self.is_wild() {
            return Some(Meaning::OutOfBounds);
        }
        let is_probed_below = self.is_probed_below();
        let Some(address) = address else {
            // The shadow's addresses leave user space where they wrap.
            return is_probed_below.then_some(Meaning::OutOfBounds);
        };
        if let Some(meaning) = self.meaning_in_shadow(address) {
            return meaning;
        }
        let is_lower = address < self.vm.shadow.addr() || address > usize::MAX / 2;
        if is_probed_below && is_lower {
            return Some(Meaning::OutOfBounds);
        }
        let is_near = self.reservation.addresses().contains(&address);
        (is_near && !self.holds(address)).then_some(Meaning::OutOfBounds)
    }

    /// Whether addresses of its shadow leave user space for high indices.
    pub fn is_probed_below(&self) -> bool {
        let shadow = self.plan.shadow;
        shadow.is_some_and(|shadow| shadow.place == Place::Below)
    }

    /// Whether its accesses may go anywhere: nothing keeps them in, and that was
    /// asked for.
    fn is_wild(&self) -> bool {
        self.plan.strays
    }

    /// Whether a byte that faulted cannot have been out of bounds: it was in bounds
    /// then, and not at the end, where some processors name an access by its first byte.
    /// A memory that others share may have grown since.
    fn holds(&self, address: usize) -> bool {
        let offset = address.wrapping_sub(self.vm.base.addr());
        !self.ty.shared && offset < self.len().saturating_sub(STRADDLE)
    }

    /// The same where the address is the shadow's, nothing where it is not.
    fn meaning_in_shadow(&self, address: usize) -> Option<Option<Meaning>> {
        let shadow = self.plan.shadow?;
        // The byte right below the end stands for the first bytes.
        let back = self.vm.shadow.addr().checked_sub(address.checked_add(1)?)?;
        if back as u64 >= shadow.bytes {
            return None;
        }
        let is_in_bounds = ((back as u128) << shadow.shift) < self.len() as u128;
        Some(match (is_in_bounds, shadow.growth) {
            (true, Growth::Segfault) => Some(Meaning::Probe),
            // Its page was to be open; or another thread has just grown the memory.
            (true, Growth::MicroGuard) if !self.ty.shared => None,
            _ => Some(Meaning::OutOfBounds),
        })
    }
}

#[cfg(test)]
mod tests {
    use fathom_sys::cells::Domain;

    use super::*;
    use crate::bounds::{Bounds, GrowthLimits, MemoryPlan};
    use crate::facts::types::MemoryType;

    /// A probe reads there where the index is as far above the shadow's end as it
    /// needs to be to wrap.
    #[test]
    fn the_last_address_of_all_has_a_meaning() {
        let ty = MemoryType {
            min: 1,
            ..MemoryType::default()
        };
        let named = |name: &str| name.parse::<Bounds>().expect("a strategy's name");
        for bounds in ["guard", "trap", "shadow"].map(named) {
            let plan = MemoryPlan::new(bounds, &ty, GrowthLimits::default());
            let memory = LinearMemory::new(plan.expect("it fits"), ty, Domain::Open);
            let memory = memory.expect("the host has room");
            assert_eq!(memory.meaning_of_fault(Some(usize::MAX)), None, "{bounds}");
        }
    }
}
