//! Copies to and from bytes that other threads may access at the same time.
//!
//! Every access to such a byte is a relaxed atomic one: a race with compiled
//! code or with another copy gives some mixture of old and new bytes, as the
//! threads proposal allows of non-atomic accesses, and is no data race of
//! Rust's. Eight bytes go at once where they are aligned on the shared side,
//! for speed; compiled code, which is not Rust, mixes widths as it likes.
//!
//! What must stay true: no reference to the bytes themselves is ever made.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

const WORD: usize = size_of::<u64>();
/// Bytes that a copy between two shared places holds in between.
const CHUNK_BYTES: usize = 4096;

/// How `len` bytes from `start` split into single bytes, words and bytes.
fn split(start: *const u8, len: usize) -> (usize, usize) {
    let head = start.align_offset(WORD).min(len);
    (head, len - (len - head) % WORD)
}

/// Copy `into.len()` bytes out of shared memory.
///
/// # Safety
/// `from` and the bytes behind it stay readable and writable meanwhile, and
/// nobody has a reference to them.
pub(crate) unsafe fn load(from: *const u8, into: &mut [u8]) {
    let from = from.cast_mut();
    let (head, words_end) = split(from, into.len());
    // SAFETY: inside the range that the caller vouches for; words are aligned.
    let byte = |at: usize| unsafe { AtomicU8::from_ptr(from.add(at)) }.load(Relaxed);
    // SAFETY: as above.
    let word = |at: usize| unsafe { AtomicU64::from_ptr(from.add(at).cast()) }.load(Relaxed);
    for at in (0..head).chain(words_end..into.len()) {
        into[at] = byte(at);
    }
    for (i, chunk) in into[head..words_end].chunks_exact_mut(WORD).enumerate() {
        chunk.copy_from_slice(&word(head + i * WORD).to_ne_bytes());
    }
}

/// Copy bytes into shared memory.
///
/// # Safety
/// As [`load`], for `to`.
pub(crate) unsafe fn store(from: &[u8], to: *mut u8) {
    let (head, words_end) = split(to, from.len());
    // SAFETY: inside the range that the caller vouches for; words are aligned.
    let byte = |at: usize| unsafe { AtomicU8::from_ptr(to.add(at)) };
    // SAFETY: as above.
    let word = |at: usize| unsafe { AtomicU64::from_ptr(to.add(at).cast()) };
    for at in (0..head).chain(words_end..from.len()) {
        byte(at).store(from[at], Relaxed);
    }
    for (i, chunk) in from[head..words_end].chunks_exact(WORD).enumerate() {
        let mut bytes = [0; WORD];
        bytes.copy_from_slice(chunk);
        word(head + i * WORD).store(u64::from_ne_bytes(bytes), Relaxed);
    }
}

/// Set `len` bytes of shared memory.
///
/// # Safety
/// As [`load`], for `to`.
pub(crate) unsafe fn fill(to: *mut u8, value: u8, len: usize) {
    let chunk = [value; CHUNK_BYTES];
    for at in (0..len).step_by(CHUNK_BYTES) {
        // SAFETY: a part of the caller's range.
        unsafe { store(&chunk[..CHUNK_BYTES.min(len - at)], to.add(at)) };
    }
}

/// Copy between shared places, which may overlap: the result is as if all had
/// been read first.
///
/// # Safety
/// As [`load`], for both.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let mut chunk = [0; CHUNK_BYTES];
    let mut step = |at: usize| {
        let chunk = &mut chunk[..CHUNK_BYTES.min(len - at)];
        // SAFETY: parts of the caller's ranges.
        unsafe {
            load(from.add(at), chunk);
            store(chunk, to.add(at));
        }
    };
    // Where the target begins inside the source, from the end: what is
    // overwritten has been read.
    let starts = (0..len).step_by(CHUNK_BYTES);
    if to.addr().wrapping_sub(from.addr()) < len {
        starts.rev().for_each(&mut step);
    } else {
        starts.for_each(&mut step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 % 251) as u8).collect()
    }

    #[test]
    fn every_alignment_and_length_is_copied_and_nothing_else() {
        for start in 0..9 {
            for len in 0..40 {
                let mut memory = bytes(64);
                let mut out = vec![0; len];
                // SAFETY: inside the vector, of which there is no reference.
                unsafe { load(memory.as_mut_ptr().add(start), &mut out) };
                assert_eq!(out, memory[start..start + len]);
                let mut expected = memory.clone();
                expected[start..start + len].fill(0xee);
                // SAFETY: as above.
                unsafe { fill(memory.as_mut_ptr().add(start), 0xee, len) };
                assert_eq!(memory, expected);
            }
        }
    }

    #[test]
    fn overlapping_copies_are_as_if_read_first() {
        let long = 3 * CHUNK_BYTES + 17;
        for (from, to, len) in [
            (0, 5, long),
            (5, 0, long),
            (3, 3, long),
            (0, CHUNK_BYTES, long),
        ] {
            let mut memory = bytes(5 * CHUNK_BYTES);
            let mut expected = memory.clone();
            expected.copy_within(from..from + len, to);
            let base = memory.as_mut_ptr();
            // SAFETY: inside the vector, of which there is no reference.
            unsafe { copy(base.add(from), base.add(to), len) };
            assert!(memory == expected, "{from} to {to}");
        }
    }
}
