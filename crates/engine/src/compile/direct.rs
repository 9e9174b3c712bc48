//! Code in one pass: from WebAssembly to x86-64 without anything between.
//!
//! ```text
//!  operators ──▶ FuncValidator ──▶ Generator ──▶ CompiledFunction
//!                                   ├ values.rs     operands: constants, registers, slots
//!                                   ├ locals.rs     which of them are in registers, by uses.rs
//!                                   ├ registers.rs  which register is for what
//!                                   ├ code.rs       bytes, labels, traps
//!                                   ├ control.rs    blocks and branches
//!                                   ├ integer.rs, float.rs, convert.rs
//!                                   ├ memory.rs, atomic.rs   loads and stores
//!                                   ├ vector.rs     vectors
//!                                   ├ object.rs, array.rs, cast.rs   what is collected
//!                                   ├ check.rs      what a strategy's check is made of
//!                                   ├ call.rs       calls, arguments, results
//!                                   ├ exception.rs  throwing, and where it lands
//!                                   ├ table.rs      tables, globals, the runtime's functions
//!                                   └ tier.rs       what has run for long goes on in better code
//! ```
//!
//! The frame, below what the caller pushed:
//!
//! ```text
//!  rbp ─► rbp of the caller
//!         r14, r15 of the caller
//!         locals, 8 bytes each, or 16; of those in registers what calls would change
//!         rbx, r12, r13 of the caller where locals are in them or exceptions are caught
//!         the context, where exceptions are caught
//!         operands, 8 bytes each, by height; 16 in a function with vectors
//!  rsp ─► arguments of calls on the stack
//! ```
//!
//! Functions are of the convention of all others (`tail` of Cranelift's), keep frame pointers,
//! and begin with what `run/stacks/segments.rs` knows, so that whoever calls them does not know
//! who compiled them. What is not translated here is compiled by Cranelift, and named:
//! continuations, frames from [`FRAME_BYTES_MAX`] on, results that go to memory.
//!
//! What must stay true:
//! - The prologue compares the stack pointer with the limit and all bytes that the frame has,
//!   and 16 for the return address and rbp of whom it calls. The same number is subtracted; it is
//!   known when all is translated and written into both instructions then.
//! - No bounds check is decided here: `MemoryPlan::emit_check` says what it is made of.
//! - What is made is bounded by the length of the body ([`CODE_A_BYTE`]).

mod array;
mod atomic;
mod call;
mod cast;
mod check;
mod code;
mod control;
mod convert;
mod exception;
mod float;
mod integer;
mod locals;
mod memory;
mod object;
mod registers;
mod table;
mod tier;
mod uses;
mod values;
mod vector;

use std::sync::atomic::AtomicI32;

use cranelift_codegen::ir::{SourceLoc, TrapCode};
use wasmparser::{
    BinaryReader, FuncValidator, FuncValidatorAllocations, Operator, OperatorsReader,
    WasmModuleResources,
};

use super::artifact::HandlerSite;
use super::count::CheckSites;
use super::function::{CallSite, CompiledFunction, again, refused};
use super::has;
use super::translate::{ModuleEnv, TranslateError};
use crate::facts::error::{ErrorKind, Result};
use crate::facts::libcall::FUNCTION_START;
use crate::facts::module::Body;
use crate::facts::vmctx::{VMCTX_RUNTIME, offsets};
use code::{Code, Label, emit};
use control::Frame;
use exception::{Handler, Pad, seems_to_catch};
use locals::Local;
use registers::{BASE, CONTEXT, Free, RBP, RDI, RSP, Rm, at};
use tier::{Turn, countdown};
pub(crate) use tier::{local_bytes, local_offset};
use uses::may_have_loops;
use values::{Kind, Value};

/// Bytes of a frame from which on a function is left to Cranelift: so that the sum with the
/// stack's limit does not wrap, and the slots of all operands are near.
const FRAME_BYTES_MAX: i32 = 32 << 10;
/// The most that is made of a byte of a body, and of one without any.
const CODE_A_BYTE: usize = 128;
const CODE_BYTES: usize = 64 << 10;
/// Bytes of code that are a step of the module's budget: what many small functions with many
/// parameters come to is none of their bodies' length.
const CODE_A_STEP: u64 = 32;
/// Return address and rbp of whom a function calls.
const CALLED_BYTES: u32 = 16;

/// Why a body is not compiled here.
enum Refusal {
    Invalid(TranslateError),
    /// Cranelift compiles it.
    Left(String),
    /// An instruction has more operands at once than there are registers.
    Registers,
    /// An operand is a vector, for which there is no room in its slot.
    Narrow,
    /// Exceptions are caught, for which the frame has no context.
    Handlers,
}

impl From<wasmparser::Error> for Refusal {
    fn from(error: wasmparser::Error) -> Refusal {
        Refusal::Invalid(error.into())
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::Left(why.to_owned())
    }
}

/// What of the processor is used where it is there.
#[derive(Clone, Copy)]
struct Features {
    lzcnt: bool,
    tzcnt: bool,
    popcnt: bool,
    fma: bool,
}

/// The code of one body as it is made. Its methods are spread over this folder by topic.
struct Generator<'a> {
    env: &'a ModuleEnv<'a>,
    features: Features,
    code: Code,
    calls: Vec<CallSite>,
    frames: Vec<Frame>,
    is_reachable: bool,
    /// Operands; those below `settled` are in their slots.
    values: Vec<Value>,
    settled: usize,
    height_max: u32,
    free: Free,
    is_out_of_registers: bool,
    locals: Vec<Local>,
    /// Those that have a register, and how many of these calls preserve.
    pinned: Vec<u32>,
    preserved: usize,
    how: How,
    /// A vector is an operand, for which there is no room.
    is_too_narrow: bool,
    /// Bytes of the frame for each local.
    local_bytes: i32,
    /// The local that the next instruction sets, if it has a register.
    set_next: Option<u32>,
    /// Bytes of arguments on the stack: of this function, and of calls at most.
    incoming_bytes: u32,
    outgoing_bytes: u32,
    /// What the code may come to.
    most: usize,
    /// Parameters and results of blocks so far.
    types_seen: usize,
    /// Those that are open, and the landings of those that were.
    handlers: Vec<Handler>,
    pads: Vec<Pad>,
    /// Where calls return to whose exceptions are caught, and where those go.
    caught_calls: Vec<(u32, Label)>,
    /// The function's index, and what it counts down.
    func: u32,
    countdown: Option<*const AtomicI32>,
    turns: Vec<Turn>,
}

/// Compiles a body, or says why it is left to Cranelift.
///
/// # Errors
/// A body that is not valid.
pub(super) fn compile(
    env: &ModuleEnv<'_>,
    body: Body<'_>,
) -> Result<Result<CompiledFunction, String>> {
    if let Some(why) = left_whole(env) {
        return Ok(Err(why.to_owned()));
    }
    env.budget.check().map_err(ErrorKind::Budget)?;
    let length = body.1.range().end - body.1.range().start;
    let function = attempts(env, &body);
    match function {
        Ok(function) => {
            let steps = length + function.code.len() as u64 / CODE_A_STEP;
            env.budget.spend(steps).map_err(ErrorKind::Budget)?;
            Ok(Ok(function))
        }
        Err(Refusal::Left(why)) => Ok(Err(why)),
        Err(Refusal::Registers) => Ok(Err("too few registers".to_owned())),
        Err(Refusal::Handlers) => unreachable!("it may have handlers then"),
        Err(Refusal::Narrow) => Ok(Err("vectors without AVX".to_owned())),
        Err(Refusal::Invalid(error)) => Err(refused(error)),
    }
}

/// Compiles a body, again where it needs more than was thought at first.
fn attempts(env: &ModuleEnv<'_>, body: &Body<'_>) -> Result<CompiledFunction, Refusal> {
    let mut how = How {
        lends: true,
        has_vectors: false,
        has_handlers: !env.info.tags.is_empty() && seems_to_catch(body.1.as_bytes()),
    };
    loop {
        match translate(env, again(body), how) {
            Err(Refusal::Registers) if how.lends => how.lends = false,
            Err(Refusal::Handlers) if !how.has_handlers => how.has_handlers = true,
            Err(Refusal::Narrow) if has(env.isa, "has_avx") && !how.has_vectors => {
                how.has_vectors = true;
            }
            other => return other,
        }
    }
}

/// What a body is compiled with: whether locals may have registers of operands, whether there is
/// room for vectors, and whether it may catch exceptions.
#[derive(Clone, Copy)]
struct How {
    lends: bool,
    has_vectors: bool,
    has_handlers: bool,
}

/// Compiles a body.
fn translate(env: &ModuleEnv<'_>, body: Body<'_>, how: How) -> Result<CompiledFunction, Refusal> {
    let isa = env.isa;
    let (to_validate, body) = body;
    let range = body.range();
    let func = to_validate.index;
    let mut generator = Generator {
        env,
        features: Features {
            lzcnt: has(isa, "has_lzcnt"),
            tzcnt: has(isa, "has_bmi1"),
            popcnt: has(isa, "has_popcnt"),
            fma: has(isa, "has_fma"),
        },
        code: Code::default(),
        calls: Vec::new(),
        frames: Vec::new(),
        is_reachable: true,
        values: Vec::new(),
        settled: 0,
        height_max: 0,
        free: Free::all(),
        is_out_of_registers: false,
        locals: Vec::new(),
        pinned: Vec::new(),
        preserved: 0,
        how,
        is_too_narrow: false,
        local_bytes: local_bytes(env.info.func_type(func), &body),
        set_next: None,
        incoming_bytes: 0,
        outgoing_bytes: 0,
        most: CODE_BYTES + CODE_A_BYTE * (range.end - range.start) as usize,
        types_seen: 0,
        handlers: Vec::new(),
        pads: Vec::new(),
        caught_calls: Vec::new(),
        func,
        countdown: countdown(env, func),
        turns: Vec::new(),
    };
    if generator.local_bytes > 8 && !how.has_vectors {
        return Err(Refusal::Narrow);
    }
    let mut validator = to_validate.into_validator(FuncValidatorAllocations::default());
    generator.function(&mut validator, body.get_binary_reader())
}

/// Why all of a module is left to Cranelift.
fn left_whole(env: &ModuleEnv<'_>) -> Option<&'static str> {
    match env {
        _ if env.isa.name() != "x64" => Some("another processor than x86-64"),
        env if env.count => Some("counting"),
        env if env.fuel => Some("fuel"),
        _ => None,
    }
}

impl Generator<'_> {
    /// Bytes of the frame in front of the locals.
    const FIXED_BYTES: i32 = 16;
    /// Registers that the caller finds as they were, and where they are until then.
    const SAVED: [(registers::Gpr, i32); 2] = [(CONTEXT, -8), (BASE, -16)];

    /// The same, and those that locals are in.
    fn saved(&self) -> impl Iterator<Item = (registers::Gpr, i32)> + use<> {
        let first = Self::FIXED_BYTES + self.local_bytes * self.locals.len() as i32;
        let places = (1..).map(move |nth| -(first + 8 * nth));
        let of_locals = self.preserved().iter().copied().zip(places);
        Self::SAVED.into_iter().chain(of_locals)
    }

    fn function<R: WasmModuleResources>(
        &mut self,
        validator: &mut FuncValidator<R>,
        mut reader: BinaryReader<'_>,
    ) -> Result<CompiledFunction, Refusal> {
        let ty = self.env.info.func_type(self.func);
        validator.read_locals(&mut reader)?;
        if validator.len_locals() as i32 > FRAME_BYTES_MAX / 8 {
            return Err("a large frame".into());
        }
        for local in 0..validator.len_locals() {
            let ty = validator.get_local_type(local);
            let kind = ty.map_or(Kind::I64, Kind::parsed);
            self.locals.push(Local::new(kind));
        }
        let bytes = reader.clone().read_bytes(reader.bytes_remaining())?;
        if may_have_loops(bytes) {
            self.choose_registers(reader.clone(), ty);
        }
        let frame_fields = self.prologue();
        self.take_parameters(ty)?;
        self.open_function(ty.results());
        self.count_turn(FUNCTION_START);
        let mut operators = OperatorsReader::new(reader);
        self.operators(validator, &mut operators, bytes)?;
        operators.finish()?;
        self.place_pads()?;
        self.place_turns();
        self.code.place_stubs();
        let frame = self.frame_bytes()?;
        for (field, more) in frame_fields.into_iter().zip([CALLED_BYTES, 0]) {
            self.code.patch(field, frame + more);
        }
        self.code.resolve();
        let handlers = self.handler_sites(frame);
        let code = std::mem::take(&mut self.code);
        let function = CompiledFunction {
            code: code.bytes,
            traps: code.traps,
            handlers,
            calls: std::mem::take(&mut self.calls),
            ..CompiledFunction::empty(CheckSites::default())
        };
        Ok(function.located(&code.located, &[]))
    }

    /// Bytes of the frame above the operands.
    fn bytes_above_operands(&self) -> i32 {
        let words = self.preserved().len() + usize::from(self.how.has_handlers);
        Self::FIXED_BYTES + self.local_bytes * self.locals.len() as i32 + 8 * words as i32
    }

    /// Bytes of the frame for each operand.
    fn slot_bytes(&self) -> i32 {
        match self.how.has_vectors {
            true => 16,
            false => 8,
        }
    }

    /// Where the context is, in a function with handlers: right above the operands.
    fn context_place(&self) -> i32 {
        -self.bytes_above_operands()
    }

    /// Where exceptions of calls land, in a frame of so many bytes.
    fn handler_sites(&self, frame: u32) -> Vec<HandlerSite> {
        let site = |&(return_offset, landing): &(u32, Label)| HandlerSite {
            return_offset,
            handler: self.code.place(landing),
            frame_bytes: frame,
        };
        self.caught_calls.iter().map(site).collect()
    }

    /// The frame below rbp; all that the function writes but what its calls push.
    fn frame_bytes(&self) -> Result<u32, Refusal> {
        let slots = self.slot_bytes() as u64 * u64::from(self.height_max);
        let bytes = self.bytes_above_operands() as u64 + slots;
        let bytes = bytes.next_multiple_of(16) + u64::from(self.outgoing_bytes);
        match bytes < FRAME_BYTES_MAX as u64 {
            true => Ok(bytes as u32),
            false => Err("a large frame".into()),
        }
    }

    /// What `run/stacks/segments.rs` knows, the comparison with the limit, and the frame. Where
    /// the fields are that take its bytes: in the comparison and in the subtraction.
    fn prologue(&mut self) -> [u32; 2] {
        const LATER: i32 = i32::MAX;
        let limit = registers::R10;
        emit!(self.code, pushq_o(RBP));
        emit!(self.code, movq_mr(Rm::Gpr(RBP), RSP));
        emit!(self.code, movq_rm(limit, Rm::Mem(at(RDI, VMCTX_RUNTIME))));
        let field = at(limit, offsets::RUNTIME_STACK_LIMIT);
        emit!(self.code, movq_rm(limit, Rm::Mem(field)));
        emit!(self.code, leaq_rm(limit, at(limit, LATER)));
        let compared = self.code.offset() - 4;
        emit!(self.code, cmpq_rm(RSP, Rm::Gpr(limit)));
        let exhausted = TrapCode::STACK_OVERFLOW;
        self.code.trap_if(code::Condition::Below, exhausted);
        emit!(self.code, subq_mi_sxl(Rm::Gpr(RSP), LATER));
        let subtracted = self.code.offset() - 4;
        for (register, place) in self.saved() {
            emit!(self.code, movq_mr(Rm::Mem(at(RBP, place)), register));
        }
        if self.how.has_handlers {
            let place = at(RBP, self.context_place());
            emit!(self.code, movq_mr(Rm::Mem(place), RDI));
        }
        emit!(self.code, movq_rm(CONTEXT, Rm::Gpr(RDI)));
        self.load_first_memory();
        [compared, subtracted]
    }

    /// Loads what the register for it has all the time.
    fn load_first_memory(&mut self) {
        if !self.env.info.memories.is_empty() {
            self.load_memory_base(BASE, 0);
        }
    }

    fn operators<R: WasmModuleResources>(
        &mut self,
        validator: &mut FuncValidator<R>,
        operators: &mut OperatorsReader<'_>,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let start = operators.original_position();
        while !operators.eof() {
            let (op, offset) = operators.read_with_offset()?;
            if let Operator::BrTable { targets } = &op {
                self.few_operands_of(targets)?;
            }
            validator.op(offset, &op)?;
            self.code.locate(SourceLoc::new(offset as u32));
            self.set_next = match self.pinned.is_empty() {
                true => None,
                false => {
                    self.set_next_by(&bytes[(operators.original_position() - start) as usize..])
                }
            };
            self.operator(&op)?;
            if self.is_too_narrow {
                return Err(Refusal::Narrow);
            }
            if self.is_out_of_registers {
                return Err(Refusal::Registers);
            }
            if self.height_max > FRAME_BYTES_MAX as u32 / 8 {
                return Err("a large frame".into());
            }
            self.keep_within()?;
        }
        self.code.locate(SourceLoc::default());
        Ok(())
    }

    /// Refuses more code than a body of this length may come to.
    fn keep_within(&self) -> Result<(), Refusal> {
        match self.code.bytes.len() > self.most {
            true => Err("more code than its body may come to".into()),
            false => Ok(()),
        }
    }

    fn operator(&mut self, op: &Operator<'_>) -> Result<(), Refusal> {
        if !self.is_reachable {
            return self.unreachable_operator(op);
        }
        let takes_condition = matches!(
            op,
            Operator::BrIf { .. }
                | Operator::If { .. }
                | Operator::I32Eqz
                | Operator::Select
                | Operator::TypedSelect { .. }
        );
        if !takes_condition {
            self.settle_flags();
        }
        let is_known = self.variable(op)
            || self.integer(op)
            || self.memory_access(op)
            || self.parametric(op)
            || self.control(op)?
            || self.any_call(op)?
            || self.exception(op)?
            || self.float(op)
            || self.conversion(op)
            || self.table(op)?
            || self.vector(op)
            || self.atomic(op)
            || self.structure(op)
            || self.array(op)
            || self.cast(op);
        match is_known {
            true => Ok(()),
            false => Err(Refusal::Left(group(op).to_owned())),
        }
    }

    /// Parametric instructions; `false` when it is none.
    fn parametric(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::Drop => {
                let value = self.pop();
                self.release(value);
            }
            Operator::Select | Operator::TypedSelect { .. } => self.select(),
            Operator::Nop => {}
            _ => return false,
        }
        true
    }

    fn select(&mut self) {
        let condition = self.pop();
        let condition = self.tested(condition);
        let y = self.pop();
        let x = self.pop();
        if x.kind.is_in_xmm() {
            let to = self.own_xmm(x);
            let end = self.code.label();
            self.code.jump_if(condition, end);
            self.load_xmm(to, y);
            self.code.bind(end);
            self.release(y);
            return self.push_xmm(x.kind, to);
        }
        let to = self.own(x);
        let from = match (y.place, y.kind.is_wide()) {
            // In memory, of which there are only 32 bits, as much is loaded.
            (values::Place::Local(_) | values::Place::Slot(_), false) => {
                self.load_gpr(registers::SCRATCH, y);
                Rm::Gpr(registers::SCRATCH)
            }
            _ => self.operand(y),
        };
        self.code.move_if(condition.opposite(), to, from);
        self.release(y);
        self.push_gpr(x.kind, to);
    }
}

/// What an instruction is called that is left to Cranelift.
fn group(op: &Operator<'_>) -> &'static str {
    match op {
        Operator::ContNew { .. }
        | Operator::ContBind { .. }
        | Operator::Suspend { .. }
        | Operator::Resume { .. }
        | Operator::ResumeThrow { .. }
        | Operator::ResumeThrowRef { .. }
        | Operator::Switch { .. } => "continuations",
        _ => "others",
    }
}
