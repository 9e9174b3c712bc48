//! Tables: cells of 8 bytes, a funcref's address or an externref's id, 0 for
//! null.

#![allow(unsafe_code)]

use fathom_sys::cells::{Domain, Placed};
use fathom_sys::pkeys::Key;

use crate::facts::types::TableType;
use crate::facts::vmctx::VmTable;

/// Elements a table can have at most, whatever it declares: 10 million, as
/// browsers do.
pub const MAX_TABLE_ELEMENTS: u64 = 10_000_000;

/// A table. Boxed by its store: compiled code keeps the address of `vm`.
#[derive(Debug)]
pub(crate) struct TableData {
    /// What compiled code sees; always describes the first of `elements`.
    pub vm: Placed<VmTable>,
    /// Its type as declared.
    pub ty: TableType,
    elements: Placed<[u64]>,
    domain: Domain,
}

// SAFETY: the pointers are to the table's own cells.
unsafe impl Send for TableData {}

fn cells(domain: Domain, len: usize) -> Option<Placed<[u64]>> {
    Placed::zeroed(domain, Key::Inside, len)
}

impl TableData {
    /// A table of `ty.min` elements, all `init`; nothing where that is too
    /// many.
    pub fn new(ty: TableType, init: u64, domain: Domain) -> Option<Box<TableData>> {
        if ty.min > MAX_TABLE_ELEMENTS {
            return None;
        }
        let elements = cells(domain, ty.min as usize)?;
        let vm = VmTable {
            base: elements.address().as_ptr().cast(),
            len: ty.min,
        };
        let vm = Placed::new(domain, Key::Fixed, vm);
        let mut table = Box::new(TableData {
            vm,
            ty,
            elements,
            domain,
        });
        if init != 0 {
            table.elements_mut().fill(init);
        }
        Some(table)
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.vm.len
    }

    /// The elements.
    pub fn elements(&self) -> &[u64] {
        // SAFETY: `vm` describes cells of the table's own; compiled code may
        // have written through it, hence the view through its pointer.
        unsafe { std::slice::from_raw_parts(self.vm.base, self.vm.len as usize) }
    }

    /// The elements, to change.
    pub fn elements_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, exclusively borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.vm.base, self.vm.len as usize) }
    }

    /// Grow by `delta` elements, all `init`: the former length, or nothing
    /// where the maximum does not allow it.
    pub fn grow(&mut self, delta: u64, init: u64) -> Option<u64> {
        let old = self.len();
        let len = old.checked_add(delta)?;
        let max = self.ty.max.unwrap_or(u64::MAX).min(MAX_TABLE_ELEMENTS);
        if len > max {
            return None;
        }
        if len > self.elements.len() as u64 {
            // Twice as many, so that growing one by one is not quadratic.
            let room = len.max((2 * old).min(max));
            let mut elements = cells(self.domain, room as usize)?;
            elements[..old as usize].copy_from_slice(self.elements());
            self.vm.base = elements.address().as_ptr().cast();
            self.elements = elements;
        }
        self.vm.len = len;
        self.elements_mut()[old as usize..].fill(init);
        Some(old)
    }

    /// Make the elements those of `template`, as many as it had at first. What it
    /// has grown by is given back.
    pub fn restore(&mut self, template: &[u64]) {
        if self.elements.len() != template.len() {
            self.elements = Placed::copied(self.domain, Key::Inside, template);
            self.vm.base = self.elements.address().as_ptr().cast();
            self.vm.len = template.len() as u64;
        } else {
            self.vm.len = template.len() as u64;
            self.elements_mut().copy_from_slice(template);
        }
    }

    /// The range `start..start + len`, where it is inside.
    pub fn check(&self, start: u64, len: u64) -> Option<std::ops::Range<usize>> {
        let end = start.checked_add(len)?;
        (end <= self.vm.len).then_some(start as usize..end as usize)
    }
}
