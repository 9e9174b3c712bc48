//! The oracle: what the specification says a memory holds and when an access
//! to it traps, computed without an engine.
//!
//! Three kinds of bytes never mix, so that a byte read back tells where it came
//! from: the pattern a memory is filled with (0x40…0x7f), what the probe's
//! stores write (0x80…0x9f), and the canary that a runner fills neighbouring
//! memories with ([`CANARY`]). Fresh memory is zero.

use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a Wasm page.
pub(super) const PAGE_BYTES: u64 = 65_536;

/// The byte neighbouring memories are full of; no memory under test holds it.
pub(super) const CANARY: u8 = 0xa5;

const CHUNK_BYTES: u64 = 4096;

/// An access as the specification sees it: operand, constant offset, width,
/// and the length of the memory, all in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub index: u64,
    pub offset: u64,
    pub width: u64,
    pub len: u64,
}

/// Whether an access is inside its memory.
pub(super) type Rule = fn(Reach) -> bool;

/// The specification's rule (§4.4.7): an access traps iff
/// `index + offset + width > len`, the sum taken without wrapping.
pub(super) fn specified(reach: Reach) -> bool {
    u128::from(reach.index) + u128::from(reach.offset) + u128::from(reach.width)
        <= u128::from(reach.len)
}

/// The byte that the probe fills address `address` with.
pub(super) fn pattern(address: u64) -> u8 {
    0x40 | ((address as u32).wrapping_mul(PATTERN_FACTOR) >> PATTERN_SHIFT) as u8
}

/// Odd and mixed (Fibonacci hashing), so that the top bits of the product differ
/// between neighbours and between addresses that differ in one high bit alone.
pub(super) const PATTERN_FACTOR: u32 = 0x9e37_79b1;
/// Leaves the top 6 bits.
pub(super) const PATTERN_SHIFT: u32 = 26;

/// The value of the probe's `n`th store: bytes from 0x80 to 0x9f.
pub(super) fn store_value(n: u64) -> u64 {
    let mixed = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed & 0x1f1f_1f1f_1f1f_1f1f | 0x8080_8080_8080_8080
}

/// Where a digest begins (FNV-1a, 64 bits).
pub(super) const DIGEST_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// What each byte of a digest is multiplied by.
pub(super) const DIGEST_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A memory: its length and those of its bytes that are not zero.
#[derive(Clone, Debug)]
pub(super) struct Model {
    rule: Rule,
    pages: u64,
    chunks: BTreeMap<u64, Box<[u8; CHUNK_BYTES as usize]>>,
}

impl Model {
    /// A fresh memory whose accesses are judged by `rule`.
    pub fn new(rule: Rule, pages: u64) -> Model {
        Model {
            rule,
            pages,
            chunks: BTreeMap::new(),
        }
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.pages * PAGE_BYTES
    }

    /// Its length in pages.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    pub fn grow_to(&mut self, pages: u64) {
        self.pages = pages;
    }

    /// Whether an access of `width` bytes is inside.
    pub fn contains(&self, index: u64, offset: u64, width: u64) -> bool {
        (self.rule)(Reach {
            index,
            offset,
            width,
            len: self.len(),
        })
    }

    /// `count` bytes from `address` on.
    pub fn read(&self, address: u64, count: u64) -> Vec<u8> {
        let mut bytes = vec![0; count as usize];
        for (chunk, within, part) in parts(address, count) {
            if let Some(chunk) = self.chunks.get(&chunk) {
                bytes[part].copy_from_slice(&chunk[within]);
            }
        }
        bytes
    }

    /// Writes `bytes` from `address` on.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (chunk, within, part) in parts(address, bytes.len() as u64) {
            let fresh = || Box::new([0; CHUNK_BYTES as usize]);
            let chunk = self.chunks.entry(chunk).or_insert_with(fresh);
            chunk[within].copy_from_slice(&bytes[part]);
        }
    }

    /// Fills a range with the pattern.
    pub fn fill(&mut self, range: Range<u64>) {
        let bytes: Vec<u8> = range.clone().map(pattern).collect();
        self.write(range.start, &bytes);
    }

    /// The digest of some ranges, one after the other.
    pub fn digest(&self, ranges: &[Range<u64>]) -> u64 {
        let read = |range: &Range<u64>| self.read(range.start, range.end - range.start);
        ranges
            .iter()
            .flat_map(read)
            .fold(DIGEST_BASIS, |digest, byte| {
                (digest ^ u64::from(byte)).wrapping_mul(DIGEST_PRIME)
            })
    }
}

/// Cuts `count` bytes from `address` on at chunks: each chunk's number, the
/// bytes within it, and which of the `count` they are.
fn parts(address: u64, count: u64) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let end = address + count;
    let mut at = address;
    std::iter::from_fn(move || {
        let chunk = at / CHUNK_BYTES;
        let stop = end.min((chunk + 1) * CHUNK_BYTES);
        let part = (at - address) as usize..(stop - address) as usize;
        let within = (at % CHUNK_BYTES) as usize..(stop - chunk * CHUNK_BYTES) as usize;
        let more = at < end;
        at = stop;
        more.then_some((chunk, within, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(index: u64, offset: u64, width: u64, len: u64) -> bool {
        specified(Reach {
            index,
            offset,
            width,
            len,
        })
    }

    #[test]
    fn the_rule_is_the_specifications() {
        assert!(inside(65_532, 0, 4, 65_536));
        assert!(!inside(65_533, 0, 4, 65_536));
        assert!(inside(0, 65_528, 8, 65_536));
        assert!(!inside(1, 65_528, 8, 65_536));
        assert!(inside(0xffff_ffff, 0, 1, 1 << 32));
        assert!(!inside(0xffff_ffff, 0, 2, 1 << 32));
        assert!(!inside(0xffff_ffff, 0xffff_ffff, 1, 1 << 32));
        assert!(!inside(u64::MAX, u64::MAX, 16, u64::MAX));
        assert!(!inside(0, 0, 1, 0));
        assert!(inside(0, 0, 0, 0));
    }

    #[test]
    fn kinds_of_bytes_never_mix() {
        for n in 0..100_000 {
            assert!((0x40..0x80).contains(&pattern(n)));
            for byte in store_value(n).to_le_bytes() {
                assert!((0x80..0xa0).contains(&byte));
            }
        }
    }

    #[test]
    fn a_memory_holds_what_was_written() {
        let mut model = Model::new(specified, 1);
        model.write(CHUNK_BYTES - 1, &[1, 2]);
        assert_eq!(model.read(CHUNK_BYTES - 2, 4), [0, 1, 2, 0]);
        let before = model.digest(&[0..8, 100..104]);
        model.write(103, &[1]);
        assert_ne!(model.digest(&[0..8, 100..104]), before);
    }
}
