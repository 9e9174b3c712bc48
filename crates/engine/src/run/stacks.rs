//! The continuations of a store and their stacks.
//!
//! ```text
//!  space | null's │ VmCont │ VmCont │ …  | frames ◄── VmStackTop │ VmCont | frames ◄── …
//!          64 bytes each, without stacks   ▲ limit   `Config::continuation_stack`
//! ```
//!
//! They are one reservation, made when the store's first continuation is; nothing in it is
//! set aside before it is used. Compiled code takes what is free from two chains, with
//! stacks and without, and gives it back there (`VmStacks`), the last first; what is here
//! runs where a chain is empty, and when something is torn down.
//!
//! A stack belongs to the continuation above it until the revisions of that are used up; to
//! one of the others from then on.
//!
//! A stack that is used up goes on in a segment (`stacks/segments.rs`), as far as
//! `Config::max_wasm_stack` and the quota allow. There are no guard pages, which would take a
//! mapping for each stack. Whatever runs on a stack compares the stack pointer with the limit
//! first: functions, the trampolines out of Wasm and the starts of continuations in their
//! prologues. Gates (`entry/x86_64_stacks.rs`) use the 16 bytes that each prologue accounts for
//! whom it calls, and leave for the thread's own stack: no host code runs here. Handlers of
//! signals run on the alternate stack ([`fathom_sys::signals`]).
//!
//! What a comparison with the limit rests on (`stacks/sweep.rs` tries it byte by byte):
//!
//! | number | of whom | why it holds |
//! |---|---|---|
//! | frames of Cranelift's | its layout | what is compared is what is subtracted (`set_stack_limit`) |
//! | frames of LLVM's | nobody | read off the machine code (`compile/llvm/frame.rs`) |
//! | calls | us | 16 bytes that whoever calls has counted: return address and rbp, a gate's too |
//! | red zones, probes | none | neither is emitted; LLVM's code is searched for the first |
//! | arguments on the stack | Cranelift's layout | in its frames; LLVM's functions have none |
//! | a segment's arguments | Wasm's limits | 1000 of 16 bytes and an address |
//!
//! What must stay true: a continuation that is free, or was never used, is in no chain of
//! what runs, and nothing that is valid refers to it. A continuation without a stack has no
//! site (`VmCont::site`). Tops of stacks are a line of the processor's cache more than a
//! stack apart: at the same distance from a page's end they would share one place there.

#![allow(unsafe_code)]

use std::ops::Range;
use std::ptr::null_mut;

use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};

use crate::facts::error::Error;
use crate::facts::quota::Resource;
use crate::facts::trap::TrapCode;
use crate::facts::vmcont::{
    BLOCKS_IN_FRONT, FEW_ARGUMENTS, LAST_REVISION, VmCont, VmControl, VmStackTop, VmStacks,
    first_reference,
};
use crate::run::entry;
use crate::run::runtime::instance;
use crate::run::store::{StoreOpaque, trap_error};

mod segments;

pub(crate) use segments::SEGMENT_BYTES;

/// Bytes of address space for stacks, and for continuations without, at most; and for both,
/// of which references have the place in 32 bits.
const STACK_SPACE_BYTES: u64 = 248 << 30;
const CONT_SPACE_BYTES: u64 = 4 << 30;
const SPACE_BYTES: u64 = (size_of::<VmCont>() as u64) << 32;
/// Bytes of a stack at least: a page.
const SLOT_BYTES_MIN: usize = 4096;
const PAGE_BYTES: u64 = 4096;
/// The reference of the block that null is the place of: not null.
const NOBODY: u64 = LAST_REVISION as u64;
/// Bytes of a value.
const VALUE_BYTES: usize = 16;
/// Bytes that frames have beside the arguments, at least.
const FRAMES_BYTES_MIN: usize = 1024;
/// Continuations that are made at once: a page of them.
const BATCH: usize = 64;
/// Stacks whose pages are asked for at once, at most.
const POPULATED_MAX: usize = 256;
/// From so many bytes on stacks are on huge pages, where the host has them.
const HUGE_BYTES: usize = 2 << 20;

/// The continuations of a store.
#[derive(Debug)]
pub(crate) struct Stacks {
    slot_bytes: usize,
    arena: Option<Arena>,
}

/// What they are in.
#[derive(Debug)]
struct Arena {
    /// Continuations without stacks, then stacks with theirs.
    space: Reservation,
    /// Where stacks begin in it, and bytes from one to the next.
    stacks_at: usize,
    stride: usize,
    segments: Reservation,
    /// How many of each were ever made; of the first, with those in front.
    cont_count: usize,
    stack_count: usize,
    segment_count: usize,
    /// Bytes of the space whose pages were asked for.
    populated: usize,
    /// Stacks that were asked for last.
    batch: usize,
}

impl VmStacks {
    /// None yet. To be completed where it stays: [`VmStacks::begin`].
    pub(crate) fn new() -> VmStacks {
        let root = VmCont {
            control: VmControl::default(),
            limit: 0,
            link: null_mut(),
            // What null refers to as long as there is no continuation.
            reference: NOBODY,
            site: null_mut(),
            stack: null_mut(),
        };
        VmStacks {
            current: null_mut(),
            root,
            base: null_mut(),
            free: null_mut(),
            free_stacks: null_mut(),
            free_segments: null_mut(),
            limit_min: 0,
            found: 0,
            thrown: 0,
            scratch: VmControl::default(),
            no_clauses: 0,
        }
    }

    /// Write the addresses of its own parts, and forget all continuations.
    pub(crate) fn begin(&mut self) {
        let root = &raw mut self.root;
        (self.current, self.base) = (root, root);
        self.root.site = (&raw mut self.no_clauses).cast();
        (self.free, self.free_stacks) = (null_mut(), null_mut());
        self.free_segments = null_mut();
    }

    /// Whether the thread's own stack runs.
    pub(crate) fn is_on_root(&self) -> bool {
        std::ptr::eq(self.current, &self.root)
    }

    /// Give a continuation and its stack back that nothing valid refers to.
    ///
    /// # Safety
    /// It is one of these, not free and not running.
    pub(crate) unsafe fn release(&mut self, cont: *mut VmCont) {
        // SAFETY: the caller's promise.
        unsafe {
            let chain = match (*cont).stack.is_null() {
                true => &mut self.free,
                false => {
                    self.release_segments(cont);
                    &mut self.free_stacks
                }
            };
            (*cont).control.sp = 0;
            (*cont).link = *chain;
            *chain = cont;
        }
    }

    /// Have whoever knows a continuation know another one that is the same.
    ///
    /// # Safety
    /// Both are of these; the first runs or is suspended, and is nobody's afterwards.
    unsafe fn replace(&mut self, cont: *mut VmCont, new: *mut VmCont) {
        // SAFETY: what runs ends at the root; what is suspended ends at the one that a
        // reference is to, beginning at the one that this is linked with. One that has no
        // stack is linked with nothing.
        unsafe {
            if (*cont).stack.is_null() {
                return;
            }
            if std::ptr::eq((*cont).link, cont) {
                (*new).link = new;
                return;
            }
            let mut at = &raw mut self.current;
            while !std::ptr::eq(*at, &self.root) {
                if std::ptr::eq(*at, cont) {
                    *at = new;
                    return;
                }
                at = &raw mut (**at).link;
            }
            let mut at = (*cont).link;
            while !std::ptr::eq((*at).link, cont) {
                at = (*at).link;
            }
            (*at).link = new;
        }
    }

    /// Give back whatever runs, up to the thread's own stack.
    ///
    /// # Safety
    /// It was left, and nobody goes on in it.
    pub(crate) unsafe fn abandon(&mut self) {
        while !self.is_on_root() {
            let cont = self.current;
            // SAFETY: what runs are continuations of these, ending at the root.
            unsafe {
                self.current = (*cont).link;
                self.release(cont);
            }
        }
    }
}

impl Stacks {
    /// None yet, with stacks of so many bytes.
    pub fn new(slot_bytes: usize) -> Stacks {
        let slot_bytes = slot_bytes
            .max(SLOT_BYTES_MIN)
            .checked_next_multiple_of(page_bytes())
            // More than there is address space, which is said once there are to be some.
            .unwrap_or(usize::MAX - (page_bytes() - 1));
        Stacks {
            slot_bytes,
            arena: None,
        }
    }

    /// Whether there was never one.
    pub fn is_empty(&self) -> bool {
        self.arena.is_none()
    }

    /// Whether an address is on one of the stacks. Async-signal-safe.
    pub fn contains(&self, address: usize) -> bool {
        let arena = self.arena.as_ref();
        arena.is_some_and(|arena| {
            arena.stacks().contains(&address) || arena.segments.addresses().contains(&address)
        })
    }

    /// Hand over every word on stacks that are in use: of suspended ones from where they
    /// go on, of `running` ones all.
    pub fn each_word(&self, running: &[*const VmCont], mut visit: impl FnMut(usize)) {
        let Some(arena) = &self.arena else { return };
        let start = arena.stacks().start;
        let mut scan = |mut sp: usize| {
            while self.is_segment(sp) {
                // SAFETY: a stack that is suspended there, or runs.
                sp = unsafe { Stacks::segment_words(sp, &mut visit) };
            }
            let end = start + ((sp - start) / arena.stride + 1) * arena.stride;
            for address in (sp..end).step_by(size_of::<usize>()) {
                // SAFETY: inside a stack, aligned, and nothing of this thread's writes
                // there meanwhile.
                visit(unsafe { (address as *const usize).read_volatile() });
            }
        };
        let without = (BLOCKS_IN_FRONT..arena.cont_count).map(|index| arena.cont(index));
        let with = (0..arena.stack_count).map(|index| arena.above(index));
        for cont in without.chain(with) {
            // SAFETY: those were made. One that is free may have what it had.
            let sp = unsafe { (*cont).control.sp };
            if self.contains(sp) {
                scan(sp);
            }
        }
        for cont in running {
            // SAFETY: they are of these, and run.
            let limit = unsafe { (**cont).limit };
            if self.contains(limit) {
                scan(limit);
            }
        }
    }
}

/// Have huge pages for all but the first of a range, which are pages of their own, as few
/// programs need more. All at once, for a huge page is one only where all of it may be.
fn on_huge_pages(reservation: &Reservation, range: Range<usize>) {
    let start = reservation.addresses().start;
    let from = (start + range.start + HUGE_BYTES).next_multiple_of(HUGE_BYTES) - start;
    if from < range.end {
        // Without it pages come one by one.
        let _ = reservation.prefer_huge(from..range.end);
    }
}

impl Arena {
    fn new(slot_bytes: usize, quota: u64) -> Result<Arena, Error> {
        let pages = |bytes: u64| {
            let bytes = usize::try_from(bytes).ok().and_then(PageBytes::round_up);
            bytes.ok_or_else(no_space)
        };
        let reserve = |bytes: u64| {
            let refused = |error| Error::resource(NO_SPACE, error);
            Reservation::new(pages(bytes)?, Access::ReadWrite).map_err(refused)
        };
        let stride = slot_bytes.saturating_add(size_of::<VmCont>());
        // One more of each than there can be, so that the quota is what is met.
        let conts = pages(quota.min(CONT_SPACE_BYTES - PAGE_BYTES) + PAGE_BYTES)?.get();
        let stacks = quota.min(STACK_SPACE_BYTES).saturating_add(stride as u64);
        let segments = quota.min(STACK_SPACE_BYTES) + 2 * segments::SEGMENT_BYTES as u64;
        let all = stacks.saturating_add(conts as u64);
        if all > SPACE_BYTES {
            return Err(no_space());
        }
        let space = reserve(all)?;
        on_huge_pages(&space, 0..conts);
        if slot_bytes == SLOT_BYTES_MIN {
            on_huge_pages(&space, conts..space.bytes().get());
        }
        Ok(Arena {
            space,
            stacks_at: conts,
            stride,
            segments: reserve(segments)?,
            segment_count: 0,
            cont_count: 0,
            stack_count: 0,
            populated: conts,
            batch: 1,
        })
    }

    /// Addresses of stacks.
    fn stacks(&self) -> Range<usize> {
        let all = self.space.addresses();
        all.start + self.stacks_at..all.end
    }

    /// How many continuations without stacks there is room for.
    fn cont_room(&self) -> usize {
        self.stacks_at / size_of::<VmCont>()
    }

    fn cont(&self, index: usize) -> *mut VmCont {
        let first: *mut VmCont = self.space.start().as_ptr().cast();
        debug_assert!(index < self.cont_room());
        // SAFETY: inside.
        unsafe { first.add(index) }
    }

    /// The reference to a continuation that was never used.
    fn first_reference(&self, cont: *const VmCont) -> u64 {
        let distance = cont as usize - self.space.addresses().start;
        let place = u32::try_from(distance / size_of::<VmCont>());
        first_reference(place.expect("the space is no larger than places go"))
    }

    /// The one above a stack.
    fn above(&self, index: usize) -> *mut VmCont {
        let end = self.stacks().start + (index + 1) * self.stride;
        (end - size_of::<VmCont>()) as *mut VmCont
    }

    /// A stack that was never used, with its continuation; nothing where there is no room.
    fn next_stack(&mut self) -> Option<*mut VmCont> {
        let index = self.stack_count;
        let end = (index + 1).checked_mul(self.stride)? + self.stacks_at;
        if end > self.space.bytes().get() {
            return None;
        }
        if end > self.populated {
            self.populate(end);
        }
        self.stack_count += 1;
        let cont = self.above(index);
        let limit = self.stacks().start + index * self.stride;
        // SAFETY: in a slot that nobody uses, and aligned: slots are multiples of a
        // continuation, beginning with a page.
        unsafe {
            let top = cont.cast::<VmStackTop>().sub(1);
            top.write(VmStackTop {
                limit,
                func: std::ptr::null(),
                caller: null_mut(),
            });
            cont.write(VmCont {
                control: VmControl::default(),
                limit,
                link: null_mut(),
                reference: self.first_reference(cont),
                site: null_mut(),
                stack: top,
            });
        }
        Some(cont)
    }

    /// Ask for the pages of the next stacks, of which the first ends there, twice as many each
    /// time: a page that is asked for by a fault takes several times as long.
    fn populate(&mut self, end: usize) {
        let to = (end + (self.batch - 1) * self.stride).next_multiple_of(page_bytes());
        let to = to.min(self.space.bytes().get());
        self.batch = (2 * self.batch).min(POPULATED_MAX);
        // Without it pages come one by one.
        if self.stride == SLOT_BYTES_MIN + size_of::<VmCont>() {
            let _ = self.space.populate(self.populated..to);
        }
        self.populated = to;
    }
}

impl StoreOpaque {
    /// The store's part for compiled code.
    fn vm_stacks(&mut self) -> &mut VmStacks {
        &mut self.runtime.stacks
    }

    /// The arena, made where it is not there yet.
    fn arena(&mut self) -> Result<&mut Arena, Error> {
        if self.stacks.arena.is_none() {
            let quota = self.account.allowance().quota().stack_bytes;
            let mut arena = Arena::new(self.stacks.slot_bytes, quota)?;
            entry::guard_stacks()?;
            // The first one stands for null. What is read below a continuation is there, too.
            arena.cont_count = BLOCKS_IN_FRONT;
            // SAFETY: the reservation has a page at least.
            unsafe { (*arena.cont(0)).reference = NOBODY };
            self.vm_stacks().base = arena.cont(0);
            self.stacks.arena = Some(arena);
        }
        Ok(self.stacks.arena.as_mut().expect("it was just made"))
    }

    /// A continuation that nobody has. Others are free afterwards.
    fn new_cont(&mut self) -> Result<*mut VmCont, Error> {
        let arena = self.arena()?;
        let (first, most) = (arena.cont_count, arena.cont_room());
        let count = (BATCH - first % BATCH).min(most.saturating_sub(first));
        let bytes = (count.max(1) * size_of::<VmCont>()) as u64;
        self.account.take(Resource::StackBytes, bytes)?;
        if count == 0 {
            self.account.give_back(Resource::StackBytes, bytes);
            return Err(no_space());
        }
        let arena = self.arena()?;
        arena.cont_count += count;
        let conts: Vec<*mut VmCont> = (first..first + count).map(|i| arena.cont(i)).collect();
        for cont in &conts {
            // SAFETY: nobody has it.
            unsafe { (**cont).reference = arena.first_reference(*cont) };
        }
        for cont in conts[1..].iter().rev() {
            // SAFETY: zeros but for that, which is a continuation without a stack.
            unsafe { self.vm_stacks().release(*cont) };
        }
        Ok(conts[0])
    }

    /// A continuation that nobody has, with a stack that has room for so many arguments.
    fn new_stack(&mut self, arguments: usize) -> Result<*mut VmCont, Error> {
        let slot_bytes = self.stacks.slot_bytes;
        let room = slot_bytes - size_of::<VmStackTop>();
        let has_room = arguments * VALUE_BYTES + FRAMES_BYTES_MIN <= room;
        if arguments > FEW_ARGUMENTS && !has_room {
            return Err(trap_error(TrapCode::StackExhausted, Vec::new()));
        }
        let free = self.vm_stacks().free_stacks;
        if !free.is_null() {
            // SAFETY: one that is free.
            self.vm_stacks().free_stacks = unsafe { (*free).link };
            return Ok(free);
        }
        let stride = self.arena()?.stride as u64;
        self.account.take(Resource::StackBytes, stride)?;
        match self.arena()?.next_stack() {
            Some(cont) => Ok(cont),
            None => {
                self.account.give_back(Resource::StackBytes, stride);
                Err(no_space())
            }
        }
    }

    /// Another continuation in the place of one that runs or is in nobody's hands, whose
    /// revisions are used up.
    fn renew_cont(&mut self, cont: *mut VmCont) -> Result<*mut VmCont, Error> {
        // One whose revisions are used up, too, is nobody's from now on.
        let new = loop {
            let free = self.vm_stacks().free;
            if free.is_null() {
                break self.new_cont()?;
            }
            // SAFETY: one that is free.
            unsafe {
                self.vm_stacks().free = (*free).link;
                if !(*free).is_used_up() {
                    break free;
                }
            }
        };
        // SAFETY: both are of this store.
        unsafe {
            let reference = (*new).reference;
            *new = VmCont { reference, ..*cont };
            self.vm_stacks().replace(cont, new);
            // It is no stack's any more.
            (*cont).control.sp = 0;
        }
        Ok(new)
    }

    /// Forget every continuation: none runs, and nothing refers to one any more.
    pub(crate) fn forget_stacks(&mut self) {
        if !self.stacks.is_empty() {
            self.stacks = Stacks::new(self.stacks.slot_bytes);
            self.vm_stacks().begin();
        }
    }
}

/// What is said where a reservation is not to be had.
const NO_SPACE: &str = "no address space for continuations";

fn no_space() -> Error {
    Error::resource(NO_SPACE, std::io::ErrorKind::OutOfMemory.into())
}

/// An address, or 0 with the error pending.
///
/// # Safety
/// The store is alive.
unsafe fn address_or_pending<T>(store: *mut StoreOpaque, made: Result<*mut T, Error>) -> u64 {
    match made {
        Ok(address) => address as u64,
        Err(error) => {
            // SAFETY: the caller's promise.
            unsafe { (*store).pending = Some(error) };
            0
        }
    }
}

pub(crate) unsafe extern "C" fn cont_new(vmctx: *mut u8) -> u64 {
    // SAFETY: called by compiled code with its own context; an instance's store is alive
    // while the instance is.
    unsafe {
        let store = instance(vmctx).store;
        address_or_pending(store, (*store).new_cont())
    }
}

pub(crate) unsafe extern "C" fn cont_stack(vmctx: *mut u8, arguments: u32) -> u64 {
    // SAFETY: as above.
    unsafe {
        let store = instance(vmctx).store;
        let made = (*store).new_stack(arguments as usize);
        address_or_pending(store, made)
    }
}

pub(crate) unsafe extern "C" fn cont_find(vmctx: *mut u8, clause: u64) -> u64 {
    // SAFETY: as above; what runs ends at the root, and each was resumed with clauses
    // that end with 0.
    unsafe {
        let store = instance(vmctx).store;
        let stacks: *mut VmStacks = (*store).vm_stacks();
        let mut cont = (*stacks).current;
        while !std::ptr::eq(cont, &(*stacks).root) {
            let clauses: *const u64 = (*cont).site.cast();
            let mut position = 0;
            while *clauses.add(position) != 0 {
                if *clauses.add(position) == clause {
                    (*stacks).found = position as u64;
                    return cont as u64;
                }
                position += 1;
            }
            cont = (*cont).link;
        }
        0
    }
}

pub(crate) unsafe extern "C" fn cont_renew(vmctx: *mut u8, cont: u64) -> u64 {
    // SAFETY: as above.
    unsafe {
        let store = instance(vmctx).store;
        let made = (*store).renew_cont(cont as *mut VmCont);
        address_or_pending(store, made)
    }
}

pub(crate) unsafe extern "C" fn cont_drop(vmctx: *mut u8, cont: u64) {
    // SAFETY: as above; it was used up by this.
    unsafe {
        let store = instance(vmctx).store;
        (*store).vm_stacks().release(cont as *mut VmCont);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod sweep;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
