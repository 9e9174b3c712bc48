//! A module under our engine.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_engine::TrapCode;
use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Collector, Compilation, Config, Elide, Engine, Error, ErrorKind,
    Extern, ExternType, FuncType, Global, Instance, Interrupt, Memory, Module, Opt, Quota, Store,
    Table, Tag, Val, ValType,
};

#[path = "../../engine/tests/common/ways.rs"]
pub mod ways;

use crate::instructions::Outcomes;
use crate::observe::{
    Bits, Digest, Ended, HOST_RESULT, OUT_OF_BOUNDS, Observed, UNALIGNED, UNCAUGHT, argument, hash,
};
use ways::Way;

/// How long everything that a module exports may run, where what it does may be not
/// to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a module's structures and arrays.
const HEAP_BYTES: u64 = 16 << 20;
/// How long an interrupt may take.
const INTERRUPTED_AFTER: Duration = Duration::from_secs(20);

/// Our engine in one configuration.
pub struct Ours {
    /// For messages.
    pub name: String,
    /// What compiles and runs.
    pub engine: Engine,
    patience: Option<Duration>,
}

impl Ours {
    /// The engine under a strategy.
    pub fn new(bounds: Bounds, opt: Opt) -> Result<Ours, Error> {
        let config = Config::new().bounds(choice(bounds)).opt(opt);
        Ours::configured(format!("{bounds} --opt {opt}"), &config)
    }

    /// The engine of another configuration.
    pub fn configured(name: String, config: &Config) -> Result<Ours, Error> {
        // Arrays as large as they may be, made again and again, would take hours.
        let quota = Quota {
            heap_bytes: HEAP_BYTES,
            ..Quota::default()
        };
        let engine = Engine::new(&config.clone().quota(quota))?;
        Ok(Ours {
            name,
            engine,
            patience: None,
        })
    }

    /// Without anything that rewrites programs, each access checked by a call: what
    /// the others have to agree with.
    pub fn plain() -> Result<Ours, Error> {
        let config = Config::new().bounds(choice(Bounds::Debug)).opt(Opt::None);
        let config = config.elide(Elide::Off).inline(false);
        let plain = Ours::configured(
            "debug --opt none --elide off --inline off".to_owned(),
            &config,
        )?;
        Ok(plain.bounded())
    }

    /// Under each strategy that promises to be exact, with everything that rewrites
    /// programs, and with less of it.
    pub fn all_rewriting() -> Result<Vec<Ours>, Error> {
        let ways = [
            (Opt::Speed, Elide::Loops, true),
            (Opt::Speed, Elide::Dominated, true),
            (Opt::Speed, Elide::Off, false),
            (Opt::None, Elide::Loops, true),
        ];
        let mut all = Vec::new();
        for bounds in exact() {
            for (opt, elide, inline) in ways {
                let config = Config::new().bounds(choice(bounds)).opt(opt);
                let config = config.elide(elide).inline(inline);
                let name = format!("{bounds} --opt {opt} --elide {elide}, inlined: {inline}");
                all.push(Ours::configured(name, &config)?.bounded());
            }
        }
        Ok(all)
    }

    /// With an end to modules that do not end.
    pub fn bounded(self) -> Ours {
        Ours {
            patience: Some(PATIENCE),
            ..self
        }
    }

    /// Under each strategy that promises to be exact.
    pub fn all_exact() -> Result<Vec<Ours>, Error> {
        exact()
            .map(|bounds| Ours::new(bounds, Opt::Speed))
            .collect()
    }

    /// Under the same, in each way to compile but the first, which is Cranelift's before anything
    /// runs; none on a processor that has no other.
    pub fn all_other_ways() -> Result<Vec<Ours>, Error> {
        let ways = Way::all();
        let all = exact().flat_map(|bounds| ways[1..].iter().map(move |way| (bounds, way)));
        let ours = all.map(|(bounds, way)| {
            let config = way.of(Config::new().bounds(choice(bounds)));
            Ours::configured(format!("{bounds} {way}"), &config)
        });
        ours.collect()
    }

    /// With a collection as soon as as much was allocated as is live, however little that is, by
    /// different generators; with one under way at every allocation, an object at a time; and
    /// with none ever.
    pub fn all_collecting() -> Result<Vec<Ours>, Error> {
        let mut all = Vec::new();
        for opt in [Opt::Speed, Opt::None] {
            let config = Config::new().opt(opt).collection_bytes(1);
            all.push(Ours::configured(
                format!("collecting --opt {opt}"),
                &config,
            )?);
        }
        if cfg!(target_arch = "x86_64") {
            let tiered = Config::new().codegen(Codegen::Tiered).tier_up(0);
            let tiered = tiered.compilation(Compilation::Lazy).collection_bytes(1);
            all.push(Ours::configured(
                "collecting, in tiers".to_owned(),
                &tiered,
            )?);
            let direct = Config::new().codegen(Codegen::Direct).collection_bytes(0);
            let direct = direct.collection_step(1);
            all.push(Ours::configured(
                "collecting in steps, by direct".to_owned(),
                &direct,
            )?);
        }
        let steps = Config::new().collection_bytes(0).collection_step(1);
        all.push(Ours::configured("collecting in steps".to_owned(), &steps)?);
        let null = Config::new().collector(Collector::Null);
        all.push(Ours::configured("never collecting".to_owned(), &null)?);
        Ok(all)
    }

    /// Whether the engine takes these bytes for a module.
    pub fn compiles(&self, bytes: &[u8]) -> Result<(), Error> {
        Module::new(&self.engine, bytes).map(|_| ())
    }

    /// What these calls of a module's exports give, one after another, and hashes of
    /// its memories afterwards.
    pub fn call<'c>(
        &self,
        bytes: &[u8],
        calls: impl Iterator<Item = (&'c str, &'c [u128])>,
    ) -> Result<Outcomes, Error> {
        let module = Module::new(&self.engine, bytes)?;
        let mut store = Store::new(&self.engine, ());
        let instance = Instance::new(&mut store, &module, &[])?;
        let mut outcomes = Vec::new();
        for (name, arguments) in calls {
            let func = instance
                .get_func(&store, name)
                .expect("an exported function");
            let ty = func.ty(&store);
            let arguments = ty.params().iter().zip(arguments);
            let arguments: Vec<Val> = arguments.map(|(ty, bits)| of_bits(*ty, *bits)).collect();
            let mut results: Vec<Val> = ty
                .results()
                .iter()
                .map(|ty| Val::default_for(*ty))
                .collect();
            let outcome = func.call(&mut store, &arguments, &mut results);
            outcomes.push(match outcome {
                Ok(()) => Ok(results.iter().map(bits).collect()),
                Err(error) => Err(ended(&error)),
            });
        }
        let mut exports: Vec<(String, Extern)> = instance.exports(&store).into_iter().collect();
        exports.sort_by(|a, b| a.0.cmp(&b.0));
        let memories = exports.into_iter().filter_map(|(_, item)| match item {
            Extern::Memory(memory) => Some(hash(&contents(&store, &memory))),
            _ => None,
        });
        Ok((outcomes, memories.collect()))
    }

    /// Run everything the module exports.
    pub fn observe(&self, bytes: &[u8]) -> Observed {
        match Module::new(&self.engine, bytes) {
            Ok(module) => self.observe_module(&module),
            Err(error) => Observed::refused(ended(&error)),
        }
    }

    /// The same of one that was compiled by this engine.
    pub fn observe_module(&self, module: &Module) -> Observed {
        let mut store = Store::new(&self.engine, ());
        let _watch = self
            .patience
            .map(|patience| Watch::over(&mut store, patience));
        let imports = match imports(&mut store, module) {
            Ok(imports) => imports,
            Err(error) => return Observed::refused(ended(&error)),
        };
        match Instance::new(&mut store, module, &imports) {
            Ok(instance) => run(&mut store, instance, &imports),
            Err(error) => Observed::refused(ended(&error)),
        }
    }
}

/// The strategies that promise to be exact.
pub fn exact() -> impl Iterator<Item = Bounds> {
    use fathom_engine::Guarantee;
    Bounds::all_for(false).filter(|b| b.guarantee() == Guarantee::Exact)
}

/// `auto` is guard for 32-bit memories and guard64 for 64-bit ones.
pub fn choice(bounds: Bounds) -> BoundsChoice {
    match bounds {
        Bounds::Guard | Bounds::GUARD64 => BoundsChoice::Auto,
        other => BoundsChoice::Named(other),
    }
}

/// Ends what runs in a store too long.
struct Watch {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn over(store: &mut Store<()>, patience: Duration) -> Watch {
        let interrupt = Interrupt::new();
        store.set_interrupt(&interrupt);
        let (done, is_done) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                interrupt.stop(INTERRUPTED_AFTER);
            }
        });
        Watch {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it only waits");
        }
    }
}

/// What a module imports: one thing for all imports of one name and type.
fn imports(store: &mut Store<()>, module: &Module) -> Result<Vec<Extern>, Error> {
    let wanted: Vec<(&str, &str, ExternType)> = module.imports().collect();
    let mut provided: Vec<Extern> = Vec::new();
    for (at, import) in wanted.iter().enumerate() {
        let same = wanted[..at].iter().position(|before| before == import);
        let item = match same {
            Some(before) => provided[before],
            None => provide(store, &import.2)?,
        };
        provided.push(item);
    }
    Ok(provided)
}

/// Something of the host's of this type.
pub fn provide<T: 'static>(store: &mut Store<T>, ty: &ExternType) -> Result<Extern, Error> {
    Ok(match ty {
        ExternType::Func(ty) => {
            let results: Vec<Val> = ty
                .results()
                .iter()
                .map(|ty| value(*ty, HOST_RESULT))
                .collect();
            let func = fathom_engine::Func::new(store, ty.clone(), move |_, _, out| {
                out.clone_from_slice(&results);
                Ok(())
            })?;
            Extern::Func(func)
        }
        ExternType::Global(ty) => {
            Extern::Global(Global::new(store, *ty, value(ty.content, HOST_RESULT))?)
        }
        ExternType::Memory(ty) => Extern::Memory(Memory::new(store, *ty)?),
        ExternType::Table(ty) => {
            let null = Val::default_for(ValType::Ref(ty.element));
            Extern::Table(Table::new(store, *ty, &null)?)
        }
        ExternType::Tag(ty) => Extern::Tag(Tag::new(store, &ty.0)?),
    })
}

fn of_bits(ty: ValType, bits: u128) -> Val {
    match ty {
        ValType::I32 => Val::I32(bits as u32 as i32),
        ValType::I64 => Val::I64(bits as u64 as i64),
        ValType::F32 => Val::F32(bits as u32),
        ValType::F64 => Val::F64(bits as u64),
        ValType::V128 => Val::V128(bits),
        ValType::Ref(_) => Val::default_for(ty),
    }
}

/// A value of a type, out of a number.
pub fn value(ty: ValType, number: u64) -> Val {
    match ty {
        ValType::I32 => Val::I32(number as i32),
        ValType::I64 => Val::I64(number as i64),
        ValType::F32 => Val::F32((number as f32).to_bits()),
        ValType::F64 => Val::F64((number as f64).to_bits()),
        ValType::V128 => Val::V128(u128::from(number) << 64 | u128::from(number)),
        ValType::Ref(_) => Val::default_for(ty),
    }
}

fn run(store: &mut Store<()>, instance: Instance, imports: &[Extern]) -> Observed {
    let mut exports: Vec<(String, Extern)> = instance.exports(&*store).into_iter().collect();
    exports.sort_by(|a, b| a.0.cmp(&b.0));
    let mut observed = Observed {
        instantiation: None,
        calls: Vec::new(),
        after_traps: Vec::new(),
        globals: Vec::new(),
        memories: Vec::new(),
        tables: Vec::new(),
    };
    for (name, item) in &exports {
        if let Extern::Func(func) = item {
            let ty = func.ty(&*store);
            if !is_callable(&ty) {
                continue;
            }
            let args: Vec<Val> = ty
                .params()
                .iter()
                .enumerate()
                .map(|(i, ty)| value(*ty, argument(i)))
                .collect();
            let mut results: Vec<Val> = ty
                .results()
                .iter()
                .map(|ty| Val::default_for(*ty))
                .collect();
            let outcome = func.call(&mut *store, &args, &mut results);
            let outcome = match outcome {
                Ok(()) => Ok(results.iter().map(bits).collect()),
                Err(error) => Err(ended(&error)),
            };
            if outcome.is_err() {
                let items = exports.iter().map(|(_, item)| item).chain(imports);
                observed
                    .after_traps
                    .push((name.clone(), state(store, items)));
            }
            observed.calls.push((name.clone(), outcome));
        }
    }
    for (name, item) in exports {
        match item {
            Extern::Global(global) => observed.globals.push((name, bits(&global.get(&*store)))),
            Extern::Memory(memory) => {
                let bytes = contents(store, &memory);
                observed
                    .memories
                    .push((name, bytes.len() as u64, hash(&bytes)));
            }
            Extern::Table(table) => observed.tables.push((name, table.size(&*store))),
            Extern::Func(_) | Extern::Tag(_) => {}
            other => unreachable!("{other:?} has a state that is not compared"),
        }
    }
    observed
}

/// All memories, tables and globals among these.
fn state<'e>(store: &Store<()>, items: impl Iterator<Item = &'e Extern>) -> u64 {
    let mut digest = Digest::default();
    for item in items {
        match item {
            Extern::Global(global) => digest.value(bits(&global.get(store))),
            Extern::Memory(memory) => digest.bytes(&contents(store, memory)),
            Extern::Table(table) => {
                let elements = (0..table.size(store)).filter_map(|at| table.get(store, at));
                elements.for_each(|element| digest.value(bits(&element)));
            }
            Extern::Func(_) | Extern::Tag(_) => {}
            other => unreachable!("{other:?} has a state that is not compared"),
        }
    }
    digest.end()
}

fn contents(store: &Store<()>, memory: &Memory) -> Vec<u8> {
    match memory.as_shared(store) {
        None => memory.data(store).to_vec(),
        Some(shared) => {
            let mut bytes = vec![0; shared.data_size()];
            shared.read(0, &mut bytes).expect("inside the memory");
            bytes
        }
    }
}

fn bits(value: &Val) -> Bits {
    match value {
        Val::I32(v) => Bits::Number(u128::from(v.cast_unsigned())),
        Val::I64(v) => Bits::Number(u128::from(v.cast_unsigned())),
        Val::F32(v) => Bits::Number(u128::from(*v)),
        Val::F64(v) => Bits::Number(u128::from(*v)),
        Val::V128(v) => Bits::Number(*v),
        Val::FuncRef(func) => Bits::Reference {
            null: func.is_none(),
        },
        Val::ExternRef(value) => Bits::Reference {
            null: value.is_none(),
        },
        Val::ContRef(cont) => Bits::Reference {
            null: cont.is_none(),
        },
        Val::ExnRef(exn) => Bits::Reference {
            null: exn.is_none(),
        },
        Val::AnyRef(any) => Bits::Reference {
            null: any.is_none(),
        },
        other => unreachable!("{other:?} is not compared"),
    }
}

/// Whether the host has arguments for a function: it has no references.
pub fn is_callable(ty: &FuncType) -> bool {
    let has = |ty: &ValType| match ty {
        ValType::Ref(ty) => ty.nullable,
        _ => true,
    };
    ty.params().iter().all(has)
}

fn ended(error: &Error) -> Ended {
    match error.trap().map(|trap| trap.code) {
        Some(TrapCode::StackExhausted | TrapCode::LimitExceeded) => Ended::Exhausted,
        Some(code) => Ended::Trapped(name(code)),
        None if error.exception().is_some() => Ended::Trapped(UNCAUGHT),
        None if matches!(error.kind(), ErrorKind::Limit(_)) => Ended::Exhausted,
        None => Ended::Refused(error.to_string()),
    }
}

/// One name where engines differ in how finely they tell traps apart.
fn name(code: TrapCode) -> &'static str {
    match code {
        TrapCode::Unreachable => "unreachable",
        TrapCode::MemoryOutOfBounds => OUT_OF_BOUNDS,
        TrapCode::TableOutOfBounds | TrapCode::UndefinedElement => "out of bounds table access",
        TrapCode::UninitializedElement => "uninitialized element",
        TrapCode::IndirectCallTypeMismatch => "indirect call type mismatch",
        TrapCode::IntegerDivideByZero => "integer divide by zero",
        TrapCode::IntegerOverflow => "integer overflow",
        TrapCode::InvalidConversion => "invalid conversion to integer",
        TrapCode::NullFunction
        | TrapCode::NullReference
        | TrapCode::NullStructure
        | TrapCode::NullArray
        | TrapCode::NullI31 => "null reference",
        TrapCode::CastFailure => "cast failure",
        TrapCode::ArrayOutOfBounds => "out of bounds array access",
        TrapCode::UnalignedAtomic => UNALIGNED,
        TrapCode::Interrupted => "does not end",
        TrapCode::ExpectedSharedMemory => "expected shared memory",
        _ => "another trap",
    }
}
