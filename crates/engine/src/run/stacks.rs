//! The continuations of a store and their stacks.
//!
//! ```text
//!  conts    | root's │ VmCont │ VmCont │ …          64 bytes each, never unmapped
//!  stacks   | frames ◄── VmStackTop colour │ frames ◄── VmStackTop colour │ …
//!             ▲ limit                      slots of `Config::continuation_stack`
//! ```
//!
//! Both are one reservation each, made when the store's first continuation is; nothing
//! in them is set aside before it is used. Compiled code takes what is free from two
//! chains and gives it back there (`VmStacks`), the last first; what is here runs where a
//! chain is empty, and when something is torn down.
//!
//! A stack that is used up goes on in a segment (`stacks/segments.rs`), as far as
//! `Config::max_wasm_stack` and the quota allow.
//!
//! There are no guard pages, which would take a mapping for each stack. Whatever runs on
//! a stack compares the stack pointer with the limit first: functions, the trampolines
//! out of Wasm and the starts of continuations in their prologues. Gates
//! (`entry/x86_64_stacks.rs`) use the 16 bytes that each prologue accounts for whom it
//! calls, and leave for the thread's own stack: no host code runs here. Handlers of signals
//! run on the alternate stack ([`fathom_sys::signals`]).
//!
//! What must stay true: a continuation that is free, or was never used, is in no chain of
//! what runs, and nothing that is valid refers to it. Tops of stacks are at different
//! distances from a page's end, for those at the same one would share a line's place in
//! the processor's cache.

#![allow(unsafe_code)]

use std::ptr::null_mut;

use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};

use crate::facts::error::Error;
use crate::facts::quota::Resource;
use crate::facts::trap::TrapCode;
use crate::facts::vmcont::{FEW_ARGUMENTS, REVISIONS, VmCont, VmControl, VmStackTop, VmStacks};
use crate::run::entry;
use crate::run::runtime::instance;
use crate::run::store::{StoreOpaque, trap_error};

mod segments;

pub(crate) use segments::SEGMENT_BYTES;

/// Bytes of address space for stacks, and for continuations, at most.
const STACK_SPACE_BYTES: u64 = 256 << 30;
const CONT_SPACE_BYTES: u64 = 4 << 30;
/// Bytes of a stack at least: a page.
const SLOT_BYTES_MIN: usize = 4096;
const PAGE_BYTES: u64 = 4096;
/// Different distances of a stack's top from its slot's end, a line of the cache each.
const COLOURS: usize = 16;
const LINE_BYTES: usize = 64;
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
    conts: Reservation,
    stacks: Reservation,
    segments: Reservation,
    /// How many of each were ever made; of the first, one that stands for null.
    cont_count: usize,
    stack_count: usize,
    segment_count: usize,
    /// Stacks whose pages were asked for.
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
            revision: u32::MAX,
            begun: 1,
            site: null_mut(),
            stack: null_mut(),
        };
        VmStacks {
            current: null_mut(),
            root,
            host_sp: 0,
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
            let top = (*cont).stack;
            if !top.is_null() {
                self.release_segments(cont);
                (*top).next = self.free_stacks;
                self.free_stacks = top;
            }
            (*cont).stack = null_mut();
            (*cont).control.sp = 0;
            if (*cont).revision < REVISIONS {
                (*cont).link = self.free;
                self.free = cont;
            }
        }
    }

    /// Have whoever knows a continuation know another one that is the same.
    ///
    /// # Safety
    /// Both are of these; the first runs or is suspended, and is nobody's afterwards.
    unsafe fn replace(&mut self, cont: *mut VmCont, new: *mut VmCont) {
        // SAFETY: what runs ends at the root; what is suspended ends at the one that a
        // reference is to, beginning at the one that this is linked with.
        unsafe {
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
            .unwrap_or(SLOT_BYTES_MIN);
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
            arena.stacks.addresses().contains(&address)
                || arena.segments.addresses().contains(&address)
        })
    }

    /// Hand over every word on stacks that are in use: of suspended ones from where they
    /// go on, of `running` ones all.
    pub fn each_word(&self, running: &[*const VmCont], mut visit: impl FnMut(usize)) {
        let Some(arena) = &self.arena else { return };
        let start = arena.stacks.addresses().start;
        let mut scan = |mut sp: usize| {
            while self.is_segment(sp) {
                // SAFETY: a stack that is suspended there, or runs.
                sp = unsafe { Stacks::segment_words(sp, &mut visit) };
            }
            let end = start + ((sp - start) / self.slot_bytes + 1) * self.slot_bytes;
            for address in (sp..end).step_by(size_of::<usize>()) {
                // SAFETY: inside a stack, aligned, and nothing of this thread's writes
                // there meanwhile.
                visit(unsafe { (address as *const usize).read_volatile() });
            }
        };
        for index in 1..arena.cont_count {
            // SAFETY: those were made. One that is free may have what it had.
            let sp = unsafe { (*arena.cont(index)).control.sp };
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

/// Have huge pages for all but the first, which are pages of their own, as few programs
/// need more. All at once, for a huge page is one only where all of it may be.
fn on_huge_pages(reservation: &Reservation) {
    let start = reservation.addresses().start;
    let from = (start + HUGE_BYTES).next_multiple_of(HUGE_BYTES) - start;
    if from < reservation.bytes().get() {
        // Without it pages come one by one.
        let _ = reservation.prefer_huge(from..reservation.bytes().get());
    }
}

impl Arena {
    fn new(slot_bytes: usize, quota: u64) -> Result<Arena, Error> {
        let reserve = |bytes: u64| {
            let bytes = usize::try_from(bytes).ok().and_then(PageBytes::round_up);
            let bytes = bytes.ok_or(std::io::ErrorKind::OutOfMemory)?;
            Reservation::new(bytes, Access::ReadWrite)
        };
        let refused = |error| Error::resource("no address space for continuations", error);
        // One more of each than there can be, so that the quota is what is met.
        let conts = quota.min(CONT_SPACE_BYTES - PAGE_BYTES) + PAGE_BYTES;
        let stacks = quota.min(STACK_SPACE_BYTES) + slot_bytes as u64;
        let segments = quota.min(STACK_SPACE_BYTES) + 2 * segments::SEGMENT_BYTES as u64;
        let conts = reserve(conts).map_err(refused)?;
        let stacks = reserve(stacks).map_err(refused)?;
        on_huge_pages(&conts);
        if slot_bytes == SLOT_BYTES_MIN {
            on_huge_pages(&stacks);
        }
        Ok(Arena {
            conts,
            stacks,
            segments: reserve(segments).map_err(refused)?,
            segment_count: 0,
            cont_count: 0,
            stack_count: 0,
            populated: 0,
            batch: 1,
        })
    }

    fn cont(&self, index: usize) -> *mut VmCont {
        let first: *mut VmCont = self.conts.start().as_ptr().cast();
        debug_assert!((index + 1) * size_of::<VmCont>() <= self.conts.bytes().get());
        // SAFETY: inside.
        unsafe { first.add(index) }
    }

    /// The top of a stack that was never used; nothing where there is no room.
    fn next_stack(&mut self, slot_bytes: usize) -> Option<*mut VmStackTop> {
        let (index, start) = (self.stack_count, self.stacks.addresses().start);
        let end = (index + 1).checked_mul(slot_bytes)?;
        if end > self.stacks.bytes().get() {
            return None;
        }
        if index >= self.populated {
            self.populate(slot_bytes);
        }
        self.stack_count += 1;
        let colour = LINE_BYTES * (index % COLOURS);
        let top = (start + end - colour - size_of::<VmStackTop>()) as *mut VmStackTop;
        let limit = start + index * slot_bytes;
        // SAFETY: in a slot that nobody uses, and it is aligned.
        unsafe {
            top.write(VmStackTop {
                next: null_mut(),
                limit,
                func: std::ptr::null(),
                caller: null_mut(),
            });
        }
        Some(top)
    }

    /// Ask for the pages of the next stacks, twice as many each time: a page that is asked
    /// for by a fault takes several times as long.
    fn populate(&mut self, slot_bytes: usize) {
        let from = self.populated * slot_bytes;
        let count = self.batch.min(POPULATED_MAX);
        let to = (from + count * slot_bytes).min(self.stacks.bytes().get());
        self.batch *= 2;
        self.populated += count;
        // Without it pages come one by one.
        if slot_bytes == SLOT_BYTES_MIN {
            let _ = self.stacks.populate(from..to);
        }
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
            // The first one stands for null: no reference has its revision.
            arena.cont_count = 1;
            // SAFETY: the reservation has a page at least.
            unsafe { (*arena.cont(0)).revision = u32::MAX };
            self.vm_stacks().base = arena.cont(0);
            self.stacks.arena = Some(arena);
        }
        Ok(self.stacks.arena.as_mut().expect("it was just made"))
    }

    /// A continuation that nobody has. Others are free afterwards.
    fn new_cont(&mut self) -> Result<*mut VmCont, Error> {
        let arena = self.arena()?;
        let (first, most) = (
            arena.cont_count,
            arena.conts.bytes().get() / size_of::<VmCont>(),
        );
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
        for cont in conts[1..].iter().rev() {
            // SAFETY: zeros, which is a continuation without a stack.
            unsafe { self.vm_stacks().release(*cont) };
        }
        Ok(conts[0])
    }

    /// A stack with room for so many arguments.
    fn new_stack(&mut self, arguments: usize) -> Result<*mut VmStackTop, Error> {
        let slot_bytes = self.stacks.slot_bytes;
        let room = slot_bytes - COLOURS * LINE_BYTES - size_of::<VmStackTop>();
        let has_room = arguments * VALUE_BYTES + FRAMES_BYTES_MIN <= room;
        if arguments > FEW_ARGUMENTS && !has_room {
            return Err(trap_error(TrapCode::StackExhausted, Vec::new()));
        }
        let free = self.vm_stacks().free_stacks;
        if !free.is_null() {
            // SAFETY: one that is free.
            self.vm_stacks().free_stacks = unsafe { (*free).next };
            return Ok(free);
        }
        self.account.take(Resource::StackBytes, slot_bytes as u64)?;
        match self.arena()?.next_stack(slot_bytes) {
            Some(top) => Ok(top),
            None => {
                self.account
                    .give_back(Resource::StackBytes, slot_bytes as u64);
                Err(no_space())
            }
        }
    }

    /// Another continuation in the place of one that runs or is in nobody's hands, whose
    /// revisions are used up.
    fn renew_cont(&mut self, cont: *mut VmCont) -> Result<*mut VmCont, Error> {
        let free = self.vm_stacks().free;
        let new = match free.is_null() {
            true => self.new_cont()?,
            false => {
                // SAFETY: one that is free.
                self.vm_stacks().free = unsafe { (*free).link };
                free
            }
        };
        // SAFETY: both are of this store.
        unsafe {
            let revision = (*new).revision;
            *new = VmCont { revision, ..*cont };
            self.vm_stacks().replace(cont, new);
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

fn no_space() -> Error {
    let error = std::io::ErrorKind::OutOfMemory.into();
    Error::resource("no address space for continuations", error)
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

pub(crate) unsafe extern "C" fn cont_stack(vmctx: *mut u8, cont: u64, arguments: u32) -> u64 {
    // SAFETY: as above.
    unsafe {
        let store = instance(vmctx).store;
        let made = (*store).new_stack(arguments as usize);
        if made.is_err() {
            // It was used up by whoever wanted the stack.
            (*store).vm_stacks().release(cont as *mut VmCont);
        }
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
mod tests;
