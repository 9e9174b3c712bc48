//! Objects that the runtime makes: for compiled code that has no room at hand, from
//! segments, and for constant expressions.

use crate::facts::error::Result;
use crate::facts::object::{Cell, HEADER_BYTES, Layout, tag};
use crate::facts::trap::TrapCode;
use crate::run::heap::Collecting;
use crate::run::instance::InstanceData;
use crate::run::store::{StoreOpaque, trap_error};

/// Where elements come from.
#[derive(Clone, Copy)]
pub(super) enum Segment {
    /// A data segment, by its index.
    Data(u32),
    /// An element segment.
    Elements(u32),
}

impl Segment {
    fn beyond(self) -> TrapCode {
        match self {
            Segment::Data(_) => TrapCode::MemoryOutOfBounds,
            Segment::Elements(_) => TrapCode::TableOutOfBounds,
        }
    }

    /// How many bytes or elements it has now.
    fn len(self, data: &InstanceData) -> u64 {
        match self {
            Segment::Data(index) if data.dropped_data[index as usize] => 0,
            Segment::Data(index) => data.module.data_bytes(index).len() as u64,
            Segment::Elements(index) if data.dropped_elements[index as usize] => 0,
            Segment::Elements(index) => data.elements[index as usize].len() as u64,
        }
    }

    /// Whether it has what so many elements are made of.
    fn check(self, data: &InstanceData, src: u32, len: u32, cell: Cell) -> Result<(), TrapCode> {
        let wanted = match self {
            Segment::Data(_) => u64::from(len) << cell.shift(),
            Segment::Elements(_) => u64::from(len),
        };
        match u64::from(src) + wanted <= self.len(data) {
            true => Ok(()),
            false => Err(self.beyond()),
        }
    }

    /// Writes elements that were checked to be there and inside of the array.
    fn write(self, data: &InstanceData, src: u32, array: u32, dst: u32, len: u32, cell: Cell) {
        let heap = data.store().heap.as_deref().expect("an array is in a heap");
        let (src, at) = (src as usize, HEADER_BYTES + (dst << cell.shift()));
        match self {
            Segment::Data(_) if len == 0 => {}
            Segment::Data(index) => {
                let bytes = &data.module.data_bytes(index)[src..][..(len as usize) << cell.shift()];
                heap.write_bytes(array, at, bytes);
            }
            Segment::Elements(index) => {
                let elements = data.elements[index as usize].iter().skip(src);
                for (i, element) in (0..len).zip(elements) {
                    heap.write_cell(array, at + (i << cell.shift()), cell, u128::from(*element));
                }
            }
        }
    }
}

/// A new object of the module's type at an index.
///
/// # Errors
/// As [`StoreOpaque::new_object`].
pub(super) fn object_of(
    data: &mut InstanceData,
    ty: u32,
    len: u32,
    collecting: Collecting,
) -> Result<u32> {
    let number = data.module.info().type_numbers[ty as usize];
    data.store_mut().new_object(number, len, collecting)
}

fn element_of(layout: &Layout) -> Cell {
    match layout {
        Layout::Array(cell) => *cell,
        Layout::Struct { .. } => unreachable!("validated: it is an array"),
    }
}

/// A new array with elements of a segment.
pub(super) fn array_of(
    data: &mut InstanceData,
    ty: u32,
    segment: Segment,
    src: u32,
    len: u32,
) -> Result<u32> {
    let layout = data.module.info().layouts[ty as usize].clone();
    let cell = element_of(&layout.expect("validated: a type of arrays"));
    let checked = segment.check(data, src, len, cell);
    checked.map_err(|code| trap_error(code, Vec::new()))?;
    let array = object_of(data, ty, len, Collecting::Allowed)?;
    segment.write(data, src, array, 0, len, cell);
    Ok(array)
}

/// Elements of a segment into an array that is not null.
pub(super) fn array_init(
    data: &mut InstanceData,
    array: u32,
    dst: u32,
    segment: Segment,
    src: u32,
    len: u32,
) -> Result<(), TrapCode> {
    let heap = data.store().heap.as_deref().expect("an array is in a heap");
    let (layout, length) = heap.layout(array);
    let cell = element_of(layout);
    if u64::from(dst) + u64::from(len) > u64::from(length) {
        return Err(TrapCode::ArrayOutOfBounds);
    }
    segment.check(data, src, len, cell)?;
    data.store_mut().elements_overwritten(array, dst, len);
    segment.write(data, src, array, dst, len, cell);
    Ok(())
}

/// `struct.new` with values for its fields, or zeros, where nothing may be collected.
///
/// # Errors
/// As [`StoreOpaque::new_object`].
pub(crate) fn new_struct(data: &mut InstanceData, ty: u32, values: &[u128]) -> Result<u32> {
    let made = object_of(data, ty, 0, Collecting::Forbidden)?;
    let heap = data.store().heap.as_deref().expect("it was made there");
    let (Layout::Struct { fields, .. }, _) = heap.layout(made) else {
        unreachable!("validated: it is a structure");
    };
    for (field, value) in fields.iter().zip(values) {
        heap.write_cell(made, field.offset, field.cell, *value);
    }
    Ok(made)
}

/// An array with so many elements of one value, where nothing may be collected.
///
/// # Errors
/// As [`StoreOpaque::new_object`].
pub(crate) fn new_filled_array(
    data: &mut InstanceData,
    ty: u32,
    len: u32,
    value: u128,
) -> Result<u32> {
    let made = object_of(data, ty, len, Collecting::Forbidden)?;
    let heap = data.store().heap.as_deref().expect("it was made there");
    heap.fill_cells(made, element_of(heap.layout(made).0), len, value);
    Ok(made)
}

/// An array with such elements, where nothing may be collected.
///
/// # Errors
/// As [`StoreOpaque::new_object`].
pub(crate) fn new_array(
    data: &mut InstanceData,
    ty: u32,
    len: u32,
    values: impl Iterator<Item = u128>,
) -> Result<u32> {
    let made = object_of(data, ty, len, Collecting::Forbidden)?;
    let heap = data.store().heap.as_deref().expect("it was made there");
    let cell = element_of(heap.layout(made).0);
    for (i, value) in (0..len).zip(values) {
        heap.write_cell(made, HEADER_BYTES + (i << cell.shift()), cell, value);
    }
    Ok(made)
}

impl InstanceData {
    fn store(&self) -> &StoreOpaque {
        // SAFETY: an instance's store is alive while the instance is, and not borrowed
        // exclusively while the runtime works for it.
        unsafe { &*self.store }
    }

    fn store_mut(&mut self) -> &mut StoreOpaque {
        // SAFETY: as above.
        unsafe { &mut *self.store }
    }
}

impl StoreOpaque {
    /// `any.convert_extern`
    pub(crate) fn any_of_extern(&mut self, raw: u64) -> u32 {
        match raw {
            0 => 0,
            inside if inside & tag::INSIDE != 0 => inside as u32,
            host => self.any_of_host(host),
        }
    }

    /// The same of a value of the host's.
    pub(crate) fn any_of_host(&mut self, raw: u64) -> u32 {
        let reference = self.hosts.reference(raw);
        // It may be where the collection that is under way has looked already.
        if self.is_marking() {
            self.hosts.mark(reference);
        }
        reference
    }

    /// `extern.convert_any`
    pub(crate) fn extern_of_any(&self, reference: u32) -> u64 {
        match reference {
            0 => 0,
            host if host & tag::MASK == tag::HOST => self.hosts.raw(host),
            inside => u64::from(inside) | tag::INSIDE,
        }
    }
}
