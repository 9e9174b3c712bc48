//! The last tier: functions by LLVM, of programs that run on.
//!
//! ```text
//!  optimised by Cranelift ─▶ waiting ─▶ a thread, after a while ─▶ clang, several at once
//!                                                                    └─▶ their words
//! ```
//!
//! Clang takes some 30 times as long as Cranelift, so that it is not worth it for a program that
//! ends soon: nothing is given to it in the first half second. Then all are that Cranelift was worth
//! it for. They are entered at their next call, through the stub, which all callers use until the
//! last tier is there, or at the head of a loop that Cranelift's code has run for long.
//!
//! What must stay true: what LLVM does not take stays Cranelift's, and so does everything when
//! clang cannot be started; nobody waits for it. Its thread holds a module only while it compiles.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::setpriority_process;

use super::ahead::SPARE_PROCESSORS;
use super::{Function, Lazy, STACK_BYTES, with_stack};
use crate::compile::translate::ModuleEnv;
use crate::compile::{Detached, ModuleBudget, by_one_thread, compile_by_llvm};
use crate::facts::libcall::FUNCTION_START;
use crate::run::handle::{Module, module_env};

/// How long functions wait from the first one on.
const DELAY: Duration = Duration::from_millis(500);

/// By how much it gives way to what runs (sched(7)).
const NICE: i32 = 10;

/// Bytes of bodies from which on there are enough for one call of clang: about a second.
const ENOUGH_BYTES: usize = 16 << 10;

/// The functions of a module that LLVM has compiled, or will.
pub(super) struct LlvmTier {
    whole: Box<[OnceLock<Function>]>,
    /// What begins at heads of loops, by position and offset; none where that failed.
    loops: Mutex<HashMap<(usize, u32), Option<Function>>>,
    queue: Mutex<Queue>,
    /// Its own: what it takes is taken from no other tier.
    budget: ModuleBudget,
    /// Whether each is compiled when it comes, by whom it comes from.
    is_at_once: bool,
}

#[derive(Default)]
struct Queue {
    /// Requests, each once.
    all: HashSet<usize>,
    /// What is to be done, in the order in which it was optimised.
    waiting: VecDeque<usize>,
    has_thread: bool,
}

impl LlvmTier {
    /// For a module with so many functions.
    pub fn new(functions: usize, budget: ModuleBudget, is_at_once: bool) -> LlvmTier {
        LlvmTier {
            whole: (0..functions).map(|_| OnceLock::new()).collect(),
            loops: Mutex::default(),
            queue: Mutex::default(),
            budget,
            is_at_once,
        }
    }

    /// The code of a function, where it is there.
    pub fn function(&self, position: usize) -> Option<&Function> {
        self.whole[position].get()
    }

    /// How many there are, and how many begin at loops.
    pub fn functions(&self) -> (usize, usize) {
        let whole = self.whole.iter().filter_map(OnceLock::get).count();
        (whole, self.loops().values().flatten().count())
    }

    /// Code that begins at a loop: its address, 0 where it failed, nothing where it is not there.
    pub fn entered_at(&self, position: usize, place: u32) -> Option<usize> {
        let loops = self.loops();
        let code = loops.get(&(position, place))?;
        Some(code.as_ref().map_or(0, Function::address))
    }

    fn loops(&self) -> MutexGuard<'_, HashMap<(usize, u32), Option<Function>>> {
        self.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The requests that are done next; the thread ends where there are none.
    fn take(&self, module: &Module) -> Vec<usize> {
        let mut queue = self.queue();
        let mut bytes = 0;
        let mut taken = Vec::new();
        while bytes < ENOUGH_BYTES
            && let Some(request) = queue.waiting.pop_front()
        {
            bytes += module.info().bodies[request >> 32].len();
            taken.push(request);
        }
        queue.has_thread = !taken.is_empty();
        taken
    }
}

impl Lazy {
    /// Have a function compiled by LLVM that is optimised and runs on; not where clang would take
    /// the only processor from it.
    pub(super) fn go_on(&self, module: &Module, tier: &LlvmTier, request: usize) {
        if *SPARE_PROCESSORS == 0 && !tier.is_at_once {
            return;
        }
        let mut queue = tier.queue();
        if !queue.all.insert(request) {
            return;
        }
        if tier.is_at_once {
            drop(queue);
            return self.compile_last(module, tier, &[request]);
        }
        queue.waiting.push_back(request);
        if queue.has_thread {
            return;
        }
        let module = module.downgrade();
        let thread = thread::Builder::new().name("llvm".to_owned());
        let work = move || {
            thread::sleep(DELAY);
            // Of this thread and the compilers that it starts. Where it is refused, they compete.
            let _ = setpriority_process(None, NICE);
            while let Some(true) = module.upgrade().map(|module| module.compile_last()) {}
        };
        queue.has_thread = thread.spawn(work).is_ok();
    }

    /// Does requests: functions as a whole together, what begins at loops one by one.
    fn compile_last(&self, module: &Module, tier: &LlvmTier, requests: &[usize]) {
        let is_whole = |request: &&usize| **request as u32 == FUNCTION_START;
        let (whole, loops): (Vec<&usize>, Vec<&usize>) = requests.iter().partition(is_whole);
        let whole: Vec<usize> = whole.into_iter().map(|request| request >> 32).collect();
        for (position, detached) in self.by_llvm(module, tier, &whole, None) {
            if let Ok(function) = self.publish(module, position, detached, true) {
                let function = tier.whole[position].get_or_init(|| function);
                let word = module.code().word(position);
                word.store(function.address(), Ordering::Release);
            }
        }
        for request in loops {
            let (position, place) = (request >> 32, *request as u32);
            let detached = self.by_llvm(module, tier, &[position], Some(place)).pop();
            let function = detached.and_then(|(position, detached)| {
                self.publish(module, position, detached, false).ok()
            });
            tier.loops().insert((position, place), function);
        }
    }

    /// Functions that LLVM compiles, whole or from the head of a loop on; those that it takes.
    fn by_llvm(
        &self,
        module: &Module,
        tier: &LlvmTier,
        positions: &[usize],
        entered_at: Option<u32>,
    ) -> Vec<(usize, Detached)> {
        let engine = module.engine();
        let Some(llvm) = engine.last_tier().filter(|_| !positions.is_empty()) else {
            return Vec::new();
        };
        let around = self.around(module.info(), module.layout(), module.wasm());
        let env = ModuleEnv {
            direct: false,
            budget: &tier.budget,
            entered_at,
            ..module_env(engine, &around)
        };
        let seed = engine.config().layout_seed;
        let compile = || {
            let bodies = positions.iter().map(|position| {
                let body = self.body(module, *position);
                (*position, body)
            });
            by_one_thread(|| compile_by_llvm(engine.target(), &env, llvm, bodies.collect(), seed))
        };
        with_stack(STACK_BYTES, compile).unwrap_or_default()
    }
}

impl Module {
    /// Have LLVM compile what waits for it; false where nothing does.
    fn compile_last(&self) -> bool {
        let lazy = self.lazy();
        let tier = lazy.and_then(|lazy| Some((lazy, lazy.llvm_tier()?)));
        let Some((lazy, tier)) = tier else {
            return false;
        };
        let requests = tier.take(self);
        lazy.compile_last(self, tier, &requests);
        !requests.is_empty()
    }

    /// How many of its functions LLVM has compiled while they ran, and how many from the head of a
    /// loop on ([`Codegen::TieredLlvm`]).
    ///
    /// [`Codegen::TieredLlvm`]: crate::Codegen::TieredLlvm
    pub fn functions_of_last_tier(&self) -> (usize, usize) {
        let tier = self.lazy().and_then(Lazy::llvm_tier);
        tier.map_or((0, 0), LlvmTier::functions)
    }
}
