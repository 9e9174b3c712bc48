//! Calls (core specification §4.4.8), arguments and results.
//!
//! Integers and floats are counted apart; those without a register are in words of the stack, in
//! order, which the callee takes off (`tail` of Cranelift 0.135.8, `isa/x64/abi.rs`). They are
//! at the lower end of the frame, which is made again behind the call. Where functions of the module
//! may be LLVM's, they are in the runtime's area instead (`argument_passing.rs`).

use cranelift_codegen::binemit::Reloc;
use wasmparser::Operator;

use super::code::{Condition, emit};
use super::registers::{
    ARGUMENTS, BASE, CONTEXT, FLOATS, Gpr, Mem, R10, RAX, RBP, RCX, RDI, RESULTS, RSI, RSP, Rm,
    SCRATCH, SCRATCH_XMM, Xmm, XmmRm, at, trapping,
};
use super::values::{Kind, Place, Value, kinds};
use super::{Generator, Refusal};
use crate::compile::argument_passing;
use crate::compile::function::CallSite;
use crate::facts::trap;
use crate::facts::types::FuncType;
use crate::facts::vmctx::{self, VMCTX_RUNTIME, offsets};

/// Bytes between a frame pointer and the arguments above: rbp and the return address.
const LINK_BYTES: i32 = 16;
/// The return address, in bytes from the frame pointer.
const RETURN_ADDRESS: i32 = 8;

/// Where an argument or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Gpr(Gpr),
    Xmm(Xmm),
    /// Bytes from the lowest argument.
    Stack(u32),
    /// Bytes from the runtime.
    Area(i32),
}

/// Whom to call.
enum Callee {
    Own(u32),
    Import(u32),
    /// The function reference in rax.
    Reference,
}

/// Where the code of a callee is.
enum Entry {
    /// Of this function of the module.
    Func(u32),
    /// Where this operand says.
    At(Mem),
}

/// Where values of these kinds are, and the bytes of those on the stack.
fn targets(kinds: &[Kind], gprs: &[Gpr]) -> (Vec<Target>, u32) {
    let (mut free, mut floats, mut stack) = (gprs.iter(), 0..FLOATS, 0u32);
    let mut target = |kind: &Kind| {
        let register = match kind.is_in_xmm() {
            true => floats.next().map(|xmm| Target::Xmm(Xmm(xmm))),
            false => free.next().map(|gpr| Target::Gpr(*gpr)),
        };
        register.unwrap_or_else(|| {
            // Each at a multiple of what it takes.
            let bytes = if *kind == Kind::V128 { 16 } else { 8 };
            stack = stack.next_multiple_of(bytes) + bytes;
            Target::Stack(stack - bytes)
        })
    };
    let targets = kinds.iter().map(&mut target).collect();
    (targets, stack.next_multiple_of(16))
}

/// Where results are, all of which have a register.
fn result_targets(kinds: &[Kind]) -> Result<Vec<Target>, Refusal> {
    match targets(kinds, &RESULTS) {
        (targets, 0) => Ok(targets),
        _ => Err("results in memory".into()),
    }
}

impl<'a> Generator<'a> {
    /// Where the arguments of a function are, and the bytes of those on the stack.
    fn argument_targets(&self, ty: &FuncType) -> Result<(Vec<Target>, u32), Refusal> {
        let (mut targets, bytes) = targets(&kinds(ty.params()), &ARGUMENTS);
        let cells = self.env.passing.cells(ty);
        if cells.iter().all(Option::is_none) {
            return Ok((targets, bytes));
        }
        for (target, cell) in targets.iter_mut().zip(cells) {
            if let Some(cell) = cell {
                *target = Target::Area(argument_passing::at(cell));
            }
        }
        Ok((targets, 0))
    }

    /// Has the runtime's address in the register of the memory's, for a moment.
    fn with_runtime(&mut self, targets: &[Target], work: impl FnOnce(&mut Self)) {
        let is_used = targets.iter().any(|to| matches!(to, Target::Area(_)));
        if is_used {
            emit!(
                self.code,
                movq_rm(BASE, Rm::Mem(at(CONTEXT, VMCTX_RUNTIME)))
            );
        }
        work(self);
        if is_used {
            self.load_first_memory();
        }
    }

    /// Translates a call; `false` when it is none.
    pub(super) fn any_call(&mut self, op: &Operator<'_>) -> Result<bool, Refusal> {
        let info = self.env.info;
        let (ty, callee) = match *op {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                let callee = match info.defined_func(function_index) {
                    Some(_) => Callee::Own(function_index),
                    None => Callee::Import(function_index),
                };
                (info.func_type(function_index), callee)
            }
            Operator::CallIndirect {
                type_index,
                table_index,
            }
            | Operator::ReturnCallIndirect {
                type_index,
                table_index,
            } => {
                match info.places[type_index as usize].is_final {
                    true => self.table_callee(type_index, table_index),
                    false => self.open_table_callee(type_index, table_index),
                }
                (&info.types[type_index as usize], Callee::Reference)
            }
            Operator::CallRef { type_index } | Operator::ReturnCallRef { type_index } => {
                let reference = self.pop();
                let gpr = self.own(reference);
                emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
                self.code.trap_if(Condition::Equal, trap::NULL_FUNCTION);
                self.move_to_rax(gpr);
                (&info.types[type_index as usize], Callee::Reference)
            }
            _ => return Ok(false),
        };
        match op {
            Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. } => self.return_call(ty, &callee)?,
            _ => self.call(ty, &callee)?,
        }
        Ok(true)
    }

    /// The element of a table at the popped index in rax, if its type is right.
    fn table_callee(&mut self, type_index: u32, table: u32) {
        let index = self.pop();
        let reference = self.table_reference(table, index);
        let found = self.take();
        let id = at(reference, offsets::FUNCREF_TYPE_ID);
        let id = trapping(id, trap::NULL_ELEMENT);
        emit!(self.code, movl_rm(found, Rm::Mem(id)));
        let ids = at(CONTEXT, vmctx::VMCTX_TYPE_IDS);
        emit!(self.code, movq_rm(SCRATCH, Rm::Mem(ids)));
        let expected = at(SCRATCH, type_index.cast_signed() * 4);
        emit!(self.code, cmpl_rm(found, Rm::Mem(expected)));
        self.code.trap_if(Condition::NotEqual, trap::TYPE_MISMATCH);
        self.guard(Condition::NotEqual, reference);
        self.free.give(found);
        self.move_to_rax(reference);
    }

    /// The same, if its type is right or below the right one.
    fn open_table_callee(&mut self, type_index: u32, table: u32) {
        let [index] = self.pop_operands();
        let reference = self.table_reference(table, index);
        let id = at(reference, offsets::FUNCREF_TYPE_ID);
        emit!(
            self.code,
            movl_rm(RCX, Rm::Mem(trapping(id, trap::NULL_ELEMENT)))
        );
        self.free.give(reference);
        self.is_type_below(type_index);
        self.free.take(RAX);
        // The runtime has changed no table, but every register.
        let reference = self.table_reference(table, index);
        emit!(self.code, testl_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::Equal, trap::TYPE_MISMATCH);
        self.guard(Condition::Equal, reference);
        self.free.give(RAX);
        self.move_to_rax(reference);
    }

    /// The element of a table at a popped index.
    fn table_reference(&mut self, table: u32, index: Value) -> Gpr {
        let reference = self.element_address(table, index, trap::UNDEFINED_ELEMENT);
        emit!(self.code, movq_rm(reference, Rm::Mem(at(reference, 0))));
        reference
    }

    /// An address is null where a condition holds under which a check traps: for what a
    /// processor does with it before it knows.
    pub(super) fn guard(&mut self, refused: Condition, address: Gpr) {
        if self.env.spectre {
            self.load_constant(SCRATCH, 0);
            self.code.move_if(refused, address, Rm::Gpr(SCRATCH));
        }
    }

    fn move_to_rax(&mut self, gpr: Gpr) {
        if gpr != RAX {
            self.take_this(RAX);
            emit!(self.code, movq_rm(RAX, Rm::Gpr(gpr)));
            self.free.give(gpr);
        }
    }

    fn call(&mut self, ty: &FuncType, callee: &Callee) -> Result<(), Refusal> {
        let results = kinds(ty.results());
        let result_targets = result_targets(&results)?;
        let (arguments, stack_bytes) = self.argument_targets(ty)?;
        self.outgoing_bytes = self.outgoing_bytes.max(stack_bytes);
        self.settle_below(self.values.len() - arguments.len());
        self.hand_over(&arguments);
        self.store_for_landing();
        match self.enter(callee) {
            Entry::Func(func) => {
                cranelift_assembler_x64::inst::callq_d::new(0).encode(&mut self.code);
                self.distance_to(func);
            }
            Entry::At(code) => emit!(self.code, callq_m(Rm::Mem(code))),
        }
        self.note_call();
        if stack_bytes > 0 {
            let bytes = stack_bytes.cast_signed();
            emit!(self.code, subq_mi_sxl(Rm::Gpr(RSP), bytes));
        }
        self.take_results(&results, &result_targets);
        self.load_lent();
        Ok(())
    }

    /// A call in the place of this function: its frame is gone, and the callee's arguments end where
    /// its own did.
    fn return_call(&mut self, ty: &FuncType, callee: &Callee) -> Result<(), Refusal> {
        let (arguments, stack_bytes) = self.argument_targets(ty)?;
        self.outgoing_bytes = self.outgoing_bytes.max(stack_bytes);
        self.hand_over(&arguments);
        let entry = self.enter(callee);
        if let Entry::At(code) = entry {
            emit!(self.code, movq_rm(RAX, Rm::Mem(code)));
        }
        self.restore_saved();
        self.move_arguments(stack_bytes);
        match entry {
            Entry::Func(func) => {
                cranelift_assembler_x64::inst::jmp_d32::new(0).encode(&mut self.code);
                self.distance_to(func);
            }
            Entry::At(_) => emit!(self.code, jmpq_m(Rm::Gpr(RAX))),
        }
        self.is_reachable = false;
        Ok(())
    }

    /// Hands over the contexts: the caller's and the callee's.
    fn enter(&mut self, callee: &Callee) -> Entry {
        emit!(self.code, movq_rm(RSI, Rm::Gpr(CONTEXT)));
        let (base, context, code) = match *callee {
            Callee::Own(func) => {
                emit!(self.code, movq_rm(RDI, Rm::Gpr(CONTEXT)));
                return Entry::Func(func);
            }
            Callee::Import(func) => {
                let import = self.env.layout.func_import(func);
                let context = import + offsets::IMPORT_VMCTX;
                (CONTEXT, context, import + offsets::IMPORT_CODE)
            }
            Callee::Reference => {
                self.free.give(RAX);
                (RAX, offsets::FUNCREF_VMCTX, offsets::FUNCREF_CODE)
            }
        };
        emit!(self.code, movq_rm(RDI, Rm::Mem(at(base, context))));
        Entry::At(at(base, code))
    }

    /// Leaves the frame with so many bytes of arguments, which are at its lower end. They go to where
    /// this function's own were, and below if they are more: as far as the return address and the
    /// frame, of which they reach no further than the slots that they have as operands.
    fn move_arguments(&mut self, bytes: u32) {
        if (bytes, self.incoming_bytes) == (0, 0) {
            emit!(self.code, movq_mr(Rm::Gpr(RSP), RBP));
            return emit!(self.code, popq_o(RBP));
        }
        let (bytes, incoming) = (bytes.cast_signed(), self.incoming_bytes.cast_signed());
        let first = LINK_BYTES + incoming - bytes;
        let return_address = Rm::Mem(at(RBP, RETURN_ADDRESS));
        emit!(self.code, movq_rm(R10, return_address));
        emit!(self.code, movq_rm(SCRATCH, Rm::Mem(at(RBP, 0))));
        for offset in (0..bytes).step_by(16) {
            let (from, to) = (at(RSP, offset), at(RBP, first + offset));
            emit!(self.code, movups_a(SCRATCH_XMM, XmmRm::Mem(from)));
            emit!(self.code, movups_b(XmmRm::Mem(to), SCRATCH_XMM));
        }
        emit!(self.code, leaq_rm(RSP, at(RBP, first - 8)));
        emit!(self.code, movq_mr(Rm::Gpr(RBP), SCRATCH));
        emit!(self.code, movq_mr(Rm::Mem(at(RSP, 0)), R10));
    }

    /// What was just encoded ends with the distance to a function.
    fn distance_to(&mut self, func: u32) {
        self.calls.push(CallSite {
            offset: self.code.offset() - 4,
            kind: Reloc::X86CallPCRel4,
            callee: func,
            is_start: false,
            addend: -4,
        });
    }

    fn take_results(&mut self, results: &[Kind], targets: &[Target]) {
        for target in targets {
            match target {
                Target::Gpr(gpr) => self.free.take(*gpr),
                Target::Xmm(xmm) => self.free.take_xmm(*xmm),
                Target::Stack(_) | Target::Area(_) => unreachable!("results are in registers"),
            }
        }
        for (kind, target) in results.iter().zip(targets) {
            match *target {
                Target::Gpr(gpr) => {
                    // Its upper half is anything.
                    if *kind == Kind::I32 {
                        emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
                    }
                    self.push_gpr(*kind, gpr);
                }
                Target::Xmm(xmm) => self.push_xmm(*kind, xmm),
                Target::Stack(_) | Target::Area(_) => {}
            }
        }
    }

    /// Pops operands to where they are wanted, all at once: those first to their slots that are
    /// in registers of others.
    fn hand_over(&mut self, targets: &[Target]) {
        let first = self.values.len() - targets.len();
        for (nth, target) in targets.iter().enumerate() {
            let now = match self.values[first + nth].place {
                Place::Gpr(gpr) => Target::Gpr(gpr),
                Place::Xmm(xmm) => Target::Xmm(xmm),
                _ => continue,
            };
            if now != *target && targets.contains(&now) {
                self.settle_one(first + nth);
            }
        }
        let values: Vec<Value> = self.values[first..].to_vec();
        self.with_runtime(targets, |generator| {
            for (value, target) in values.iter().zip(targets) {
                match *target {
                    Target::Stack(offset) => {
                        generator.store_value(*value, at(RSP, offset.cast_signed()));
                    }
                    Target::Area(offset) => generator.store_value(*value, at(BASE, offset)),
                    Target::Gpr(_) | Target::Xmm(_) => {}
                }
            }
        });
        for (value, target) in values.iter().zip(targets) {
            match (value.place, *target) {
                (Place::Gpr(from), Target::Gpr(to)) if from != to => {
                    emit!(self.code, movq_rm(to, Rm::Gpr(from)));
                }
                (Place::Xmm(from), Target::Xmm(to)) if from != to => {
                    emit!(self.code, movaps_a(to, XmmRm::Xmm(from)));
                }
                _ => {}
            }
        }
        for (value, target) in values.iter().zip(targets) {
            match (value.place, *target) {
                (Place::Gpr(_) | Place::Xmm(_), _) => {}
                (_, Target::Gpr(to)) => self.load_gpr(to, *value),
                (_, Target::Xmm(to)) => self.load_xmm(to, *value),
                _ => {}
            }
        }
        self.truncate(first as u32);
    }

    /// Returns the top operands.
    pub(super) fn leave(&mut self, results: &[Kind]) {
        // That all have a register was found before anything was translated.
        if let Ok(targets) = result_targets(results) {
            self.hand_over(&targets);
        }
        self.leave_frame();
    }

    fn restore_saved(&mut self) {
        for (register, place) in self.saved() {
            emit!(self.code, movq_rm(register, Rm::Mem(at(RBP, place))));
        }
    }

    /// Leaves the frame; results are where they are to be.
    pub(super) fn leave_frame(&mut self) {
        self.restore_saved();
        emit!(self.code, movq_mr(Rm::Gpr(RSP), RBP));
        emit!(self.code, popq_o(RBP));
        match self.incoming_bytes {
            0 => cranelift_assembler_x64::inst::retq_zo::new().encode(&mut self.code),
            bytes => {
                cranelift_assembler_x64::inst::retq_i::new(bytes as u16).encode(&mut self.code);
            }
        }
    }

    /// Stores arguments in the locals that they are, and zeros in all others.
    pub(super) fn take_parameters(&mut self, ty: &FuncType) -> Result<(), Refusal> {
        result_targets(&kinds(ty.results()))?;
        let params = kinds(ty.params());
        let (targets, bytes) = self.argument_targets(ty)?;
        self.incoming_bytes = bytes;
        self.with_runtime(&targets, |generator| {
            for (local, (kind, target)) in (0..).zip(params.iter().zip(&targets)) {
                let kind = *kind;
                match *target {
                    Target::Gpr(gpr) => {
                        let place = Place::Gpr(gpr);
                        generator.assign_local(local, Value { kind, place });
                    }
                    Target::Xmm(xmm) => {
                        let place = Place::Xmm(xmm);
                        generator.assign_local(local, Value { kind, place });
                    }
                    Target::Stack(offset) => {
                        let argument = at(RBP, LINK_BYTES + offset.cast_signed());
                        generator.load_argument(local, argument);
                    }
                    Target::Area(offset) => generator.load_argument(local, at(BASE, offset)),
                }
            }
        });
        self.clear_locals(params.len() as u32);
        Ok(())
    }
}
