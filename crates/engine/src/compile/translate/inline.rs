//! Calls of small functions, translated as what they would have done.
//!
//! A call costs what the calling convention makes it cost: every register that
//! is in use is spilled, a frame is built, and the code generator sees nothing
//! of the arguments. A function whose body is a line or two, as compilers'
//! runtime libraries have them, costs less than its call.
//!
//! ```text
//!  bodies ─ Inlinable::choose ─► small, calls nothing, loops nowhere, validates
//!                                    │
//!  call f ─ Translator::inline ──────┘ its locals are new variables, its end and
//!                                      its returns lead behind the call
//! ```
//!
//! In modules with types of structures or arrays, small functions may call others, which are
//! then translated in their place in turn: compilers of such languages leave that to the
//! engine, and methods of theirs are chains of such calls. Others come from compilers that
//! have done it themselves.
//!
//! What must stay true:
//! - A body is chosen after it was validated as a whole, and without what this
//!   translation refuses. So nothing can fail in the middle of a caller.
//! - No body is translated in itself, and only [`NESTED_MAX`] of them in each other:
//!   for each the translation calls itself.
//! - What is chosen depends on the module alone, and what is done with it on the
//!   caller: never on the order in which bodies are translated.
//! - The instructions keep the module offsets of their own operators, and it is
//!   known which call they stand for ([`InlinedCall`]): a trap has the frames it
//!   would have had. Not so where the code generator makes one instruction of two,
//!   as of a load and the addition that uses it: a trap is at the second then, and
//!   if that is the caller's, so is the only frame.
//! - The chosen functions are compiled themselves, too: the host, tables and
//!   callers without room for them call them.

use std::ops::Range;

use cranelift_codegen::ir::{SourceLoc, Value};
use cranelift_frontend::Variable;
use rayon::prelude::*;
use wasmparser::{
    BinaryReader, FuncToValidate, FuncValidatorAllocations, FunctionBody, Operator, WasmFeatures,
    WasmModuleResources,
};

use super::Translator;
use super::env::{ResultTypes, parsed_clif_type};
use super::state::FrameKind;
use crate::facts::module::{Body, ModuleInfo};

/// The longest body that is chosen, in bytes with its declarations of locals:
/// the product of two 128-bit integers, which compilers call for every one of
/// 64-bit integers that is needed in full, has a little over 100.
const LONGEST: u64 = 128;

/// The longest that is chosen although it calls others, in modules where it may. One cold
/// run of programs in Kotlin was no faster with 64, whose code takes 1.4 times as long to make.
const LONGEST_THAT_CALLS: u64 = 40;

/// Bodies that are translated in each other at most.
const NESTED_MAX: usize = 8;

/// The most locals of a body that is chosen, parameters aside.
const MOST_LOCALS: u32 = 16;

/// What a body may take in, in bytes of bodies: this, and [`GROWTH`] times what
/// it has itself.
const ROOM: u64 = 512;
const GROWTH: u64 = 3;

/// Source locations from here on are of inlined instructions. Modules with code
/// behind this offset are translated without any.
const FIRST_LOCATION: u32 = 1 << 30;

/// Where nothing is to be translated in the place of a call.
static NO_FUNCTIONS: InlinableFuncs = InlinableFuncs {
    imported_funcs: 0,
    features: WasmFeatures::empty(),
    bodies: Vec::new(),
};

/// Which functions may be translated in the place of a call.
#[derive(Debug)]
pub(crate) struct InlinableFuncs {
    imported_funcs: u32,
    /// How the bodies are encoded.
    features: WasmFeatures,
    /// Where the body is in the module, by position among the defined functions; none at all
    /// where nothing is to be inlined.
    bodies: Vec<Option<Range<u32>>>,
}

impl InlinableFuncs {
    /// None at all.
    pub(crate) fn none() -> InlinableFuncs {
        InlinableFuncs {
            imported_funcs: 0,
            features: WasmFeatures::empty(),
            bodies: Vec::new(),
        }
    }

    /// Chooses among the bodies of a module, which are in order.
    ///
    /// Where the module has types of objects, also those that call others.
    pub(crate) fn choose(info: &ModuleInfo, bodies: &[Body<'_>]) -> InlinableFuncs {
        let located = |(_, body): &Body<'_>| body.range().end <= u64::from(FIRST_LOCATION);
        if !bodies.iter().all(located) {
            return InlinableFuncs::none();
        }
        let chosen = |(to_validate, body): &Body<'_>| {
            let range = body.range().start as u32..body.range().end as u32;
            (is_small(body, info.has_objects) && validates(to_validate, body)).then_some(range)
        };
        InlinableFuncs {
            imported_funcs: info.imported_funcs,
            features: bodies
                .first()
                .map_or(WasmFeatures::empty(), |(first, _)| first.features),
            bodies: bodies.par_iter().map(chosen).collect(),
        }
    }
}

/// The same, with the module that their bodies are in.
#[derive(Clone, Copy)]
pub(crate) struct Inlinable<'a> {
    /// Which they are.
    pub funcs: &'a InlinableFuncs,
    /// The module in the binary format.
    pub wasm: &'a [u8],
}

impl<'a> Inlinable<'a> {
    /// No function at all.
    pub(crate) const NONE: Inlinable<'static> = Inlinable {
        funcs: &NO_FUNCTIONS,
        wasm: &[],
    };

    /// The body of a function, if it was chosen.
    pub(crate) fn body(&self, func: u32) -> Option<FunctionBody<'a>> {
        let defined = func.checked_sub(self.funcs.imported_funcs)?;
        let range = self.funcs.bodies.get(defined as usize)?.clone()?;
        let bytes = &self.wasm[range.start as usize..range.end as usize];
        let reader = BinaryReader::new_features(bytes, u64::from(range.start), self.funcs.features);
        Some(FunctionBody::new(reader))
    }
}

/// Whether a body is short and has no loop, and calls nothing where it may not. One that does
/// not decode is not.
fn is_small(body: &FunctionBody<'_>, may_call: bool) -> bool {
    if len(body) > LONGEST {
        return false;
    }
    let count_locals = || {
        let mut locals = 0_u32;
        for group in body.get_locals_reader().ok()? {
            let (count, _) = group.ok()?;
            locals = locals.checked_add(count)?;
        }
        Some(locals)
    };
    let may_call = may_call && len(body) <= LONGEST_THAT_CALLS;
    let stays = |op: Result<Operator<'_>, _>| {
        op.is_ok_and(|op| !leaves_or_loops(&op) && (may_call || !calls(&op)))
    };
    let operators = || body.get_operators_reader().ok();
    count_locals().is_some_and(|locals| locals <= MOST_LOCALS)
        && operators().is_some_and(|operators| operators.into_iter().all(stays))
}

fn len(body: &FunctionBody<'_>) -> u64 {
    let range = body.range();
    range.end - range.start
}

/// Whether an operator calls and comes back.
fn calls(op: &Operator<'_>) -> bool {
    matches!(
        op,
        Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. }
    )
}

/// Whether an operator calls and does not come back, throws, or opens what calls or throws
/// could end in.
fn leaves_or_loops(op: &Operator<'_>) -> bool {
    matches!(
        op,
        Operator::Loop { .. }
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. }
            | Operator::TryTable { .. }
            | Operator::Try { .. }
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::ContNew { .. }
            | Operator::ContBind { .. }
            | Operator::Suspend { .. }
            | Operator::Resume { .. }
            | Operator::ResumeThrow { .. }
            | Operator::ResumeThrowRef { .. }
            | Operator::Switch { .. }
    )
}

/// Whether a body is valid, so that translation does not refuse it.
fn validates<R: WasmModuleResources + Clone>(
    to_validate: &FuncToValidate<R>,
    body: &FunctionBody<'_>,
) -> bool {
    let again = FuncToValidate {
        resources: to_validate.resources.clone(),
        index: to_validate.index,
        ty: to_validate.ty,
        features: to_validate.features,
    };
    let mut validator = again.into_validator(FuncValidatorAllocations::default());
    validator.validate(body).is_ok()
}

/// A call whose callee was translated in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlinedCall {
    /// Function index of the callee.
    pub func: u32,
    /// Module offset of the call.
    pub call: u32,
    /// The inlined call whose callee it is in, by its place among the body's; none of the body
    /// itself.
    pub within: Option<usize>,
    /// Module offset of the callee's body.
    body: u32,
    /// The location that stands for `body`.
    first: u32,
}

/// The module offset that a location stands for, and the call it is inlined at, by its place.
pub(crate) fn resolve(calls: &[InlinedCall], location: u32) -> (u32, Option<usize>) {
    let behind = calls.partition_point(|call| call.first <= location);
    match behind.checked_sub(1) {
        Some(place) => {
            let call = &calls[place];
            (call.body + (location - call.first), Some(place))
        }
        None => (location, None),
    }
}

/// An inlined call, and those that it is inlined in, innermost first.
pub(crate) fn chain(calls: &[InlinedCall], innermost: usize) -> impl Iterator<Item = &InlinedCall> {
    std::iter::successors(calls.get(innermost), |call| calls.get(call.within?))
}

/// The calls inlined into one body, and room for more.
#[derive(Debug, Default)]
pub(super) struct InlinedCalls {
    calls: Vec<InlinedCall>,
    /// The location of the next one's first byte.
    next: u32,
    /// Bytes of bodies that may be taken in yet.
    room: u64,
    /// The function whose body takes them in.
    func: u32,
    /// The bodies that are being translated, innermost last; none while it is the function's.
    open: Vec<OpenBody>,
    /// Their locals, one behind the other's.
    locals: Vec<Variable>,
}

/// An inlined body that is being translated.
#[derive(Clone, Copy, Debug)]
struct OpenBody {
    /// Its call, by its place.
    call: usize,
    /// Where its locals begin.
    locals: usize,
    /// The position of its frame among the open ones.
    frame: usize,
}

impl InlinedCalls {
    /// For the body of this function.
    pub fn clear(&mut self, func: u32, body: &FunctionBody<'_>) {
        self.calls.clear();
        self.next = FIRST_LOCATION;
        self.room = ROOM + GROWTH * len(body);
        self.func = func;
        self.open.clear();
        self.locals.clear();
    }

    pub fn calls(&self) -> &[InlinedCall] {
        &self.calls
    }

    /// The position of the frame of the inlined body that is being translated.
    pub fn frame(&self) -> Option<usize> {
        self.open.last().map(|body| body.frame)
    }

    /// The variable of a local of the inlined body that is being translated.
    pub fn local(&self, index: u32) -> Option<Variable> {
        let body = self.open.last()?;
        Some(self.locals[body.locals + index as usize])
    }

    /// Whether a function is being translated: its calls of itself are calls.
    fn is_open(&self, func: u32) -> bool {
        let mut open = self.open.iter();
        func == self.func || open.any(|body| self.calls[body.call].func == func)
    }

    /// Notes one, if there is room, and none of it open: its first location.
    fn take(&mut self, func: u32, location: u32, body: &FunctionBody<'_>) -> Option<u32> {
        if self.open.len() == NESTED_MAX || self.is_open(func) {
            return None;
        }
        self.room = self.room.checked_sub(len(body))?;
        let first = self.next;
        self.next += len(body) as u32;
        let (call, within) = resolve(&self.calls, location);
        self.calls.push(InlinedCall {
            func,
            call,
            within,
            body: body.range().start as u32,
            first,
        });
        Some(first)
    }

    /// The body of the call that was noted last is translated from now on; its frame is to be
    /// this one.
    fn begin(&mut self, locals: usize, frame: usize) {
        let call = self.calls.len() - 1;
        self.open.push(OpenBody {
            call,
            locals,
            frame,
        });
    }

    /// It is not any more.
    fn end(&mut self) {
        let body = self.open.pop().expect("a body was begun");
        self.locals.truncate(body.locals);
    }
}

/// What cannot be: a body is chosen after it was decoded as a whole.
const DECODED: &str = "the body was decoded when it was chosen";

impl Translator<'_> {
    /// Translates the callee in the place of its call, if it was chosen and there
    /// is room; otherwise nothing has happened.
    pub(super) fn inline(&mut self, func: u32) -> bool {
        let module = self.env.module;
        let Some(body) = module.inlinable.body(func) else {
            return false;
        };
        let here = self.b.srcloc();
        let Some(location) = self.state.inlined.take(func, here.bits(), &body) else {
            return false;
        };
        let ty = module.info.func_type(func);
        let locals = self.state.inlined.locals.len();
        self.bind_locals(ty.params().len(), &body);
        let exit = self.b.create_block();
        self.append_params(exit, ResultTypes::Many(ty.results()));
        self.state
            .push_frame(FrameKind::Block, exit, 0, ty.results().len());
        let frame = self.state.frames.len() - 1;
        self.state.inlined.begin(locals, frame);
        self.inlined_operators(&body, location);
        self.state.inlined.end();
        self.b.set_srcloc(here);
        if self.state.reachable {
            self.fuel_write();
        }
        true
    }

    /// Pops the arguments into new variables; the other locals are zero.
    fn bind_locals(&mut self, params: usize, body: &FunctionBody<'_>) {
        let first = self.state.stack.len() - params;
        for i in first..self.state.stack.len() {
            let value = self.canonical(self.state.stack[i]);
            self.bind(value);
        }
        self.state.stack.truncate(first);
        for group in body.get_locals_reader().expect(DECODED) {
            let (count, ty) = group.expect(DECODED);
            let zero = self.zero(parsed_clif_type(ty));
            for _ in 0..count {
                self.bind(zero);
            }
        }
    }

    fn bind(&mut self, value: Value) {
        let variable = self.b.declare_var(self.b.func.dfg.value_type(value));
        self.b.def_var(variable, value);
        self.state.inlined.locals.push(variable);
    }

    fn inlined_operators(&mut self, body: &FunctionBody<'_>, first: u32) {
        let start = body.range().start;
        let mut operators = body.get_operators_reader().expect(DECODED);
        let mut is_first = true;
        while !operators.eof() {
            let (op, offset) = operators.read_with_offset().expect(DECODED);
            let location = first + (offset - start) as u32;
            self.b.set_srcloc(SourceLoc::new(location));
            if std::mem::take(&mut is_first) {
                self.fuel_at_entry();
            }
            let known = self.operator(&op);
            assert!(known, "validated without what is refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_resolved_to_its_call() {
        let call = |func, body, first| InlinedCall {
            func,
            call: 7,
            within: None,
            body,
            first,
        };
        let calls = [
            call(1, 100, FIRST_LOCATION),
            call(2, 40, FIRST_LOCATION + 30),
        ];
        let resolved = |location| {
            let (offset, call) = resolve(&calls, location);
            (offset, call.map(|call| calls[call].func))
        };
        assert_eq!(resolved(90), (90, None));
        assert_eq!(resolved(FIRST_LOCATION + 29), (129, Some(1)));
        assert_eq!(resolved(FIRST_LOCATION + 30), (40, Some(2)));
        assert_eq!(resolved(FIRST_LOCATION + 33), (43, Some(2)));
    }
}
