//! Memories that are used again: what they hold at first, laid and restored.
//!
//! ```text
//!  |-------- min --------|------ grown by ------|---------- reserved ---------|
//!   small: every page       few pages written:      nothing was written there,
//!    compared, in user       cleared, and locked     but where the strategy maps
//!    space                   (guard pages)           it all: as what it has grown
//!   else: pages that the    else: closed, or        by, or all dropped
//!    kernel names, or all    dropped (userfaultfd)
//!    dropped if too many
//! ```
//!
//! Pages that stay, of all three together, are at most `resident_bytes`. What has grown
//! is cleared rather than given back for those that grow again: a page anew is a fault, which
//! took 2 µs in a virtual machine (9,000 in 18 ms), many times what clearing takes (below).
//!
//! What must stay true: after [`LinearMemory::restore`] there is no byte of the
//! former contents in reach of any access, checked or not, and what is accessible
//! is what a new memory of the same plan has.
//!
//! Why small memories are compared: the processor compares 64 KiB with pages that
//! are in its first cache in 0.4 µs, while asking the kernel takes 0.5 µs and a
//! lock that all threads share, clearing them blindly 1.1 µs, and giving pages
//! back 1.9 µs for a single one that is touched again (Linux 6.18 in a virtual
//! machine). Pages that nobody wrote are the one page of zeros by then.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;

use fathom_sys::map::page_bytes;
use fathom_sys::written::for_each_written;
use smallvec::SmallVec;

use super::{LinearMemory, usize_of};
use crate::bounds::Backing;
use crate::run::image::Image;

/// Memories of at most this many bytes at first are compared page by page: as
/// long as that takes, asking the kernel does.
const COMPARED_BYTES_MAX: usize = 128 << 10;

impl LinearMemory {
    /// Put an image into a new memory.
    ///
    /// # Errors
    /// What the host says of a mapping in place of pages: too many mappings, for
    /// one. The memory must not be used then, nor the bytes copied instead, for a
    /// kernel may have taken the pages away before it refused others for them.
    ///
    /// # Safety
    /// The memory is not shared, at least as long as the image's end, and nobody
    /// else has its address.
    pub unsafe fn lay(&self, image: &Image) -> io::Result<()> {
        if let Some(frozen) = image.frozen() {
            let lead = self.vm.base.addr() - self.reservation.addresses().start;
            return self.reservation.lay(lead + image.start(), frozen);
        }
        let (at, bytes) = image.exact();
        // SAFETY: the caller's promise.
        let now = unsafe { self.bytes_mut() };
        now[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// Make it what it was when it was new and its image had been laid. At most
    /// `resident_bytes` of it stay in memory.
    ///
    /// # Errors
    /// What the host says; the memory must not be used again then.
    ///
    /// # Safety
    /// It is not shared, and its store is exclusively borrowed.
    pub unsafe fn restore(&self, image: Option<&Image>, resident_bytes: usize) -> io::Result<()> {
        let (len, min) = (self.len(), usize_of(self.plan.min_bytes)?);
        let lead = usize_of(self.plan.lead_bytes())?;
        let mut left = resident_bytes;
        // SAFETY: the caller's promise.
        unsafe { self.shrink(lead, len, min, &mut left)? };
        let front = usize_of(self.plan.front_bytes)?;
        if self.plan.backing == Backing::Whole {
            match written(self.reservation.addresses(), left) {
                // SAFETY: the caller's promise; all of it is mapped.
                Some(pages) => unsafe { clear(&pages) },
                None => self.reservation.empty(0..self.reservation.bytes().get())?,
            }
            // SAFETY: the caller's promise.
            unsafe { self.lay_again(image) };
            return Ok(());
        }
        if front > 0 && min == 0 {
            // Where accesses beyond an empty memory have been sent.
            self.reservation.empty(lead - front..lead)?;
        }
        let is_clean = if min <= COMPARED_BYTES_MAX.min(left) {
            // SAFETY: the caller's promise.
            unsafe { self.compare(0..min, image) };
            true
        } else if let Some(pages) = written(self.vm.base.addr()..self.vm.base.addr() + min, left) {
            // SAFETY: the caller's promise.
            unsafe { self.compare_each(&pages, image) };
            true
        } else {
            false
        };
        if !is_clean {
            self.reservation.empty(lead..lead + min)?;
            // SAFETY: the caller's promise.
            unsafe { self.lay_again(image) };
        }
        Ok(())
    }

    /// Take back what it has grown by. Pages that stay are taken from `left`.
    ///
    /// # Safety
    /// As [`LinearMemory::restore`].
    unsafe fn shrink(
        &self,
        lead: usize,
        len: usize,
        min: usize,
        left: &mut usize,
    ) -> io::Result<()> {
        self.vm.len.store(min, Ordering::SeqCst);
        match self.plan.backing {
            // SAFETY: the caller's promise.
            Backing::Protect => unsafe { self.lock(lead, min..len, left)? },
            Backing::OnDemand if len > min => self.reservation.empty(lead + min..lead + len)?,
            Backing::OnDemand | Backing::Whole => {}
        }
        if let Some(shadow) = &self.plan.shadow {
            let (reservation, end) = self.shadow_place();
            let open = |len: usize| usize_of(shadow.open_bytes(len as u64));
            let (before, after) = (open(len)?, open(min)?);
            if before > after {
                reservation.close(end - before..end - after)?;
            }
        }
        Ok(())
    }

    /// Make what it has grown by inaccessible: cleared, with its pages, where these and those
    /// that an earlier lease has left behind are few enough; else all of them are given back.
    ///
    /// # Safety
    /// As [`LinearMemory::restore`]; the memory's length is the start of `grown` already.
    unsafe fn lock(&self, lead: usize, grown: Range<usize>, left: &mut usize) -> io::Result<()> {
        let end = self.locked_end.load(Ordering::Relaxed).max(grown.end);
        if end == grown.start {
            return Ok(());
        }
        if grown.is_empty()
            && let Some(rest) = left.checked_sub(self.locked_bytes.load(Ordering::Relaxed))
        {
            // It has not grown, so it is as it was left: the kernel need not look at each page.
            *left = rest;
            return Ok(());
        }
        let base = self.vm.base.addr();
        let before = written(base + grown.end..base + end, *left);
        let now = before.and_then(|before| {
            let most = *left - bytes_of(&before);
            Some((before, written(base + grown.start..base + grown.end, most)?))
        });
        let Some((before, now)) = now else {
            self.locked_end.store(0, Ordering::Relaxed);
            return self.reservation.close(lead + grown.start..lead + end);
        };
        let bytes = bytes_of(&before) + bytes_of(&now);
        *left -= bytes;
        // SAFETY: the caller's promise; it is still open, and no image reaches as far.
        unsafe { clear(&now) };
        self.locked_end.store(end, Ordering::Relaxed);
        self.locked_bytes.store(bytes, Ordering::Relaxed);
        self.reservation.lock(lead + grown.start..lead + grown.end)
    }

    /// The image's bytes where dropping contents has left zeros: a mapped image is
    /// itself again.
    ///
    /// # Safety
    /// As [`LinearMemory::restore`].
    unsafe fn lay_again(&self, image: Option<&Image>) {
        if let Some(image) = image {
            let (at, bytes) = image.exact();
            // SAFETY: the caller's promise.
            let now = unsafe { self.bytes_mut() };
            let now = &mut now[at..at + bytes.len()];
            // One of no more than a few pages was copied, for sure.
            if image.frozen().is_none() || now != bytes {
                now.copy_from_slice(bytes);
            }
        }
    }

    /// [`LinearMemory::compare`] for ranges of addresses.
    ///
    /// # Safety
    /// As [`LinearMemory::restore`]; the ranges are whole pages inside.
    unsafe fn compare_each(&self, pages: &Pages, image: Option<&Image>) {
        let base = self.vm.base.addr();
        for range in pages {
            // SAFETY: the caller's promise.
            unsafe { self.compare(range.start - base..range.end - base, image) };
        }
    }

    /// Write what the pages of a range held at first, where they hold something
    /// else.
    ///
    /// # Safety
    /// As [`LinearMemory::restore`]; the range is whole pages inside.
    unsafe fn compare(&self, range: Range<usize>, image: Option<&Image>) {
        // SAFETY: the caller's promise.
        let bytes = unsafe { self.bytes_mut() };
        let size = page_bytes();
        for (i, page) in bytes[range.clone()].chunks_exact_mut(size).enumerate() {
            let at = range.start + i * size;
            match image.and_then(|image| image.page(at)) {
                Some(first) if page != first => page.copy_from_slice(first),
                None if !is_zero(page) => page.fill(0),
                Some(_) | None => {}
            }
        }
    }
}

/// Ranges of addresses.
type Pages = SmallVec<[Range<usize>; 8]>;

/// The pages of a range of addresses that the kernel says may have been written; nothing where
/// they are more than `most` bytes, or it does not say.
fn written(range: Range<usize>, most: usize) -> Option<Pages> {
    let mut found = Pages::new();
    let mut left = Some(most);
    let asked = for_each_written(range, |pages| {
        left = left.and_then(|left| left.checked_sub(pages.len()));
        found.push(pages);
        match left {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    });
    (asked.is_ok() && left.is_some()).then_some(found)
}

fn bytes_of(pages: &Pages) -> usize {
    pages.iter().map(ExactSizeIterator::len).sum()
}

/// Make them zero.
///
/// # Safety
/// They are writable, and nobody else uses them.
unsafe fn clear(pages: &Pages) {
    for range in pages {
        // SAFETY: the caller's promise.
        unsafe { (range.start as *mut u8).write_bytes(0, range.len()) };
    }
}

/// Whether all bytes are 0: what takes the time when a small memory is restored.
fn is_zero(bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it.
        return unsafe { is_zero_by_avx2(bytes) };
    }
    all_bits(bytes) == 0
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn is_zero_by_avx2(bytes: &[u8]) -> bool {
    all_bits(bytes) == 0
}

/// The bits that any word has, in sixteen sums that the compiler keeps in
/// registers as wide as there are. A turn is eight lines of the cache: with two, the
/// loop itself costs a fifth more, and whether the compiler unrolls it is chance.
#[inline(always)]
fn all_bits(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let (blocks, few) = words.as_chunks::<64>();
    let mut sums = [0u64; 16];
    for block in blocks {
        for part in block.as_chunks::<16>().0 {
            for (sum, word) in sums.iter_mut().zip(part) {
                *sum |= u64::from_ne_bytes(*word);
            }
        }
    }
    let few = few.iter().map(|word| u64::from_ne_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    sums.into_iter()
        .chain(few)
        .chain(rest)
        .fold(0, |all, bits| all | bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_anywhere_is_not_zero() {
        for len in [0, 1, 7, 8, 127, 128, 200, 511, 512, 700, 4096] {
            let mut bytes = vec![0; len];
            assert!(is_zero(&bytes) && all_bits(&bytes) == 0);
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(!is_zero(&bytes) && all_bits(&bytes) != 0, "{at} of {len}");
                bytes[at] = 0;
            }
        }
    }
}
