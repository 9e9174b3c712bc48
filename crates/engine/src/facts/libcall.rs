//! The runtime functions compiled code calls: one list, of which all that must agree is
//! made.
//!
//! ```text
//!                    ┌► Libcall, its shapes              compiled code, here
//!  runtime_functions!├► Libcalls, the table's layout     compiled code, here
//!                    ├► the table: a function of each    run/runtime/entries.rs
//!                    └► the gates of locked Wasm         run/entry/x86_64_gate.rs
//! ```
//!
//! What must stay true: nobody else lists them. A row's name is that of the field in the
//! table and of the function in it, and its types are those of the function's signature
//! in Rust and in Cranelift: a function of another shape does not compile, and no two can
//! change places.
//!
//! All use the host's C calling convention and take the caller's context first. A
//! [`Status`] is 0 to go on, anything else when a trap is pending, which compiled code
//! raises by `trapnz status` with [`crate::facts::trap::PENDING`].

use std::mem::offset_of;

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;

/// Whether a trap is pending.
pub type Status = u32;

/// Gives the list to the macro of that name: for each function a variant's name, its own
/// name and its signature, without the context.
macro_rules! runtime_functions {
    ($made:ident) => {
        $made! {
            /// Old size in pages or -1; less with a trap pending.
            MemoryGrow = memory_grow(memory: u32, delta_pages: u64) -> i64;
            /// `memory.copy`
            MemoryCopy = memory_copy(to: u32, dst: u64, from: u32, src: u64, len: u64) -> Status;
            /// `memory.fill`
            MemoryFill = memory_fill(memory: u32, dst: u64, value: u32, len: u64) -> Status;
            /// `memory.copy` of ranges that are inside and short, by their addresses.
            MoveBytes = move_bytes(to: u64, from: u64, len: u64);
            /// `memory.fill` of a range that is inside and short, by its address.
            FillBytes = fill_bytes(to: u64, value: u32, len: u64);
            /// `memory.init`
            MemoryInit =
                memory_init(memory: u32, segment: u32, dst: u64, src: u64, len: u64) -> Status;
            /// `data.drop`
            DataDrop = data_drop(segment: u32);
            /// Old length or -1; less with a trap pending.
            TableGrow = table_grow(table: u32, init: u64, delta: u64) -> i64;
            /// `table.fill`
            TableFill = table_fill(table: u32, dst: u64, value: u64, len: u64) -> Status;
            /// `table.copy`
            TableCopy = table_copy(to: u32, dst: u64, from: u32, src: u64, len: u64) -> Status;
            /// `table.init`
            TableInit =
                table_init(table: u32, segment: u32, dst: u64, src: u64, len: u64) -> Status;
            /// `elem.drop`
            ElemDrop = elem_drop(segment: u32);
            /// Address of a new exception, values unset; 0 with a trap pending.
            ExceptionNew = exception_new(tag: u32) -> u64;
            /// Goes on in a handler of the exception at that address, never returns.
            Throw = throw(exception: u64);
            /// 0 woken, 1 not equal, 2 timed out, or negative with a trap pending.
            AtomicWait32 = atomic_wait32(
                memory: u32, index: u64, offset: u64, expected: u32, timeout_ns: i64
            ) -> i64;
            /// As [`Libcall::AtomicWait32`].
            AtomicWait64 = atomic_wait64(
                memory: u32, index: u64, offset: u64, expected: u64, timeout_ns: i64
            ) -> i64;
            /// How many were woken, or negative with a trap pending.
            AtomicNotify =
                atomic_notify(memory: u32, index: u64, offset: u64, count: u32) -> i64;
            /// Under the strategy `debug`, in front of each access.
            CheckAccess =
                check_access(memory: u32, index: u64, offset: u64, width: u32) -> Status;
            /// Address of a continuation that is free, where none is at hand; 0 with a
            /// trap pending.
            ContNew = cont_new() -> u64;
            /// Gives a continuation a stack with room for so many arguments, where none
            /// is at hand. Its top, or 0 with a trap pending.
            ContStack = cont_stack(arguments: u32) -> u64;
            /// Address of the innermost continuation that was resumed with a clause for
            /// this tag; 0 where there is none.
            ContFind = cont_find(clause: u64) -> u64;
            /// Another continuation in the place of one whose revisions are used up; 0
            /// with a trap pending.
            ContRenew = cont_renew(continuation: u64) -> u64;
            /// Gives back a continuation that has not begun.
            ContDrop = cont_drop(continuation: u64);
            /// Address of the code of one of the callee's functions, which is compiled now
            /// unless it was before; 0 with a trap pending.
            FirstCall = first_call(func: u32) -> u64;
            /// A function has run for long: at the start of it, or at the head of the loop
            /// at this offset of the module. Address of code that goes on from there in
            /// its frame; 0 to go on as before. With [`IS_OPTIMISED`] it is optimised, and
            /// asks for the last tier.
            TierUp = tier_up(func: u32, place: u32) -> u64;
            /// A new object of the module's type at this index, zero but for its header; an
            /// array has so many elements. 0 with a trap pending.
            ObjectNew = object_new(ty: u32, len: u32) -> u64;
            /// `array.new_data`; 0 with a trap pending.
            ArrayNewData = array_new_data(ty: u32, segment: u32, src: u32, len: u32) -> u64;
            /// `array.new_elem`; 0 with a trap pending.
            ArrayNewElem = array_new_elem(ty: u32, segment: u32, src: u32, len: u32) -> u64;
            /// `array.init_data` of an array that is not null.
            ArrayInitData =
                array_init_data(segment: u32, array: u64, dst: u32, src: u32, len: u32) -> Status;
            /// `array.init_elem` of an array that is not null.
            ArrayInitElem =
                array_init_elem(segment: u32, array: u64, dst: u32, src: u32, len: u32) -> Status;
            /// So many elements of an array, from an index on, which are inside, are about to be
            /// overwritten while a collection is under way.
            ElementsOverwritten = elements_overwritten(array: u64, from: u32, len: u64);
            /// Sets elements in a row to a value of 1 << shift bytes, by their address.
            FillCells = fill_cells(to: u64, value: u64, shift: u32, len: u64) -> Status;
            /// Sets vectors in a row to one of these halves, by their address.
            FillVectors = fill_vectors(to: u64, low: u64, high: u64, len: u64) -> Status;
            /// Copies elements in a row, by their addresses.
            CopyCells = copy_cells(to: u64, from: u64, bytes: u64) -> Status;
            /// The reference that stands for an `externref` of the host's.
            AnyOfHost = any_of_host(value: u64) -> u64;
            /// The `externref` that such a reference stands for.
            HostOfAny = host_of_any(reference: u64) -> u64;
            /// Whether a type, by its number, is another or below it: 1, else 0.
            IsSubtype = is_subtype(found: u32, wanted: u32) -> u32;
        }
    };
}
pub(crate) use runtime_functions;

/// How a type of Rust's is passed: a type without a row here is none that may be.
trait Passed {
    /// As Cranelift has it.
    const TYPE: Type;
}

impl Passed for u32 {
    const TYPE: Type = types::I32;
}
impl Passed for u64 {
    const TYPE: Type = types::I64;
}
impl Passed for i64 {
    const TYPE: Type = types::I64;
}

macro_rules! declare {
    ($(
        $(#[$doc:meta])*
        $Variant:ident = $name:ident($($param:ident: $ty:ident),*) $(-> $result:ident)?;
    )*) => {
        /// A runtime function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Libcall {
            $($(#[$doc])* $Variant,)*
        }

        /// The table of them, which contexts point to.
        #[repr(C)]
        pub(crate) struct Libcalls {
            $(pub $name: unsafe extern "C" fn(vmctx: *mut u8, $($param: $ty),*) $(-> $result)?,)*
        }

        impl Libcall {
            /// Every libcall, in table order.
            pub const ALL: [Libcall; [$(Libcall::$Variant),*].len()] = [$(Libcall::$Variant),*];

            /// Byte offset of its entry in the table of libcalls.
            pub fn table_offset(self) -> i32 {
                match self {
                    $(Libcall::$Variant => offset_of!(Libcalls, $name) as i32,)*
                }
            }

            /// Types after the context, and those of the result.
            fn shape(self) -> (&'static [Type], &'static [Type]) {
                match self {
                    $(Libcall::$Variant => const {
                        let params: &[Type] = &[$(<$ty as Passed>::TYPE),*];
                        let results: &[Type] = &[$(<$result as Passed>::TYPE)?];
                        (params, results)
                    },)*
                }
            }
        }
    };
}
runtime_functions!(declare);

/// The place of [`Libcall::TierUp`] that is the start of a function.
pub(crate) const FUNCTION_START: u32 = u32::MAX;

/// In a place of [`Libcall::TierUp`] that is a loop's: more than any offset of a module.
pub(crate) const IS_OPTIMISED: u32 = 1 << 31;

/// Where the table has the function that compiles others.
pub(crate) const FIRST_CALL: usize = offset_of!(Libcalls, first_call);

impl Libcall {
    /// Its Cranelift signature.
    pub fn signature(self, call_conv: CallConv) -> Signature {
        let (params, results) = self.shape();
        let mut sig = Signature::new(call_conv);
        sig.params.push(AbiParam::new(types::I64));
        sig.params.extend(params.iter().map(|ty| c_param(*ty)));
        sig.returns
            .extend(results.iter().copied().map(AbiParam::new));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gates pass registers on, and x86-64 has six for arguments.
    #[test]
    fn all_arguments_are_in_registers() {
        for libcall in Libcall::ALL {
            let params = libcall.signature(CallConv::SystemV).params.len();
            assert!(params <= 6, "{libcall:?} takes {params}");
        }
    }

    #[test]
    fn the_table_has_a_place_for_each_in_order() {
        for (position, libcall) in Libcall::ALL.into_iter().enumerate() {
            assert_eq!(libcall as usize, position);
            let offset = position * size_of::<usize>();
            assert_eq!(libcall.table_offset(), offset as i32);
        }
        assert_eq!(
            size_of::<Libcalls>(),
            Libcall::ALL.len() * size_of::<usize>()
        );
    }
}
