//! Segments: where a stack goes on that is used up.
//!
//! ```text
//!  small stack                      segment, aligned to its size
//!   caller's frame                   … frames ◄── return address ─ arguments │ End
//!   return address, rbp  ◄── trap                  │ of the gate back
//!                                                  ▼
//!            `back`: the stack pointer is moved by `distance`, the segment is free
//! ```
//!
//! The prologue that finds no room traps; the handler of the fault puts the return address
//! and the arguments at the end of a segment, and has the function begin again there: it has
//! done nothing yet, and its arguments are still in their registers. Frames are not moved,
//! for they have addresses of themselves. A call that goes back and forth over the end of a
//! stack costs a signal each time, some microseconds; frames inside of a segment cost what
//! they cost anywhere.
//!
//! A segment rests on no number of a compiler's: the function compares with the segment's limit
//! when it begins again, and traps for good where its frame fits none.
//!
//! What must stay true: everything that the handler calls is async-signal-safe. What a
//! function is begun with depends on nothing but its registers, the words above its frame
//! and the chain of frame pointers, which goes on from the segment to the stack.

use super::{Arena, Reservation, Stacks, StoreOpaque, VALUE_BYTES};
use crate::facts::quota::Resource;
use crate::facts::vmcont::{VmCont, VmSegmentEnd, VmStacks};
use crate::run::entry;

/// Bytes of a segment, a power of two: its end is found from any address in it.
pub(crate) const SEGMENT_BYTES: usize = 64 << 10;
/// Arguments that are not in registers, at most.
const ARGUMENT_BYTES_MAX: usize = 1001 * VALUE_BYTES;
/// How a function begins that can begin again: `push rbp`, `mov rbp, rsp`, and what loads
/// the runtime into r10, from the context that one of the registers has. One that makes room
/// for the arguments of tail calls first cannot.
const PROLOGUE: [u8; 6] = [0x55, 0x48, 0x89, 0xe5, 0x4c, 0x8b];
/// The rest of that load: r10, and any register without displacement.
const LOAD: u8 = 0x10;

/// The end of the segment that an address is in.
fn end_of(address: usize) -> *mut VmSegmentEnd {
    let end = (address | (SEGMENT_BYTES - 1)) + 1;
    (end - size_of::<VmSegmentEnd>()) as *mut VmSegmentEnd
}

/// The segments of an arena: from the first address that is aligned to their size.
fn first_of(segments: &Reservation) -> usize {
    segments.addresses().start.next_multiple_of(SEGMENT_BYTES)
}

impl Arena {
    /// A segment that was never used.
    fn next_segment(&mut self) -> Option<*mut VmSegmentEnd> {
        let start = first_of(&self.segments) + self.segment_count * SEGMENT_BYTES;
        if start + SEGMENT_BYTES > self.segments.addresses().end {
            return None;
        }
        self.segment_count += 1;
        Some(end_of(start))
    }
}

impl Stacks {
    /// Whether an address is in a segment. Async-signal-safe.
    pub fn is_segment(&self, address: usize) -> bool {
        let arena = self.arena.as_ref();
        arena.is_some_and(|arena| arena.segments.addresses().contains(&address))
    }

    /// Where the frame `fp` returns to whose return address is `pc`, and where its stack was
    /// used up, if that is what its return is about.
    ///
    /// # Safety
    /// `fp` is a live frame of one of these stacks, or of the thread's.
    pub unsafe fn returns_to(&self, pc: usize, fp: usize) -> (usize, Option<*mut VmSegmentEnd>) {
        match pc == entry::back_address() && self.is_segment(fp) {
            // SAFETY: the caller's promise; a segment that is in use has its end written.
            true => unsafe { ((*end_of(fp)).returns_to, Some(end_of(fp))) },
            false => (pc, None),
        }
    }

    /// Hand over what is in use in a segment from `sp` on, and where the stack goes on that
    /// it is about.
    ///
    /// # Safety
    /// A suspended stack has its stack pointer there.
    pub(super) unsafe fn segment_words(sp: usize, visit: &mut dyn FnMut(usize)) -> usize {
        let end = end_of(sp);
        for address in (sp..end as usize).step_by(size_of::<usize>()) {
            // SAFETY: inside a segment, aligned.
            visit(unsafe { (address as *const usize).read_volatile() });
        }
        // SAFETY: it is in use.
        unsafe { (*end).first.wrapping_add_signed((*end).distance) }
    }
}

impl VmStacks {
    /// Give back the segments of a continuation that is over: the last one is where its
    /// limit is.
    ///
    /// # Safety
    /// It has a stack and is one of these.
    pub(crate) unsafe fn release_segments(&mut self, cont: *mut VmCont) {
        // SAFETY: the caller's promise; each segment knows the limit in front of it, and the
        // stack's own is the first.
        unsafe {
            while (*cont).limit != (*(*cont).stack).limit {
                let end = end_of((*cont).limit);
                (*cont).limit = (*end).limit_before;
                self.release_segment(end);
            }
        }
    }

    /// Give a segment back.
    ///
    /// # Safety
    /// It is one of these, and what was in it is over.
    pub(crate) unsafe fn release_segment(&mut self, end: *mut VmSegmentEnd) {
        // SAFETY: the caller's promise.
        unsafe { (*end).next = self.free_segments };
        self.free_segments = end;
    }
}

impl StoreOpaque {
    /// Have a function begin again on a segment that found its stack used up: where its
    /// stack pointer is then. Nothing where it is to trap. Async-signal-safe.
    ///
    /// # Safety
    /// Its frame pointer is `fp`, set just now, and nothing is below; `start` is its first
    /// instruction. This store's Wasm was interrupted there.
    pub(crate) unsafe fn begin_on_segment(&mut self, start: usize, fp: usize) -> Option<usize> {
        let most = self.engine.config().max_wasm_stack;
        let stacks: *mut VmStacks = &raw mut self.runtime.stacks;
        // SAFETY: the caller's promise; code can be read, and so can what is above a frame up
        // to its stack's end.
        unsafe {
            if (*stacks).is_on_root() || (*stacks).limit_min != 0 {
                return None;
            }
            let [begin @ .., load] = (start as *const [u8; 7]).read_unaligned();
            if begin != PROLOGUE || load & !7 != LOAD {
                return None;
            }
            let cont = (*stacks).current;
            let (above, used) = match self.stacks.is_segment(fp) {
                true => {
                    let end = end_of(fp);
                    // What does not fit a segment of its own fits none.
                    if (*end).first == fp + 8 {
                        return None;
                    }
                    (end as usize, (*end).used)
                }
                false => ((*cont).stack as usize, self.stacks.slot_bytes),
            };
            if used + SEGMENT_BYTES > most.max(SEGMENT_BYTES) {
                return None;
            }
            let end = self.take_segment()?;
            let bytes = (above - (fp + 16)).min(ARGUMENT_BYTES_MAX) & !7;
            // As the caller had it: the return address is 8 below a multiple of 16.
            let first = ((end as usize - bytes) & !15) - 8;
            std::ptr::copy_nonoverlapping((fp + 16) as *const u8, (first + 8) as *mut u8, bytes);
            let return_address = (fp + 8) as *const usize;
            end.write(VmSegmentEnd {
                next: std::ptr::null_mut(),
                runtime: self.runtime.address().as_ptr(),
                limit_before: (*cont).limit,
                first,
                distance: (fp + 8).wrapping_sub(first).cast_signed(),
                returns_to: return_address.read(),
                used: used + SEGMENT_BYTES,
            });
            (first as *mut usize).write(entry::back_address());
            let limit = end as usize + size_of::<VmSegmentEnd>() - SEGMENT_BYTES;
            (*cont).limit = limit;
            self.runtime.stack_limit = limit;
            Some(first)
        }
    }

    fn take_segment(&mut self) -> Option<*mut VmSegmentEnd> {
        let free = self.runtime.stacks.free_segments;
        if !free.is_null() {
            // SAFETY: one that is free.
            self.runtime.stacks.free_segments = unsafe { (*free).next };
            return Some(free);
        }
        let bytes = SEGMENT_BYTES as u64;
        self.account.take(Resource::StackBytes, bytes).ok()?;
        let made = self.stacks.arena.as_mut().and_then(Arena::next_segment);
        if made.is_none() {
            self.account.give_back(Resource::StackBytes, bytes);
        }
        made
    }
}
