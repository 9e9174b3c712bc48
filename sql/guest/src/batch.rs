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

use std::{cell::Cell, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
    cast::AsArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type},
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

pub use wrong::{Defect, Unfit};

use crate::column::ColumnType;

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
        let mut write =
            |to: usize, bytes: &[u8]| memory[to..to + bytes.len()].copy_from_slice(bytes);
        let mut place = Place::at(at as usize, width);
        let batch = self.lay(&mut place, &mut write);
        let result = lay_results(self.rows, results, &mut place, &mut write);
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

/// What a guest left in its memory, read with distrust.
///
/// Columns may lie over each other, and each is a copy: so what is copied is counted.
pub struct Output<'a> {
    memory: &'a [u8],
    at: u64,
    width: Width,
    copied: Cell<u64>,
}

impl<'a> Output<'a> {
    /// The batch at this address.
    pub fn new(memory: &'a [u8], at: u64, width: Width) -> Output<'a> {
        let copied = Cell::new(0);
        Output {
            memory,
            at,
            width,
            copied,
        }
    }

    /// Its rows.
    ///
    /// # Errors
    /// It is outside.
    pub fn rows(&self) -> Result<u32, Defect> {
        self.word(self.at, "a batch")
    }

    /// Its columns, of these types; as many rows as were `given`, if they were.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn read(
        &self,
        types: &[ColumnType],
        given: Option<usize>,
    ) -> Result<Vec<ArrayRef>, Defect> {
        let returned = self.rows()?;
        if let Some(given) = given.filter(|given| *given != returned as usize) {
            return Err(Defect::Rows { returned, given });
        }
        let first = self.columns(types)?;
        let column = |(i, ty): (usize, &ColumnType)| {
            let at = first + (i * self.width.column_bytes()) as u64;
            self.column(at, *ty, i + 1, returned as usize)
        };
        types.iter().enumerate().map(column).collect()
    }

    /// Its rows, if its columns are said to be of these types; what they say is not read.
    ///
    /// # Errors
    /// Its head is wrong.
    pub fn shape(&self, types: &[ColumnType]) -> Result<usize, Defect> {
        let first = self.columns(types)?;
        for (i, ty) in types.iter().enumerate() {
            self.typed(first + (i * self.width.column_bytes()) as u64, *ty, i + 1)?;
        }
        Ok(self.rows()? as usize)
    }

    /// Where its columns are, of which there are as many as there should be.
    fn columns(&self, types: &[ColumnType]) -> Result<u64, Defect> {
        let columns = self.word(self.at.wrapping_add(4), "a batch")?;
        if columns as usize != types.len() {
            let declared = types.len();
            return Err(Defect::Columns {
                returned: columns,
                declared,
            });
        }
        let first = self.address(self.at.wrapping_add(8), "a batch")?;
        let bytes = (types.len() * self.width.column_bytes()) as u64;
        self.range(first, bytes, || "columns".to_owned())?;
        Ok(first)
    }

    fn typed(&self, at: u64, ty: ColumnType, column: usize) -> Result<(), Defect> {
        let returned = self.word(at, "a column")?;
        match returned == ty as u32 {
            true => Ok(()),
            false => Err(Defect::Type {
                column,
                returned,
                declared: ty.name(),
            }),
        }
    }

    fn column(
        &self,
        at: u64,
        ty: ColumnType,
        column: usize,
        rows: usize,
    ) -> Result<ArrayRef, Defect> {
        let part = |i: u64| self.address(at + i * self.width.bytes() as u64, "a column");
        self.typed(at, ty, column)?;
        let (valid, values, offsets) = (part(1)?, part(2)?, part(3)?);
        let of = |what: &str| format!("{what} of column {column}");
        let nulls = match valid {
            0 => None,
            at => {
                let bits = self.range(at, rows.div_ceil(8) as u64, || of("the bitmap"))?;
                nulls_of(bits, rows)
            }
        };
        match ty.width() {
            Some(width) => {
                let bytes = self.range(values, (width * rows) as u64, || of("the values"))?;
                Ok(fixed(ty, bytes, rows, nulls))
            }
            None if offsets == 0 => Err(Defect::NoOffsets { column }),
            None => {
                let bytes = 4 * (rows as u64 + 1);
                let offsets = self.range(offsets, bytes, || of("the offsets"))?;
                self.strings(column, offsets, values, nulls)
            }
        }
    }

    fn strings(
        &self,
        column: usize,
        offsets: &[u8],
        values: u64,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Defect> {
        let (words, _) = offsets.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if let Some(row) = words.windows(2).position(|pair| pair[0] > pair[1]) {
            let row = row + 1;
            return Err(Defect::Offsets { column, row });
        }
        let (from, to) = (words[0], words[words.len() - 1]);
        let len = u64::from(to - from);
        let begin = values.checked_add(u64::from(from)).ok_or(Defect::Outside {
            what: format!("the text of column {column}"),
            at: values,
            len: u64::from(from),
        })?;
        let bytes = self.range(begin, len, || format!("the text of column {column}"))?;
        let own = words.iter().map(|word| i32::try_from(word - from));
        let own: Vec<i32> = own
            .collect::<Result<_, _>>()
            .map_err(|_| Defect::Text { column })?;
        let offsets = OffsetBuffer::new(own.into());
        StringArray::try_new(offsets, Buffer::from(bytes), nulls)
            .map(|array| Arc::new(array) as ArrayRef)
            .map_err(|_| Defect::Text { column })
    }

    /// The address that is there.
    fn address(&self, at: u64, what: &str) -> Result<u64, Defect> {
        match self.width {
            Width::Narrow => self.word(at, what).map(u64::from),
            Width::Wide => {
                let (bytes, _) = self.range(at, 8, || what.to_owned())?.as_chunks::<8>();
                Ok(u64::from_le_bytes(bytes[0]))
            }
        }
    }

    fn word(&self, at: u64, what: &str) -> Result<u32, Defect> {
        let bytes = self.range(at, 4, || what.to_owned())?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn range(&self, at: u64, len: u64, what: impl Fn() -> String) -> Result<&'a [u8], Defect> {
        let copied = self.copied.get().saturating_add(len);
        self.copied.set(copied);
        if copied > COPIED_BYTES_MAX && len <= self.memory.len() as u64 {
            return Err(Defect::Large);
        }
        let end = at.checked_add(len);
        let inside = end.filter(|end| *end <= self.memory.len() as u64);
        match inside {
            Some(end) => Ok(&self.memory[at as usize..end as usize]),
            None => Err(Defect::Outside {
                what: what(),
                at,
                len,
            }),
        }
    }
}

/// The rows without values, if there are any.
fn nulls_of(bits: &[u8], rows: usize) -> Option<NullBuffer> {
    let (whole, last) = bits.split_at(rows / 8);
    let rest = (1 << (rows % 8)) - 1;
    let mut parts = whole.chunks(ALL_VALID.len());
    // Comparing slices takes a tenth of the time of looking at each byte.
    let is_whole = parts.all(|part| part == &ALL_VALID[..part.len()]);
    if is_whole && last.iter().all(|byte| byte & rest == rest) {
        return None;
    }
    Some(NullBuffer::new(BooleanBuffer::new(
        Buffer::from(bits),
        0,
        rows,
    )))
}

/// A column of a fixed width from its bytes, of which there are enough.
fn fixed(ty: ColumnType, bytes: &[u8], rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    match ty {
        ColumnType::Boolean => {
            let bits = BooleanBuffer::collect_bool(rows, |row| bytes[row] != 0);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        ColumnType::SmallInt => numbers::<Int16Type>(bytes, rows, nulls),
        ColumnType::Int => numbers::<Int32Type>(bytes, rows, nulls),
        ColumnType::BigInt => numbers::<Int64Type>(bytes, rows, nulls),
        ColumnType::Real => numbers::<Float32Type>(bytes, rows, nulls),
        ColumnType::Double => numbers::<Float64Type>(bytes, rows, nulls),
        ColumnType::Varchar => unreachable!("text has no fixed width"),
    }
}

/// Of a copy, which is aligned; any bits are a number.
fn numbers<T: ArrowPrimitiveType>(
    bytes: &[u8],
    rows: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let values = ScalarBuffer::new(Buffer::from(bytes), 0, rows);
    Arc::new(PrimitiveArray::<T>::new(values, nulls))
}

#[cfg(test)]
mod tests;
