//! What a guest returns, read out of its memory.
//!
//! What must stay true: each word is read once, and what was checked is what is used: where
//! other threads may write to the memory, what is read is copied before it is looked at.

use std::{cell::Cell, ops::Deref, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, PrimitiveArray, StringArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type},
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use fathom_engine::SharedMemory;

use super::{ALL_VALID, COPIED_BYTES_MAX, Defect, Width};
use crate::column::ColumnType;

/// A memory to read from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// One that stays as it is meanwhile.
    Own(&'a [u8]),
    /// One that other threads may write to.
    Shared(&'a SharedMemory),
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Source<'a> {
        Source::Own(bytes)
    }
}

impl<'a> From<&'a SharedMemory> for Source<'a> {
    fn from(memory: &'a SharedMemory) -> Source<'a> {
        Source::Shared(memory)
    }
}

impl<'a> Source<'a> {
    /// Its bytes; of one that is shared, at least so many.
    pub fn len(self) -> u64 {
        match self {
            Source::Own(bytes) => bytes.len() as u64,
            Source::Shared(memory) => memory.data_size() as u64,
        }
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes from `at` on, if they are inside.
    pub fn piece(self, at: u64, len: u64) -> Option<Piece<'a>> {
        let end = at.checked_add(len).filter(|end| *end <= self.len())?;
        Some(match self {
            Source::Own(bytes) => Piece::Own(&bytes[at as usize..end as usize]),
            Source::Shared(memory) => {
                let mut copy = MutableBuffer::from_len_zeroed(len as usize);
                memory.read(at, copy.as_slice_mut()).ok()?;
                Piece::Copied(copy.into())
            }
        })
    }

    /// As many bytes as the array has, if they are inside.
    fn word<const BYTES: usize>(self, at: u64) -> Option<[u8; BYTES]> {
        let mut word = [0; BYTES];
        match self {
            Source::Own(bytes) => {
                let at = usize::try_from(at).ok()?;
                word.copy_from_slice(bytes.get(at..at.checked_add(BYTES)?)?);
            }
            Source::Shared(memory) => memory.read(at, &mut word).ok()?,
        }
        Some(word)
    }
}

/// Bytes that nobody changes.
pub enum Piece<'a> {
    /// Where they are.
    Own(&'a [u8]),
    /// Of a memory that others write to.
    Copied(Buffer),
}

impl Deref for Piece<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Copied(buffer) => buffer,
        }
    }
}

impl From<Piece<'_>> for Buffer {
    fn from(piece: Piece<'_>) -> Buffer {
        match piece {
            Piece::Own(bytes) => copied(bytes),
            Piece::Copied(buffer) => buffer,
        }
    }
}

/// The bytes at a place that is aligned for numbers of any type.
///
/// [`Buffer`]'s own copies are aligned by 64 bytes, and take a tenth longer (docs/measured/sql.md).
fn copied(bytes: &[u8]) -> Buffer {
    let copy = bytes.to_vec();
    match copy.as_ptr().cast::<u64>().is_aligned() {
        true => Buffer::from_vec(copy),
        false => Buffer::from(bytes),
    }
}

/// What a guest left in its memory, read with distrust.
///
/// Columns may lie over each other, and each is a copy: so what is copied is counted.
pub struct Output<'a> {
    memory: Source<'a>,
    at: u64,
    width: Width,
    copied: Cell<u64>,
}

impl<'a> Output<'a> {
    /// The batch at this address.
    pub fn new(memory: impl Into<Source<'a>>, at: u64, width: Width) -> Output<'a> {
        let copied = Cell::new(0);
        Output {
            memory: memory.into(),
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
                nulls_of(&bits, rows)
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
                self.strings(column, &offsets, values, nulls)
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
        StringArray::try_new(offsets, bytes.into(), nulls)
            .map(|array| Arc::new(array) as ArrayRef)
            .map_err(|_| Defect::Text { column })
    }

    /// The address that is there.
    fn address(&self, at: u64, what: &str) -> Result<u64, Defect> {
        match self.width {
            Width::Narrow => self.word(at, what).map(u64::from),
            Width::Wide => self.bytes(at, what).map(u64::from_le_bytes),
        }
    }

    fn word(&self, at: u64, what: &str) -> Result<u32, Defect> {
        self.bytes(at, what).map(u32::from_le_bytes)
    }

    fn bytes<const BYTES: usize>(&self, at: u64, what: &str) -> Result<[u8; BYTES], Defect> {
        let len = BYTES as u64;
        self.memory.word(at).ok_or_else(|| Defect::Outside {
            what: what.to_owned(),
            at,
            len,
        })
    }

    fn range(&self, at: u64, len: u64, what: impl Fn() -> String) -> Result<Piece<'a>, Defect> {
        let copied = self.copied.get().saturating_add(len);
        self.copied.set(copied);
        if copied > COPIED_BYTES_MAX && len <= self.memory.len() {
            return Err(Defect::Large);
        }
        let inside = self.memory.piece(at, len);
        inside.ok_or_else(|| Defect::Outside {
            what: what(),
            at,
            len,
        })
    }
}

/// The rows without values, if there are any.
pub(super) fn nulls_of(bits: &[u8], rows: usize) -> Option<NullBuffer> {
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
fn fixed(ty: ColumnType, bytes: Piece<'_>, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
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
    bytes: Piece<'_>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let values = ScalarBuffer::new(bytes.into(), 0, rows);
    Arc::new(PrimitiveArray::<T>::new(values, nulls))
}
