//! Calls (core specification §4.4.8).
//!
//! Every Wasm function takes the context it runs in and its caller's before
//! its own parameters. A call inside the module is direct; an imported function
//! is called through its entry in the context; `call_indirect` through a
//! function reference, whose type id it compares first, and `call_ref` through
//! one whose type validation knows. The null reference is address 0: loading
//! from it faults, and the fault is the trap. Ahead of a check that finds the wrong
//! type no code is called either: its address is null then, where guards against
//! speculation are on.
//!
//! Inside a `try_table` a call names the block that takes an exception over
//! (`exception.rs`); where none is thrown it is the same call. A tail call
//! leaves the function first, so no handler of it applies.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, BlockCall, ExceptionTableData, ExceptionTableItem, FuncRef, Inst, InstBuilder,
    MemFlagsData, SigRef, TrapCode, Value, types,
};
use wasmparser::Operator;

use super::Translator;
use crate::facts::trap;
use crate::facts::vmctx::{self, Counter, offsets};

/// Whom to call.
pub(super) struct Callee {
    /// Its code.
    code: Code,
    /// The context it runs in.
    vmctx: Value,
    /// Its type, as the module's index.
    type_index: u32,
}

#[derive(Clone, Copy)]
enum Code {
    Direct(FuncRef),
    Address(SigRef, Value),
}

impl Translator<'_> {
    /// Translates a call; `false` when it is not one.
    pub(super) fn any_call(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::Call { function_index } => {
                if self.inline(function_index) {
                    return true;
                }
                let callee = self.known_callee(function_index);
                self.call(callee);
            }
            Operator::CallIndirect {
                type_index,
                table_index,
            } => {
                self.count(Counter::IndirectCalls);
                let callee = self.table_callee(type_index, table_index);
                self.call(callee);
            }
            Operator::CallRef { type_index } => {
                self.count(Counter::IndirectCalls);
                let callee = self.reference_callee(type_index);
                self.call(callee);
            }
            Operator::ReturnCall { function_index } => {
                let callee = self.known_callee(function_index);
                self.return_call(callee);
            }
            Operator::ReturnCallIndirect {
                type_index,
                table_index,
            } => {
                self.count(Counter::IndirectCalls);
                let callee = self.table_callee(type_index, table_index);
                self.return_call(callee);
            }
            Operator::ReturnCallRef { type_index } => {
                self.count(Counter::IndirectCalls);
                let callee = self.reference_callee(type_index);
                self.return_call(callee);
            }
            _ => return false,
        }
        true
    }

    /// A function of the module's index space.
    fn known_callee(&mut self, index: u32) -> Callee {
        let info = self.env.module.info;
        let type_index = info.funcs[index as usize];
        if info.defined_func(index).is_some() {
            return Callee {
                code: Code::Direct(self.local_function(index)),
                vmctx: self.env.vmctx,
                type_index,
            };
        }
        let import = self.env.module.layout.func_import(index);
        let code = self.context_constant(types::I64, import + offsets::IMPORT_CODE);
        let vmctx = self.context_constant(types::I64, import + offsets::IMPORT_VMCTX);
        Callee {
            code: Code::Address(self.signature(type_index), code),
            vmctx,
            type_index,
        }
    }

    /// The element of a table at the popped index, if its type is right.
    fn table_callee(&mut self, type_index: u32, table: u32) -> Callee {
        let index = self.pop();
        let reference = self.table_element(table, index, trap::UNDEFINED_ELEMENT);
        let region = self.constant_flags();
        let first = self.checking_flags(trap::NULL_ELEMENT);
        let found = self
            .b
            .ins()
            .load(types::I32, first, reference, offsets::FUNCREF_TYPE_ID);
        let ids = self.context_constant(types::I64, vmctx::VMCTX_TYPE_IDS);
        let expected = self
            .b
            .ins()
            .load(types::I32, region, ids, type_index.cast_signed() * 4);
        let wrong = match self.env.module.info.places[type_index as usize].is_final {
            true => self.b.ins().icmp(IntCC::NotEqual, found, expected),
            false => {
                let is_below = self.is_type_below(found, expected, type_index);
                self.b.ins().icmp_imm_u(IntCC::Equal, is_below, 0)
            }
        };
        self.b.ins().trapnz(wrong, trap::TYPE_MISMATCH);
        let flags = MemFlagsData::trusted()
            .with_readonly()
            .with_alias_region(region.alias_region());
        let callee = self.callee_of(reference, type_index, flags);
        let code = match callee.code {
            Code::Address(sig, code) => Code::Address(sig, self.guarded(wrong, code)),
            direct @ Code::Direct(_) => direct,
        };
        Callee { code, ..callee }
    }

    /// The popped reference, which has the right type or is null.
    fn reference_callee(&mut self, type_index: u32) -> Callee {
        let reference = self.pop();
        let flags = self.checking_flags(trap::NULL_FUNCTION);
        self.callee_of(reference, type_index, flags)
    }

    /// Flags of a load that faults where a reference is null. It may not move
    /// above what comes before it, and must not be dropped.
    fn checking_flags(&mut self, code: TrapCode) -> MemFlagsData {
        let region = self.constant_flags();
        let checked = region.with_trap_code(Some(code));
        let mut flags = MemFlagsData::new()
            .with_aligned()
            .with_readonly()
            .with_trap_code(checked.trap_code());
        flags.set_alias_region(region.alias_region());
        flags
    }

    fn callee_of(&mut self, reference: Value, type_index: u32, flags: MemFlagsData) -> Callee {
        let code = self
            .b
            .ins()
            .load(types::I64, flags, reference, offsets::FUNCREF_CODE);
        let vmctx = self
            .b
            .ins()
            .load(types::I64, flags, reference, offsets::FUNCREF_VMCTX);
        Callee {
            code: Code::Address(self.signature(type_index), code),
            vmctx,
            type_index,
        }
    }

    fn call(&mut self, callee: Callee) {
        let args = self.collect_call_args(&callee);
        if self.state.handlers.is_empty() {
            let call = match callee.code {
                Code::Direct(function) => self.b.ins().call(function, &args),
                Code::Address(sig, code) => self.b.ins().call_indirect(sig, code, &args),
            };
            self.push_results(call);
        } else {
            self.try_call(&callee, &args);
        }
        self.state.call_args = args;
        self.fuel_read();
    }

    /// A call that goes on in a block of its own, or in the innermost handler.
    fn try_call(&mut self, callee: &Callee, args: &[Value]) {
        let sig = match callee.code {
            Code::Direct(_) => self.signature(callee.type_index),
            Code::Address(sig, _) => sig,
        };
        let next = self.b.create_block();
        let module = self.env.module;
        for ty in module.info.types[callee.type_index as usize].results() {
            self.b.append_block_param(next, super::clif_type(*ty));
        }
        let landing = self.innermost_handler();
        let results = self.b.block_params(next).len() as u32;
        let pool = &mut self.b.func.dfg.value_lists;
        let returned = BlockCall::new(next, (0..results).map(BlockArg::TryCallRet), pool);
        let caught = BlockCall::new(landing, [BlockArg::TryCallExn(0)], pool);
        let table = ExceptionTableData::new(sig, returned, [ExceptionTableItem::Default(caught)]);
        let table = self.b.func.dfg.exception_tables.push(table);
        match callee.code {
            Code::Direct(function) => self.b.ins().try_call(function, args, table),
            Code::Address(_, code) => self.b.ins().try_call_indirect(code, args, table),
        };
        self.go_on_in(next);
        self.state
            .stack
            .extend_from_slice(self.b.block_params(next));
    }

    fn return_call(&mut self, callee: Callee) {
        let args = self.collect_call_args(&callee);
        match callee.code {
            Code::Direct(function) => self.b.ins().return_call(function, &args),
            Code::Address(sig, code) => self.b.ins().return_call_indirect(sig, code, &args),
        };
        self.state.call_args = args;
        self.state.reachable = false;
    }

    /// Pops the arguments and puts the contexts in front of them.
    fn collect_call_args(&mut self, callee: &Callee) -> Vec<Value> {
        let types = &self.env.module.info.types;
        let count = types[callee.type_index as usize].params().len();
        let mut args = std::mem::take(&mut self.state.call_args);
        args.clear();
        args.push(callee.vmctx);
        args.push(self.env.vmctx);
        let first = self.state.stack.len() - count;
        for i in first..self.state.stack.len() {
            let value = self.canonical(self.state.stack[i]);
            args.push(value);
        }
        self.state.stack.truncate(first);
        let module = self.env.module;
        let ty = &module.info.types[callee.type_index as usize];
        module.passing.hand_over(&mut self.b, ty, &mut args);
        args
    }

    fn push_results(&mut self, call: Inst) {
        self.state
            .stack
            .extend_from_slice(self.b.inst_results(call));
    }
}
