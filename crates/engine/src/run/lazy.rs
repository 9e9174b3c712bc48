//! Functions that are compiled when they are first called.
//!
//! ```text
//!  call, table, export ─▶ stub ──jmp [word]──┬─ at first ─▶ index ─▶ first_call ─▶ compiler
//!                                            └─ then ─────────────────────▶ the function
//! ```
//!
//! A module has a stub for each of its functions, which is the function's address for all who
//! call it. It jumps to where a word says: at first to what has the function compiled, then to
//! the function. The words are data, so no code is ever changed. A function that is compiled
//! calls those that are there already without their stubs.
//!
//! What must stay true:
//! - All bodies are validated, and use only what is translated, before there is a module.
//! - A function's code is the one that it would have if all were compiled at once, but for
//!   where it is: it depends on the module and the configuration alone.
//! - A word is written once, after the code is in place, and is read as a whole. Who reads the
//!   first value has the function compiled, or waits for it, and gets the same address.
//! - Code lives as long as its module.

mod ahead;
mod llvm;
mod stubs;
mod tiers;

pub(crate) use stubs::{FirstCall, add_stubs};
pub(crate) use tiers::Tiers;

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use fathom_sys::stack;
use rayon::prelude::*;
use wasmparser::{
    BinaryReader, FuncToValidate, FuncValidatorAllocations, FunctionBody, ValidatorResources,
    WasmFeatures,
};

use crate::bounds::MemoryPlan;
use crate::compile::translate::{InlinableFuncs, ModuleEnv};
use crate::compile::{
    Artifact, Callee, CheckSites, CodeRange, Compilers, Detached, Fallback, ModuleBudget,
    OverBudget, compile_function, compile_module_trampolines,
};
use crate::facts::error::{Error, ErrorKind, Result};
use crate::facts::module::{Body, ModuleInfo};
use crate::facts::vmctx::VmLayout;
use crate::run::code::{Chunks, CodeInfo, CodeMemory};
use crate::run::config::ProfilingStrategy;
use crate::run::engine::Engine;
use crate::run::handle::{Around, Module, module_env};
use crate::run::perf_map;
use ahead::Ahead;

/// Whether there is what functions are first called by.
pub(crate) const HAS_FIRST_CALLS: bool = cfg!(target_arch = "x86_64");

/// Bytes of stack that compiling a function may take.
const STACK_BYTES: usize = 1 << 20;

/// Whether calls of functions that are there go through their stubs, too: in tests of what
/// those do at every depth.
const STUBS_ALWAYS: bool = cfg!(test);

/// What compiling a module's functions later needs of it.
pub(crate) struct Lazy {
    /// Of the validation so far; none of a module without functions.
    validated: Option<(ValidatorResources, WasmFeatures)>,
    plans: Vec<MemoryPlan>,
    inlinable: InlinableFuncs,
    budget: ModuleBudget,
    compilers: Compilers,
    /// The functions that were compiled, or why not, by position among the defined ones.
    functions: Box<[OnceLock<Made>]>,
    /// Which of them somebody compiles.
    is_begun: Box<[AtomicBool]>,
    ahead: Ahead,
    tiers: Option<Tiers>,
    chunks: Chunks,
}

/// A function that was compiled, or why not.
type Made = Result<Function, String>;

struct Function {
    code: Arc<CodeInfo>,
    /// The functions that it calls by name, by position: once it was called, none.
    callees: Mutex<Vec<usize>>,
}

/// Whether all bodies are valid. Where not, compiling all says what is wrong.
pub(crate) fn all_valid(bodies: &[Body<'_>]) -> bool {
    let valid = |allocations: FuncValidatorAllocations, (to_validate, body): &Body<'_>| {
        let again = FuncToValidate {
            resources: to_validate.resources.clone(),
            ..*to_validate
        };
        let mut validator = again.into_validator(allocations);
        let outcome = validator.validate(body).ok();
        outcome.map(|()| validator.into_allocations())
    };
    let folds = bodies
        .par_iter()
        .try_fold(FuncValidatorAllocations::default, valid);
    folds.all(|allocations| allocations.is_some())
}

impl Lazy {
    /// For a module whose bodies are valid.
    pub(crate) fn new(
        bodies: &[Body<'_>],
        plans: Vec<MemoryPlan>,
        inlinable: InlinableFuncs,
        budget: ModuleBudget,
        tiers: Option<Tiers>,
    ) -> Lazy {
        let validated = |(first, _): &Body<'_>| (first.resources.clone(), first.features);
        Lazy {
            validated: bodies.first().map(validated),
            plans,
            inlinable,
            budget,
            compilers: Compilers::default(),
            functions: bodies.iter().map(|_| OnceLock::new()).collect(),
            is_begun: bodies.iter().map(|_| AtomicBool::new(false)).collect(),
            ahead: Ahead::default(),
            tiers,
            chunks: Chunks::default(),
        }
    }

    /// What functions are compiled with.
    pub(crate) fn around<'a>(
        &'a self,
        info: &'a ModuleInfo,
        layout: &'a VmLayout,
        wasm: &'a [u8],
    ) -> Around<'a> {
        Around {
            info,
            layout,
            plans: &self.plans,
            budget: &self.budget,
            inlinable: &self.inlinable,
            countdowns: self.tiers.as_ref().map(Tiers::countdowns),
            wasm,
        }
    }

    /// The trampolines of the module.
    ///
    /// # Errors
    /// What compiling them says.
    pub(crate) fn trampolines(&self, engine: &Engine, around: &Around<'_>) -> Result<Artifact> {
        let env = module_env(engine, around);
        compile_module_trampolines(engine.target(), &env, &self.compilers)
    }

    /// How many words there are behind the text.
    pub(crate) fn words(&self) -> usize {
        self.functions.len()
    }

    /// Have all stubs compile their function.
    pub(crate) fn begin(&self, code: &CodeMemory) {
        for index in 0..self.functions.len() {
            let address = code.address(stubs::first_call_of(code, index, self.words()));
            code.word(index).store(address as usize, Ordering::Release);
        }
    }

    fn compiled(&self) -> impl Iterator<Item = (u32, &Function)> {
        let all = (0..).zip(&self.functions);
        all.filter_map(|(position, function)| Some((position, function.get()?.as_ref().ok()?)))
    }

    /// Where the functions are that were compiled: position, address and bytes.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, usize, usize)> {
        self.compiled().map(|(position, function)| {
            let len = function.range().len as usize;
            (position, function.address(), len)
        })
    }

    /// Bytes of their code.
    pub(crate) fn code_bytes(&self) -> usize {
        self.compiled().map(|(_, one)| one.code.len()).sum()
    }

    /// The checks in them.
    pub(crate) fn checks(&self) -> CheckSites {
        let mut all = CheckSites::default();
        self.compiled()
            .for_each(|(_, one)| all += one.code.tables().checks);
        all
    }

    /// Those that are not optimised.
    pub(crate) fn over_budget(&self) -> Vec<OverBudget> {
        let over = self.compiled();
        let over = over.flat_map(|(_, one)| one.code.tables().over_budget.clone());
        over.collect()
    }

    /// Those that another code generator left to Cranelift.
    pub(crate) fn fallbacks(&self) -> Vec<Fallback> {
        let left = self.compiled();
        let left = left.flat_map(|(_, one)| one.code.tables().fallbacks.clone());
        left.collect()
    }

    /// The body of a function, by position.
    fn body<'a>(&self, module: &'a Module, position: usize) -> Body<'a> {
        let info = module.info();
        let (resources, features) = self.validated.as_ref().expect("it has functions");
        let range = info.bodies[position].clone();
        let index = info.imported_funcs + position as u32;
        let to_validate = FuncToValidate {
            resources: resources.clone(),
            index,
            ty: info.funcs[index as usize],
            features: *features,
        };
        let start = range.start as u64;
        let reader = BinaryReader::new_features(&module.wasm()[range], start, *features);
        (to_validate, FunctionBody::new(reader))
    }

    fn compile(&self, module: &Module, position: usize) -> Result<Function> {
        let around = self.around(module.info(), module.layout(), module.wasm());
        let env = module_env(module.engine(), &around);
        self.compile_in(&env, module, position)
    }

    fn compile_in(
        &self,
        env: &ModuleEnv<'_>,
        module: &Module,
        position: usize,
    ) -> Result<Function> {
        let engine = module.engine();
        let detached = compile_function(
            engine.target(),
            env,
            &self.compilers,
            self.body(module, position),
            engine.config().layout_seed,
        )?;
        self.publish(module, position, detached, false)
    }

    /// Puts a function where it runs. If it is the last code of it, it calls itself.
    fn publish(
        &self,
        module: &Module,
        position: usize,
        detached: Detached,
        is_last: bool,
    ) -> Result<Function> {
        let engine = module.engine();
        let func = module.info().imported_funcs + position as u32;
        let calls = detached.calls;
        let own = |callee| match callee {
            Callee::Func(func) => Some((func - module.info().imported_funcs) as usize),
            Callee::Start(_) => None,
        };
        let callees = Mutex::new(calls.callees().filter_map(own).collect());
        let own_offset = detached.artifact.functions[0].offset as usize;
        let link = |text: &mut [u8], base: usize| {
            let linked = calls.link(text, base, |callee| match callee {
                Callee::Func(callee) if is_last && callee == func => base + own_offset,
                callee => self.address_of(module, callee),
            });
            linked.map_err(|message| ErrorKind::Compile { func, message }.into())
        };
        let weak = module.weak_info();
        let code = self.chunks.publish(detached.artifact, func, weak, link)?;
        if engine.config().profiler == ProfilingStrategy::PerfMap {
            perf_map::append(code.tables(), code.address(0), module.info(), func)?;
        }
        Ok(Function { code, callees })
    }

    /// Where a call goes: to the function itself, once it is there.
    fn address_of(&self, module: &Module, callee: Callee) -> usize {
        let code = module.code();
        match callee {
            Callee::Start(ty) => code.address(start_of(code, ty)) as usize,
            Callee::Func(func) => {
                let position = (func - module.info().imported_funcs) as usize;
                let there = match &self.tiers {
                    Some(tiers) => tiers.last(position),
                    None => self.functions[position]
                        .get()
                        .and_then(|made| made.as_ref().ok()),
                };
                match there {
                    Some(function) if !STUBS_ALWAYS => function.address(),
                    _ => code.address(code.tables().functions[position].offset) as usize,
                }
            }
        }
    }

    /// A function, which is compiled unless it is there, or somebody does it.
    fn made(&self, module: &Module, position: usize) -> &Made {
        self.is_begun[position].store(true, Ordering::Relaxed);
        self.functions[position].get_or_init(|| {
            let made = with_stack(STACK_BYTES, || self.compile(module, position));
            made.map_err(|error| error.to_string())
        })
    }

    /// Have compiled what a function calls that was called just now.
    fn go_ahead(&self, module: &Module, function: &Function) {
        let callees = function
            .callees
            .lock()
            .map(|mut callees| take(&mut *callees));
        let callees = callees.unwrap_or_default().into_iter();
        let is_new = |position: &usize| !self.is_begun[*position].load(Ordering::Relaxed);
        let _ = self.ahead.push(callees.filter(is_new), || {
            let module = module.downgrade();
            move |position| {
                let module = module.upgrade()?;
                module.compile_ahead(position)
            }
        });
    }

    /// Compile a function that may be called: what it calls itself.
    pub(crate) fn compile_ahead(&self, module: &Module, position: usize) -> Vec<usize> {
        if self.is_begun[position].load(Ordering::Relaxed) {
            return Vec::new();
        }
        match self.made(module, position) {
            Ok(function) => {
                let callees = function.callees.lock();
                callees.map(|callees| callees.clone()).unwrap_or_default()
            }
            Err(_) => Vec::new(),
        }
    }

    /// The code of a function, by its index, which is compiled unless it is there.
    ///
    /// # Errors
    /// [`ErrorKind::Compile`], the same at each call: what compiling it said.
    pub(crate) fn first_call(&self, module: &Module, func: u32) -> Result<usize> {
        let position = (func - module.info().imported_funcs) as usize;
        match self.made(module, position) {
            Ok(function) => {
                self.go_ahead(module, function);
                let address = function.address();
                let code = module.code();
                let first = code.address(stubs::first_call_of(code, position, self.words()));
                // Unless it is that of better code already.
                let (word, first) = (code.word(position), first as usize);
                let (written, unwritten) = (Ordering::AcqRel, Ordering::Acquire);
                match word.compare_exchange(first, address, written, unwritten) {
                    Ok(_) => Ok(address),
                    Err(better) => Ok(better),
                }
            }
            Err(message) => {
                let message = format!("when it was first called: {message}");
                Err(ErrorKind::Compile { func, message }.into())
            }
        }
    }
}

impl Module {
    /// The address of a function's code, which is compiled now where that is done lazily.
    ///
    /// # Errors
    /// What compiling it says.
    pub(crate) fn first_call(&self, func: u32) -> Result<usize> {
        let lazy = self.lazy();
        let lazy = lazy.expect("only stubs ask, which are of modules compiled lazily");
        lazy.first_call(self, func)
    }

    /// Compile a function that may be called soon, by position: what it calls.
    pub(crate) fn compile_ahead(&self, position: usize) -> Option<Vec<usize>> {
        Some(self.lazy()?.compile_ahead(self, position))
    }
}

/// Where continuations of a type start.
fn start_of(code: &CodeMemory, ty: u32) -> u32 {
    let start = code.tables().starts[ty as usize];
    start
        .expect("compiled for every type of continuations")
        .offset
}

impl Function {
    fn range(&self) -> CodeRange {
        self.code.tables().functions[0]
    }

    fn address(&self) -> usize {
        self.code.address(self.range().offset)
    }
}

/// Do work where there is so much stack: on a thread of its own, where Wasm has left too little of
/// this one's.
///
/// # Errors
/// Those of the work, or there is no such thread.
fn with_stack<R: Send>(bytes: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let here = std::ptr::from_ref(&work).addr();
    let left = stack::lowest_address().map_or(0, |lowest| here.saturating_sub(lowest));
    if left >= bytes {
        return work();
    }
    let joined = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 * bytes);
        let thread = thread.spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(work)));
        thread.map(|thread| thread.join().and_then(|result| result))
    });
    match joined {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(error) => Err(Error::resource("no thread to compile on", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_cannot_be_had_is_an_error() {
        let left = with_stack(1 << 10, || Ok(7)).unwrap();
        assert_eq!(left, 7);
        let elsewhere = with_stack(64 << 20, || Ok(std::thread::current().id())).unwrap();
        assert_ne!(elsewhere, std::thread::current().id());
        // More than there are addresses.
        let error = with_stack(1 << 60, || Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("no thread to compile on: "), "{error}");
    }
}
