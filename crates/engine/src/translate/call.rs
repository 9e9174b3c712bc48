//! Calls (core specification §4.4.8).
//!
//! Every Wasm function takes the context it runs in and its caller's before
//! its own parameters. A call inside the module is direct; an imported function
//! is called through its entry in the context; `call_indirect` through a
//! function reference, whose type id it compares first. The null reference is
//! address 0: loading the id from it faults, and the fault is the trap.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Inst, InstBuilder, MemFlagsData, Value, types};

use super::Translator;
use crate::trap;
use crate::vmctx::{self, offsets};

impl Translator<'_> {
    pub(super) fn call(&mut self, index: u32) {
        let info = self.env.module.info;
        let params = info.func_type(index).params().len();
        let call = if info.defined_func(index).is_some() {
            let function = self.local_function(index);
            let args = self.collect_call_args(self.env.vmctx, params);
            let call = self.b.ins().call(function, &args);
            self.state.call_args = args;
            call
        } else {
            let import = self.env.module.layout.func_import(index);
            let code = self.context_constant(types::I64, import + offsets::IMPORT_CODE);
            let vmctx = self.context_constant(types::I64, import + offsets::IMPORT_VMCTX);
            let signature = self.signature(info.funcs[index as usize]);
            let args = self.collect_call_args(vmctx, params);
            let call = self.b.ins().call_indirect(signature, code, &args);
            self.state.call_args = args;
            call
        };
        self.push_results(call);
    }

    pub(super) fn call_indirect(&mut self, type_index: u32, table: u32) {
        let index = self.pop();
        let reference = self.table_element(table, index, trap::UNDEFINED_ELEMENT);
        let region = self.constant_flags();
        let checked = region.with_trap_code(Some(trap::NULL_ELEMENT));
        // It may not move above the check of the index, and must not be dropped.
        let mut first = MemFlagsData::new()
            .with_aligned()
            .with_readonly()
            .with_trap_code(checked.trap_code());
        first.set_alias_region(region.alias_region());
        let found = self
            .b
            .ins()
            .load(types::I32, first, reference, offsets::FUNCREF_TYPE_ID);
        let ids = self.context_constant(types::I64, vmctx::VMCTX_TYPE_IDS);
        let expected = self
            .b
            .ins()
            .load(types::I32, region, ids, type_index.cast_signed() * 4);
        let wrong = self.b.ins().icmp(IntCC::NotEqual, found, expected);
        self.b.ins().trapnz(wrong, trap::TYPE_MISMATCH);

        let flags = MemFlagsData::trusted()
            .with_readonly()
            .with_alias_region(region.alias_region());
        let code = self
            .b
            .ins()
            .load(types::I64, flags, reference, offsets::FUNCREF_CODE);
        let vmctx = self
            .b
            .ins()
            .load(types::I64, flags, reference, offsets::FUNCREF_VMCTX);
        let params = self.env.module.info.types[type_index as usize]
            .params()
            .len();
        let signature = self.signature(type_index);
        let args = self.collect_call_args(vmctx, params);
        let call = self.b.ins().call_indirect(signature, code, &args);
        self.state.call_args = args;
        self.push_results(call);
    }

    /// Pops `count` arguments and puts the contexts in front of them.
    fn collect_call_args(&mut self, callee: Value, count: usize) -> Vec<Value> {
        let mut args = std::mem::take(&mut self.state.call_args);
        args.clear();
        args.push(callee);
        args.push(self.env.vmctx);
        let first = self.state.stack.len() - count;
        for i in first..self.state.stack.len() {
            let value = self.canonical(self.state.stack[i]);
            args.push(value);
        }
        self.state.stack.truncate(first);
        args
    }

    fn push_results(&mut self, call: Inst) {
        self.state
            .stack
            .extend_from_slice(self.b.inst_results(call));
    }
}
