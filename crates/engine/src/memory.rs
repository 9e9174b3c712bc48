//! Linear memories: a reservation laid out by its plan.
//!
//! What must stay true: the base never moves, the length only grows and stays
//! a multiple of the Wasm page, and every byte below the length is readable
//! and writable (under `uffd`: as soon as it is touched).

#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};
use fathom_sys::region::{self, OnDemand, Registration};
use fathom_sys::uffd;

use crate::bounds::{Backing, MemoryPlan, WASM_PAGE_BYTES};
use crate::error::{Error, Result};
use crate::types::MemoryType;
use crate::vmctx::VmMemory;

/// A range that is not inside a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of bounds memory access")]
pub struct OutOfBounds;

/// A memory. Boxed by its store: compiled code keeps the address of `vm`.
#[derive(Debug)]
pub(crate) struct LinearMemory {
    /// What compiled code sees.
    pub vm: VmMemory,
    /// What was decided about it.
    pub plan: MemoryPlan,
    /// Its type as declared.
    pub ty: MemoryType,
    // Dropped in this order: first nobody finds the region, then it is gone.
    registration: Option<Registration>,
    reservation: Reservation,
}

// SAFETY: the pointers point into the reservation, which the memory owns.
unsafe impl Send for LinearMemory {}

impl LinearMemory {
    /// Make a memory of its minimal size.
    ///
    /// # Errors
    /// Where the host has no address space or memory for it, or lacks what the
    /// strategy needs.
    pub fn new(plan: MemoryPlan, ty: MemoryType) -> Result<Box<LinearMemory>> {
        let failed = |what: &str| {
            let what = format!(
                "cannot make a memory of {} pages under '{}': {what}",
                ty.min, plan.bounds
            );
            move |error: io::Error| Error::resource(what.clone(), error)
        };
        let front = usize_of(plan.front_bytes).map_err(failed("address space"))?;
        let bytes = usize_of(plan.front_bytes + plan.reserved_bytes)
            .and_then(|b| PageBytes::round_up(b).ok_or_else(|| io::ErrorKind::OutOfMemory.into()))
            .map_err(failed("address space"))?;
        let access = match plan.backing {
            Backing::Protect => Access::None,
            Backing::Whole | Backing::OnDemand => Access::ReadWrite,
        };
        let reservation =
            Reservation::placed(bytes, access).map_err(failed("reserving its address space"))?;
        // SAFETY: the front is inside the reservation.
        let base = unsafe { reservation.start().as_ptr().add(front) };
        let mut memory = Box::new(LinearMemory {
            vm: VmMemory {
                base,
                len: AtomicUsize::new(0),
            },
            plan,
            ty,
            registration: None,
            reservation,
        });
        memory
            .open_front(front)
            .map_err(failed("opening its landing page"))?;
        memory.register().map_err(failed("userfaultfd"))?;
        memory
            .set_len(plan.min_bytes)
            .map_err(failed("opening its pages"))?;
        Ok(memory)
    }

    fn open_front(&self, front: usize) -> io::Result<()> {
        match self.plan.backing {
            Backing::Protect => self.reservation.open(0..front),
            Backing::Whole | Backing::OnDemand => Ok(()),
        }
    }

    fn register(&mut self) -> io::Result<()> {
        let addresses = self.reservation.addresses();
        let on_demand = match self.plan.backing {
            Backing::OnDemand => {
                uffd::register(addresses.clone())?;
                let len = std::ptr::from_ref(&self.vm.len);
                Some(OnDemand {
                    start: self.vm.base as usize,
                    len,
                })
            }
            Backing::Whole | Backing::Protect => None,
        };
        // SAFETY: a placed reservation; the memory is boxed, so its length
        // stays where it is; the registration is dropped before both.
        self.registration = Some(unsafe { region::register(addresses, on_demand) });
        Ok(())
    }

    /// Current length in bytes.
    pub fn len(&self) -> usize {
        self.vm.len.load(Ordering::Acquire)
    }

    /// Current length in pages.
    pub fn pages(&self) -> u64 {
        self.len() as u64 / WASM_PAGE_BYTES
    }

    /// Grow by `delta` pages; the former size in pages, or nothing where the
    /// maximum or the host does not allow it.
    pub fn grow(&mut self, delta: u64) -> Option<u64> {
        let old = self.pages();
        let bytes = old.checked_add(delta)?.checked_mul(WASM_PAGE_BYTES)?;
        if bytes > self.plan.max_bytes {
            return None;
        }
        if delta > 0 {
            self.set_len(bytes).ok()?;
        }
        Some(old)
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = usize_of(bytes)?;
        if self.plan.backing == Backing::Protect {
            let front = usize_of(self.plan.front_bytes)?;
            self.reservation.open(front + self.len()..front + bytes)?;
        }
        self.vm.len.store(bytes, Ordering::Release);
        Ok(())
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: every byte below the length is readable; shared borrow.
        unsafe { std::slice::from_raw_parts(self.vm.base, self.len()) }
    }

    /// The contents, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: every byte below the length is writable; exclusive borrow.
        unsafe { std::slice::from_raw_parts_mut(self.vm.base, self.len()) }
    }

    /// `start..start + len` as a range of indices.
    ///
    /// # Errors
    /// [`OutOfBounds`] unless it is inside.
    pub fn check(&self, start: u64, len: u64) -> Result<Range<usize>, OutOfBounds> {
        let end = start.checked_add(len).ok_or(OutOfBounds)?;
        if end > self.len() as u64 {
            return Err(OutOfBounds);
        }
        Ok(start as usize..end as usize)
    }

    /// Make sure that the kernel can access a range: check it and, under
    /// `uffd`, touch each of its pages.
    ///
    /// # Errors
    /// [`OutOfBounds`] unless it is inside.
    pub fn populate(&self, start: u64, len: u64) -> Result<(), OutOfBounds> {
        let range = self.check(start, len)?;
        if self.plan.backing == Backing::OnDemand && !range.is_empty() {
            let first = range.start - range.start % page_bytes();
            for page in (first..range.end).step_by(page_bytes()) {
                // SAFETY: below the length; a missing page is supplied by the
                // fault handler.
                unsafe { self.vm.base.add(page).read_volatile() };
            }
        }
        Ok(())
    }
}

fn usize_of(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
