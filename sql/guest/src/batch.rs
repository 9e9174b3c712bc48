//! A batch as a module sees it: columns in its memory.
//!
//! ```text
//!  fathom_batch    rows u32 │ columns u32 │ column address ─► fathom_column × columns
//!  fathom_column   type u32 │ valid address │ values address │ offsets address
//! ```
//!
//! Addresses are as long as the memory's: 32 or 64 bits, and aligned to that.
//! `valid` is a bitmap, the first row in the lowest bit of its first byte, 1 where there is a
//! value; 0 where all rows have one. `values` are values one after the other; of strings they
//! are the bytes, and string `i` is from `offsets[i]` to `offsets[i + 1]`. Everything is
//! little-endian, and begins at a multiple of 8.
//!
//! What must stay true: what is read was checked, and is a copy.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, LargeStringArray, StringArray, StringViewArray,
    cast::AsArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type},
};
use fathom_engine::{OutOfBounds, SharedMemory};

pub use output::{Output, Source};
pub use wrong::{Defect, Unfit};

use crate::column::ColumnType;

mod output;
mod wrong;

const ALIGNMENT: usize = 8;
const BATCH_BYTES: usize = 16;

/// A part of a bitmap of rows that all have values.
const ALL_VALID: [u8; 1024] = [u8::MAX; 1024];

/// Most that is copied out of a memory for one batch.
const COPIED_BYTES_MAX: u64 = 64 << 20;

/// How long addresses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Those of a memory of 32 bits.
    Narrow = 4,
    /// Those of a memory of 64 bits.
    Wide = 8,
}

impl Width {
    /// Of an address, and of each part of a column.
    fn bytes(self) -> usize {
        self as usize
    }

    fn column_bytes(self) -> usize {
        4 * self.bytes()
    }
}

/// The column as it is held for this type.
fn held(ty: ColumnType, array: &ArrayRef, column: usize) -> Result<ArrayRef, Unfit> {
    if array.data_type() == &ty.arrow() {
        return Ok(array.clone());
    }
    let any = array.as_any();
    let other = || Unfit::Type {
        column,
        given: array.data_type().clone(),
        declared: ty.name(),
    };
    if ty != ColumnType::Varchar {
        return Err(other());
    }
    let text = match (
        any.downcast_ref::<LargeStringArray>(),
        any.downcast_ref::<StringViewArray>(),
    ) {
        (Some(large), _) => texts(|| large.iter()),
        (_, Some(view)) => texts(|| view.iter()),
        (None, None) => return Err(other()),
    };
    Ok(Arc::new(text.ok_or(Unfit::Long { column })?))
}

/// The same texts with offsets of 32 bits, if these reach.
fn texts<'a, I: Iterator<Item = Option<&'a str>>>(all: impl Fn() -> I) -> Option<StringArray> {
    let bytes = all()
        .flatten()
        .try_fold(0usize, |sum, text| sum.checked_add(text.len()))?;
    i32::try_from(bytes).ok()?;
    Some(all().collect())
}

/// What is to be written: columns of the module's types.
pub struct Input {
    rows: usize,
    columns: Vec<(ColumnType, ArrayRef)>,
}

impl Input {
    /// Of columns that are all of types that cross, each `rows` long.
    ///
    /// # Errors
    /// Another type or length, or strings that are too long for 32-bit offsets.
    pub fn new(rows: usize, columns: &[(ColumnType, ArrayRef)]) -> Result<Input, Unfit> {
        let columns = columns.iter().enumerate().map(|(i, (ty, array))| {
            let column = i + 1;
            let given = array.len();
            if given != rows {
                return Err(Unfit::Rows {
                    column,
                    given,
                    rows,
                });
            }
            Ok((*ty, held(*ty, array, column)?))
        });
        Ok(Input {
            rows,
            columns: columns.collect::<Result<_, Unfit>>()?,
        })
    }

    /// How many bytes it takes with room for results of these types.
    pub fn bytes(&self, results: &[ColumnType], width: Width) -> usize {
        let mut place = Place::at(0, width);
        self.lay(&mut place, &mut |_, _| {});
        lay_results(self.rows, results, &mut place, &mut |_, _| {});
        place.next
    }

    /// Writes it to `memory` from `at`, where as many bytes are as [`Input::bytes`] says:
    /// where the batch is, and where the one for results is.
    pub fn write(
        &self,
        memory: &mut [u8],
        at: u64,
        results: &[ColumnType],
        width: Width,
    ) -> (u64, u64) {
        self.lay_all(at, results, width, &mut |to, bytes| {
            memory[to..to + bytes.len()].copy_from_slice(bytes);
        })
    }

    /// The same to a memory that others share, who may change what is there meanwhile.
    ///
    /// # Errors
    /// It does not reach so far.
    pub fn write_shared(
        &self,
        memory: &SharedMemory,
        at: u64,
        results: &[ColumnType],
        width: Width,
    ) -> Result<(u64, u64), OutOfBounds> {
        let mut written = Ok(());
        let places = self.lay_all(at, results, width, &mut |to, bytes| {
            if written.is_ok() {
                written = memory.write(to as u64, bytes);
            }
        });
        written.map(|()| places)
    }

    /// Gives each part to `write`, with room for results: where both are.
    fn lay_all(
        &self,
        at: u64,
        results: &[ColumnType],
        width: Width,
        write: &mut impl FnMut(usize, &[u8]),
    ) -> (u64, u64) {
        let mut place = Place::at(at as usize, width);
        let batch = self.lay(&mut place, write);
        let result = lay_results(self.rows, results, &mut place, write);
        (batch as u64, result as u64)
    }

    /// Gives each part to `write` with its place.
    fn lay(&self, place: &mut Place, write: &mut impl FnMut(usize, &[u8])) -> usize {
        let (batch, first) = lay_head(self.rows, self.columns.len(), place, write);
        for (i, (ty, array)) in self.columns.iter().enumerate() {
            let valid = array.nulls().map_or(0, |nulls| {
                let bits = nulls.inner().sliced();
                let bytes = &bits.as_slice()[..self.rows.div_ceil(8)];
                lay_bytes(bytes, place, write)
            });
            let (values, offsets) = lay_values(*ty, array, place, write);
            lay_column(first, i, *ty, [valid, values, offsets], place.width, write);
        }
        batch
    }
}

/// The next place that is free.
struct Place {
    next: usize,
    width: Width,
}

impl Place {
    fn at(next: usize, width: Width) -> Place {
        Place { next, width }
    }

    fn take(&mut self, bytes: usize) -> usize {
        let taken = self.next;
        self.next = (taken + bytes).next_multiple_of(ALIGNMENT);
        taken
    }
}

fn lay_bytes(bytes: &[u8], place: &mut Place, write: &mut impl FnMut(usize, &[u8])) -> usize {
    let to = place.take(bytes.len());
    write(to, bytes);
    to
}

/// The batch itself: where it is, and where its columns are.
fn lay_head(
    rows: usize,
    columns: usize,
    place: &mut Place,
    write: &mut impl FnMut(usize, &[u8]),
) -> (usize, usize) {
    let batch = place.take(BATCH_BYTES);
    let first = place.take(columns * place.width.column_bytes());
    write(batch, &(rows as u32).to_le_bytes());
    write(batch + 4, &(columns as u32).to_le_bytes());
    lay_address(batch + 8, first, place.width, write);
    (batch, first)
}

fn lay_address(to: usize, address: usize, width: Width, write: &mut impl FnMut(usize, &[u8])) {
    match width {
        Width::Narrow => write(to, &(address as u32).to_le_bytes()),
        Width::Wide => write(to, &(address as u64).to_le_bytes()),
    }
}

/// The column of this number, of those that begin at `first`.
fn lay_column(
    first: usize,
    number: usize,
    ty: ColumnType,
    parts: [usize; 3],
    width: Width,
    write: &mut impl FnMut(usize, &[u8]),
) {
    let to = first + number * width.column_bytes();
    write(to, &(ty as u32).to_le_bytes());
    for (i, part) in parts.into_iter().enumerate() {
        lay_address(to + width.bytes() * (i + 1), part, width, write);
    }
}

/// Where values are, and where offsets are.
fn lay_values(
    ty: ColumnType,
    array: &ArrayRef,
    place: &mut Place,
    write: &mut impl FnMut(usize, &[u8]),
) -> (usize, usize) {
    let bytes = match ty {
        ColumnType::Boolean => {
            let to = place.take(array.len());
            for (i, bit) in array.as_boolean().values().iter().enumerate() {
                write(to + i, &[u8::from(bit)]);
            }
            return (to, 0);
        }
        ColumnType::Varchar => return lay_text(array.as_string(), place, write),
        ColumnType::SmallInt => values::<Int16Type>(array),
        ColumnType::Int => values::<Int32Type>(array),
        ColumnType::BigInt => values::<Int64Type>(array),
        ColumnType::Real => values::<Float32Type>(array),
        ColumnType::Double => values::<Float64Type>(array),
    };
    (lay_bytes(bytes, place, write), 0)
}

/// The bytes of values of a fixed width, without those that a slice leaves out.
fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> &[u8] {
    array.as_primitive::<T>().values().inner().as_slice()
}

fn lay_text(
    array: &StringArray,
    place: &mut Place,
    write: &mut impl FnMut(usize, &[u8]),
) -> (usize, usize) {
    let all = array.value_offsets();
    let (from, to) = (all[0] as usize, all[all.len() - 1] as usize);
    let values = lay_bytes(&array.value_data()[from..to], place, write);
    let offsets = place.take(4 * all.len());
    for (i, offset) in all.iter().enumerate() {
        let own = (offset - all[0]) as u32;
        write(offsets + 4 * i, &own.to_le_bytes());
    }
    (values, offsets)
}

/// Room for results: bitmaps that say that all rows have values, and values of a fixed width;
/// without rows nothing but the columns' types.
fn lay_results(
    rows: usize,
    types: &[ColumnType],
    place: &mut Place,
    write: &mut impl FnMut(usize, &[u8]),
) -> usize {
    let (batch, first) = lay_head(rows, types.len(), place, write);
    for (i, ty) in types.iter().enumerate() {
        let bytes = rows.div_ceil(8);
        let valid = if rows == 0 { 0 } else { place.take(bytes) };
        for at in (0..bytes).step_by(ALL_VALID.len()) {
            write(valid + at, &ALL_VALID[..ALL_VALID.len().min(bytes - at)]);
        }
        let width = ty.width().filter(|_| rows > 0);
        let values = width.map_or(0, |width| place.take(width * rows));
        lay_column(first, i, *ty, [valid, values, 0], place.width, write);
    }
    batch
}

#[cfg(test)]
mod tests;
