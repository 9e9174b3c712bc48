//! How objects of the collected heap are laid out.
//!
//! ```text
//!  structure   type, NO_LENGTH | field 0 | field 1 | …   in order, each aligned to its size
//!  array       type, length    | element 0 | element 1 | …
//!              4     4 bytes
//! ```
//!
//! A reference is an offset from the heap's base in 32 bits, a multiple of [`ALIGN`]; or a
//! small integer, or the number of a value of the host's, by its lowest bits ([`tag`]).
//!
//! What must stay true: a type's layout begins with that of the type that it is below, so
//! that an access need not know which of them an object is of. Therefore all references
//! of a hierarchy have the same size.

use crate::facts::types::{DefKind, DefType, FieldType, Storage, ValType};

/// Bytes in front of the fields or the elements.
pub(crate) const HEADER_BYTES: u32 = 8;
/// Where the number of the type is.
pub(crate) const TYPE: i32 = 0;
/// Where the length is.
pub(crate) const LENGTH: i32 = 4;
/// The length of what is no array: more than any has.
pub(crate) const NO_LENGTH: u32 = u32::MAX;
/// Objects begin at multiples of it.
pub(crate) const ALIGN: u32 = 8;
/// Bytes from the base that nobody can access: null is an offset of 0.
pub(crate) const NULL_BYTES: u32 = 64 << 10;
/// Bytes of a type's row below the base: a number of 32 bits for each depth that there can be.
pub(crate) const ROW_BYTES: u32 = 64 * 4;
/// Bytes that an object can have at most.
pub(crate) const BYTES_MAX: u64 = 1 << 31;

/// What the lowest bits of a reference say.
pub(crate) mod tag {
    /// Of an integer of 31 bits, which are above it.
    pub const I31: u32 = 1;
    /// The bits of which none is set in the offset of an object.
    pub const MASK: u32 = 7;
    /// Of a value of the host's, whose number is above [`HOST_SHIFT`] bits.
    pub const HOST: u32 = 2;
    /// See [`HOST`].
    pub const HOST_SHIFT: u32 = 3;
    /// Set in an `externref` that is a reference of the heap's; in no address of the host's.
    pub const INSIDE: u64 = 1 << 63;
}

/// How what a cell of 8 or 16 bits has becomes a value of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    Signed,
    /// The same for all cells that have 32 bits or more, which nothing is added to.
    Unsigned,
}

/// A place for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    V128,
    /// A reference that is collected, or has its form: 32 bits.
    Collected,
    /// An `externref`, which may be one of those.
    Extern,
    /// Another reference.
    Word,
}

impl Cell {
    fn of(storage: Storage) -> Cell {
        match storage {
            Storage::I8 => Cell::I8,
            Storage::I16 => Cell::I16,
            Storage::Val(ty) => match ty {
                ValType::I32 => Cell::I32,
                ValType::I64 => Cell::I64,
                ValType::F32 => Cell::F32,
                ValType::F64 => Cell::F64,
                ValType::V128 => Cell::V128,
                ValType::Ref(ty) if ty.heap.is_any() => Cell::Collected,
                ValType::Ref(ty) if ty.heap.is_extern() => Cell::Extern,
                ValType::Ref(_) => Cell::Word,
            },
        }
    }

    /// log2 of its bytes.
    pub fn shift(self) -> u32 {
        match self {
            Cell::I8 => 0,
            Cell::I16 => 1,
            Cell::I32 | Cell::F32 | Cell::Collected => 2,
            Cell::I64 | Cell::F64 | Cell::Extern | Cell::Word => 3,
            Cell::V128 => 4,
        }
    }

    pub fn bytes(self) -> u32 {
        1 << self.shift()
    }

    /// Whether what it refers to is collected, or may be.
    pub fn is_collected(self) -> bool {
        matches!(self, Cell::Collected | Cell::Extern)
    }
}

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub cell: Cell,
    /// From where the object begins, in bytes.
    pub offset: u32,
}

/// The layout of the objects of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Struct {
        fields: Box<[Field]>,
        /// Those that refer to what is collected, or may.
        collected: Box<[Field]>,
        /// Bytes of an object.
        bytes: u32,
    },
    Array(Cell),
}

impl Layout {
    /// Of a type; nothing where its values are no objects.
    pub fn of(ty: &DefType) -> Option<Layout> {
        match &ty.kind {
            DefKind::Struct(fields) => Some(Layout::of_fields(fields)),
            DefKind::Array(element) => Some(Layout::Array(Cell::of(element.storage))),
            DefKind::Func(_) | DefKind::Cont(_) => None,
        }
    }

    fn of_fields(fields: &[FieldType]) -> Layout {
        let mut end = HEADER_BYTES;
        let place = |field: &FieldType| {
            let cell = Cell::of(field.storage);
            let offset = end.next_multiple_of(cell.bytes().min(ALIGN));
            end = offset + cell.bytes();
            Field { cell, offset }
        };
        let fields: Box<[Field]> = fields.iter().map(place).collect();
        let bytes = end.next_multiple_of(ALIGN);
        let collected = fields.iter().filter(|field| field.cell.is_collected());
        Layout::Struct {
            collected: collected.copied().collect(),
            fields,
            bytes,
        }
    }

    /// Bytes of an object; of an array with so many elements.
    pub fn bytes(&self, len: u32) -> u64 {
        match self {
            Layout::Struct { bytes, .. } => u64::from(*bytes),
            Layout::Array(cell) => array_bytes(*cell, len),
        }
    }

    /// What stands in the place of the length.
    pub fn length(&self, len: u32) -> u32 {
        match self {
            Layout::Struct { .. } => NO_LENGTH,
            Layout::Array(_) => len,
        }
    }
}

fn array_bytes(cell: Cell, len: u32) -> u64 {
    let bytes = (u64::from(len) << cell.shift()) + u64::from(HEADER_BYTES);
    bytes.next_multiple_of(u64::from(ALIGN))
}
