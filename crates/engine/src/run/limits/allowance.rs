//! Accounts: what was taken of a quota, and by whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::facts::quota::{LimitError, Quota, Resource};

/// How many things are counted.
const RESOURCES: usize = Resource::ALL.len();

/// A [`Quota`], and what of it is in use. Clones are the same one: stores that are
/// made with it ([`crate::Store::within`]) have the quota together, also on several
/// threads.
#[derive(Clone, Debug)]
pub struct Allowance(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    quota: Quota,
    /// By [`Resource`].
    used: [AtomicU64; RESOURCES],
}

impl Allowance {
    /// Nothing of it is in use yet.
    pub fn new(quota: Quota) -> Allowance {
        let used = [const { AtomicU64::new(0) }; RESOURCES];
        Allowance(Arc::new(Inner { quota, used }))
    }

    /// The quota.
    pub fn quota(&self) -> Quota {
        self.0.quota
    }

    /// How much of something is in use.
    pub fn used(&self, resource: Resource) -> u64 {
        self.0.used[resource as usize].load(Ordering::Relaxed)
    }

    /// Takes `amount` more, or nothing. Relaxed: the sum is all that matters.
    pub(crate) fn take(&self, resource: Resource, amount: u64) -> Result<(), LimitError> {
        let limit = self.0.quota.of(resource);
        let used = &self.0.used[resource as usize];
        let sum = |now: u64| now.checked_add(amount).filter(|sum| *sum <= limit);
        let taken = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        taken.map(|_| ()).map_err(|now| LimitError::Quota {
            resource,
            wanted: now.saturating_add(amount),
            limit,
        })
    }

    fn room(&self, resource: Resource) -> u64 {
        let used = self.0.used[resource as usize].load(Ordering::Relaxed);
        self.0.quota.of(resource).saturating_sub(used)
    }

    pub(crate) fn give_back(&self, resource: Resource, amount: u64) {
        self.0.used[resource as usize].fetch_sub(amount, Ordering::Relaxed);
    }
}

/// What one store has taken. It is given back when the store is dropped.
#[derive(Debug)]
pub(crate) struct Account {
    allowance: Allowance,
    taken: [u64; RESOURCES],
}

/// What was taken at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken([u64; RESOURCES]);

impl Account {
    /// Nothing taken.
    pub fn new(allowance: &Allowance) -> Account {
        Account {
            allowance: allowance.clone(),
            taken: [0; RESOURCES],
        }
    }

    /// Whose quota it is.
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Takes `amount` more, or nothing.
    ///
    /// # Errors
    /// It would be beyond the quota.
    pub fn take(&mut self, resource: Resource, amount: u64) -> Result<(), LimitError> {
        if amount > 0 {
            self.allowance.take(resource, amount)?;
            self.taken[resource as usize] += amount;
        }
        Ok(())
    }

    /// How much more can be taken.
    pub fn room(&self, resource: Resource) -> u64 {
        self.allowance.room(resource)
    }

    /// Gives back what was taken.
    pub fn give_back(&mut self, resource: Resource, amount: u64) {
        debug_assert!(amount <= self.taken[resource as usize]);
        self.allowance.give_back(resource, amount);
        self.taken[resource as usize] -= amount;
    }

    /// What is taken now.
    pub fn taken(&self) -> Taken {
        Taken(self.taken)
    }

    /// Gives back all that was taken since then. Only what was given back in the
    /// meantime is less; that stays so.
    pub fn return_to(&mut self, then: &Taken) {
        if self.taken == then.0 {
            return;
        }
        for resource in Resource::ALL {
            let at = resource as usize;
            if let Some(more) = self.taken[at].checked_sub(then.0[at]).filter(|n| *n > 0) {
                self.give_back(resource, more);
            }
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.return_to(&Taken([0; RESOURCES]));
    }
}

/// What one shared memory has taken: it may outlive every store that has it, and
/// grow by any of them. Given back when the memory is gone.
#[derive(Debug)]
pub(crate) struct Charge {
    allowance: Allowance,
    bytes: AtomicU64,
}

impl Charge {
    /// A memory of this many bytes at first.
    ///
    /// # Errors
    /// It would be beyond the quota.
    pub fn new(allowance: &Allowance, bytes: u64) -> Result<Charge, LimitError> {
        allowance.take(Resource::Memories, 1)?;
        let charge = Charge {
            allowance: allowance.clone(),
            bytes: AtomicU64::new(0),
        };
        charge.grow(bytes)?;
        Ok(charge)
    }

    /// Takes for a growth by this many bytes.
    ///
    /// # Errors
    /// It would be beyond the quota.
    pub fn grow(&self, bytes: u64) -> Result<(), LimitError> {
        self.allowance.take(Resource::MemoryBytes, bytes)?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back what was taken for a growth that failed.
    pub fn shrink(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.allowance.give_back(Resource::MemoryBytes, bytes);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.allowance
            .give_back(Resource::MemoryBytes, *self.bytes.get_mut());
        self.allowance.give_back(Resource::Memories, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(memories: u64) -> Allowance {
        Allowance::new(Quota {
            memories,
            ..Quota::default()
        })
    }

    #[test]
    fn what_is_refused_is_not_taken() {
        let allowance = quota(2);
        let mut account = Account::new(&allowance);
        account.take(Resource::Memories, 1).unwrap();
        let refused = account.take(Resource::Memories, 2).unwrap_err();
        assert_eq!(refused.to_string(), "3 memories are beyond the limit of 2");
        assert_eq!(allowance.used(Resource::Memories), 1);
        assert!(account.take(Resource::Memories, u64::MAX).is_err());
        account.take(Resource::Memories, 1).unwrap();
    }

    #[test]
    fn stores_have_it_together_and_give_it_back() {
        let allowance = quota(3);
        let mut one = Account::new(&allowance);
        let mut other = Account::new(&allowance);
        one.take(Resource::Memories, 2).unwrap();
        assert!(other.take(Resource::Memories, 2).is_err());
        let then = one.taken();
        one.take(Resource::Memories, 1).unwrap();
        one.return_to(&then);
        assert_eq!(allowance.used(Resource::Memories), 2);
        drop(one);
        other.take(Resource::Memories, 3).unwrap();
        drop(other);
        assert_eq!(allowance.used(Resource::Memories), 0);
    }

    #[test]
    fn a_shared_memory_is_charged_until_it_is_gone() {
        let allowance = Allowance::new(Quota {
            memory_bytes: 10,
            ..Quota::default()
        });
        assert!(Charge::new(&allowance, 11).is_err());
        assert_eq!(allowance.used(Resource::Memories), 0);
        let charge = Charge::new(&allowance, 4).unwrap();
        assert!(charge.grow(7).is_err());
        charge.grow(6).unwrap();
        charge.shrink(1);
        assert_eq!(allowance.used(Resource::MemoryBytes), 9);
        drop(charge);
        assert_eq!(allowance.used(Resource::MemoryBytes), 0);
    }
}
