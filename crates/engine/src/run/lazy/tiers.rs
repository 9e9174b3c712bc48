//! Functions that get better while they run: made in one pass first, and by Cranelift once they
//! have run for long.
//!
//! ```text
//!  each call, each turn of a loop: one less ─▶ below 0: tier_up(function, place)
//!                                                │ a thread: optimise
//!                                                ├──▶ the whole function: its word, so that
//!                                                │    it is entered at its next call
//!                                                └──▶ the same from the head of a loop on:
//!                                                     entered in the frame that is there
//! ```
//!
//! What it takes to optimise a function grows with its body, and so does the number of turns that
//! it is worth after. Of those that wait the smallest is next: behind a function of 30 KiB, which
//! takes 0.1 s, a hundred small ones would wait.
//!
//! Turns are counted for all of a function, which asks at the place where it comes below 0. Code
//! that begins at a loop is the whole function once more, so that a loop has it only when it has
//! asked after more turns itself: a function of ten loops, one of which runs for long, is
//! compiled from that one on.
//!
//! Code that begins at the head of a loop is given the address of the frame, loads the locals from
//! it, and returns what the function returns. The frame waits below until then.
//!
//! What must stay true: what runs is left only where all that it has is in its frame, and nothing
//! is done twice: at the head of a loop without operands. What cannot be optimised goes on as
//! it is, and so does all that is not optimised yet in a child that was forked.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::ahead::Ahead;
use super::llvm::LlvmTier;
use super::{Function, Lazy, Made, STACK_BYTES, with_stack};
use crate::compile::ModuleBudget;
use crate::compile::translate::ModuleEnv;
use crate::facts::error::Result;
use crate::facts::libcall::{FUNCTION_START, IS_OPTIMISED};
use crate::run::handle::{Module, module_env};

/// How long functions run before somebody asks again for what is not there yet, at least.
const AGAIN: i32 = 256;
/// Bytes of a body that are optimised after the turns that are configured; others in proportion.
const BYTES: usize = 512;
/// So many times the turns of a function it takes until a loop has code of its own, since that
/// serves the frame that is there, and a function's serves all later calls.
const LOOP_TURNS: i64 = 2;
/// A loop that has not turned often enough yet asks again after this part of a function's turns.
const PARTS: i32 = 8;
/// How long those do that stay as they are.
const FOR_LONG: i32 = 1 << 30;

/// The functions of a module that are, or will be, optimised.
pub(crate) struct Tiers {
    /// For each [`BYTES`] of a body; 0 for all at once, where it is asked for.
    turns: u32,
    countdowns: Box<[AtomicI32]>,
    /// What each of them was last counted from.
    counted: Box<[AtomicI32]>,
    whole: Box<[OnceLock<Made>]>,
    /// What begins at heads of loops, by position and offset; none where that failed.
    loops: Mutex<HashMap<(usize, u32), Option<Function>>>,
    requested: Mutex<Requested>,
    threads: Ahead,
    /// Its own: what it takes to optimise is not taken from what has not been called yet.
    budget: ModuleBudget,
    llvm: Option<LlvmTier>,
}

/// What was asked for.
#[derive(Default)]
struct Requested {
    /// Each once: nothing is optimised twice.
    all: HashSet<usize>,
    /// What a thread is to do, by bytes of the body.
    waiting: BTreeSet<(usize, usize)>,
    /// The turns that had been counted when loops asked, by request.
    seen: HashMap<usize, i64>,
}

/// A request as a number.
fn request(position: usize, place: u32) -> usize {
    position << 32 | place as usize
}

/// How many turns a function with this body runs for before it is optimised.
fn turns_of(body: &Range<usize>, turns: u32) -> i32 {
    let all = u64::from(turns) * (1 + (body.len() / BYTES) as u64);
    i32::try_from(all).map_or(FOR_LONG, |all| all.min(FOR_LONG))
}

impl Tiers {
    /// For functions with these bodies, to be optimised after so many turns each [`BYTES`], and
    /// after that by LLVM where it is to be had.
    pub fn new(
        bodies: &[Range<usize>],
        turns: u32,
        with_llvm: bool,
        budget: impl Fn() -> ModuleBudget,
    ) -> Tiers {
        let countdowns = || {
            let all = bodies.iter().map(|body| turns_of(body, turns));
            all.map(AtomicI32::new).collect()
        };
        Tiers {
            turns,
            countdowns: countdowns(),
            counted: countdowns(),
            whole: bodies.iter().map(|_| OnceLock::new()).collect(),
            loops: Mutex::default(),
            requested: Mutex::default(),
            threads: Ahead::default(),
            budget: budget(),
            llvm: with_llvm.then(|| LlvmTier::new(bodies.len(), budget(), turns == 0)),
        }
    }

    pub fn countdowns(&self) -> &[AtomicI32] {
        &self.countdowns
    }

    /// The optimised code of a function, where it is there.
    fn optimised(&self, position: usize) -> Option<&Function> {
        self.whole[position].get()?.as_ref().ok()
    }

    /// Code of a function than which there will be no better.
    pub(super) fn last(&self, position: usize) -> Option<&Function> {
        match &self.llvm {
            Some(tier) => tier.function(position),
            None => self.optimised(position),
        }
    }

    fn requested(&self) -> MutexGuard<'_, Requested> {
        self.requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request: the smallest.
    fn take(&self) -> Option<usize> {
        let (_, request) = self.requested().waiting.pop_first()?;
        Some(request)
    }

    fn count_from(&self, position: usize, turns: i32) {
        self.counted[position].store(turns, Ordering::Relaxed);
        self.countdowns[position].store(turns, Ordering::Relaxed);
    }

    /// Whether a loop has run for long enough by now, when it asks.
    fn is_worth(&self, position: usize, place: u32, turns: i32) -> bool {
        let counted = self.counted[position].load(Ordering::Relaxed);
        let mut requested = self.requested();
        let seen = requested.seen.entry(request(position, place)).or_default();
        *seen += i64::from(counted);
        *seen >= i64::from(turns) * LOOP_TURNS
    }

    /// Code that begins at a loop: its address, 0 where it failed, nothing where it is not there.
    fn entered_at(&self, position: usize, place: u32) -> Option<usize> {
        let last = self.llvm.as_ref();
        let last = last.and_then(|tier| tier.entered_at(position, place));
        let loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let code = || {
            Some(
                loops
                    .get(&(position, place))?
                    .as_ref()
                    .map_or(0, Function::address),
            )
        };
        last.filter(|address| *address != 0).or_else(code)
    }
}

impl Lazy {
    /// What a function that has run for long goes on with; 0 as before.
    pub(crate) fn tier_up(&self, module: &Module, func: u32, place: u32) -> usize {
        let Some(tiers) = &self.tiers else { return 0 };
        let position = (func - module.info().imported_funcs) as usize;
        if !tiers.threads.is_here() {
            tiers.count_from(position, FOR_LONG);
            return 0;
        }
        if place != FUNCTION_START && place & IS_OPTIMISED != 0 {
            return self.leave_optimised(module, tiers, position, place & !IS_OPTIMISED);
        }
        let is_there = tiers.optimised(position).is_some();
        let turns = turns_of(&module.info().bodies[position], tiers.turns);
        match tiers.entered_at(position, place) {
            Some(0) => tiers.count_from(position, FOR_LONG),
            Some(address) => {
                // The next loop head of the same function is to ask at once.
                tiers.count_from(position, 0);
                return address;
            }
            None if place == FUNCTION_START && is_there => tiers.count_from(position, turns),
            // What counted down was another loop of the function.
            None if place != FUNCTION_START && !tiers.is_worth(position, place, turns) => {
                tiers.count_from(position, (turns / PARTS).max(AGAIN));
            }
            None => {
                tiers.count_from(position, turns.max(AGAIN));
                self.request(module, tiers, request(position, place));
                if tiers.turns == 0 {
                    tiers.count_from(position, 0);
                    return tiers.entered_at(position, place).unwrap_or(0);
                }
            }
        }
        0
    }

    /// What optimised code goes on with at the head of a loop; 0 as before.
    fn leave_optimised(
        &self,
        module: &Module,
        tiers: &Tiers,
        position: usize,
        place: u32,
    ) -> usize {
        let Some(tier) = &tiers.llvm else {
            return 0;
        };
        let turns = turns_of(&module.info().bodies[position], tiers.turns);
        tiers.count_from(position, turns.max(AGAIN));
        if tier.entered_at(position, place).is_none() {
            self.go_on(module, tier, request(position, place));
        }
        match tier.entered_at(position, place) {
            Some(0) => tiers.count_from(position, FOR_LONG),
            Some(address) => return address,
            None => {}
        }
        0
    }

    pub(crate) fn optimised_functions(&self) -> usize {
        let whole = self.tiers.iter().flat_map(|tiers| &tiers.whole);
        whole.filter(|one| matches!(one.get(), Some(Ok(_)))).count()
    }

    pub(crate) fn entered_loops(&self) -> usize {
        let count = |tiers: &Tiers| {
            let loops = tiers.loops.lock().unwrap_or_else(PoisonError::into_inner);
            loops.values().flatten().count()
        };
        self.tiers.as_ref().map_or(0, count)
    }

    /// Have a function optimised by a thread, or here where there is none or that was asked for.
    fn request(&self, module: &Module, tiers: &Tiers, request: usize) {
        let mut requested = tiers.requested();
        if !requested.all.insert(request) {
            return;
        }
        if tiers.turns == 0 {
            drop(requested);
            return self.optimise(module, request);
        }
        let bytes = module.info().bodies[request >> 32].len();
        requested.waiting.insert((bytes, request));
        drop(requested);
        let is_pushed = tiers.threads.push(std::iter::once(request), || {
            let module = module.downgrade();
            move |_| module.upgrade()?.optimise_next()
        });
        if !is_pushed && let Some(request) = tiers.take() {
            self.optimise(module, request);
        }
    }

    /// Optimise a function, whole or from the head of a loop on. Who calls it again after that asks
    /// for all of it then.
    fn optimise(&self, module: &Module, request: usize) {
        let Some(tiers) = &self.tiers else { return };
        let (position, place) = (request >> 32, request as u32);
        if place != FUNCTION_START {
            let made = self.compile_optimised(tiers, module, position, Some(place));
            let mut loops = tiers.loops.lock().unwrap_or_else(PoisonError::into_inner);
            loops.insert((position, place), made.ok());
            tiers.count_from(position, 0);
            return;
        }
        let whole = tiers.whole[position].get_or_init(|| {
            let made = self.compile_optimised(tiers, module, position, None);
            made.map_err(|error| error.to_string())
        });
        if let Ok(function) = whole {
            let word = module.code().word(position);
            word.store(function.address(), Ordering::Release);
            if let Some(tier) = &tiers.llvm {
                self.go_on(module, tier, request);
            }
        }
    }

    pub(super) fn llvm_tier(&self) -> Option<&LlvmTier> {
        self.tiers.as_ref()?.llvm.as_ref()
    }

    /// Compiles a function by Cranelift, from the head of a loop on or whole.
    fn compile_optimised(
        &self,
        tiers: &Tiers,
        module: &Module,
        position: usize,
        entered_at: Option<u32>,
    ) -> Result<Function> {
        let engine = module.engine();
        let around = self.around(module.info(), module.layout(), module.wasm());
        let env = module_env(engine, &around);
        let env = ModuleEnv {
            direct: false,
            budget: &tiers.budget,
            entered_at,
            is_left: entered_at.is_some() && tiers.llvm.is_some(),
            ..env
        };
        with_stack(STACK_BYTES, || self.compile_in(&env, module, position))
    }
}

impl Module {
    /// How many of its functions were optimised while they ran ([`Codegen::Tiered`]).
    ///
    /// [`Codegen::Tiered`]: crate::Codegen::Tiered
    pub fn optimised_functions(&self) -> usize {
        self.lazy().map_or(0, Lazy::optimised_functions)
    }

    /// How many loops have gone on in optimised code.
    pub fn entered_loops(&self) -> usize {
        self.lazy().map_or(0, Lazy::entered_loops)
    }

    /// Code that goes on where a function has run for long; 0 where there is none yet.
    pub(crate) fn tier_up(&self, func: u32, place: u32) -> usize {
        self.lazy()
            .map_or(0, |lazy| lazy.tier_up(self, func, place))
    }

    /// Optimise what was asked for and is the smallest; nothing where the module has no tiers.
    fn optimise_next(&self) -> Option<Vec<usize>> {
        let lazy = self.lazy()?;
        if let Some(request) = lazy.tiers.as_ref()?.take() {
            lazy.optimise(self, request);
        }
        Some(Vec::new())
    }
}
