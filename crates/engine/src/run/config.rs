//! How an engine is configured.

use std::path::PathBuf;

use crate::bounds::{BoundsChoice, DEFAULT_PAGES_64, MAX_PAGES_64, WASM_PAGE_BYTES};
use crate::compile::{Codegen, Compilation, CompileBudget, Cpu, Elide, Opt};
use crate::facts::features::Features;
use crate::facts::quota::Quota;
use crate::run::heap::Collector;

/// Bytes of stack that Wasm may use in one activation unless configured.
const DEFAULT_WASM_STACK_BYTES: usize = 1 << 20;

/// Bytes of a continuation's stack unless configured: a page.
const DEFAULT_CONTINUATION_STACK_BYTES: usize = 4 << 10;

/// Bytes of compiled modules that a folder holds unless configured.
const DEFAULT_CACHE_BYTES: u64 = 1 << 30;
/// Bytes that are allocated between two collections, at least.
const DEFAULT_COLLECTION_BYTES: u64 = 4 << 20;
/// What a collection looks at before the program goes on, at least.
const DEFAULT_COLLECTION_STEP: u64 = 256 << 10;

/// Calls and turns of loops after which a function of 512 bytes is optimised, unless configured.
const TIER_UP: u32 = 30_000;

/// The configuration of an [`crate::Engine`].
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) bounds: BoundsChoice,
    pub(crate) bounds64: Option<BoundsChoice>,
    undeclared_pages_64: Option<u64>,
    #[cfg(thesis_formula)]
    pub(crate) thesis_formula: bool,
    pub(crate) codegen: Codegen,
    pub(crate) tier_up: u32,
    pub(crate) clang: Option<PathBuf>,
    pub(crate) cpu: Cpu,
    pub(crate) opt: Opt,
    pub(crate) elide: Elide,
    pub(crate) inline: bool,
    pub(crate) compilation: Compilation,
    pub(crate) spectre: bool,
    pub(crate) allow_unchecked: bool,
    pub(crate) layout_seed: Option<u64>,
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) cache_bytes_max: u64,
    pub(crate) max_wasm_stack: usize,
    pub(crate) features: Features,
    pub(crate) count: bool,
    pub(crate) compile_budget: CompileBudget,
    pub(crate) quota: Quota,
    pub(crate) consume_fuel: bool,
    pub(crate) initial_fuel: u64,
    pub(crate) continuation_stack: usize,
    pub(crate) collector: Collector,
    pub(crate) collection_bytes: u64,
    pub(crate) collection_step: u64,
    pub(crate) profiler: ProfilingStrategy,
    pub(crate) end_threads: bool,
    pub(crate) huge_pages: bool,
}

/// Who is told which machine code is which function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfilingStrategy {
    /// Nobody.
    #[default]
    None,
    /// perf(1), by lines in `/tmp/perf-PID.map`.
    PerfMap,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            bounds: BoundsChoice::Auto,
            bounds64: None,
            undeclared_pages_64: None,
            #[cfg(thesis_formula)]
            thesis_formula: false,
            codegen: Codegen::Cranelift,
            tier_up: TIER_UP,
            clang: None,
            cpu: Cpu::Native,
            opt: Opt::Speed,
            elide: Elide::Loops,
            inline: true,
            compilation: Compilation::Eager,
            spectre: true,
            allow_unchecked: false,
            layout_seed: None,
            cache_dir: None,
            cache_bytes_max: DEFAULT_CACHE_BYTES,
            max_wasm_stack: DEFAULT_WASM_STACK_BYTES,
            features: Features::all(),
            count: false,
            compile_budget: CompileBudget::default(),
            quota: Quota::default(),
            consume_fuel: false,
            initial_fuel: 0,
            profiler: ProfilingStrategy::None,
            end_threads: false,
            huge_pages: false,
            continuation_stack: DEFAULT_CONTINUATION_STACK_BYTES,
            collector: Collector::default(),
            collection_bytes: DEFAULT_COLLECTION_BYTES,
            collection_step: DEFAULT_COLLECTION_STEP,
        }
    }
}

impl Config {
    /// The defaults: `auto`, optimising, no cache.
    pub fn new() -> Config {
        Config::default()
    }

    /// Which strategy keeps accesses inside their memory.
    pub fn bounds(mut self, bounds: BoundsChoice) -> Config {
        self.bounds = bounds;
        self
    }

    /// Which strategy keeps accesses to 64-bit memories inside them, where it
    /// is to be another one than [`Config::bounds`] says.
    pub fn bounds64(mut self, bounds: BoundsChoice) -> Config {
        self.bounds64 = Some(bounds);
        self
    }

    /// How far a 64-bit memory that declares no maximum can grow, in bytes,
    /// rounded up to a page. Unless it is said here, to what [`Config::quota`] has for
    /// memories, 4 GiB by default and 64 GiB at most: checks cost least up to 4 GiB. As much
    /// address space is set aside for each, under some strategies more.
    pub fn memory64_growth_limit(mut self, bytes: u64) -> Config {
        self.undeclared_pages_64 = Some(bytes.div_ceil(WASM_PAGE_BYTES).min(MAX_PAGES_64));
        self
    }

    /// The same in pages.
    pub(crate) fn undeclared_pages_64(&self) -> u64 {
        let may_have = self.quota.memory_bytes.div_ceil(WASM_PAGE_BYTES);
        self.undeclared_pages_64
            .unwrap_or(DEFAULT_PAGES_64.min(may_have))
    }

    /// Check accesses wrongly, under a strategy with a shadow in front: for tests
    /// that must find it out.
    #[cfg(thesis_formula)]
    pub fn thesis_formula(mut self, wrong: bool) -> Config {
        self.thesis_formula = wrong;
        self
    }

    /// The choice for memories of an index type.
    pub(crate) fn choice(&self, memory64: bool) -> BoundsChoice {
        match (memory64, self.bounds64) {
            (true, Some(choice)) => choice,
            _ => self.bounds,
        }
    }

    /// What makes machine code. [`Codegen::Llvm`] needs clang when the engine is made and
    /// when it compiles, [`Codegen::Direct`] an x86-64 processor; see `docs/CODEGEN.md` for what
    /// they take and what they leave to Cranelift ([`crate::Module::fallbacks`]).
    pub fn codegen(mut self, codegen: Codegen) -> Config {
        self.codegen = codegen;
        self
    }

    /// After how many calls and turns of loops [`Codegen::Tiered`] optimises a function, for each
    /// 512 bytes that it has: on another thread, 0 at once and on this one.
    pub fn tier_up(mut self, turns: u32) -> Config {
        self.tier_up = turns;
        self
    }

    /// How structures and arrays that nothing refers to are found.
    pub fn collector(mut self, collector: Collector) -> Config {
        self.collector = collector;
        self
    }

    /// Bytes that programs allocate between two collections, at least; as many as are live
    /// where that is more. 0 for a collection at every allocation, which is slow, and shows
    /// what a collection would miss.
    pub fn collection_bytes(mut self, bytes: u64) -> Config {
        self.collection_bytes = bytes;
        self
    }

    /// How much a collection looks at before the program goes on, at least: about the bytes of
    /// the objects, 256 KiB by default, which takes 0.1 to 0.5 ms. More for fewer and longer
    /// pauses; [`u64::MAX`] for collections in one go.
    pub fn collection_step(mut self, bytes: u64) -> Config {
        self.collection_step = bytes;
        self
    }

    /// Where clang is, or zig, which has one; looked for unless it is said here: at what
    /// `FATHOM_CLANG` names, then in `PATH`.
    pub fn clang(mut self, clang: Option<PathBuf>) -> Config {
        self.clang = clang;
        self
    }

    /// Which processors the machine code is for: this one unless [`Cpu::Baseline`] asks for
    /// code that others run as well. It is the same for all code generators.
    pub fn cpu(mut self, cpu: Cpu) -> Config {
        self.cpu = cpu;
        self
    }

    /// How much the code generator tries.
    pub fn opt(mut self, opt: Opt) -> Config {
        self.opt = opt;
        self
    }

    /// Which checks are left out where something makes them superfluous.
    pub fn elide(mut self, elide: Elide) -> Config {
        self.elide = elide;
        self
    }

    /// When functions are compiled; before any runs unless it is said here. What
    /// [`Engine::compilation`] says is in force may be another: with a cache, with
    /// [`Codegen::Llvm`], under protection keys and on other processors than x86-64 all are
    /// compiled first.
    ///
    /// [`Engine::compilation`]: crate::Engine::compilation
    pub fn compilation(mut self, compilation: Compilation) -> Config {
        self.compilation = compilation;
        self
    }

    /// Translate small functions in the place of their calls; the default. At
    /// [`Opt::None`] it has no effect.
    pub fn inline(mut self, inline: bool) -> Config {
        self.inline = inline;
        self
    }

    /// Guard against speculation (Spectre, variant 1) what checks let through: accesses
    /// to memories and tables, indirect calls, values of exceptions; the default. What
    /// the guards are and what they leave open is said in `docs/STRATEGIES.md`.
    pub fn spectre(mut self, guards: bool) -> Config {
        self.spectre = guards;
        self
    }

    /// Allow strategies without any guarantee, which are refused otherwise.
    ///
    /// Only for modules that are trusted as much as the host itself: they can
    /// read and write what a memory's reservation holds beyond its length.
    pub fn allow_unchecked(mut self, allow: bool) -> Config {
        self.allow_unchecked = allow;
        self
    }

    /// Vary the order and the placement of functions in memory by a seed, so
    /// that a measurement does not depend on one layout.
    pub fn layout_seed(mut self, seed: Option<u64>) -> Config {
        self.layout_seed = seed;
        self
    }

    /// Keep compiled modules in this folder.
    ///
    /// What is found there is executed. So a folder, or an entry in it, that belongs
    /// to another user than this one or root is not used, nor one that others may
    /// write to; [`crate::Module::cache_trouble`] says so. What this user writes is
    /// checked against damage, not against forgery. Each build of the host program
    /// has entries of its own. A folder that does not exist is made for this user
    /// alone.
    pub fn cache_dir(mut self, dir: Option<PathBuf>) -> Config {
        self.cache_dir = dir;
        self
    }

    /// Bytes that the folder may hold, 1 GiB unless it is said here: the entries
    /// that were not used for longest are removed when one is written. An entry has
    /// 256 MiB at most.
    pub fn cache_bytes_max(mut self, bytes: u64) -> Config {
        self.cache_bytes_max = bytes;
        self
    }

    /// What modules may use of WebAssembly; the others are refused.
    pub fn features(mut self, features: Features) -> Config {
        self.features = features;
        self
    }

    /// Count what programs do: see [`crate::Counts`]. Code that counts is several
    /// times slower and does the same.
    pub fn count(mut self, count: bool) -> Config {
        self.count = count;
        self
    }

    /// What each store may have, unless it is made with an allowance that it shares
    /// ([`crate::Store::within`]). There is a quota always: see [`Quota`].
    pub fn quota(mut self, quota: Quota) -> Config {
        self.quota = quota;
        self
    }

    /// Let code consume fuel, and end it by the trap "all fuel consumed" when there is
    /// none left; see [`crate::Store::set_fuel`]. The same fuel is the same place, under
    /// every strategy and at every level. Code is slower by what that costs; an
    /// [`crate::Interrupt`] ends a program after a time and costs nothing.
    pub fn consume_fuel(mut self, consume: bool) -> Config {
        self.consume_fuel = consume;
        self
    }

    /// The fuel that a store begins with, and a lease of a pool; 0 unless it is said.
    pub fn initial_fuel(mut self, fuel: u64) -> Config {
        self.initial_fuel = fuel;
        self
    }

    /// Tell a profiler the names of functions. What modules leave there stays when they
    /// are dropped: a profile is of one process, looked at later.
    pub fn profiler(mut self, profiler: ProfilingStrategy) -> Config {
        self.profiler = profiler;
        self
    }

    /// End the threads that compile when a module is compiled; by default they wait for
    /// the next one, of any engine of the process. For a process that compiles once: in one
    /// with a second thread each system call on a descriptor is some 90 ns longer, because
    /// the kernel then counts who uses the file.
    pub fn end_threads(mut self, end: bool) -> Config {
        self.end_threads = end;
        self
    }

    /// Have linear memories on huge pages (madvise(2), `MADV_HUGEPAGE`), where the host has them
    /// on request: a large memory takes fewer page faults, and fewer places in the processor's
    /// tables of pages. A page of 2 MiB is resident as soon as a byte of it is touched, so that an
    /// instance may take up to as much more; a memory of less than 2 MiB has none. Those of
    /// `uffd`, whose pages come one by one, have none either. Off by default.
    pub fn huge_pages(mut self, huge: bool) -> Config {
        self.huge_pages = huge;
        self
    }

    /// How much work compiling a module may be. A function that takes more is not
    /// optimised ([`crate::Module::over_budget`]); a module that takes far more is
    /// refused. The same module has the same code under the same budget, on every
    /// machine with the same processor.
    pub fn compile_budget(mut self, budget: CompileBudget) -> Config {
        self.compile_budget = budget;
        self
    }

    /// Bytes of the stack of a continuation, 4 KiB unless it is said here; rounded up to
    /// a page. One that needs more goes on in segments of 64 KiB, as far as
    /// [`Config::max_wasm_stack`] says; a call that goes to and fro over the end of the stack
    /// costs a signal each time. What a stack does not use of it takes no memory, but for its
    /// first page.
    pub fn continuation_stack(mut self, bytes: usize) -> Config {
        self.continuation_stack = bytes;
        self
    }

    /// Bytes of stack that Wasm may use between an entry from the host and its
    /// return; less where the thread's stack has less.
    pub fn max_wasm_stack(mut self, bytes: usize) -> Config {
        self.max_wasm_stack = bytes;
        self
    }
}
