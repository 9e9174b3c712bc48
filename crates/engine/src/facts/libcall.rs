//! The runtime functions compiled code calls, by position in the table that
//! the context points to.
//!
//! All use the host's C calling convention and take the caller's context
//! first. A *status* is an `i32`: 0 to go on, anything else when a trap is
//! pending, which compiled code raises by `trapnz status` with
//! [`crate::facts::trap::PENDING`].

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;

/// A runtime function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Libcall {
    /// `(ctx, memory: i32, delta_pages: i64) -> i64`: old size in pages or -1;
    /// less with a trap pending.
    MemoryGrow,
    /// `(ctx, dst_memory: i32, dst: i64, src_memory: i32, src: i64, len: i64) -> status`
    MemoryCopy,
    /// `(ctx, memory: i32, dst: i64, value: i32, len: i64) -> status`
    MemoryFill,
    /// `(ctx, memory: i32, segment: i32, dst: i64, src: i64, len: i64) -> status`
    MemoryInit,
    /// `(ctx, segment: i32)`
    DataDrop,
    /// `(ctx, table: i32, init: i64, delta: i64) -> i64`: old length or -1;
    /// less with a trap pending.
    TableGrow,
    /// `(ctx, table: i32, dst: i64, value: i64, len: i64) -> status`
    TableFill,
    /// `(ctx, dst_table: i32, dst: i64, src_table: i32, src: i64, len: i64) -> status`
    TableCopy,
    /// `(ctx, table: i32, segment: i32, dst: i64, src: i64, len: i64) -> status`
    TableInit,
    /// `(ctx, segment: i32)`
    ElemDrop,
    /// `(ctx, tag: i32) -> i64`: address of a new exception, values unset; 0 with a
    /// trap pending.
    ExceptionNew,
    /// `(ctx, exception: i64)`: goes on in a handler, never returns.
    Throw,
    /// `(ctx, memory: i32, index: i64, offset: i64, expected: i32, timeout_ns: i64)
    /// -> i64`: 0 woken, 1 not equal, 2 timed out, or negative with a trap pending.
    AtomicWait32,
    /// As [`Libcall::AtomicWait32`] with `expected: i64`.
    AtomicWait64,
    /// `(ctx, memory: i32, index: i64, offset: i64, count: i32) -> i64`: how many
    /// were woken, or negative with a trap pending.
    AtomicNotify,
    /// `(ctx, memory: i32, index: i64, offset: i64, width: i32) -> status`: under
    /// the strategy `debug`, in front of each access.
    CheckAccess,
}

impl Libcall {
    /// Every libcall, in table order.
    pub const ALL: [Libcall; 16] = [
        Libcall::MemoryGrow,
        Libcall::MemoryCopy,
        Libcall::MemoryFill,
        Libcall::MemoryInit,
        Libcall::DataDrop,
        Libcall::TableGrow,
        Libcall::TableFill,
        Libcall::TableCopy,
        Libcall::TableInit,
        Libcall::ElemDrop,
        Libcall::ExceptionNew,
        Libcall::Throw,
        Libcall::AtomicWait32,
        Libcall::AtomicWait64,
        Libcall::AtomicNotify,
        Libcall::CheckAccess,
    ];

    /// Byte offset of its entry in the table of libcalls.
    pub fn table_offset(self) -> i32 {
        self as i32 * 8
    }

    /// Types after the context, and the result.
    fn shape(self) -> (&'static [Type], Option<Type>) {
        use types::{I32, I64};
        match self {
            Libcall::MemoryGrow => (&[I32, I64], Some(I64)),
            Libcall::MemoryCopy => (&[I32, I64, I32, I64, I64], Some(I32)),
            Libcall::MemoryFill => (&[I32, I64, I32, I64], Some(I32)),
            Libcall::MemoryInit => (&[I32, I32, I64, I64, I64], Some(I32)),
            Libcall::DataDrop | Libcall::ElemDrop => (&[I32], None),
            Libcall::ExceptionNew => (&[I32], Some(I64)),
            Libcall::Throw => (&[I64], None),
            Libcall::TableGrow => (&[I32, I64, I64], Some(I64)),
            Libcall::TableFill => (&[I32, I64, I64, I64], Some(I32)),
            Libcall::TableCopy => (&[I32, I64, I32, I64, I64], Some(I32)),
            Libcall::TableInit => (&[I32, I32, I64, I64, I64], Some(I32)),
            Libcall::AtomicWait32 => (&[I32, I64, I64, I32, I64], Some(I64)),
            Libcall::AtomicWait64 => (&[I32, I64, I64, I64, I64], Some(I64)),
            Libcall::AtomicNotify => (&[I32, I64, I64, I32], Some(I64)),
            Libcall::CheckAccess => (&[I32, I64, I64, I32], Some(I32)),
        }
    }

    /// Its Cranelift signature.
    pub fn signature(self, call_conv: CallConv) -> Signature {
        let (params, result) = self.shape();
        let mut sig = Signature::new(call_conv);
        sig.params.push(AbiParam::new(types::I64));
        sig.params.extend(params.iter().map(|ty| c_param(*ty)));
        sig.returns.extend(result.map(AbiParam::new));
        sig
    }
}

/// A parameter as C passes it. The riscv64 psABI wants 32 bits, signed or not,
/// extended by their sign; the other conventions leave the upper half open.
fn c_param(ty: Type) -> AbiParam {
    let param = AbiParam::new(ty);
    match ty {
        types::I32 if cfg!(target_arch = "riscv64") => param.sext(),
        _ => param,
    }
}
