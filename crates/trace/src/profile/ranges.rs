//! What is where, by address: what comes later is there instead of what was.

use std::collections::BTreeMap;

/// Addresses that have something, each one thing at most.
#[derive(Clone, Debug)]
pub struct Ranges<T> {
    /// By its start: its end, and what it has.
    by_start: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Ranges<T> {
        Ranges {
            by_start: BTreeMap::new(),
        }
    }
}

impl<T: Clone> Ranges<T> {
    /// Puts something at addresses, over all that was there.
    pub fn put(&mut self, start: u64, bytes: u64, what: T) {
        let end = start.saturating_add(bytes);
        if end == start {
            return;
        }
        let before = self.by_start.range(..start).next_back();
        if let Some((&from, (to, other))) = before
            && *to > start
        {
            let (to, other) = (*to, other.clone());
            self.by_start.insert(from, (start, other.clone()));
            if to > end {
                self.by_start.insert(end, (to, other));
            }
        }
        let covered: Vec<u64> = (self.by_start.range(start..end))
            .map(|(at, _)| *at)
            .collect();
        for at in covered {
            let Some((to, other)) = self.by_start.remove(&at) else {
                continue;
            };
            if to > end {
                self.by_start.insert(end, (to, other));
            }
        }
        self.by_start.insert(start, (end, what));
    }

    /// What is at an address, and where that begins.
    pub fn at(&self, address: u64) -> Option<(u64, &T)> {
        let (start, (end, what)) = self.by_start.range(..=address).next_back()?;
        (address < *end).then_some((*start, what))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_is_there_instead() {
        // Against an array of addresses.
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let (mut ranges, mut plain) = (Ranges::default(), [None; 64]);
            for what in 0..12 {
                let (start, bytes) = (next(64), next(20));
                ranges.put(start, bytes, what);
                let end = (start + bytes).min(64) as usize;
                plain[start as usize..end].fill(Some(what));
            }
            for (address, what) in plain.iter().enumerate() {
                let found = ranges.at(address as u64).map(|(_, what)| *what);
                assert_eq!(found, *what);
            }
        }
    }

    #[test]
    fn the_last_address_is_no_trouble() {
        let mut ranges = Ranges::default();
        ranges.put(u64::MAX - 1, 9, 'a');
        ranges.put(0, u64::MAX, 'b');
        assert_eq!(ranges.at(u64::MAX - 1), Some((0, &'b')));
        assert_eq!(ranges.at(u64::MAX), None);
    }
}
