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
//! last tier is there.
//!
//! What must stay true: what LLVM does not take stays Cranelift's, and so does everything when
//! clang cannot be started; nobody waits for it. Its thread holds a module only while it compiles.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::setpriority_process;

use super::{Function, Lazy, STACK_BYTES, with_stack};
use crate::compile::translate::ModuleEnv;
use crate::compile::{Llvm, ModuleBudget, by_one_thread, compile_by_llvm};
use crate::run::handle::{Module, module_env};

/// How long functions wait from the first one on.
const DELAY: Duration = Duration::from_millis(500);

/// By how much it gives way to what runs (sched(7)).
const NICE: i32 = 10;

/// Bytes of bodies from which on there are enough for one call of clang: about a second.
const ENOUGH_BYTES: usize = 16 << 10;

/// The functions of a module that LLVM has compiled, or will.
pub(super) struct LlvmTier {
    made: Box<[OnceLock<Function>]>,
    queue: Mutex<Queue>,
    /// Its own: what it takes is taken from no other tier.
    budget: ModuleBudget,
    /// Whether each is compiled when it comes, by whom it comes from.
    is_at_once: bool,
}

#[derive(Default)]
struct Queue {
    /// By position, in the order in which they were optimised.
    waiting: VecDeque<usize>,
    has_thread: bool,
}

impl LlvmTier {
    /// For a module with so many functions.
    pub fn new(functions: usize, budget: ModuleBudget, is_at_once: bool) -> LlvmTier {
        LlvmTier {
            made: (0..functions).map(|_| OnceLock::new()).collect(),
            queue: Mutex::default(),
            budget,
            is_at_once,
        }
    }

    /// The code of a function, where it is there.
    pub fn function(&self, position: usize) -> Option<&Function> {
        self.made[position].get()
    }

    /// How many there are.
    pub fn functions(&self) -> usize {
        self.made.iter().filter_map(OnceLock::get).count()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is compiled next; the thread ends where there is nothing.
    fn take(&self, module: &Module) -> Vec<usize> {
        let mut queue = self.queue();
        let mut bytes = 0;
        let mut taken = Vec::new();
        while bytes < ENOUGH_BYTES
            && let Some(position) = queue.waiting.pop_front()
        {
            bytes += module.info().bodies[position].len();
            taken.push(position);
        }
        queue.has_thread = !taken.is_empty();
        taken
    }
}

impl Lazy {
    /// Have a function compiled by LLVM that was optimised just now.
    pub(super) fn go_on(&self, module: &Module, tier: &LlvmTier, position: usize) {
        if tier.is_at_once {
            return self.compile_last(module, tier, &[position]);
        }
        let mut queue = tier.queue();
        queue.waiting.push_back(position);
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

    /// Compiles functions by LLVM, and has those entered that it took.
    fn compile_last(&self, module: &Module, tier: &LlvmTier, positions: &[usize]) {
        let engine = module.engine();
        let Some(llvm) = engine.last_tier() else {
            return;
        };
        let around = self.around(module.info(), module.layout(), module.wasm());
        let env = ModuleEnv {
            direct: false,
            budget: &tier.budget,
            ..module_env(engine, &around)
        };
        let seed = engine.config().layout_seed;
        let compile = |llvm: &Llvm| {
            let bodies = positions.iter().map(|position| {
                let body = self.body(module, *position);
                (*position, body)
            });
            by_one_thread(|| compile_by_llvm(engine.target(), &env, llvm, bodies.collect(), seed))
        };
        let Ok(compiled) = with_stack(STACK_BYTES, || compile(llvm)) else {
            return;
        };
        for (position, detached) in compiled {
            if let Ok(function) = self.publish(module, position, detached, true) {
                let function = tier.made[position].get_or_init(|| function);
                let word = module.code().word(position);
                word.store(function.address(), Ordering::Release);
            }
        }
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
        let positions = tier.take(self);
        lazy.compile_last(self, tier, &positions);
        !positions.is_empty()
    }

    /// How many of its functions LLVM has compiled while they ran ([`Codegen::TieredLlvm`]).
    ///
    /// [`Codegen::TieredLlvm`]: crate::Codegen::TieredLlvm
    pub fn functions_of_last_tier(&self) -> usize {
        let tier = self.lazy().and_then(Lazy::llvm_tier);
        tier.map_or(0, LlvmTier::functions)
    }
}
