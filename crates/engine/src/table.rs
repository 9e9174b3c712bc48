//! Tables: cells of 8 bytes, a funcref's address or an externref's id, 0 for
//! null.

#![allow(unsafe_code)]

use crate::types::TableType;
use crate::vmctx::VmTable;

/// Elements a table can have at most, whatever it declares: 10 million, as
/// browsers do.
pub const MAX_TABLE_ELEMENTS: u64 = 10_000_000;

/// A table. Boxed by its store: compiled code keeps the address of `vm`.
#[derive(Debug)]
pub(crate) struct TableData {
    /// What compiled code sees; always describes `elements`.
    pub vm: VmTable,
    /// Its type as declared.
    pub ty: TableType,
    elements: Vec<u64>,
}

// SAFETY: the pointers are the vector's own.
unsafe impl Send for TableData {}

impl TableData {
    /// A table of `ty.min` elements, all `init`; nothing where that is too
    /// many.
    pub fn new(ty: TableType, init: u64) -> Option<Box<TableData>> {
        if ty.min > MAX_TABLE_ELEMENTS {
            return None;
        }
        let vm = VmTable {
            base: std::ptr::null_mut(),
            len: 0,
        };
        let mut table = Box::new(TableData {
            vm,
            ty,
            elements: vec![init; ty.min as usize],
        });
        table.publish();
        Some(table)
    }

    fn publish(&mut self) {
        self.vm.base = self.elements.as_mut_ptr();
        self.vm.len = self.elements.len() as u64;
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.vm.len
    }

    /// The elements.
    pub fn elements(&self) -> &[u64] {
        // SAFETY: `vm` describes the vector; compiled code may have written
        // through it, hence the view through its pointer.
        unsafe { std::slice::from_raw_parts(self.vm.base, self.elements.len()) }
    }

    /// The elements, to change.
    pub fn elements_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, exclusively borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.vm.base, self.elements.len()) }
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
        self.elements.try_reserve_exact(delta as usize).ok()?;
        self.elements.resize(len as usize, init);
        self.publish();
        Some(old)
    }

    /// The range `start..start + len`, where it is inside.
    pub fn check(&self, start: u64, len: u64) -> Option<std::ops::Range<usize>> {
        let end = start.checked_add(len)?;
        (end <= self.vm.len).then_some(start as usize..end as usize)
    }
}
