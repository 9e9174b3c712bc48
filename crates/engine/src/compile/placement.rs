//! Where in a line of the cache a function begins.
//!
//! The same loop can run a quarter slower only because it touches one line more
//! than it has to, most of all when its closing branch is cut by the end of a
//! line. Cranelift does not align loops; but moving the whole function by a
//! fraction of a line moves its loops with it, and one of the few places there
//! are suits the innermost loops best.

use std::cmp::Reverse;

use cranelift_codegen::CompiledCode;

/// Bytes of a line of the instruction cache, and of what the decoded-instruction
/// caches of today's processors are tagged by.
const LINE_BYTES: u32 = 64;
/// Places tried: multiples of this, in bytes. Constants in a function's code
/// rely on it.
const STEP_BYTES: u32 = 16;
/// Loops that are longer do not notice one line more or less.
const LOOP_BYTES_MAX: u32 = 512;
/// How much more an inner loop counts than the loop around it.
const DEPTH_FACTOR: u64 = 8;
/// Depth beyond which loops count the same.
const DEPTH_MAX: u32 = 6;

/// An innermost loop, in bytes from the start of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// How many loops it is in, itself included.
    pub depth: u32,
}

/// The innermost loops of a function, short enough to matter.
pub(super) fn loops(compiled: &CompiledCode) -> Vec<Loop> {
    let len = compiled.buffer.data().len() as u32;
    innermost(&compiled.bb_starts, &compiled.bb_edges, len)
}

fn innermost(starts: &[u32], edges: &[(u32, u32)], len: u32) -> Vec<Loop> {
    let mut ranges: Vec<(u32, u32)> = edges
        .iter()
        .filter(|(from, to)| to <= from)
        .map(|&(from, to)| {
            let next = starts.partition_point(|start| *start <= from);
            (to, starts.get(next).copied().unwrap_or(len))
        })
        .collect();
    // Each range stands behind all that contain it.
    ranges.sort_unstable_by_key(|&(start, end)| (start, Reverse(end)));
    ranges.dedup();
    let depths = depths(&ranges);
    let mut innermost = Vec::new();
    // Of the ranges behind, none of which begins earlier: the least end.
    let mut least = u32::MAX;
    for (&(start, end), depth) in ranges.iter().zip(depths).rev() {
        if end < least && end - start <= LOOP_BYTES_MAX {
            let depth = depth.min(DEPTH_MAX);
            innermost.push(Loop { start, end, depth });
        }
        least = least.min(end);
    }
    innermost.reverse();
    innermost
}

/// In how many ranges each is, itself included. Of those in front of one, which
/// do not begin later, the ones with no smaller end contain it: they are counted
/// in a tree of sums over the ends (Fenwick: A New Data Structure for Cumulative
/// Frequency Tables, 1994), for a function can have a loop every few bytes.
fn depths(ranges: &[(u32, u32)]) -> Vec<u32> {
    let mut ends: Vec<u32> = ranges.iter().map(|range| range.1).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut sums = vec![0u32; ends.len() + 1];
    let depth = |(before, range): (usize, &(u32, u32))| {
        let smaller = ends.partition_point(|end| *end < range.1);
        let mut ending_earlier = 0;
        let mut at = smaller;
        while at > 0 {
            ending_earlier += sums[at];
            at &= at - 1;
        }
        at = smaller + 1;
        while at < sums.len() {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
        before as u32 + 1 - ending_earlier
    };
    ranges.iter().enumerate().map(depth).collect()
}

/// How far behind the start of a line a function with these loops is best
/// placed, in bytes.
pub(super) fn offset_in_line(loops: &[Loop]) -> u32 {
    (0..LINE_BYTES)
        .step_by(STEP_BYTES as usize)
        .min_by_key(|offset| loops.iter().map(|l| cost(l, *offset)).sum::<u64>())
        .unwrap_or(0)
}

/// Lines touched beyond the fewest possible, relative to the loop's length.
fn cost(range: &Loop, offset: u32) -> u64 {
    let fewest = (range.end - range.start).div_ceil(LINE_BYTES);
    let first = (range.start + offset) / LINE_BYTES;
    let touched = (range.end + offset).div_ceil(LINE_BYTES) - first;
    let excess = u64::from(touched - fewest) * 1024 / u64::from(fewest.max(1));
    excess * DEPTH_FACTOR.pow(range.depth)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_innermost_loops_count() {
        let starts = [0, 10, 20, 40, 60];
        let edges = [(0, 10), (10, 20), (20, 20), (20, 40), (40, 10), (40, 60)];
        let expected = Loop {
            start: 20,
            end: 40,
            depth: 2,
        };
        assert_eq!(innermost(&starts, &edges, 70), [expected]);
    }

    /// What [`innermost`] is, said without a thought about time.
    fn by_definition(ranges: &BTreeSet<(u32, u32)>) -> Vec<Loop> {
        let contains = |a: &(u32, u32), b: &(u32, u32)| a.0 <= b.0 && b.1 <= a.1;
        let is_innermost =
            |range: &&(u32, u32)| !ranges.iter().any(|r| r != *range && contains(range, r));
        let found = ranges.iter().filter(is_innermost).map(|range| Loop {
            start: range.0,
            end: range.1,
            depth: (ranges.iter().filter(|r| contains(r, range)).count() as u32).min(DEPTH_MAX),
        });
        found
            .filter(|l| l.end - l.start <= LOOP_BYTES_MAX)
            .collect()
    }

    proptest::proptest! {
        #[test]
        fn any_loops_are_told_apart(edges in proptest::collection::vec((0u32..200, 0u32..200), 0..60)) {
            let starts: Vec<u32> = (0..200).map(|start| start * 5).collect();
            let edges: Vec<(u32, u32)> = edges.iter().map(|(a, b)| (a * 5, b * 5)).collect();
            let back = edges.iter().filter(|(from, to)| to <= from);
            let ranges = back.map(|(from, to)| (*to, from + 5)).collect();
            proptest::prop_assert_eq!(innermost(&starts, &edges, 1000), by_definition(&ranges));
        }
    }

    #[test]
    fn a_loop_is_moved_off_a_line_it_need_not_touch() {
        // 72 bytes from 57 on touch three lines, from 73 on two.
        let range = Loop {
            start: 57,
            end: 129,
            depth: 1,
        };
        assert_eq!(offset_in_line(&[range]), 16);
        assert_eq!(offset_in_line(&[]), 0);
    }

    #[test]
    fn the_deepest_loop_decides() {
        let outer = Loop {
            start: 0,
            end: 64,
            depth: 1,
        };
        let inner = Loop {
            start: 80,
            end: 144,
            depth: 3,
        };
        assert_eq!(offset_in_line(&[outer, inner]), 48);
    }
}
