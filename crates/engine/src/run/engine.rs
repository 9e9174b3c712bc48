//! The engine: a configuration, a code generator for this machine, and the
//! trampolines of host functions that all its stores share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use fathom_sys::cells::{self, Domain};
use fathom_sys::map::Reservation;

use crate::bounds::{Bounds, Guarantee, MemoryPlan};
use crate::compile::argument_passing::Passing;
use crate::compile::{self, Clang, Codegen, Compilation, Cpu, HAS_STACK_SWITCH, Llvm, Opt, Target};
use crate::facts::error::{Error, ErrorKind, Result};
use crate::facts::features::Feature;
use crate::facts::quota::Quota;
use crate::facts::types::{Gone, MemoryType, TypeHold, TypeId};
use crate::facts::vmctx::Counts;
use crate::run::code::{self, CodeMemory};
use crate::run::config::Config;
use crate::run::entry;
use crate::run::handle::Module;
use crate::run::in_force::InForce;
use crate::run::lazy::HAS_FIRST_CALLS;

/// Compiles modules and runs them. Cheap to clone; clones are the same engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    config: Config,
    target: Target,
    /// Without optimisation.
    plain: Target,
    /// LLVM, where it was asked for.
    llvm: Option<Llvm>,
    /// For 32-bit memories, and for 64-bit ones.
    in_force: [InForce; 2],
    /// A feature that was asked for and that this processor lacks, and what it
    /// would need.
    lacks: Vec<(Feature, String)>,
    /// Whether its Wasm runs locked.
    domain: Domain,
    trampolines: Mutex<Known>,
    /// Of the stores that are gone.
    counts: Mutex<Counts>,
}

/// The trampolines that were compiled. When there are many, those that no store uses
/// are dropped.
#[derive(Default)]
struct Known {
    all: HashMap<TypeId, Arc<Trampolines>>,
    /// How many there may be before the next look.
    limit: usize,
}

/// Trampolines before the first look at whether they are used.
const FIRST_LOOK: usize = 256;

impl Known {
    fn insert(&mut self, id: TypeId, trampolines: Arc<Trampolines>) {
        if self.all.len() >= self.limit.max(FIRST_LOOK) {
            self.all.retain(|_, known| Arc::strong_count(known) > 1);
            self.limit = 2 * self.all.len();
        }
        self.all.insert(id, trampolines);
    }
}

/// The trampolines of one type, for functions of the host. They keep the type.
pub(crate) struct Trampolines {
    code: TrampolineCode,
    entry: u32,
    exit: u32,
}

/// Where their code is.
enum TrampolineCode {
    /// A module's, which imports functions of the type.
    Module(Module),
    /// Their own, of a type that is held.
    Own { code: CodeMemory, _hold: TypeHold },
}

impl Trampolines {
    /// Those of a module's code, at these offsets.
    pub fn of_module(module: &Module, entry: u32, exit: u32) -> Trampolines {
        let code = TrampolineCode::Module(module.clone());
        Trampolines { code, entry, exit }
    }

    fn code(&self) -> &CodeMemory {
        match &self.code {
            TrampolineCode::Module(module) => module.code(),
            TrampolineCode::Own { code, .. } => code,
        }
    }

    /// Calls a Wasm function from the host.
    pub fn entry(&self) -> *const u8 {
        self.code().address(self.entry)
    }

    /// Calls a host function from Wasm.
    pub fn exit(&self) -> *const u8 {
        self.code().address(self.exit)
    }
}

/// Why there are no continuations, where there are none.
fn no_switches(domain: Domain) -> Option<(Feature, String)> {
    let needed = match domain {
        _ if !HAS_STACK_SWITCH => "an x86-64 processor and Linux: it is not supported here",
        Domain::Locked => "another strategy than 'pkeys': it is not supported there",
        Domain::Open => return None,
    };
    Some((Feature::StackSwitching, needed.to_owned()))
}

/// Whether a strategy may be used, and can be here.
fn permit(bounds: Bounds, config: &Config) -> Result<()> {
    if bounds.guarantee() == Guarantee::Unchecked && !config.allow_unchecked {
        let message = format!(
            "strategy '{bounds}' does not keep a module inside its memory; it has to be allowed \
             explicitly"
        );
        return Err(ErrorKind::Config(message).into());
    }
    match bounds.missing() {
        Some(missing) => {
            Err(ErrorKind::Config(format!("strategy '{bounds}' needs {missing}")).into())
        }
        None => Ok(()),
    }
}

/// LLVM, where it is asked for; whether the generator can be had that is.
fn llvm(config: &Config) -> Result<Option<Llvm>> {
    match config.codegen {
        Codegen::Cranelift | Codegen::Tiered => Ok(None),
        Codegen::Direct => compile::require_one_pass().map(|()| None),
        Codegen::Llvm | Codegen::TieredLlvm => {
            compile::require_host()?;
            Ok(Some(Llvm {
                clang: Clang::find(config.clang.as_deref(), config)?,
                opt: config.opt,
            }))
        }
    }
}

impl Engine {
    /// An engine for this machine.
    ///
    /// # Errors
    /// A configuration that is refused (a strategy without guarantee that was
    /// not allowed by name, one this machine lacks what it needs for, LLVM without
    /// clang), or a machine that is not supported.
    pub fn new(config: &Config) -> Result<Engine> {
        let strategies = [false, true].map(|memory64| config.choice(memory64).resolve(memory64));
        for bounds in strategies {
            permit(bounds, config)?;
        }
        entry::prepare()?;
        Reservation::prepare_places();
        // First, for it takes address space that the strategies must do without.
        let domain = match strategies.into_iter().any(Bounds::is_locked) {
            true => Domain::Locked,
            false => Domain::Open,
        };
        code::reserve(domain)?;
        cells::reserve(domain).map_err(|source| {
            Error::resource(
                "cannot reserve address space for what code is given",
                source,
            )
        })?;
        let in_force = [false, true].map(|memory64| InForce::new(config, memory64));
        let target = Target::host(config.opt, config.cpu)?;
        let plain = match config.opt {
            Opt::None => target.clone(),
            Opt::Speed => Target::host(Opt::None, config.cpu)?,
        };
        let llvm = llvm(config)?;
        let mut config = config.clone();
        let features = config.features;
        let asked_for = |(feature, _): &_| features.contains(*feature);
        let vectors = target.lacks().map(|(feature, needed)| {
            let needed = format!("{needed}, which this processor lacks");
            (feature, needed)
        });
        let lacks = vectors.into_iter().chain(no_switches(domain));
        let lacks: Vec<(Feature, String)> = lacks.filter(asked_for).collect();
        for (feature, _) in &lacks {
            config.features = config.features.without(*feature);
        }
        Ok(Engine(Arc::new(Inner {
            config,
            target,
            plain,
            llvm,
            in_force,
            lacks,
            domain,
            trampolines: Mutex::default(),
            counts: Mutex::default(),
        })))
    }

    /// The strategy in force for memories of an index type, 64-bit or 32-bit.
    pub fn bounds(&self, memory64: bool) -> Bounds {
        self.in_force(memory64).bounds
    }

    /// Why the strategy in force is not the one that `auto` takes as a rule:
    /// which was refused, at which limit of the host, and the remedy.
    pub fn fallback(&self, memory64: bool) -> Option<&str> {
        self.in_force(memory64).because.as_deref()
    }

    pub(crate) fn in_force(&self, memory64: bool) -> &InForce {
        &self.0.in_force[usize::from(memory64)]
    }

    /// The plan for a memory; errors begin with `what`.
    pub(crate) fn plan(&self, ty: &MemoryType, what: &str) -> Result<MemoryPlan> {
        let InForce { bounds, limits, .. } = self.in_force(ty.memory64);
        MemoryPlan::new(*bounds, ty, *limits)
            .map(|plan| MemoryPlan {
                spectre: self.0.config.spectre,
                huge_pages: self.0.config.huge_pages,
                #[cfg(thesis_formula)]
                thesis_formula: self.0.config.thesis_formula,
                ..plan
            })
            .map_err(|error| ErrorKind::Config(format!("{what}{error}")).into())
    }

    /// Whether its Wasm runs locked by protection keys.
    pub(crate) fn domain(&self) -> Domain {
        self.0.domain
    }

    /// The optimisation level in force.
    pub fn opt(&self) -> Opt {
        self.0.config.opt
    }

    /// When functions are compiled: what is in force, which is [`Compilation::Eager`] where
    /// the other is not to be had ([`Config::compilation`]).
    pub fn compilation(&self) -> Compilation {
        match self.wants_lazy() && self.not_lazy().is_none() {
            true => Compilation::Lazy,
            false => Compilation::Eager,
        }
    }

    /// Why functions cannot be compiled lazily, where that was asked for: the end of a
    /// sentence.
    pub fn not_lazy(&self) -> Option<&'static str> {
        match &self.0.config {
            _ if !self.wants_lazy() => None,
            _ if !HAS_FIRST_CALLS => Some("it is supported on x86-64 only"),
            config if config.codegen == Codegen::Llvm => Some("LLVM compiles a module as a whole"),
            _ if self.0.domain != Domain::Open => Some("it is not supported under 'pkeys'"),
            config if config.cache_dir.is_some() => Some("a cache keeps whole modules"),
            _ if !code::can_append() => Some(
                "the host lets no file of 1 MiB in memory be executed (vm.memfd_noexec, ulimit -f)",
            ),
            _ => None,
        }
    }

    /// Whether functions are to be compiled lazily: tiers begin with that.
    fn wants_lazy(&self) -> bool {
        let config = &self.0.config;
        config.compilation == Compilation::Lazy || config.codegen.has_tiers()
    }

    /// Whether functions are made in one pass, if perhaps not for long: where nothing can be
    /// compiled lazily, nothing would be optimised.
    pub(crate) fn makes_in_one_pass(&self) -> bool {
        self.codegen() == Codegen::Direct || self.codegen().has_tiers()
    }

    /// After how many calls and turns of loops a function is optimised, where that is done
    /// while it runs; `None` else.
    pub(crate) fn tiers_up_at(&self) -> Option<u32> {
        let config = &self.0.config;
        self.codegen().has_tiers().then_some(config.tier_up)
    }

    /// LLVM, where it compiles what was optimised and runs on.
    pub(crate) fn last_tier(&self) -> Option<&Llvm> {
        let llvm = self.0.llvm.as_ref();
        llvm.filter(|_| self.codegen() == Codegen::TieredLlvm)
    }

    /// Which processors the machine code is for.
    pub fn cpu(&self) -> Cpu {
        self.0.config.cpu
    }

    /// What a store may have that shares nothing with others.
    pub fn quota(&self) -> Quota {
        self.0.config.quota
    }

    /// Whether what checks let through is guarded against speculation.
    pub fn spectre(&self) -> bool {
        self.0.config.spectre
    }

    /// What programs have done in stores that are gone; nothing unless it
    /// counts.
    pub fn counts(&self) -> Counts {
        *self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_counts(&self, counts: Counts) {
        if self.0.config.count {
            *self.0.counts.lock().unwrap_or_else(PoisonError::into_inner) += counts;
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    /// The code generator without optimisation.
    pub(crate) fn plain_target(&self) -> &Target {
        &self.0.plain
    }

    /// What makes machine code, as far as it can.
    pub fn codegen(&self) -> Codegen {
        match self.0.config.codegen {
            // Nothing would be optimised.
            tiers if tiers.has_tiers() && self.compilation() == Compilation::Eager => {
                Codegen::Cranelift
            }
            codegen => codegen,
        }
    }

    /// LLVM, where it compiles modules.
    pub(crate) fn llvm(&self) -> Option<&Llvm> {
        let llvm = self.0.llvm.as_ref();
        llvm.filter(|_| self.0.config.codegen == Codegen::Llvm)
    }

    pub(crate) fn target(&self) -> &Target {
        &self.0.target
    }

    /// Say of a module that was refused when it is this processor's fault.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match error.into_kind() {
            ErrorKind::Unsupported { message, offset } => {
                let mut lacks = self.0.lacks.iter();
                let lacking = lacks.find(|(feature, _)| message == feature.turned_off());
                let message = match lacking {
                    Some((feature, needed)) => format!("{feature} needs {needed}"),
                    None => message,
                };
                ErrorKind::Unsupported { message, offset }.into()
            }
            other => other.into(),
        }
    }

    /// Whether both are the same engine.
    pub fn same(&self, other: &Engine) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The trampolines for host functions of a type, which is held; compiled once.
    pub(crate) fn trampolines(&self, id: TypeId) -> Result<Arc<Trampolines>> {
        let mut known = self
            .0
            .trampolines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(trampolines) = known.all.get(&id) {
            return Ok(trampolines.clone());
        }
        let gone = |gone: Gone| Error::mismatch(format!("function type: {gone}"));
        let hold = TypeHold::known(id).map_err(gone)?;
        let signature = [TypeId::signature(id.number())];
        let ways = compile::Ways {
            passing: Passing::of(self.config().codegen),
            count: self.config().count,
        };
        let artifact = compile::by_threads(self.config().end_threads, || {
            compile::compile_host_trampolines(
                [self.target(), self.plain_target()],
                &signature,
                ways,
            )
        })??;
        let (Some(Some(entry)), Some(Some(exit))) =
            (artifact.entries.first(), artifact.exits.first())
        else {
            return Err(Error::mismatch("a trampoline was not compiled"));
        };
        let (entry, exit) = (entry.offset, exit.offset);
        let code = CodeMemory::publish(artifact, self.domain(), 0, Weak::new(), 0)?;
        let code = TrampolineCode::Own { code, _hold: hold };
        let trampolines = Arc::new(Trampolines { code, entry, exit });
        known.insert(id, trampolines.clone());
        Ok(trampolines)
    }
}

impl Default for Engine {
    /// An engine with the default configuration.
    ///
    /// # Panics
    /// On a machine that is not supported, or that has no address space left;
    /// [`Engine::new`] says so by an error.
    fn default() -> Engine {
        Engine::new(&Config::default()).expect("the defaults are for every supported machine")
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("bounds", &self.0.config.bounds)
            .finish_non_exhaustive()
    }
}
