//! Cells: what machine code reads and writes beside its memories. They are
//! allocated like anything else, or, in a domain whose threads are locked, on
//! pages with a protection key.
//!
//! ```text
//!  domain  Open     the process's allocator
//!          Locked   Inside │ HEAPS: one reservation a key, blocks of powers of two,
//!                   Fixed  │ free ones kept by size; who owns what stands outside
//! ```

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::map::{Access, PageBytes, Reservation};
use crate::pkeys::Key;

/// Whether the machine code that is given cells runs locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// It reaches what the process reaches.
    Open,
    /// It reaches what has a key, and nothing else.
    Locked,
}

/// Bytes of address space for the cells of a key.
const HEAP_BYTES: usize = 16 << 30;
/// Bytes of the smallest block.
const BLOCK_BYTES_MIN: usize = 64;
/// Blocks from this size on lose their pages when they are given back.
const BLOCK_BYTES_LARGE: usize = 64 << 10;

static HEAPS: [LazyLock<io::Result<Heap>>; 2] = [
    LazyLock::new(|| Heap::new(Key::Inside)),
    LazyLock::new(|| Heap::new(Key::Fixed)),
];

/// The pages of a key.
struct Heap {
    reservation: Reservation,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    /// Where nothing was ever taken.
    end: usize,
    /// Offsets of free blocks, by size.
    free: HashMap<usize, Vec<usize>>,
}

/// Set aside what cells of this domain are placed on. Until then the first cell does that, and
/// ends the process where there is no room.
///
/// # Errors
/// What `mmap(2)` and `pkey_mprotect(2)` say, for as long as the process lives.
pub fn reserve(domain: Domain) -> io::Result<()> {
    let keys = [Key::Inside, Key::Fixed].into_iter();
    for key in keys.filter_map(|key| domain.key(key)) {
        if let Err(error) = HEAPS[key as usize].as_ref() {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
    }
    Ok(())
}

impl Heap {
    fn new(key: Key) -> io::Result<Heap> {
        let bytes = PageBytes::round_up(HEAP_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
        let access = Access::ReadWrite;
        Ok(Heap {
            reservation: Reservation::new(bytes, access)?.keyed(access, key)?,
            blocks: Mutex::default(),
        })
    }

    fn of(key: Key) -> Option<&'static Heap> {
        HEAPS[key as usize].as_ref().ok()
    }

    /// Bytes of the block for a layout.
    fn block_bytes(layout: Layout) -> Option<usize> {
        let bytes = layout.size().max(layout.align()).max(BLOCK_BYTES_MIN);
        bytes.checked_next_power_of_two()
    }

    /// A zeroed block.
    fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let bytes = Heap::block_bytes(layout)?;
        let mut blocks = self.lock();
        let (offset, is_used) = match blocks.free.get_mut(&bytes).and_then(Vec::pop) {
            Some(offset) => (offset, bytes < BLOCK_BYTES_LARGE),
            None => {
                // Aligned to its size, up to what any layout asks for.
                let offset = blocks.end.next_multiple_of(bytes.min(BLOCK_BYTES_LARGE));
                let end = offset.checked_add(bytes)?;
                if end > self.reservation.bytes().get() {
                    return None;
                }
                blocks.end = end;
                (offset, false)
            }
        };
        drop(blocks);
        // SAFETY: inside the reservation, and nobody else's.
        unsafe {
            let start = self.reservation.start().add(offset);
            if is_used {
                start.write_bytes(0, layout.size());
            }
            Some(start)
        }
    }

    fn give_back(&self, start: NonNull<u8>, layout: Layout) {
        let Some(bytes) = Heap::block_bytes(layout) else {
            return;
        };
        let offset = start.as_ptr() as usize - self.reservation.addresses().start;
        if bytes >= BLOCK_BYTES_LARGE && self.reservation.empty(offset..offset + bytes).is_err() {
            // It keeps what was in it, so it is never used again.
            return;
        }
        self.lock().free.entry(bytes).or_default().push(offset);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An owned value at an address that stays the same; of a slice, any number of
/// them.
pub struct Placed<T: ?Sized> {
    start: NonNull<T>,
    layout: Layout,
    /// Whose pages it is on; the allocator's without.
    key: Option<Key>,
}

// SAFETY: it owns its value, as a box does.
unsafe impl<T: ?Sized + Send> Send for Placed<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for Placed<T> {}

/// A type all of whose values are plain bits, zero among them.
///
/// # Safety
/// As it says.
pub unsafe trait Word: Copy {}
// SAFETY: integers.
unsafe impl Word for u32 {}
// SAFETY: integers.
unsafe impl Word for u64 {}
// SAFETY: integers.
unsafe impl Word for u128 {}
// SAFETY: integers.
unsafe impl Word for usize {}

/// What a block of the allocator's holds before anything is written to it. One of a key is
/// always zero.
#[derive(Clone, Copy)]
enum Before {
    Zeros,
    Anything,
}

fn allocate(key: Option<Key>, layout: Layout, before: Before) -> Option<NonNull<u8>> {
    match key {
        Some(key) => Heap::of(key)?.take(layout),
        None if layout.size() == 0 => {
            Some(NonNull::without_provenance(layout.align().try_into().ok()?))
        }
        // SAFETY: the layout has a size.
        None => NonNull::new(unsafe {
            match before {
                Before::Zeros => alloc_zeroed(layout),
                Before::Anything => alloc(layout),
            }
        }),
    }
}

impl Domain {
    fn key(self, key: Key) -> Option<Key> {
        match self {
            Domain::Open => None,
            Domain::Locked => Some(key),
        }
    }
}

impl<T> Placed<T> {
    /// Place a value. Ends the process where there is no memory, as a box does.
    pub fn new(domain: Domain, key: Key, value: T) -> Placed<T> {
        let (layout, key) = (Layout::new::<T>(), domain.key(key));
        let Some(start) = allocate(key, layout, Before::Anything) else {
            handle_alloc_error(layout)
        };
        let start = start.cast::<T>();
        // SAFETY: allocated for a `T`.
        unsafe { start.write(value) };
        Placed { start, layout, key }
    }
}

impl<T: Copy> Placed<[T]> {
    /// A copy of values. Ends the process where there is no memory.
    pub fn copied(domain: Domain, key: Key, values: &[T]) -> Placed<[T]> {
        let (layout, key) = (Layout::for_value(values), domain.key(key));
        let Some(start) = allocate(key, layout, Before::Anything) else {
            handle_alloc_error(layout)
        };
        let start = start.cast::<T>();
        // SAFETY: allocated for so many values.
        unsafe { start.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len()) };
        let start = NonNull::slice_from_raw_parts(start, values.len());
        Placed { start, layout, key }
    }
}

impl<T: Word> Placed<[T]> {
    /// As many zeros; nothing where there is no memory for them.
    pub fn zeroed(domain: Domain, key: Key, len: usize) -> Option<Placed<[T]>> {
        let (layout, key) = (Layout::array::<T>(len).ok()?, domain.key(key));
        let start = allocate(key, layout, Before::Zeros)?.cast::<T>();
        let start = NonNull::slice_from_raw_parts(start, len);
        Some(Placed { start, layout, key })
    }

    /// The same. Ends the process where there is no memory.
    pub fn zeros(domain: Domain, key: Key, len: usize) -> Placed<[T]> {
        Placed::zeroed(domain, key, len).unwrap_or_else(|| {
            let layout = Layout::array::<T>(len);
            handle_alloc_error(layout.unwrap_or(Layout::new::<T>()))
        })
    }
}

impl<T: ?Sized> Placed<T> {
    /// Where the cell is, on a page of its key.
    pub fn address(&self) -> NonNull<T> {
        self.start
    }
}

impl<T: ?Sized> Deref for Placed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: owned, initialised, borrowed as the owner is.
        unsafe { self.start.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, exclusively.
        unsafe { self.start.as_mut() }
    }
}

impl<T: ?Sized> Drop for Placed<T> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, dropped once.
        unsafe {
            self.start.drop_in_place();
            match self.key {
                Some(key) => {
                    if let Some(heap) = Heap::of(key) {
                        heap.give_back(self.start.cast(), self.layout);
                    }
                }
                None if self.layout.size() == 0 => {}
                None => dealloc(self.start.cast().as_ptr(), self.layout),
            }
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_values_and_are_zero_when_they_are_new() {
        let cell = Placed::new(Domain::Open, Key::Fixed, 7u32);
        assert_eq!(*cell, 7);
        let copied = Placed::copied(Domain::Open, Key::Fixed, &['a', 'b']);
        assert_eq!(copied[..], ['a', 'b']);
        assert!(Placed::<[char]>::copied(Domain::Open, Key::Fixed, &[]).is_empty());
        let mut words = Placed::<[u64]>::zeroed(Domain::Open, Key::Inside, 3).unwrap();
        words[2] = 9;
        assert_eq!(words[..], [0, 0, 9]);
        assert!(
            Placed::<[u64]>::zeroed(Domain::Open, Key::Inside, 0)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn locked_cells_are_used_again_and_zero_again() {
        if let Err(why) = crate::pkeys::keys() {
            println!("SKIPPED: cells with a key: {why}");
            return;
        }
        crate::pkeys::open();
        for len in [4, 1 << 20] {
            let mut words = Placed::<[u64]>::zeroed(Domain::Locked, Key::Inside, len).unwrap();
            words.fill(3);
            let start = words.address();
            drop(words);
            let words = Placed::<[u64]>::zeroed(Domain::Locked, Key::Inside, len).unwrap();
            assert_eq!(words.address(), start);
            assert!(words.iter().all(|word| *word == 0));
        }
    }
}
