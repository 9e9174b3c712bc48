//! Modules as an embedder holds them: decoded, compiled or taken from the cache,
//! ready to be instantiated.

mod cache;
mod disassembly;
mod serial;

use std::path::Path;
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, OnceLock, Weak};

use crate::bounds::MemoryPlan;
use crate::compile::argument_passing::Passing;
use crate::compile::translate::{Inlinable, InlinableFuncs, ModuleEnv};
use crate::compile::{
    self, Artifact, CheckSites, CodeRange, Compilation, Fallback, ModuleBudget, Opt, OverBudget,
};
use crate::facts::error::{Error, ErrorKind, Refused, Result};
use crate::facts::features::{Feature, Features};
use crate::facts::module::{Body, EntityIndex, ModuleInfo, Skeleton, decode};
use crate::facts::types::{ExternType, FuncType};
use crate::facts::vmctx::VmLayout;
use crate::run::code::CodeMemory;
use crate::run::config::ProfilingStrategy;
use crate::run::engine::{Engine, Trampolines};
use crate::run::image::Images;
use crate::run::lazy::{self, Lazy, Tiers};
use crate::run::link::wanted_type;
use crate::run::perf_map;

/// A compiled module. Cheap to clone; clones are the same module.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

/// A module that may be gone.
pub(crate) struct WeakModule(Weak<Inner>);

impl WeakModule {
    /// The module, if it is not.
    pub(crate) fn upgrade(&self) -> Option<Module> {
        self.0.upgrade().map(Module)
    }
}

struct Inner {
    engine: Engine,
    info: Arc<ModuleInfo>,
    layout: VmLayout,
    code: CodeMemory,
    /// Where functions are compiled when they are called; the code has stubs of them.
    lazy: Option<Lazy>,
    /// Its declarations, and the bytes of the data segments; all of it where functions are
    /// compiled when they are called.
    kept: Skeleton,
    /// What its memories hold at first; made for the first instance.
    images: OnceLock<Images>,
    /// Of its own functions that escape, in order; made for the first instance.
    references: OnceLock<Box<[Reference]>>,
    origin: Origin,
}

/// What the reference to a function of the module's own says in each instance.
pub(crate) struct Reference {
    /// Offset of its code.
    pub code: u32,
    /// Offset of its type's entry trampoline.
    pub entry: u32,
    /// Engine-wide id of its type.
    pub type_id: u32,
    /// As many as it has parameters or results.
    pub slots: u32,
}

/// Where a module's code comes from.
enum Origin {
    /// It was compiled just now; where the cache was in trouble, why.
    Compiled(Option<String>),
    /// The folder of compiled modules had it.
    Cache,
    /// Somebody has kept it.
    Serialized,
}

impl Module {
    /// Validate and compile a module in the binary format.
    ///
    /// # Errors
    /// A module that is malformed, invalid or uses what is not supported, with
    /// the offset; a host without room for its code.
    pub fn new(engine: &Engine, wasm: impl AsRef<[u8]>) -> Result<Module> {
        Module::load(engine, wasm.as_ref()).map_err(|error| engine.explain(error))
    }

    /// The same, of a file.
    ///
    /// # Errors
    /// As [`Module::new`]; a file that cannot be read.
    pub fn from_file(engine: &Engine, path: impl AsRef<Path>) -> Result<Module> {
        Module::new(engine, read(path.as_ref())?)
    }

    fn load(engine: &Engine, wasm: &[u8]) -> Result<Module> {
        let features = engine.config().features;
        Module::build(engine, wasm).map_err(|error| missing_feature(error, wasm, features))
    }

    fn build(engine: &Engine, wasm: &[u8]) -> Result<Module> {
        let features = engine.config().features;
        let mut key = cache::Key::new(engine, wasm);
        if let Some(artifact) = key.as_mut().and_then(cache::Key::load) {
            let (info, _) = decode(wasm, features)?;
            let origin = Origin::Cache;
            return Module::publish(engine, Skeleton::of(wasm), info, artifact, None, origin);
        }
        let (info, bodies) = decode(wasm, features)?;
        let end = engine.config().end_threads;
        if engine.compilation() == Compilation::Lazy {
            let begun = compile::by_threads(end, || begin(engine, &info, &bodies, wasm))??;
            if let Some((artifact, lazy)) = begun {
                let kept = Skeleton::whole(wasm);
                let origin = Origin::Compiled(None);
                return Module::publish(engine, kept, info, artifact, Some(lazy), origin);
            }
        }
        let artifact = compile::by_threads(end, || compile(engine, &info, bodies, wasm))??;
        if let Some(key) = &mut key {
            key.store(&artifact);
        }
        let trouble = key.and_then(cache::Key::into_trouble);
        let origin = Origin::Compiled(trouble);
        Module::publish(engine, Skeleton::of(wasm), info, artifact, None, origin)
    }

    /// Check that a module is valid and uses only what is supported and is in
    /// `features`, without compiling it.
    ///
    /// # Errors
    /// As [`Module::new`].
    pub fn validate(wasm: &[u8], features: Features) -> Result<()> {
        let (_, bodies) = decode(wasm, features)?;
        let mut allocations = wasmparser::FuncValidatorAllocations::default();
        for (to_validate, body) in bodies {
            let mut validator = to_validate.into_validator(allocations);
            validator.validate(&body).map_err(Refused::from)?;
            allocations = validator.into_allocations();
        }
        Ok(())
    }

    /// What a module that may use `features` declares, without compiling it; its
    /// bodies are not looked at.
    ///
    /// # Errors
    /// As [`Module::new`].
    pub fn declarations(wasm: &[u8], features: Features) -> Result<ModuleInfo> {
        decode(wasm, features)
            .map(|(info, _)| info)
            .map_err(|error| missing_feature(error, wasm, features))
    }

    fn publish(
        engine: &Engine,
        kept: Skeleton,
        info: ModuleInfo,
        mut artifact: Artifact,
        lazy: Option<Lazy>,
        origin: Origin,
    ) -> Result<Module> {
        let info = Arc::new(info);
        if lazy.is_some() {
            lazy::add_stubs(&mut artifact, &info);
        }
        let code = CodeMemory::publish(
            artifact,
            engine.domain(),
            info.imported_funcs,
            Arc::downgrade(&info),
            lazy.as_ref().map_or(0, Lazy::words),
        )?;
        match &lazy {
            Some(lazy) => lazy.begin(&code),
            None if engine.config().profiler == ProfilingStrategy::PerfMap => {
                let base = code.address(0) as usize;
                perf_map::append(code.tables(), base, &info, info.imported_funcs)?;
            }
            None => {}
        }
        Ok(Module(Arc::new(Inner {
            engine: engine.clone(),
            layout: VmLayout::new(&info),
            code,
            lazy,
            kept,
            images: OnceLock::new(),
            references: OnceLock::new(),
            origin,
            info,
        })))
    }

    /// The engine it was compiled by.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Its name in the name section.
    pub fn name(&self) -> Option<&str> {
        self.0.info.name.as_deref()
    }

    /// What it imports, in order: two names and a type.
    pub fn imports(&self) -> impl Iterator<Item = (&str, &str, ExternType)> {
        let info = &self.0.info;
        info.imports.iter().map(|i| {
            (
                i.module.as_str(),
                i.name.as_str(),
                wanted_type(self, &i.kind),
            )
        })
    }

    /// What it exports, in order: a name and a type.
    pub fn exports(&self) -> impl Iterator<Item = (&str, ExternType)> {
        let info = &self.0.info;
        info.exports.iter().map(|(name, index)| {
            let ty = match *index {
                EntityIndex::Func(i) => ExternType::Func(info.func_type(i).clone()),
                EntityIndex::Table(i) => ExternType::Table(info.tables[i as usize]),
                EntityIndex::Memory(i) => ExternType::Memory(info.memories[i as usize]),
                EntityIndex::Global(i) => ExternType::Global(info.globals[i as usize]),
                EntityIndex::Tag(i) => ExternType::Tag(info.tag_type(i)),
            };
            (name.as_str(), ty)
        })
    }

    /// The type of an exported function.
    pub fn exported_func(&self, name: &str) -> Option<FuncType> {
        match self.export(name)? {
            EntityIndex::Func(i) => Some(self.0.info.func_type(i).clone()),
            _ => None,
        }
    }

    /// Bytes of machine code, trampolines and alignment included. Where functions are compiled
    /// lazily, this, [`Module::code_places`], [`Module::check_sites`],
    /// [`Module::over_budget`] and [`Module::fallbacks`] are about those that were compiled so
    /// far.
    pub fn code_bytes(&self) -> usize {
        self.0.code.len() + self.0.lazy.as_ref().map_or(0, Lazy::code_bytes)
    }

    /// Where the machine code of its own functions is, as long as it lives: number, address
    /// and bytes of each. For profilers and debuggers.
    pub fn code_places(&self) -> impl Iterator<Item = (u32, usize, usize)> {
        let code = &self.0.code;
        let eager = match &self.0.lazy {
            None => &code.tables().functions[..],
            Some(_) => &[],
        };
        let first = self.0.info.imported_funcs;
        let eager = (first..).zip(eager).map(|(func, range)| {
            let address = code.address(range.offset) as usize;
            (func, address, range.len as usize)
        });
        let lazy = self.0.lazy.iter().flat_map(Lazy::places);
        eager.chain(lazy.map(move |(position, address, bytes)| (first + position, address, bytes)))
    }

    /// How many of its own functions there are, and how many have machine code.
    pub fn compiled_functions(&self) -> (usize, usize) {
        (self.0.info.bodies.len(), self.code_places().count())
    }

    /// The checks of accesses in its code; none are counted unless the engine
    /// counts.
    pub fn check_sites(&self) -> CheckSites {
        let lazy = self.0.lazy.as_ref();
        lazy.map_or(self.0.code.tables().checks, Lazy::checks)
    }

    /// Its functions that are not optimised, for it would take more than the
    /// engine's [`crate::CompileBudget`] allows: they are compiled as at
    /// [`Opt::None`], with their locals in memory.
    pub fn over_budget(&self) -> Vec<OverBudget> {
        match &self.0.lazy {
            Some(lazy) => lazy.over_budget(),
            None => self.0.code.tables().over_budget.clone(),
        }
    }

    /// Its functions that Cranelift compiled, and why, where another code generator was asked
    /// for ([`crate::Config::codegen`]).
    pub fn fallbacks(&self) -> Vec<Fallback> {
        match &self.0.lazy {
            Some(lazy) => lazy.fallbacks(),
            None => self.0.code.tables().fallbacks.clone(),
        }
    }

    /// Whether its code came from the cache.
    pub fn from_cache(&self) -> bool {
        matches!(self.0.origin, Origin::Cache)
    }

    /// What kept the cache from having it or from keeping it, in one line: a folder
    /// or an entry of another user, one that others may write to, a full disk.
    pub fn cache_trouble(&self) -> Option<&str> {
        match &self.0.origin {
            Origin::Compiled(trouble) => trouble.as_deref(),
            Origin::Cache | Origin::Serialized => None,
        }
    }

    /// What it declares.
    pub fn info(&self) -> &ModuleInfo {
        &self.0.info
    }

    pub(crate) fn layout(&self) -> &VmLayout {
        &self.0.layout
    }

    pub(crate) fn export(&self, name: &str) -> Option<EntityIndex> {
        self.0.info.export(name)
    }

    /// References to its own functions that escape, in the order of their indices.
    pub(crate) fn references(&self) -> &[Reference] {
        let info = &self.0.info;
        let reference = |func: &u32| {
            let ty = info.funcs[*func as usize] as usize;
            let tables = self.0.code.tables();
            let entry = tables.entries[ty].expect("compiled for every escaping type");
            Reference {
                code: tables.functions[(func - info.imported_funcs) as usize].offset,
                entry: entry.offset,
                type_id: info.type_numbers[ty],
                slots: info.types[ty].slots(),
            }
        };
        let own = || {
            info.escaping
                .iter()
                .filter(|func| **func >= info.imported_funcs)
        };
        self.0
            .references
            .get_or_init(|| own().map(reference).collect())
    }

    /// Its machine code.
    pub(crate) fn code(&self) -> &CodeMemory {
        &self.0.code
    }

    /// What has its functions compiled when they are called, where that is so.
    pub(crate) fn lazy(&self) -> Option<&Lazy> {
        self.0.lazy.as_ref()
    }

    /// Have each of its functions called for the first time again.
    #[cfg(test)]
    pub(crate) fn forget_first_calls(&self) {
        if let Some(lazy) = &self.0.lazy {
            lazy.begin(self.code());
        }
    }

    /// The same module as long as somebody else has it.
    pub(crate) fn downgrade(&self) -> WeakModule {
        WeakModule(Arc::downgrade(&self.0))
    }

    /// All of it in the binary format, where functions are compiled when they are called.
    pub(crate) fn wasm(&self) -> &[u8] {
        &self.0.kept.bytes
    }

    /// What its code keeps of its declarations.
    pub(crate) fn weak_info(&self) -> Weak<ModuleInfo> {
        Arc::downgrade(&self.0.info)
    }

    /// The trampolines for functions of the host's of a type that it imports one as.
    pub(crate) fn host_trampolines(&self, ty: u32) -> Arc<Trampolines> {
        let of = |all: &[Option<CodeRange>]| all[ty as usize].map(|range| range.offset);
        let tables = self.0.code.tables();
        let both = of(&tables.entries).zip(of(&tables.exits));
        let (entry, exit) = both.expect("compiled for every imported type");
        Arc::new(Trampolines::of_module(self, entry, exit))
    }

    /// What the memories of its instances hold at first.
    pub(crate) fn images(&self) -> &Images {
        let domain = self.0.engine.domain();
        let bytes = |segment| self.data_bytes(segment);
        let make = || Images::new(&self.0.info, domain, bytes);
        self.0.images.get_or_init(make)
    }

    /// Make what all its instances share, which the first one would make otherwise.
    pub(crate) fn make_shared(&self) {
        self.images();
        self.references();
    }

    /// Whether both are the same module.
    pub(crate) fn same(&self, other: &Module) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The bytes of a data segment.
    pub(crate) fn data_bytes(&self, segment: u32) -> &[u8] {
        let (range, kept) = (&self.0.info.data[segment as usize].bytes, &self.0.kept);
        &kept.bytes[range.start - kept.data_shift..range.end - kept.data_shift]
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let what = || format!("cannot read {}", path.display());
    std::fs::read(path).map_err(|error| Error::resource(what(), error))
}

/// The error, or the feature that is turned off and would mend it: the one with
/// which validation gets further.
fn missing_feature(error: Error, wasm: &[u8], features: Features) -> Error {
    let Some(offset) = error.offset() else {
        return error;
    };
    let gets_further = |feature: &Feature| match Module::validate(wasm, features.with(*feature)) {
        Ok(()) => true,
        Err(other) => other.offset().is_none_or(|further| further > offset),
    };
    let mut off = Feature::ALL
        .into_iter()
        .filter(|feature| !features.contains(*feature));
    match off.find(gets_further) {
        Some(feature) => {
            let message = feature.turned_off();
            ErrorKind::Unsupported { message, offset }.into()
        }
        None => error,
    }
}

/// The plan of each memory, imported ones first.
fn plans(engine: &Engine, info: &ModuleInfo) -> Result<Vec<MemoryPlan>> {
    info.memories
        .iter()
        .enumerate()
        .map(|(index, ty)| {
            let plan = engine.plan(ty, &format!("memory {index}: "))?;
            Ok(plan.imported(index < info.imported_memories as usize))
        })
        .collect()
}

/// What is translated in the place of calls.
fn inlinable(engine: &Engine, info: &ModuleInfo, bodies: &[Body<'_>]) -> InlinableFuncs {
    let config = engine.config();
    match config.inline && config.opt != Opt::None {
        true => InlinableFuncs::choose(info, bodies),
        false => InlinableFuncs::none(),
    }
}

/// What compiling it may take.
fn budget(engine: &Engine, bodies: &[Body<'_>]) -> ModuleBudget {
    let bytes = |(_, body): &Body<'_>| body.range().end - body.range().start;
    let bytes = bodies.iter().map(bytes).sum();
    ModuleBudget::new(engine.config().compile_budget, bytes)
}

/// What a body is compiled with, beside what the engine says.
pub(crate) struct Around<'a> {
    pub info: &'a ModuleInfo,
    pub layout: &'a VmLayout,
    pub plans: &'a [MemoryPlan],
    pub inlinable: &'a InlinableFuncs,
    pub budget: &'a ModuleBudget,
    /// What functions count down until they are to be optimised.
    pub countdowns: Option<&'a [AtomicI32]>,
    /// The module in the binary format.
    pub wasm: &'a [u8],
}

/// What bodies of a module are compiled with.
pub(crate) fn module_env<'a>(engine: &'a Engine, around: &Around<'a>) -> ModuleEnv<'a> {
    let config = engine.config();
    ModuleEnv {
        inlinable: Inlinable {
            funcs: around.inlinable,
            wasm: around.wasm,
        },
        info: around.info,
        layout: around.layout,
        plans: around.plans,
        isa: engine.target().isa(),
        elide: config.elide,
        spectre: config.spectre,
        passing: Passing::of(config.codegen),
        count: config.count,
        fuel: config.consume_fuel,
        budget: around.budget,
        plain_isa: engine.plain_target().isa(),
        unplaced: [engine.target(), engine.plain_target()].map(|target| target.unplaced()),
        plain: false,
        direct: engine.makes_in_one_pass(),
        countdowns: around.countdowns,
        entered_at: None,
        is_left: false,
        compares_null: false,
    }
}

fn compile(
    engine: &Engine,
    info: &ModuleInfo,
    bodies: Vec<Body<'_>>,
    wasm: &[u8],
) -> Result<Artifact> {
    let around = Around {
        info,
        layout: &VmLayout::new(info),
        plans: &plans(engine, info)?,
        inlinable: &inlinable(engine, info, &bodies),
        budget: &budget(engine, &bodies),
        countdowns: None,
        wasm,
    };
    let env = module_env(engine, &around);
    let (seed, llvm) = (engine.config().layout_seed, engine.llvm());
    compile::compile_module(engine.target(), &env, bodies, seed, llvm)
}

/// The trampolines of a module whose functions are compiled lazily; nothing where a body is not
/// valid, which compiling all tells about.
fn begin(
    engine: &Engine,
    info: &ModuleInfo,
    bodies: &[Body<'_>],
    wasm: &[u8],
) -> Result<Option<(Artifact, Lazy)>> {
    if !lazy::all_valid(bodies) {
        return Ok(None);
    }
    let plans = plans(engine, info)?;
    let (inlinable, budget) = (inlinable(engine, info, bodies), budget(engine, bodies));
    let tiers = engine.tiers_up_at();
    let tiers = tiers.map(|turns| {
        let with_llvm = engine.last_tier().is_some();
        Tiers::new(&info.bodies, turns, with_llvm, || {
            self::budget(engine, bodies)
        })
    });
    let lazy = Lazy::new(bodies, plans, inlinable, budget, tiers);
    let layout = VmLayout::new(info);
    let artifact = lazy.trampolines(engine, &lazy.around(info, &layout, wasm))?;
    Ok(Some((artifact, lazy)))
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
