//! WebAssembly → Cranelift IR, one function body at a time.
//!
//! [`FuncTranslator`] holds the buffers one thread reuses from body to body.
//! For each body it makes a [`Translator`], which reads an operator, has it
//! validated, and appends its Cranelift instructions:
//!
//! ```text
//!  operators ──▶ FuncValidator ──▶ Translator ──▶ ir::Function
//!                                   ├ state.rs     operand stack, control frames
//!                                   ├ control.rs   block, br, return …
//!                                   ├ numeric.rs   scalar arithmetic
//!                                   ├ memory.rs    loads, stores, growth
//!                                   ├ bulk.rs      copies and fills
//!                                   ├ atomic.rs    atomic accesses, wait, notify
//!                                   ├ table.rs, global.rs, call.rs, exception.rs
//!                                   ├ legacy.rs    try, catch, delegate, rethrow
//!                                   ├ object.rs    structures, and their memory
//!                                   ├ array.rs, cast.rs
//!                                   ├ locals.rs    variables, or cells of the frame
//!                                   ├ work.rs      counted, to give up in time
//!                                   ├ enter.rs     code that begins at a loop
//!                                   ├ inline.rs    small functions instead of calls
//!                                   ├ fuel.rs      what ends a program
//!                                   ├ stack.rs     continuations
//!                                   ├ wide.rs      128-bit integers
//!                                   ├ product.rs   products of 64 bits in full
//!                                   └ simd/        the 236 vector instructions
//! ```
//!
//! What must stay true:
//! - Nothing is translated before it is validated; translation relies on it and
//!   panics on a broken stack instead of checking it again.
//! - No bounds check of a memory is decided here: `MemoryPlan::emit_address`
//!   says where an access goes.
//! - Every instruction carries the module offset of its operator as source
//!   location; traps are reported with it.
//! - What instances never change after they were set up is loaded `readonly`
//!   and movable, so that Cranelift hoists it out of loops.

mod array;
pub(super) mod atomic;
mod bulk;
mod call;
pub(super) mod cast;
mod control;
mod enter;
mod env;
mod exception;
mod fuel;
mod global;
mod inline;
mod legacy;
mod locals;
mod memory;
mod numeric;
mod object;
mod product;
mod simd;
mod stack;
mod state;
mod table;
mod wide;
mod work;

pub(crate) use env::{
    ModuleEnv, NAMESPACE_START, NAMESPACE_WASM, ObjectPart, accesses_objects, clif_type,
    part_of_object, set_stack_limit, set_stack_limit_of_runtime, start_signature,
};
pub(crate) use inline::{Inlinable, InlinableFuncs, InlinedCall, chain, resolve};

use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use wasmparser::{
    BlockType, FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, Operator,
    OperatorsReader, OperatorsReaderAllocations, WasmModuleResources,
};

use crate::bounds::{Site, Touch};
use crate::compile::budget::{Excess, Most};
use crate::compile::direct;
use env::FuncEnv;
use state::State;
use work::Around;

/// Why a body could not be translated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TranslateError {
    /// The body is malformed or does not validate.
    #[error(transparent)]
    Invalid(#[from] wasmparser::Error),
    /// Valid, but of a proposal this translation does not know.
    #[error("{operator} is not supported")]
    Unsupported {
        /// Name of the instruction.
        operator: String,
        /// Its offset in the module.
        offset: usize,
    },
    /// It comes to more than it may; the translation was given up.
    #[error("more than {} {}", .0.allowed, .0.work)]
    OverBudget(Excess),
}

/// What one thread keeps between bodies. After an error it must be dropped:
/// its buffers may hold parts of the failed body.
#[derive(Default)]
pub(crate) struct FuncTranslator {
    builder: FunctionBuilderContext,
    state: State,
    readers: OperatorsReaderAllocations,
    validators: FuncValidatorAllocations,
    env: env::EnvBuffers,
}

impl FuncTranslator {
    /// The accesses with checks of the body that was translated last.
    pub(crate) fn sites(&self) -> &[Site] {
        self.env.sites()
    }

    /// Has accesses to memories kept from now on, or not.
    pub(crate) fn keep_touches(&mut self, keeps: bool) {
        self.env.keeps_touches = keeps;
    }

    /// All accesses of the body that was translated last, where they are kept.
    pub(crate) fn touches(&self) -> &[Touch] {
        self.env.touches()
    }

    /// The ends of the increments that count the last body's accesses; none
    /// where it does not count.
    pub(crate) fn counted(&self) -> &[ir::Inst] {
        &self.env.counted
    }

    /// The calls of the last body that were translated as their callees.
    pub(crate) fn inlined(&self) -> &[InlinedCall] {
        self.state.inlined.calls()
    }

    /// Whether the last body has products by halves that became one instruction.
    pub(crate) fn has_products(&self) -> bool {
        self.state.has_products
    }

    /// Steps that the last body took to be translated.
    pub(crate) fn steps(&self, func: &ir::Function) -> u64 {
        self.state.work.steps(func)
    }

    /// Of those, what the last body takes besides its instructions, values and
    /// operands.
    pub(crate) fn weight(&self) -> u64 {
        self.state.work.weight()
    }

    /// The target for the last body, whose tables may be large.
    pub(crate) fn isa<'a>(&self, module: &ModuleEnv<'a>) -> &'a dyn TargetIsa {
        match self.state.work.has_large_tables() {
            true => module.unplaced[0],
            false => module.isa,
        }
    }

    /// Validates and translates one body into `func`, which must be empty, where it
    /// comes to no more than `most`.
    pub(crate) fn translate<R: WasmModuleResources>(
        &mut self,
        module: &ModuleEnv<'_>,
        to_validate: FuncToValidate<R>,
        body: &FunctionBody<'_>,
        func: &mut ir::Function,
        most: Most,
    ) -> Result<(), TranslateError> {
        let index = to_validate.index;
        let ty = module.info.func_type(index);
        func.signature = match module.entered_at {
            Some(_) => enter::signature(module, ty),
            None => module.passing.signature(ty),
        };
        func.name = ir::UserFuncName::user(0, index);
        let mut validator = to_validate.into_validator(std::mem::take(&mut self.validators));
        self.state.clear();
        self.state.inlined.clear(index, body);
        self.state.work.clear(most);

        let mut translator = {
            let mut b = FunctionBuilder::new(func, &mut self.builder);
            let entry = b.create_block();
            b.append_block_params_for_function_params(entry);
            b.switch_to_block(entry);
            b.seal_block(entry);
            let env = FuncEnv::new(module, &mut self.env, &mut b);
            Translator {
                b,
                state: &mut self.state,
                env,
            }
        };
        let mut reader = body.get_binary_reader();
        if module.plain {
            translator.state.locals.in_cells(&mut translator.b);
        }
        let entered = module.entered_at.map(|_| direct::local_bytes(ty, body));
        match entered {
            Some(bytes) => translator.load_params(ty, bytes),
            None => translator.declare_params(ty),
        }
        translator.declare_locals(&mut validator, &mut reader, body)?;
        translator.open_function(ty.results());
        translator.keep_runtime();
        let entry = entered.map(|bytes| translator.fork(&validator, bytes));
        translator.state.entry = entry;
        if module.is_left {
            translator.state.left_loops = enter::left_loops(body);
        }

        let allocations = std::mem::take(&mut self.readers);
        let mut operators = OperatorsReader::new_with_allocs(reader, allocations);
        translator.operators(&mut validator, &mut operators)?;
        operators.finish()?;
        translator.begin_at_loop()?;
        translator.b.finalize(module.isa.frontend_config());
        self.readers = operators.into_allocations();
        self.validators = validator.into_allocations();
        Ok(())
    }
}

/// The translation of one body. Its methods are spread over this folder by
/// topic.
struct Translator<'a> {
    /// Appends instructions.
    b: FunctionBuilder<'a>,
    /// Operands and control frames.
    state: &'a mut State,
    /// The module and what was already loaded from the context.
    env: FuncEnv<'a>,
}

impl Translator<'_> {
    /// The zero of a type.
    fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            types::I8X16 => self.vector_constant([0; 16]),
            _ => self.b.ins().iconst(ty, 0),
        }
    }

    /// Validates and translates every operator up to the function's `end`.
    fn operators<R: WasmModuleResources>(
        &mut self,
        validator: &mut FuncValidator<R>,
        operators: &mut OperatorsReader<'_>,
    ) -> Result<(), TranslateError> {
        let mut is_first = true;
        while !operators.eof() {
            let (op, offset) = operators.read_with_offset()?;
            if let Operator::BrTable { targets } = &op {
                self.state
                    .work
                    .checked(self.operands_of_labels(validator, targets));
                self.in_budget()?;
            }
            validator.op(offset, &op)?;
            self.b.set_srcloc(ir::SourceLoc::new(offset as u32));
            if std::mem::take(&mut is_first) {
                self.fuel_at_start();
            }
            if let Operator::ContNew { cont_type_index } = op {
                let is_resumed = stack::is_resumed(cont_type_index, operators.get_binary_reader());
                self.state.begins = self.state.reachable && is_resumed;
            }
            if !self.operator(&op) {
                return Err(TranslateError::Unsupported {
                    operator: format!("instruction {}", operator_name(&op)),
                    offset: offset as usize,
                });
            }
            // What is not optimised is not moved out of loops, nor to a dominator.
            let around = match self.env.module.plain {
                true => Around::default(),
                false => Around {
                    loops: self.state.loops,
                    dominators: self.state.dominators,
                },
            };
            let held = self.state.held();
            self.state.work.operator(held, around, self.b.func);
            self.in_budget()?;
        }
        Ok(())
    }

    fn in_budget(&self) -> Result<(), TranslateError> {
        match self.state.work.excess(self.b.func) {
            Some(excess) => Err(TranslateError::OverBudget(excess)),
            None => Ok(()),
        }
    }

    /// How many operands the labels of a table take, which validation looks at label
    /// by label, also where nothing gets there.
    fn operands_of_labels<R: WasmModuleResources>(
        &self,
        validator: &FuncValidator<R>,
        targets: &wasmparser::BrTable<'_>,
    ) -> usize {
        let operands = |depth: u32| match validator.get_control_frame(depth as usize)?.block_type {
            BlockType::FuncType(index) => {
                let ty = self.env.module.info.types.get(index as usize)?;
                Some(ty.params().len().max(ty.results().len()))
            }
            _ => Some(1),
        };
        let depths = targets.targets().map_while(Result::ok);
        depths.filter_map(operands).sum()
    }

    /// Translates one operator; `false` when it is not known.
    fn operator(&mut self, op: &Operator<'_>) -> bool {
        if !self.state.reachable {
            self.unreachable_operator(op);
            return true;
        }
        self.fuel_before(op);
        self.control(op)
            || self.any_call(op)
            || self.variable(op)
            || self.memory_access(op)
            || self.numeric(op)
            || self.simd(op)
            || self.bulk(op)
            || self.exception(op)
            || self.legacy_exception(op)
            || self.structure(op)
            || self.array(op)
            || self.cast(op)
            || self.continuation(op)
            || self.wide(op)
            || self.atomic(op)
    }

    /// Locals, globals, references and parametric instructions.
    fn variable(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::LocalGet { local_index } => {
                let value = self.get_local(local_index);
                self.state.push(value);
            }
            Operator::LocalSet { local_index } => {
                let value = self.pop();
                self.set_local(local_index, value);
            }
            Operator::LocalTee { local_index } => {
                let value = self.pop();
                self.set_local(local_index, value);
                self.state.push(value);
            }
            Operator::GlobalGet { global_index } => self.global_get(global_index),
            Operator::GlobalSet { global_index } => self.global_set(global_index),
            Operator::Drop => {
                self.state.pop_raw();
            }
            Operator::Select | Operator::TypedSelect { .. } => {
                let condition = self.pop_condition();
                let (x, y) = self.pop2();
                let value = self.b.ins().select(condition, x, y);
                self.state.push(value);
            }
            Operator::Nop => {}
            _ => return false,
        }
        true
    }

    /// The canonical form of an operand: comparisons become `i32`, vectors
    /// `i8x16`.
    fn canonical(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        if ty == types::I8 {
            self.b.ins().uextend(types::I32, value)
        } else if ty.is_vector() {
            self.vector_as(value, types::I8X16)
        } else {
            value
        }
    }

    /// A vector with another lane shape. Costs nothing at run time.
    fn vector_as(&mut self, value: Value, ty: Type) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        self.b.ins().bitcast(ty, flags, value)
    }

    /// Pops an operand, canonical.
    fn pop(&mut self) -> Value {
        let value = self.state.pop_raw();
        self.canonical(value)
    }

    /// Pops two operands, canonical, the lower one first.
    fn pop2(&mut self) -> (Value, Value) {
        let y = self.pop();
        let x = self.pop();
        (x, y)
    }

    /// Pops a condition: `i32`, or the `i8` of a comparison as it is.
    fn pop_condition(&mut self) -> Value {
        self.state.pop_raw()
    }

    /// Pops a vector with the lanes of `ty`.
    fn pop_vector(&mut self, ty: Type) -> Value {
        let value = self.state.pop_raw();
        self.vector_as(value, ty)
    }

    /// Pushes an operand.
    fn push(&mut self, value: Value) {
        self.state.push(value);
    }
}

/// The name of an operator without its immediates.
fn operator_name(op: &Operator<'_>) -> String {
    let text = format!("{op:?}");
    text.split([' ', '(', '{'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod forms;
#[cfg(test)]
pub(super) mod goldens;
