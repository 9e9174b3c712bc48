//! Linear memories: a reservation laid out by its plan.
//!
//! What must stay true: the base never moves, the length only grows and stays
//! a multiple of the Wasm page, and every byte below the length is readable
//! and writable (under `uffd`: as soon as it is touched).
//!
//! A shared memory is one `LinearMemory` that several stores own, and that
//! their threads access at the same time: it grows under a lock, pages first
//! and then the length, and its bytes are only touched by compiled code, by
//! `racy` and by atomic operations. Of an unshared one there may be slices, as
//! long as its store is borrowed.

#![allow(unsafe_code)]

mod fault;
mod recycle;

pub(crate) use fault::Meaning;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_sys::cells::{Domain, Placed};
use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};
use fathom_sys::pkeys::Key;
use fathom_sys::region::{self, OnDemand, Registration};
use fathom_sys::uffd;

use crate::bounds::{Backing, MemoryPlan, Place, WASM_PAGE_BYTES};
use crate::facts::error::{Error, Result};
use crate::facts::types::MemoryType;
use crate::facts::vmctx::VmMemory;
use crate::run::limits::Charge;
use crate::run::racy;
use crate::run::refusal::{Refused, Step};

/// A range that is not inside a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of bounds memory access")]
pub struct OutOfBounds;

/// Why a memory does not grow.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GrowError {
    /// It would be larger than it declares, or than a memory can be.
    #[error("it is at its maximum")]
    Maximum,
    /// The host has no room.
    #[error("{0}")]
    Host(#[from] io::Error),
}

/// A memory. Stores own it through an `Arc`: compiled code keeps the address
/// of `vm`.
#[derive(Debug)]
pub(crate) struct LinearMemory {
    /// What compiled code sees.
    pub vm: Placed<VmMemory>,
    /// What was decided about it.
    pub plan: MemoryPlan,
    /// Its type as declared.
    pub ty: MemoryType,
    /// Whose it is: whether the pages have a protection key.
    domain: Domain,
    /// Held while it grows.
    growing: Mutex<()>,
    /// How far an earlier lease may have left pages behind that are zero and, from the length
    /// on, inaccessible; 0 where there is none (`recycle`).
    locked_end: AtomicUsize,
    /// The pages of what is locked, in bytes.
    locked_bytes: AtomicUsize,
    // Dropped in this order: first nobody finds the region, then it is gone.
    registration: Option<Registration>,
    reservation: Reservation,
    /// Its shadow, where that has a place of its own.
    shadow: Option<Reservation>,
    /// What a shared one has taken of a quota. That of others is in their store's
    /// account.
    pub charge: Option<Charge>,
}

// SAFETY: the pointers point into the reservation, which the memory owns.
unsafe impl Send for LinearMemory {}
// SAFETY: the length is atomic, growth is locked, and who makes references to
// the bytes answers for them (`bytes`, `bytes_mut`).
unsafe impl Sync for LinearMemory {}

impl LinearMemory {
    /// Make a memory of its minimal size.
    ///
    /// # Errors
    /// Where the host has no address space or memory for it, or lacks what the
    /// strategy needs.
    pub fn new(plan: MemoryPlan, ty: MemoryType, domain: Domain) -> Result<Arc<LinearMemory>> {
        if !plan.holds(ty.min) {
            let (pages, limit) = (ty.min, plan.max_bytes / WASM_PAGE_BYTES);
            return Err(Error::mismatch(format!(
                "memory of {pages} pages is beyond the limit of {limit} pages of 64 KiB"
            )));
        }
        let refused = |(step, error)| plan.refused(ty.min, step, error);
        LinearMemory::attempt(plan, ty, domain).map_err(refused)
    }

    /// The same; an error says what failed and what the host said.
    pub fn attempt(
        plan: MemoryPlan,
        ty: MemoryType,
        domain: Domain,
    ) -> Result<Arc<LinearMemory>, Refused> {
        let failed = |step| move |error: io::Error| (step, error);
        let below = shadow_below(&plan, domain).map_err(failed(Step::Shadow))?;
        let end = below.as_ref().map_or(0, |(_, end)| *end);
        let planned = plan.reserved_bytes;
        let reserved = plan
            .shadow
            .map_or(planned, |shadow| shadow.reserved_bytes(planned, end as u64));
        let bytes = page_bytes_of(plan.lead_bytes() + reserved).map_err(failed(Step::Reserve))?;
        let access = match plan.backing {
            Backing::Protect => Access::None,
            Backing::Whole | Backing::OnDemand => Access::ReadWrite,
        };
        let reservation = Reservation::placed(bytes, access)
            .and_then(|reservation| keyed(reservation, access, domain))
            .map_err(failed(Step::Reserve))?;
        if plan.huge_pages && plan.backing != Backing::OnDemand {
            // All of it, so that what is not open stays one mapping (`set_len`). A kernel
            // without them has small ones.
            let _ = reservation.prefer_huge(0..reservation.bytes().get());
        }
        let lead = usize_of(plan.lead_bytes()).map_err(failed(Step::Reserve))?;
        // SAFETY: the lead is inside the reservation.
        let base = unsafe { reservation.start().as_ptr().add(lead) };
        let shadow_end = match (below.is_some(), plan.shadow) {
            (false, Some(shadow)) => reservation.addresses().start + shadow.bytes as usize,
            _ => end,
        };
        let index_bits = plan.index_bits();
        let vm = VmMemory {
            base,
            len: AtomicUsize::new(0),
            shadow: shadow_end as *const u8,
            high_bits: u64::MAX << index_bits,
            index_bits: u64::from(index_bits),
        };
        let mut memory = Arc::new(LinearMemory {
            vm: Placed::new(domain, Key::Fixed, vm),
            plan,
            ty,
            domain,
            growing: Mutex::new(()),
            locked_end: AtomicUsize::new(0),
            locked_bytes: AtomicUsize::new(0),
            registration: None,
            reservation,
            shadow: below.map(|(reservation, _)| reservation),
            charge: None,
        });
        memory.open_lead().map_err(failed(Step::Lead))?;
        if plan.backing == Backing::OnDemand {
            let registration = memory.register().map_err(failed(Step::Userfaultfd))?;
            let unpublished = Arc::get_mut(&mut memory).expect("nobody else has it yet");
            unpublished.registration = Some(registration);
        }
        memory.set_len(plan.min_bytes).map_err(failed(Step::Open))?;
        Ok(memory)
    }

    /// Open what is readable in front of the memory: a landing page, the slack
    /// behind a shadow.
    fn open_lead(&self) -> io::Result<()> {
        if self.plan.backing == Backing::Protect {
            let lead = usize_of(self.plan.lead_bytes())?;
            let front = usize_of(self.plan.front_bytes)?;
            self.reservation.open(lead - front..lead)?;
        }
        if self.plan.shadow.is_some() {
            let (reservation, end) = self.shadow_place();
            reservation.open_read_only(end..end + page_bytes())?;
        }
        Ok(())
    }

    /// Where the shadow is, and the offset of its end there.
    fn shadow_place(&self) -> (&Reservation, usize) {
        let reservation = self.shadow.as_ref().unwrap_or(&self.reservation);
        let start = reservation.addresses().start;
        (reservation, self.vm.shadow.addr() - start)
    }

    /// Have its pages supplied when they are missing.
    fn register(&self) -> io::Result<Registration> {
        let addresses = self.reservation.addresses();
        uffd::register(addresses.clone())?;
        let start = self.vm.base as usize;
        let len = &raw const self.vm.len;
        // SAFETY: a placed reservation; its length stays where it is as
        // long as the memory; the registration is dropped before both.
        Ok(unsafe { region::register(addresses, OnDemand { start, len }) })
    }

    /// Current length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.vm.len.load(Ordering::SeqCst)
    }

    /// Current length in pages.
    pub fn pages(&self) -> u64 {
        self.len() as u64 / WASM_PAGE_BYTES
    }

    /// Keeps others from growing it meanwhile.
    pub fn lock_growth(&self) -> MutexGuard<'_, ()> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grow by `delta` pages while growth is locked; the former size in pages.
    ///
    /// A failure is one in the order of growths: it is found under the lock.
    ///
    /// # Errors
    /// Beyond the maximum, or where the host has no room.
    pub fn grow(&self, _: &MutexGuard<'_, ()>, delta: u64) -> Result<u64, GrowError> {
        let old = self.pages();
        let bytes = old.checked_add(delta);
        let bytes = bytes.and_then(|pages| pages.checked_mul(WASM_PAGE_BYTES));
        let bytes = bytes.filter(|bytes| *bytes <= self.plan.max_bytes);
        let bytes = bytes.ok_or(GrowError::Maximum)?;
        if delta > 0 {
            self.set_len(bytes)?;
        }
        Ok(old)
    }

    /// Only while nobody else grows it. The pages are opened before the length
    /// says so: whoever reads the new length may touch them.
    ///
    /// The shadow comes first: with its byte readable and the memory's not, an
    /// access still traps, so that nothing is to be undone where opening the
    /// memory fails. That itself opens all or nothing, or what it has opened is locked
    /// again: the pages from the length on are one mapping of the kernel's, whose protection
    /// changes at once, but for those that an earlier lease has left behind.
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        if let Some(shadow) = &self.plan.shadow {
            let (reservation, end) = self.shadow_place();
            let open = |len| usize_of(shadow.open_bytes(len));
            let (before, after) = (open(self.len() as u64)?, open(bytes)?);
            reservation.open_read_only(end - after..end - before)?;
        }
        let bytes = usize_of(bytes)?;
        if self.plan.backing == Backing::Protect {
            let lead = usize_of(self.plan.lead_bytes())?;
            let opened = lead + self.len()..lead + bytes;
            if let Err(error) = self.reservation.open(opened.clone()) {
                if self.reservation.lock(opened).is_err() {
                    // An access beyond the length would not trap.
                    std::process::abort();
                }
                return Err(error);
            }
        }
        self.vm.len.store(bytes, Ordering::SeqCst);
        Ok(())
    }

    /// The contents.
    ///
    /// # Safety
    /// The memory is not shared, and its store is borrowed for `'a`.
    #[inline]
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        debug_assert!(!self.ty.shared);
        // SAFETY: every byte below the length is readable; by the caller's
        // promise nobody writes.
        unsafe { std::slice::from_raw_parts(self.vm.base, self.len()) }
    }

    /// The contents, to change.
    ///
    /// # Safety
    /// The memory is not shared, and its store is exclusively borrowed for
    /// `'a`.
    #[inline]
    pub unsafe fn bytes_mut<'a>(&self) -> &'a mut [u8] {
        debug_assert!(!self.ty.shared);
        // SAFETY: every byte below the length is writable; by the caller's
        // promise nobody else has a reference.
        unsafe { std::slice::from_raw_parts_mut(self.vm.base, self.len()) }
    }

    /// Copy bytes out, shared or not.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is copied then.
    ///
    /// # Safety
    /// Unless it is shared, the store is borrowed.
    pub unsafe fn read(&self, start: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        let range = self.check(start, into.len() as u64)?;
        match self.ty.shared {
            // SAFETY: inside; nobody makes references to shared bytes.
            true => unsafe { racy::load(self.vm.base.add(range.start), into) },
            // SAFETY: the caller's promise.
            false => into.copy_from_slice(&(unsafe { self.bytes() })[range]),
        }
        Ok(())
    }

    /// Copy bytes in, shared or not.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is changed then.
    ///
    /// # Safety
    /// Unless it is shared, the store is exclusively borrowed.
    pub unsafe fn write(&self, start: u64, from: &[u8]) -> Result<(), OutOfBounds> {
        let range = self.check(start, from.len() as u64)?;
        match self.ty.shared {
            // SAFETY: inside; nobody makes references to shared bytes.
            true => unsafe { racy::store(from, self.vm.base.add(range.start)) },
            // SAFETY: the caller's promise.
            false => (unsafe { self.bytes_mut() })[range].copy_from_slice(from),
        }
        Ok(())
    }

    /// `memory.fill`.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is changed then.
    ///
    /// # Safety
    /// As [`LinearMemory::write`].
    pub unsafe fn fill(&self, start: u64, value: u8, len: u64) -> Result<(), OutOfBounds> {
        let range = self.check(start, len)?;
        match self.ty.shared {
            // SAFETY: inside; nobody makes references to shared bytes.
            true => unsafe { racy::fill(self.vm.base.add(range.start), value, range.len()) },
            // SAFETY: the caller's promise.
            false => (unsafe { self.bytes_mut() })[range].fill(value),
        }
        Ok(())
    }

    /// `memory.copy`, from `source`, which may be the same memory.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is changed then.
    ///
    /// # Safety
    /// As [`LinearMemory::write`], for both.
    pub unsafe fn copy(
        &self,
        start: u64,
        source: &LinearMemory,
        from: u64,
        len: u64,
    ) -> Result<(), OutOfBounds> {
        let from = source.check(from, len)?;
        let to = self.check(start, len)?;
        // SAFETY: both ranges are inside their memories; they may overlap, and
        // one that other threads may access is copied so that they may.
        unsafe {
            let (from, to) = (source.vm.base.add(from.start), self.vm.base.add(to.start));
            match self.ty.shared || source.ty.shared {
                true => racy::copy(from, to, len as usize),
                false => std::ptr::copy(from, to, len as usize),
            }
        }
        Ok(())
    }

    /// `start..start + len` as a range of indices.
    ///
    /// # Errors
    /// [`OutOfBounds`] unless it is inside.
    #[inline]
    pub fn check(&self, start: u64, len: u64) -> Result<Range<usize>, OutOfBounds> {
        let end = start.checked_add(len).ok_or(OutOfBounds)?;
        if end > self.len() as u64 {
            return Err(OutOfBounds);
        }
        Ok(start as usize..end as usize)
    }

    /// Make sure that the kernel can access a range: check it and, under
    /// `uffd`, touch each of its pages; where pages have a key, one of them, so
    /// that a thread which lacks the key is lent it.
    ///
    /// # Errors
    /// [`OutOfBounds`] unless it is inside.
    #[inline]
    pub fn populate(&self, start: u64, len: u64) -> Result<(), OutOfBounds> {
        let range = self.check(start, len)?;
        match (self.plan.backing, self.domain) {
            (Backing::OnDemand, _) => self.touch(range, page_bytes()),
            (_, Domain::Locked) => self.touch(range, usize::MAX),
            (_, Domain::Open) => {}
        }
        Ok(())
    }

    /// Load a byte at every step of a range that is inside.
    #[cold]
    fn touch(&self, range: Range<usize>, step: usize) {
        if range.is_empty() {
            return;
        }
        let first = range.start - range.start % page_bytes();
        for page in (first..range.end).step_by(step) {
            // Atomic, because other threads may access a shared memory.
            // SAFETY: below the length; a missing page is supplied by the fault handler.
            unsafe { AtomicU8::from_ptr(self.vm.base.add(page)) }.load(Ordering::Relaxed);
        }
    }
}

/// A reservation for the shadow, where it has a place of its own, and the
/// address of the shadow's end; slack follows there.
fn shadow_below(plan: &MemoryPlan, domain: Domain) -> io::Result<Option<(Reservation, usize)>> {
    let Some(shadow) = plan.shadow.filter(|s| s.place == Place::Below) else {
        return Ok(None);
    };
    let bytes = page_bytes_of(shadow.bytes + page_bytes() as u64)?;
    let reservation = keyed(Reservation::low(bytes, Access::None)?, Access::None, domain)?;
    let end = reservation.addresses().start + usize_of(shadow.bytes)?;
    Ok(Some((reservation, end)))
}

/// The reservation with the key that its domain gives memories.
pub(crate) fn keyed(
    reservation: Reservation,
    access: Access,
    domain: Domain,
) -> io::Result<Reservation> {
    match domain {
        Domain::Open => Ok(reservation),
        Domain::Locked => reservation.keyed(access, Key::Inside),
    }
}

fn page_bytes_of(bytes: u64) -> io::Result<PageBytes> {
    PageBytes::round_up(usize_of(bytes)?).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

fn usize_of(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
