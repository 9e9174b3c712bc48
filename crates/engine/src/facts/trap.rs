//! Traps: their codes, the message the user reads, and the frames behind them.
//!
//! Compiled code marks each instruction that may trap with a Cranelift trap
//! code; [`TrapCode::from_clif`] and the constants here are the only mapping
//! between the two.

use std::fmt;

use cranelift_codegen::ir::TrapCode as ClifTrap;

use crate::facts::quota::LimitError;
use crate::facts::shown::Shown;

/// `unreachable` was executed.
pub const UNREACHABLE: ClifTrap = ClifTrap::unwrap_user(1);
/// `table.get` or `table.set` beyond the table.
pub const TABLE_OUT_OF_BOUNDS: ClifTrap = ClifTrap::unwrap_user(2);
/// `call_indirect` beyond the table.
pub const UNDEFINED_ELEMENT: ClifTrap = ClifTrap::unwrap_user(3);
/// `call_indirect` through a null element.
pub const NULL_ELEMENT: ClifTrap = ClifTrap::unwrap_user(4);
/// `call_indirect` of a function of another type.
pub const TYPE_MISMATCH: ClifTrap = ClifTrap::unwrap_user(5);
/// A libcall or a host function left an error for the store to report.
pub const PENDING: ClifTrap = ClifTrap::unwrap_user(6);
/// `call_ref` of a null reference.
pub const NULL_FUNCTION: ClifTrap = ClifTrap::unwrap_user(7);
/// `ref.as_non_null` or `throw_ref` of a null reference.
pub const NULL_REFERENCE: ClifTrap = ClifTrap::unwrap_user(8);
/// An atomic access whose address is no multiple of its width.
pub const UNALIGNED_ATOMIC: ClifTrap = ClifTrap::unwrap_user(20);

/// There is no clause for the tag of a `suspend` or a `switch`.
pub const UNHANDLED_TAG: ClifTrap = ClifTrap::unwrap_user(22);
/// A continuation was used before.
pub const CONSUMED: ClifTrap = ClifTrap::unwrap_user(23);
/// `resume`, `cont.bind` or `switch` of a null reference.
pub const NULL_CONTINUATION: ClifTrap = ClifTrap::unwrap_user(24);

/// A reference is of another type than a cast asks for.
pub const CAST_FAILURE: ClifTrap = ClifTrap::unwrap_user(25);
/// An access to a structure at null.
pub const NULL_STRUCTURE: ClifTrap = ClifTrap::unwrap_user(27);
/// An access to an array at null.
pub const NULL_ARRAY: ClifTrap = ClifTrap::unwrap_user(28);
/// `i31.get_s` or `i31.get_u` of a null reference.
pub const NULL_I31: ClifTrap = ClifTrap::unwrap_user(29);
/// An access to an array beyond its end.
pub const ARRAY_OUT_OF_BOUNDS: ClifTrap = ClifTrap::unwrap_user(26);

/// There is no fuel left.
pub const OUT_OF_FUEL: ClifTrap = ClifTrap::unwrap_user(21);

/// Why execution trapped (core specification §4.4). The display is the message
/// that the official test suite uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TrapCode {
    /// `unreachable` was executed.
    Unreachable,
    /// A load, store or bulk operation left the memory.
    MemoryOutOfBounds,
    /// A table access left the table.
    TableOutOfBounds,
    /// An indirect call's index is beyond the table.
    UndefinedElement,
    /// An indirect call met a null reference.
    UninitializedElement,
    /// An indirect call met a function of another type.
    IndirectCallTypeMismatch,
    /// `call_ref` met a null reference.
    NullFunction,
    /// `ref.as_non_null` or `throw_ref` met a null reference.
    NullReference,
    /// Integer division by zero.
    IntegerDivideByZero,
    /// Integer division overflow, or a float outside the integer's range.
    IntegerOverflow,
    /// A conversion from NaN to an integer.
    InvalidConversion,
    /// The stack is used up.
    StackExhausted,
    /// An atomic access whose address is no multiple of its width.
    UnalignedAtomic,
    /// A wait on a memory that is not shared.
    ExpectedSharedMemory,
    /// The store was told to stop, see [`crate::Interrupt`].
    Interrupted,
    /// Something is beyond what the store may have, see [`crate::Quota`].
    LimitExceeded,
    /// There is no fuel left, see [`crate::Config::consume_fuel`].
    OutOfFuel,
    /// A `suspend` or a `switch` whose tag no `resume` around it has a clause for.
    UnhandledTag,
    /// A continuation was used that had been used before.
    ConsumedContinuation,
    /// `resume`, `cont.bind` or `switch` met a null reference.
    NullContinuation,
    /// `ref.cast` met a reference of another type.
    CastFailure,
    /// An access left its array.
    ArrayOutOfBounds,
    /// An access to a structure met a null reference.
    NullStructure,
    /// An access to an array met a null reference.
    NullArray,
    /// An integer of 31 bits was asked for and a null reference met.
    NullI31,
}

impl TrapCode {
    /// The same of one that was kept as a number.
    pub(crate) fn from_raw(code: u8) -> Option<TrapCode> {
        let code = std::num::NonZeroU8::new(code)?;
        TrapCode::from_clif(ClifTrap::from_raw(code))
    }

    /// The trap that a Cranelift trap code stands for; `None` for [`PENDING`]
    /// and for codes the translation never emits.
    pub(crate) fn from_clif(code: ClifTrap) -> Option<TrapCode> {
        Some(match code {
            ClifTrap::STACK_OVERFLOW => TrapCode::StackExhausted,
            ClifTrap::HEAP_OUT_OF_BOUNDS => TrapCode::MemoryOutOfBounds,
            ClifTrap::INTEGER_OVERFLOW => TrapCode::IntegerOverflow,
            ClifTrap::INTEGER_DIVISION_BY_ZERO => TrapCode::IntegerDivideByZero,
            ClifTrap::BAD_CONVERSION_TO_INTEGER => TrapCode::InvalidConversion,
            UNREACHABLE => TrapCode::Unreachable,
            TABLE_OUT_OF_BOUNDS => TrapCode::TableOutOfBounds,
            UNDEFINED_ELEMENT => TrapCode::UndefinedElement,
            NULL_ELEMENT => TrapCode::UninitializedElement,
            TYPE_MISMATCH => TrapCode::IndirectCallTypeMismatch,
            NULL_FUNCTION => TrapCode::NullFunction,
            NULL_REFERENCE => TrapCode::NullReference,
            UNALIGNED_ATOMIC => TrapCode::UnalignedAtomic,
            OUT_OF_FUEL => TrapCode::OutOfFuel,
            UNHANDLED_TAG => TrapCode::UnhandledTag,
            CONSUMED => TrapCode::ConsumedContinuation,
            NULL_CONTINUATION => TrapCode::NullContinuation,
            CAST_FAILURE => TrapCode::CastFailure,
            ARRAY_OUT_OF_BOUNDS => TrapCode::ArrayOutOfBounds,
            NULL_STRUCTURE => TrapCode::NullStructure,
            NULL_ARRAY => TrapCode::NullArray,
            NULL_I31 => TrapCode::NullI31,
            _ => return None,
        })
    }
}

impl fmt::Display for TrapCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrapCode::Unreachable => "unreachable",
            TrapCode::MemoryOutOfBounds => "out of bounds memory access",
            TrapCode::TableOutOfBounds => "out of bounds table access",
            TrapCode::UndefinedElement => "undefined element",
            TrapCode::UninitializedElement => "uninitialized element",
            TrapCode::IndirectCallTypeMismatch => "indirect call type mismatch",
            TrapCode::NullFunction => "null function reference",
            TrapCode::NullReference => "null reference",
            TrapCode::IntegerDivideByZero => "integer divide by zero",
            TrapCode::IntegerOverflow => "integer overflow",
            TrapCode::InvalidConversion => "invalid conversion to integer",
            TrapCode::StackExhausted => "call stack exhausted",
            TrapCode::UnalignedAtomic => "unaligned atomic",
            TrapCode::ExpectedSharedMemory => "expected shared memory",
            TrapCode::Interrupted => "interrupted",
            TrapCode::LimitExceeded => "limit exceeded",
            TrapCode::OutOfFuel => "all fuel consumed",
            TrapCode::UnhandledTag => "unhandled tag",
            TrapCode::ConsumedContinuation => "continuation already consumed",
            TrapCode::NullContinuation => "null continuation reference",
            TrapCode::CastFailure => "cast failure",
            TrapCode::ArrayOutOfBounds => "out of bounds array access",
            TrapCode::NullStructure => "null structure reference",
            TrapCode::NullArray => "null array reference",
            TrapCode::NullI31 => "null i31 reference",
        })
    }
}

impl std::error::Error for TrapCode {}

/// One Wasm frame of a backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the module, where it has one.
    pub module_name: Option<String>,
    /// Index of the function in its module.
    pub func_index: u32,
    /// Name of the function, from the name section or an export.
    pub func_name: Option<String>,
    /// Offset of the instruction from the start of the module, in bytes.
    pub offset: Option<u32>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.func_name {
            Some(name) => write!(f, "{} (function {})", Shown(name), self.func_index)?,
            None => write!(f, "function {}", self.func_index)?,
        }
        if let Some(module) = &self.module_name {
            write!(f, " in {}", Shown(module))?;
        }
        match self.offset {
            Some(offset) => write!(f, " at {offset:#x}"),
            None => Ok(()),
        }
    }
}

/// A trap with the Wasm frames that were live, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The reason for which the program was ended.
    pub code: TrapCode,
    /// The frames, innermost first, across every entry into Wasm of the thread.
    pub frames: Vec<Frame>,
    /// The access that was out of bounds, where the strategy reports it.
    pub access: Option<AccessReport>,
    /// The limit that was exceeded, where that is why.
    pub limit: Option<LimitError>,
}

/// An access that was out of bounds, as the strategy `debug` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessReport {
    /// Index of the memory in its module.
    pub memory: u32,
    /// The index operand.
    pub index: u64,
    /// The instruction's constant offset.
    pub offset: u64,
    /// Width of the access in bytes.
    pub width: u32,
    /// Length of the memory at that time, in bytes.
    pub memory_bytes: u64,
}

impl fmt::Display for AccessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AccessReport {
            memory,
            index,
            offset,
            width,
            memory_bytes,
        } = self;
        write!(f, "width {width}, index {index:#x}, offset {offset:#x}, ")?;
        write!(f, "memory {memory} of {memory_bytes:#x} bytes")
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if let Some(limit) = &self.limit {
            write!(f, ": {limit}")?;
        }
        if let Some(access) = &self.access {
            write!(f, " ({access})")?;
        }
        match self.frames.first() {
            Some(frame) => write!(f, " in {frame}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Trap {}
