//! Continuations (stack-switching proposal, phase 3).
//!
//! A switch is Cranelift's `stack_switch`: it is inline, is left by a jump, and hands
//! over one word in a register. The rest goes through memory: arguments to where the
//! continuation takes them (`VmCont::site`), results and what a `suspend` carries to the
//! frame of the `resume`. See `facts/vmcont.rs` for the layout, `docs/STACKS.md` for the
//! whole.
//!
//! ```text
//!  word to a continuation    the runtime; and 1, an exception to raise
//!  word to a `resume`        the runtime; and 1 + clause, suspended; and 63, an exception
//! ```
//!
//! That the runtime comes along in a register saves two loads, one after the other, on the
//! way from each switch to the next.
//!
//! What must stay true: nothing of a switch is written before everything that may trap
//! is done, but the reference's revision; and see the head of `facts/vmcont.rs` for the order.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, ExtFuncData, ExternalName, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind,
    Type, UserExternalName, Value, types,
};
use wasmparser::{BinaryReader, Operator, OperatorsReader, ResumeTable};

mod resume;

use super::Translator;
use super::env::{NAMESPACE_START, clif_type, start_signature};
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::types::{HeapType, RefType, ValType};
use crate::facts::vmcont::{
    self, SUSPENDED, SUSPENDED_MORE, SWITCH_CLAUSE, THROWN_INTO, offsets as at,
};
use crate::facts::vmctx::offsets;

/// Bytes of a value between stacks.
const SLOT_BYTES: u32 = 16;

/// Whether what comes next resumes a continuation of this type, which is on the operand stack
/// just now.
pub(super) fn is_resumed(ty: u32, next: BinaryReader<'_>) -> bool {
    match OperatorsReader::new(next).read() {
        Ok(Operator::Resume {
            cont_type_index, ..
        }) => cont_type_index == ty,
        _ => false,
    }
}

impl<'a> Translator<'a> {
    /// Translates an instruction on continuations; `false` when it is not one.
    pub(super) fn continuation(&mut self, op: &Operator<'_>) -> bool {
        match op {
            // Where it begins at once its function waits for that.
            Operator::ContNew { .. } if self.state.begins => {
                let func = self.pop();
                self.b.ins().trapz(func, trap::NULL_FUNCTION);
                self.state.push(func);
            }
            Operator::ContNew { cont_type_index } => self.cont_new(*cont_type_index),
            Operator::ContBind {
                argument_index,
                result_index,
            } => self.cont_bind(*argument_index, *result_index),
            Operator::Suspend { tag_index } => self.suspend(*tag_index),
            Operator::Resume {
                cont_type_index,
                resume_table,
            } => match std::mem::take(&mut self.state.begins) {
                true => self.begin(*cont_type_index, resume_table),
                false => self.resume(*cont_type_index, resume_table),
            },
            Operator::ResumeThrow {
                cont_type_index,
                tag_index,
                resume_table,
            } => {
                let reference = self.pop();
                let exception = self.new_exception(*tag_index);
                self.throw_into(reference, exception, *cont_type_index, resume_table);
            }
            Operator::ResumeThrowRef {
                cont_type_index,
                resume_table,
            } => {
                let reference = self.pop();
                let exception = self.pop();
                self.b.ins().trapz(exception, trap::NULL_REFERENCE);
                self.throw_into(reference, exception, *cont_type_index, resume_table);
            }
            Operator::Switch {
                cont_type_index,
                tag_index,
            } => self.switch(*cont_type_index, *tag_index),
            _ => return false,
        }
        true
    }

    fn params(&self, ty: u32) -> &'a [ValType] {
        self.env.module.info.types[ty as usize].params()
    }

    fn results(&self, ty: u32) -> &'a [ValType] {
        self.env.module.info.types[ty as usize].results()
    }

    fn tag_type(&self, tag: u32) -> u32 {
        self.env.module.info.tags[tag as usize]
    }

    /// Where code may switch stacks, the runtime's address is kept: it comes along with each
    /// switch.
    pub(super) fn keep_runtime(&mut self) {
        self.state.runtime = None;
        if !self.env.module.info.cont_types.is_empty() {
            let variable = self.b.declare_var(types::I64);
            let runtime = self.runtime();
            self.b.def_var(variable, runtime);
            self.state.runtime = Some(variable);
        }
    }

    fn keep_runtime_at(&mut self, runtime: Value) {
        if let Some(variable) = self.state.runtime {
            self.b.def_var(variable, runtime);
        }
    }

    fn get(&mut self, from: Value, offset: i32) -> Value {
        let flags = MemFlagsData::trusted();
        self.b.ins().load(types::I64, flags, from, offset)
    }

    fn put(&mut self, value: Value, to: Value, offset: i32) {
        let flags = MemFlagsData::trusted();
        self.b.ins().store(flags, value, to, offset);
    }

    fn pop_values(&mut self, count: usize) -> Vec<Value> {
        let mut values: Vec<Value> = (0..count).map(|_| self.pop()).collect();
        values.reverse();
        values
    }

    /// Two ways that meet again with values: `rare` is the one not taken as a rule.
    fn unless(
        &mut self,
        usual: Value,
        values: &[Value],
        rare: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        for value in values {
            let ty = self.b.func.dfg.value_type(*value);
            self.b.append_block_param(next, ty);
        }
        let args = |values: &[Value]| -> Vec<BlockArg> {
            values.iter().map(|value| BlockArg::Value(*value)).collect()
        };
        self.b.ins().brif(usual, next, &args(values), cold, &[]);
        self.b.switch_to_block(cold);
        self.b.seal_block(cold);
        let others = rare(self);
        self.b.ins().jump(next, &args(&others));
        self.go_on_in(next);
        self.b.block_params(next).to_vec()
    }

    /// The continuation of a reference, which is used up by this.
    fn consume(&mut self, reference: Value) -> Value {
        let runtime = self.runtime();
        let base = self.get(runtime, at::CONT_BASE);
        let offset = self.b.ins().ushr_imm_u(reference, vmcont::PLACE_SHIFT);
        let offset = self.b.ins().band_imm_s(offset, vmcont::PLACE_MASK);
        let cont = self.b.ins().iadd(base, offset);
        let now = self.get(cont, at::CONT_REFERENCE);
        let is_it = self.b.ins().icmp(IntCC::Equal, reference, now);
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(is_it, next, &[], cold, &[]);
        self.b.switch_to_block(cold);
        self.b.seal_block(cold);
        self.b.ins().trapz(reference, trap::NULL_CONTINUATION);
        self.b.ins().trap(trap::CONSUMED);
        self.go_on_in(next);
        let later = self.b.ins().iadd_imm_s(reference, 1);
        self.put(later, cont, at::CONT_REFERENCE);
        self.fetch_frames(cont);
        cont
    }

    /// Reads what is most likely the frame that goes on, so that it comes from memory along
    /// with the continuation and not behind it. Nobody uses it: it is kept as loads are that
    /// may trap, and does not trap.
    fn fetch_frames(&mut self, cont: Value) {
        for below in vmcont::FETCHED {
            let flags = MemFlagsData::new();
            self.b.ins().load(types::I8, flags, cont, -below);
        }
    }

    /// A reference to a continuation, which is another one where its revisions are
    /// used up. Both.
    fn refer(&mut self, cont: Value) -> (Value, Value) {
        let reference = self.get(cont, at::CONT_REFERENCE);
        let revision = self.b.ins().ireduce(types::I32, reference);
        let last = i64::from(vmcont::LAST_REVISION);
        let is_left = self.b.ins().icmp_imm_u(IntCC::NotEqual, revision, last);
        let found = self.unless(is_left, &[cont, reference], |this| {
            let other = this.libcall(Libcall::ContRenew, &[cont]);
            let other = other.expect("it returns an address");
            this.b.ins().trapz(other, trap::PENDING);
            let reference = this.get(other, at::CONT_REFERENCE);
            vec![other, reference]
        });
        (found[0], found[1])
    }

    fn cont_new(&mut self, ty: u32) {
        let func = self.pop();
        self.b.ins().trapz(func, trap::NULL_FUNCTION);
        let cont = self.take(at::FREE_CONTS, Libcall::ContNew, &[]);
        let start = self.start(ty);
        self.put(func, cont, at::CONT_FP);
        self.put(start, cont, at::CONT_PC);
        let (_, reference) = self.refer(cont);
        self.push(reference);
    }

    /// The first of a chain of continuations that are free; where there is none, the
    /// runtime's.
    fn take(&mut self, chain: i32, more: Libcall, arguments: &[Value]) -> Value {
        let runtime = self.runtime();
        let free = self.get(runtime, chain);
        let (slow, fast, next) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.set_cold_block(slow);
        self.b.append_block_param(next, types::I64);
        self.b.ins().brif(free, fast, &[], slow, &[]);
        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let new = self.libcall(more, arguments);
        let new = new.expect("it returns an address");
        self.b.ins().trapz(new, trap::PENDING);
        self.b.ins().jump(next, &[BlockArg::Value(new)]);
        self.b.switch_to_block(fast);
        self.b.seal_block(fast);
        let link = self.get(free, at::CONT_LINK);
        self.put(link, runtime, chain);
        self.b.ins().jump(next, &[BlockArg::Value(free)]);
        self.go_on_in(next);
        self.b.block_params(next)[0]
    }

    /// Where continuations of a type start.
    fn start(&mut self, ty: u32) -> Value {
        let name = UserExternalName::new(NAMESPACE_START, ty);
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let signature = self.b.import_signature(start_signature());
        let start = self.b.import_function(ExtFuncData {
            name,
            signature,
            colocated: true,
            patchable: false,
        });
        self.b.ins().func_addr(types::I64, start)
    }

    /// Where the next argument of a continuation goes that takes `arguments`, all of
    /// them where it has no stack yet: it is another one then, which has. Both.
    fn arguments_of(&mut self, cont: Value, arguments: usize) -> (Value, Value) {
        let site = self.get(cont, at::CONT_SITE);
        let (fresh, next) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(next, types::I64);
        self.b.append_block_param(next, types::I64);
        let known = [BlockArg::Value(cont), BlockArg::Value(site)];
        self.b.ins().brif(site, next, &known, fresh, &[]);
        self.b.switch_to_block(fresh);
        self.b.seal_block(fresh);
        let func = self.get(cont, at::CONT_FP);
        let start = self.get(cont, at::CONT_PC);
        // Nobody refers to it any more.
        let runtime = self.runtime();
        let free = self.get(runtime, at::FREE_CONTS);
        self.put(free, cont, at::CONT_LINK);
        self.put(cont, runtime, at::FREE_CONTS);
        let (begun, first) = self.on_a_stack(func, start, arguments);
        self.put(begun, begun, at::CONT_LINK);
        let made = [BlockArg::Value(begun), BlockArg::Value(first)];
        self.b.ins().jump(next, &made);
        self.go_on_in(next);
        let both = self.b.block_params(next);
        (both[0], both[1])
    }

    /// A continuation that has a stack, to begin with a function, and where its arguments go.
    fn on_a_stack(&mut self, func: Value, start: Value, arguments: usize) -> (Value, Value) {
        let cont = self.take_stack(arguments);
        let top = self.get(cont, at::CONT_STACK);
        let caller = self.env.vmctx;
        self.put(func, top, at::TOP_FUNC);
        self.put(caller, top, at::TOP_CALLER);
        let bytes = i64::from(SLOT_BYTES) * arguments as i64;
        let first = self.b.ins().iadd_imm_s(top, -bytes);
        // In the place of a return address, so that no frame is above.
        let sp = self.b.ins().iadd_imm_s(first, -8);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.put(zero, sp, 0);
        self.put(sp, cont, at::CONT_SP);
        self.put(zero, cont, at::CONT_FP);
        self.put(start, cont, at::CONT_PC);
        (cont, first)
    }

    /// A continuation that is free and has a stack with room for so many arguments.
    fn take_stack(&mut self, arguments: usize) -> Value {
        let count = self.b.ins().iconst(types::I32, arguments as i64);
        if arguments <= vmcont::FEW_ARGUMENTS {
            return self.take(at::FREE_STACKS, Libcall::ContStack, &[count]);
        }
        let new = self.libcall(Libcall::ContStack, &[count]);
        let new = new.expect("it returns an address");
        self.b.ins().trapz(new, trap::PENDING);
        new
    }

    fn put_values(&mut self, values: &[Value], to: Value) {
        for (i, value) in values.iter().enumerate() {
            self.put(*value, to, SLOT_BYTES as i32 * i as i32);
        }
    }

    fn cont_bind(&mut self, from: u32, to: u32) {
        let all = self.params(from).len();
        let count = all - self.params(to).len();
        let reference = self.pop();
        let values = self.pop_values(count);
        let mut cont = self.consume(reference);
        if count > 0 {
            let (bound, first) = self.arguments_of(cont, all);
            self.put_values(&values, first);
            let bytes = i64::from(SLOT_BYTES) * count as i64;
            let next = self.b.ins().iadd_imm_s(first, bytes);
            self.put(next, bound, at::CONT_SITE);
            cont = bound;
        }
        let (_, reference) = self.refer(cont);
        self.push(reference);
    }

    fn resume(&mut self, ty: u32, table: &ResumeTable) {
        let reference = self.pop();
        let params = self.params(ty).len();
        let values = self.pop_values(params);
        let cont = self.consume(reference);
        let (cont, first) = self.arguments_of(cont, params);
        self.put_values(&values, first);
        let word = self.runtime();
        self.enter(cont, word, ty, table);
    }

    /// `cont.new` and `resume` at once: there is no reference that it could be used twice by,
    /// and no continuation before it begins.
    fn begin(&mut self, ty: u32, table: &ResumeTable) {
        let func = self.pop();
        let params = self.params(ty).len();
        let values = self.pop_values(params);
        let start = self.start(ty);
        let (cont, first) = self.on_a_stack(func, start, params);
        self.put_values(&values, first);
        let word = self.runtime();
        self.enter_at(cont, cont, word, ty, table);
    }

    /// Whether its function has begun: not 0 where it has.
    fn begun(&mut self, cont: Value) -> Value {
        let site = self.get(cont, at::CONT_SITE);
        let goes_on = self.get(cont, at::CONT_FP);
        let has_stack = self.b.ins().icmp_imm_u(IntCC::NotEqual, site, 0);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().select(has_stack, goes_on, zero)
    }

    fn throw_into(&mut self, reference: Value, exception: Value, ty: u32, table: &ResumeTable) {
        let cont = self.consume(reference);
        let begun = self.begun(cont);
        let (fresh, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(fresh);
        self.b.ins().brif(begun, next, &[], fresh, &[]);
        self.b.switch_to_block(fresh);
        self.b.seal_block(fresh);
        self.libcall(Libcall::ContDrop, &[cont]);
        self.raise(exception);
        self.go_on_in(next);
        let runtime = self.runtime();
        self.put(exception, runtime, at::THROWN);
        let word = self.b.ins().bor_imm_u(runtime, THROWN_INTO as i64);
        self.enter(cont, word, ty, table);
    }

    /// What runs is another one from now on.
    fn make_current(&mut self, cont: Value) {
        let runtime = self.runtime();
        self.put(cont, runtime, at::CURRENT);
        let limit = self.get(cont, at::CONT_LIMIT);
        let least = self.get(runtime, at::LIMIT_MIN);
        let limit = self.b.ins().umax(limit, least);
        self.put(limit, runtime, offsets::RUNTIME_STACK_LIMIT);
    }

    /// What a clause for a tag is known by.
    fn clause(&mut self, tag: u32, is_switch: bool) -> Value {
        let tag = self.context_constant(types::I64, self.env.module.layout.tag(tag));
        match is_switch {
            true => self.b.ins().bor_imm_u(tag, SWITCH_CLAUSE as i64),
            false => tag,
        }
    }

    fn value(&mut self, ty: ValType, from: Value, offset: i32) -> Value {
        let ty: Type = clif_type(ty);
        let flags = MemFlagsData::trusted();
        self.b.ins().load(ty, flags, from, offset)
    }

    /// The continuation that was resumed with a clause for this: itself and the word
    /// for its resumer.
    fn find(&mut self, clause: Value) -> (Value, Value) {
        let runtime = self.runtime();
        let current = self.get(runtime, at::CURRENT);
        let site = self.get(current, at::CONT_SITE);
        let first = self.get(site, at::SITE_CLAUSES);
        let is_it = self.b.ins().icmp(IntCC::Equal, first, clause);
        let word = self.b.ins().bor_imm_u(runtime, SUSPENDED as i64);
        let found = self.unless(is_it, &[current, word], |this| {
            let found = this.libcall(Libcall::ContFind, &[clause]);
            let found = found.expect("it returns an address");
            this.b.ins().trapz(found, trap::UNHANDLED_TAG);
            let position = this.get(runtime, at::FOUND);
            let clause = this.b.ins().iadd_imm_s(position, SUSPENDED as i64);
            let more = this.b.ins().iconst(types::I64, SUSPENDED_MORE as i64);
            let clause = this.b.ins().umin(clause, more);
            let word = this.b.ins().bor(runtime, clause);
            vec![found, word]
        });
        (found[0], found[1])
    }

    fn suspend(&mut self, tag: u32) {
        let ty = self.tag_type(tag);
        let params = self.params(ty).len();
        let values = self.pop_values(params);
        let clause = self.clause(tag, false);
        let (head, word) = self.find(clause);
        let (head, reference) = self.refer(head);
        let site = self.get(head, at::CONT_SITE);
        for (i, value) in values.iter().chain([&reference]).enumerate() {
            self.put(*value, site, at::site_value(i));
        }
        let arguments = self.leave(head, self.results(ty));
        let runtime = self.runtime();
        let current = self.get(runtime, at::CURRENT);
        let parent = self.parent_of(head);
        self.make_current(parent);
        self.put(current, head, at::CONT_LINK);
        let back = self.b.ins().stack_switch(current, parent, word);
        self.go_on(back, arguments, self.results(ty));
    }

    /// Who has resumed a continuation: as a rule the thread's own stack, which is taken before it
    /// is read. So whoever goes on need not wait for the continuation to come from memory.
    fn parent_of(&mut self, head: Value) -> Value {
        let parent = self.get(head, at::CONT_LINK);
        let runtime = self.runtime();
        let root = self.b.ins().iadd_imm_s(runtime, i64::from(at::ROOT));
        let is_root = self.b.ins().icmp(IntCC::Equal, parent, root);
        self.unless(is_root, &[root], |_| vec![parent])[0]
    }

    /// Room for what a continuation is resumed with, which is noted in `head`.
    fn leave(&mut self, head: Value, types: &[ValType]) -> Value {
        let bytes = SLOT_BYTES * types.len().max(1) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        let slot = self.b.create_sized_stack_slot(slot);
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        self.put(address, head, at::CONT_SITE);
        address
    }

    /// Behind the switch of a `suspend` or a `switch`: raises what is to be raised, or
    /// goes on with the arguments.
    fn go_on(&mut self, word: Value, arguments: Value, types: &[ValType]) {
        self.fuel_read();
        let is_exception = self.b.ins().band_imm_u(word, THROWN_INTO as i64);
        let (raised, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(raised);
        self.b.ins().brif(is_exception, raised, &[], next, &[]);
        self.b.switch_to_block(raised);
        self.b.seal_block(raised);
        let exception = self.get(word, at::THROWN - THROWN_INTO as i32);
        self.raise(exception);
        self.go_on_in(next);
        self.keep_runtime_at(word);
        for (i, ty) in types.iter().enumerate() {
            let value = self.value(*ty, arguments, SLOT_BYTES as i32 * i as i32);
            self.push(value);
        }
    }

    fn switch(&mut self, ty: u32, tag: u32) {
        let params = self.params(ty);
        let reference = self.pop();
        let mut values = self.pop_values(params.len() - 1);
        let clause = self.clause(tag, true);
        let (head, _) = self.find(clause);
        let (head, own) = self.refer(head);
        values.push(own);
        let target = self.consume(reference);
        let (target, first) = self.arguments_of(target, params.len());
        self.put_values(&values, first);
        let site = self.get(head, at::CONT_SITE);
        self.put(site, target, at::CONT_SITE);
        let back_types = self.params(self.continuation_of(params));
        let arguments = self.leave(head, back_types);
        let runtime = self.runtime();
        let current = self.get(runtime, at::CURRENT);
        let parent = self.get(head, at::CONT_LINK);
        let leaf = self.leaf_of(target);
        self.put(parent, target, at::CONT_LINK);
        self.make_current(leaf);
        self.put(current, head, at::CONT_LINK);
        let back = self.b.ins().stack_switch(current, leaf, runtime);
        self.go_on(back, arguments, back_types);
    }

    /// The type of the continuation that is the last of these.
    fn continuation_of(&self, params: &[ValType]) -> u32 {
        let info = self.env.module.info;
        let of = match params.last() {
            Some(ValType::Ref(RefType {
                heap: HeapType::ConcreteCont(id),
                ..
            })) => info.type_ids.iter().position(|known| known == id),
            _ => None,
        };
        of.expect("validated: the last one is a continuation") as u32
    }
}
