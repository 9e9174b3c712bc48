//! How the arguments of Wasm functions get there: in registers, and where there are more, in
//! memory.
//!
//! | | the first | the others |
//! |---|---|---|
//! | [`Passing::Stack`] | in registers | on the stack, which the callee takes them off |
//! | [`Passing::Area`] | four integers and eight others, in registers | in cells of the runtime's [`VmArguments`] |
//!
//! The second is for LLVM, which has no convention in which a callee takes arguments off
//! the stack as Cranelift's `tail` does. All functions of an engine have the same one, whoever
//! compiles them, and so have its trampolines.
//!
//! What must stay true: nothing is called between the caller's stores to the area and the
//! callee's loads, which are the first that it does. So one area a store is enough, also where
//! calls are nested, leave by a tail call or begin a continuation.

use cranelift_codegen::ir::{
    AbiParam, ArgumentPurpose, InstBuilder, MemFlagsData, Signature, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;

use super::choices::Codegen;
use super::translate::clif_type;
use crate::facts::types::FuncType;
use crate::facts::vmctx::{self, VmArguments, offsets};

/// Parameters in front of a Wasm function's own: the callee's context and the
/// caller's.
pub(super) const CONTEXT_PARAMS: usize = 2;

/// Registers for a function's own arguments: of integers, of others.
const REGISTERS: [usize; 2] = [4, 8];

/// Registers for results of Cranelift's `tail` on x86-64, of integers and of others alike
/// (0.135.8, `isa/x64/abi.rs`, `get_intreg_for_retval` and `get_fltreg_for_retval`).
const RESULT_REGISTERS: usize = 8;

/// Whether a function returns to memory of its caller's on x86-64: then the first of the
/// registers for integers has the address of that, and the second the callee's context, which
/// is in the first otherwise (the same file, `compute_arg_locs`).
pub(crate) fn returns_to_memory(ty: &FuncType) -> bool {
    let integers = ty.results().iter().filter(|ty| clif_type(**ty).is_int());
    let integers = integers.count();
    integers > RESULT_REGISTERS || ty.results().len() - integers > RESULT_REGISTERS
}

/// Where arguments are that have no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// On the stack.
    Stack,
    /// In the runtime's area.
    Area,
}

impl Passing {
    /// The one of an engine with a code generator.
    pub(crate) fn of(codegen: Codegen) -> Passing {
        match codegen {
            Codegen::Cranelift | Codegen::Direct | Codegen::Tiered => Passing::Stack,
            Codegen::Llvm | Codegen::TieredLlvm => Passing::Area,
        }
    }

    /// For each parameter of a function the cell that its argument is in; nothing for one that
    /// is an argument of the machine code. Where there are not enough cells it is all of them.
    pub(super) fn cells(self, ty: &FuncType) -> Vec<Option<usize>> {
        let mut used = [0; 2];
        let mut next = 0;
        let cell = |ty: &_| {
            let kind = usize::from(!clif_type(*ty).is_int());
            used[kind] += 1;
            (self == Passing::Area && used[kind] > REGISTERS[kind]).then(|| {
                next += 1;
                next - 1
            })
        };
        let cells: Vec<Option<usize>> = ty.params().iter().map(cell).collect();
        match next <= VmArguments::CELLS {
            true => cells,
            false => vec![None; cells.len()],
        }
    }

    /// The signature of a Wasm function.
    pub(crate) fn signature(self, ty: &FuncType) -> Signature {
        let mut signature = Signature::new(CallConv::Tail);
        signature
            .params
            .push(AbiParam::special(types::I64, ArgumentPurpose::VMContext));
        signature.params.push(AbiParam::new(types::I64));
        let params = ty.params().iter().zip(self.cells(ty));
        let passed = params.filter(|(_, cell)| cell.is_none());
        signature
            .params
            .extend(passed.map(|(ty, _)| AbiParam::new(clif_type(*ty))));
        signature
            .returns
            .extend(ty.results().iter().map(|ty| AbiParam::new(clif_type(*ty))));
        signature
    }

    /// Appends what a caller does in front of a call with `args`, contexts first: what is in the
    /// area is stored, and no argument any more.
    pub(crate) fn hand_over(
        self,
        b: &mut FunctionBuilder<'_>,
        ty: &FuncType,
        args: &mut Vec<Value>,
    ) {
        let cells = self.cells(ty);
        if cells.iter().all(Option::is_none) {
            return;
        }
        let runtime = runtime_of(b, args[0]);
        for (value, cell) in args[CONTEXT_PARAMS..].iter().zip(&cells) {
            if let Some(cell) = cell {
                b.ins().store(flags(), *value, runtime, at(*cell));
            }
        }
        let mut cells = cells.into_iter();
        let mut contexts = 0..CONTEXT_PARAMS;
        args.retain(|_| contexts.next().is_some() || cells.next().flatten().is_none());
    }

    /// Appends what a callee begins with, whose machine code has `params`, contexts first: all
    /// its arguments, contexts left out.
    pub(crate) fn take_over(
        self,
        b: &mut FunctionBuilder<'_>,
        ty: &FuncType,
        params: &[Value],
    ) -> Vec<Value> {
        let mut runtime = None;
        let mut passed = params[CONTEXT_PARAMS..].iter();
        let mut argument = |(ty, cell): (&_, Option<usize>)| match cell {
            None => *passed.next().expect("the signature has it"),
            Some(cell) => {
                let runtime = *runtime.get_or_insert_with(|| runtime_of(b, params[0]));
                b.ins().load(clif_type(*ty), flags(), runtime, at(cell))
            }
        };
        let cells = self.cells(ty);
        ty.params().iter().zip(cells).map(&mut argument).collect()
    }
}

/// The runtime, of a callee's context or host function.
fn runtime_of(b: &mut FunctionBuilder<'_>, callee: Value) -> Value {
    let flags = MemFlagsData::trusted().with_readonly();
    b.ins()
        .load(types::I64, flags, callee, vmctx::VMCTX_RUNTIME)
}

/// Bytes from the runtime to a cell.
pub(super) fn at(cell: usize) -> i32 {
    offsets::RUNTIME_ARGUMENTS + (cell * size_of::<u128>()) as i32
}

fn flags() -> MemFlagsData {
    MemFlagsData::trusted().with_endianness(cranelift_codegen::ir::Endianness::Little)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::types::ValType::{F64, I32, V128};

    #[test]
    fn arguments_beyond_the_registers_have_cells_in_order() {
        let ty = FuncType::new([I32; 6], []);
        let none: [Option<usize>; 6] = [None; 6];
        assert_eq!(Passing::Stack.cells(&ty), none);
        let cells = Passing::Area.cells(&ty);
        assert_eq!(cells, [None, None, None, None, Some(0), Some(1)]);
        assert_eq!(Passing::Area.signature(&ty).params.len(), 6);
        assert_eq!(Passing::Stack.signature(&ty).params.len(), 8);
    }

    #[test]
    fn integers_and_others_are_counted_apart() {
        let ty = FuncType::new([[F64; 5], [V128; 5], [I32; 5]].concat(), []);
        let cells = Passing::Area.cells(&ty);
        let found: Vec<usize> = (0..15).filter(|at| cells[*at].is_some()).collect();
        assert_eq!(found, [8, 9, 14]);
    }

    #[test]
    fn a_function_with_more_than_all_cells_has_none() {
        let most = REGISTERS[0] + VmArguments::CELLS;
        let of = |count| Passing::Area.cells(&FuncType::new(vec![I32; count], []));
        assert_eq!(of(most).iter().flatten().count(), VmArguments::CELLS);
        assert_eq!(of(most + 1).iter().flatten().count(), 0);
    }
}
