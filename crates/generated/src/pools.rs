//! Leases of pooled instances: whatever came before, a lease in a pool is what it would be
//! in an instance that was just made, from its first byte to its last.
//!
//! ```text
//!  lease:  instantiate ─► look ─► calls, growths, the host's writes, interrupts ─► look ─► drop
//!          in the pool, and in a store of its own: the same at every step
//! ```

use fathom_engine::{
    AsContext, AsContextMut, Bounds, BoundsChoice, Config, Engine, Error, Extern, ExternType, Func,
    Guarantee, Instance, Interrupt, Linker, Module, Opt, Pool, PoolLimits, Pooled, Store, Val,
    ValType,
};

use crate::generate::Below;

/// What the leases of a seed met, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Leases in pools.
    pub leases: u64,
    /// Those whose instance had had another before.
    pub again: u64,
    /// Steps of leases.
    pub steps: u64,
    /// Steps that ended by an error or a trap.
    pub failed: u64,
}

/// An engine for each form of each strategy, for memories of either width, with its name.
///
/// # Errors
/// An engine that cannot be made although its strategy needs nothing of the host.
pub fn engines() -> Result<Vec<(String, Engine)>, Error> {
    let mut engines = Vec::new();
    for memory64 in [false, true] {
        for bounds in Bounds::forms_for(memory64) {
            let wild = [Guarantee::Unchecked, Guarantee::Partial];
            if memory64 && wild.contains(&bounds.guarantee()) {
                continue;
            }
            let named = BoundsChoice::Named(bounds);
            let config = Config::new().opt(Opt::None).allow_unchecked(true);
            let config = match memory64 {
                false => config.bounds(named).bounds64(BoundsChoice::Auto),
                true => config.bounds64(named),
            };
            let bits = if memory64 { 64 } else { 32 };
            match Engine::new(&config) {
                Ok(engine) => engines.push((format!("{bounds} for {bits} bits"), engine)),
                Err(_) if !bounds.needs().is_empty() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(engines)
}

/// What a host function answers, and what pools are made of.
struct Subject {
    module: Module,
    linker: Linker<u32>,
}

impl Subject {
    /// Nothing where the module imports what only a store can own, or a name twice.
    fn new(engine: &Engine, wasm: &[u8]) -> Result<Option<Subject>, Error> {
        let module = Module::new(engine, wasm)?;
        let mut linker = Linker::new(engine);
        for (outer, name, ty) in module.imports() {
            let ExternType::Func(ty) = ty else {
                return Ok(None);
            };
            let results: Vec<Val> = ty.results().iter().map(|ty| value(*ty, 3)).collect();
            let defined = linker.func_new(outer, name, ty, move |_, _, out| {
                out.clone_from_slice(&results);
                Ok(())
            });
            if defined.is_err() {
                return Ok(None);
            }
        }
        Ok(Some(Subject { module, linker }))
    }
}

/// Leases of a module in a pool under one engine.
///
/// # Errors
/// What differs. Of a module that does not fit a pool there are no leases.
pub fn check(engine: &Engine, wasm: &[u8], below: Below<'_>) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let subject = Subject::new(engine, wasm).map_err(|error| error.to_string())?;
    let Some(subject) = subject else {
        return Ok(seen);
    };
    let limits = PoolLimits {
        lanes: 1 + below(2),
        idle: 1 + below(3),
        resident_bytes: [0, 4096, 64 << 10, 1 << 20][below(4)],
    };
    let pool = Pool::new(&subject.linker, &subject.module, limits);
    let pool = pool.map_err(|error| error.to_string())?;
    let mut kept: Vec<Pooled<u32>> = Vec::new();
    for number in 0..2 + below(6) as u32 {
        seen.leases += 1;
        seen.again += u64::from(pool.idle() > 0);
        let lease = lease(&subject, &pool, number, below, &mut seen);
        let lease = lease.map_err(|why| format!("lease {number} of {limits:?}: {why}"))?;
        // Some go on beside the next one.
        kept.extend(lease.filter(|_| below(4) == 0));
        if kept.len() > 2 {
            kept.remove(below(3));
        }
    }
    Ok(seen)
}

/// One lease; the instance, unless it failed to begin.
fn lease(
    subject: &Subject,
    pool: &Pool<u32>,
    number: u32,
    below: Below<'_>,
    seen: &mut Seen,
) -> Result<Option<Pooled<u32>>, String> {
    let mut store = Store::new(subject.module.engine(), number);
    let own = subject.linker.instantiate(&mut store, &subject.module);
    let (mut pooled, own) = match (pool.instantiate(number), own) {
        (Ok(pooled), Ok(own)) => (pooled, own),
        (Err(one), Err(other)) => {
            seen.failed += 1;
            return same("instantiating", &ended(&one), &ended(&other)).map(|()| None);
        }
        (one, other) => {
            let (one, other) = (one.err().map(|e| ended(&e)), other.err().map(|e| ended(&e)));
            return Err(format!(
                "instantiating: {one:?} in the pool, {other:?} alone"
            ));
        }
    };
    let reused = pooled.instance();
    let look = |when: &str, pooled: &mut Pooled<u32>, store: &mut Store<u32>| {
        let (one, other) = (Look::at(pooled, reused), Look::at(store, own));
        one.is(&other).map_err(|what| format!("{when}: {what}"))
    };
    look("at first", &mut pooled, &mut store)?;
    for step in 0..below(12) {
        seen.steps += 1;
        let step_of = Step::draw(&subject.module, below);
        if matches!(step_of, Step::Interrupt) {
            let interrupt = Interrupt::new();
            interrupt.raise();
            pooled.set_interrupt(&interrupt);
            store.set_interrupt(&interrupt);
            continue;
        }
        let one = step_of.take(&mut pooled, reused);
        let other = step_of.take(&mut store, own);
        seen.failed += u64::from(one.starts_with("error"));
        let what = || format!("step {step}, {step_of:?}");
        same("", &one, &other).map_err(|why| what() + &why)?;
    }
    look("at last", &mut pooled, &mut store)?;
    Ok(Some(pooled))
}

fn same(what: &str, one: &str, other: &str) -> Result<(), String> {
    match one == other {
        true => Ok(()),
        false => Err(format!("{what}: {one} in the pool, {other} alone")),
    }
}

/// What is done to an instance.
#[derive(Debug)]
enum Step {
    /// Call an exported function.
    Call(String, Vec<Val>),
    /// Write to an exported memory.
    Write(String, u64, Vec<u8>),
    /// Grow it.
    Grow(String, u64),
    /// Set an exported global.
    Set(String, u64),
    /// Grow an exported table by empty elements.
    Table(String, u64),
    /// Have whatever is called from now on interrupted.
    Interrupt,
}

/// Numbers that mean something to programs.
const NUMBERS: [u64; 10] = [
    0,
    1,
    7,
    0xffff,
    0x1_0000,
    0x1_fffc,
    0x7fff_ffff,
    0xffff_fffc,
    u64::MAX,
    1 << 47,
];

impl Step {
    fn draw(module: &Module, below: Below<'_>) -> Step {
        let exports: Vec<_> = module.exports().collect();
        let number = |below: Below<'_>| match below(3) {
            0 => NUMBERS[below(NUMBERS.len())],
            1 => below(200_000) as u64,
            _ => (below(1 << 32) as u64) << 32 | below(1 << 32) as u64,
        };
        // Functions mostly: of ten draws, as many as it takes to find one.
        for _ in 0..10 {
            let Some((name, ty)) = exports.get(below(exports.len().max(1))) else {
                break;
            };
            let name = (*name).to_owned();
            return match ty {
                ExternType::Func(ty) => {
                    let args = ty.params().iter().map(|ty| value(*ty, number(below)));
                    Step::Call(name, args.collect())
                }
                ExternType::Memory(_) => match below(4) {
                    0 => Step::Grow(name, below(4) as u64),
                    _ => {
                        let at = number(below);
                        let bytes = (0..below(300)).map(|_| below(256) as u8).collect();
                        Step::Write(name, at, bytes)
                    }
                },
                ExternType::Global(_) => Step::Set(name, number(below)),
                ExternType::Table(_) => Step::Table(name, below(5) as u64),
                ExternType::Tag(_) => continue,
            };
        }
        Step::Interrupt
    }

    /// What it yields, as text.
    fn take<C: AsContextMut<Data = u32>>(&self, store: &mut C, instance: Instance) -> String {
        let find = |store: &C, name: &str| instance.get_export(store, name).expect("an export");
        match self {
            Step::Call(name, args) => {
                let func = find(store, name).into_func().expect("a function");
                call(store, func, args)
            }
            Step::Write(name, at, bytes) => {
                let memory = find(store, name).into_memory().expect("a memory");
                format!("{:?}", memory.write(&mut *store, *at, bytes))
            }
            Step::Grow(name, pages) => {
                let memory = find(store, name).into_memory().expect("a memory");
                text(memory.grow(&mut *store, *pages))
            }
            Step::Set(name, number) => {
                let global = find(store, name).into_global().expect("a global");
                let content = global.ty().content;
                text(global.set(&mut *store, value(content, *number)))
            }
            Step::Table(name, count) => {
                let table = find(store, name).into_table().expect("a table");
                let null = Val::default_for(ValType::Ref(table.ty(&*store).element));
                text(table.grow(&mut *store, *count, &null))
            }
            Step::Interrupt => String::new(),
        }
    }
}

fn call<C: AsContextMut<Data = u32>>(store: &mut C, func: Func, args: &[Val]) -> String {
    let ty = func.ty(&*store);
    let mut results: Vec<Val> = ty
        .results()
        .iter()
        .map(|ty| Val::default_for(*ty))
        .collect();
    match func.call(&mut *store, args, &mut results) {
        Ok(()) => results.iter().map(shown).collect(),
        Err(error) => ended(&error),
    }
}

fn text<V: std::fmt::Debug>(outcome: Result<V, Error>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => ended(&error),
    }
}

/// How something ended: where a stack is exhausted depends on the host's frames.
fn ended(error: &Error) -> String {
    match error.trap() {
        Some(trap) => format!("error: {}", trap.code),
        None => format!("error: {error}"),
    }
}

/// A value without what is another one's in each store.
fn shown(value: &Val) -> String {
    match value {
        Val::FuncRef(func) => format!("func {} ", func.is_some()),
        Val::ExternRef(value) => format!("extern {} ", value.is_some()),
        Val::ExnRef(exception) => format!("exn {} ", exception.is_some()),
        Val::ContRef(continuation) => format!("cont {} ", continuation.is_some()),
        Val::AnyRef(any) => format!("any {} ", any.is_some()),
        number => format!("{number:?} "),
    }
}

fn value(ty: ValType, number: u64) -> Val {
    match ty {
        ValType::I32 => Val::I32(number as i32),
        ValType::I64 => Val::I64(number as i64),
        ValType::F32 => Val::F32((number as u32 as f32).to_bits()),
        ValType::F64 => Val::F64((number as f64).to_bits()),
        ValType::V128 => Val::V128(u128::from(number) << 64 | u128::from(number)),
        ValType::Ref(_) => Val::default_for(ty),
    }
}

/// All that can be seen of an instance.
struct Look {
    words: Vec<(String, String)>,
    memories: Vec<(String, Vec<u8>)>,
}

impl Look {
    fn at<C: AsContextMut>(store: &mut C, instance: Instance) -> Look {
        let mut look = Look {
            words: Vec::new(),
            memories: Vec::new(),
        };
        for (name, item) in instance.exports(&*store) {
            match item {
                Extern::Memory(memory) => {
                    let mut bytes = vec![0; memory.data_size(&*store)];
                    memory.read(&*store, 0, &mut bytes).expect("inside");
                    look.memories.push((name, bytes));
                }
                Extern::Global(global) => look.words.push((name, shown(&global.get(&*store)))),
                Extern::Table(table) => look.words.push((name, elements(&*store, table))),
                Extern::Func(_) | Extern::Tag(_) => {}
                other => unreachable!("{other:?} is not looked at"),
            }
        }
        look
    }

    fn is(&self, other: &Look) -> Result<(), String> {
        for ((name, one), (_, other)) in self.words.iter().zip(&other.words) {
            same(&format!("'{name}'"), one, other)?;
        }
        for ((name, one), (_, other)) in self.memories.iter().zip(&other.memories) {
            if one != other {
                let at = one.iter().zip(other).position(|(one, other)| one != other);
                let dirty = one
                    .iter()
                    .zip(other)
                    .filter(|(one, other)| one != other)
                    .count();
                let (one, other) = (one.len(), other.len());
                return Err(format!(
                    "'{name}': {one} and {other} bytes, {dirty} differ from {at:?} on"
                ));
            }
        }
        Ok(())
    }
}

fn elements(store: impl AsContext, table: fathom_engine::Table) -> String {
    let size = table.size(&store);
    let elements = (0..size).map(|at| {
        table.get(&store, at).map_or('?', |value| match value {
            Val::FuncRef(None)
            | Val::ExternRef(None)
            | Val::ExnRef(None)
            | Val::ContRef(None)
            | Val::AnyRef(None) => '-',
            _ => 'x',
        })
    });
    format!("{size} {}", elements.collect::<String>())
}

/// A module that has everything a lease can leave behind: memories of either width, an
/// image, tables, globals, segments that are dropped, exceptions, deep recursion.
pub fn module(below: Below<'_>) -> String {
    let memory64 = below(2) == 1;
    let index = if memory64 { "i64" } else { "i32" };
    let pages = [0, 1, 2, 3, 20, 40][below(6)];
    let most = pages + below(4);
    let prefix = if memory64 { "i64" } else { "" };
    let room = pages << 16;
    let mut data = String::new();
    for _ in 0..below(4) {
        let bytes = [1, 20, 5000, 17_000, 40_000][below(5)].min(room);
        let at = match below(3) {
            0 => 0,
            1 => room - bytes,
            _ => below(room - bytes + 1),
        };
        let text = format!("\\{:02x}", 1 + below(255)).repeat(bytes);
        data += &format!("(data ({index}.const {at}) \"{text}\")\n");
    }
    LIFE.replace("MEMORY", &format!("{prefix} {pages} {most}"))
        .replace("DATA", &data)
        .replace("INDEX", index)
        .replace("NUMBER", &below(1000).to_string())
}

const LIFE: &str = r#"(module
  (import "host" "number" (func $number (result i32)))
  (memory (export "memory") MEMORY)
  (table $t (export "table") 4 30 funcref)
  (table $e (export "refs") 2 9 externref)
  (global $g (export "global") (mut i64) (i64.const NUMBER))
  (global $v (export "vector") (mut v128) (v128.const i64x2 5 NUMBER))
  (global $r (mut funcref) (ref.func $seven))
  (tag $oops (param i32))
  DATA
  (data $passive "passive bytes")
  (elem (table $t) (i32.const 1) func $seven)
  (elem $later func $seven $number)
  (start $begin)
  (func $seven (export "seven") (result i32) (i32.const 7))
  (func $begin (global.set $g (i64.add (global.get $g) (i64.extend_i32_s (call $number)))))
  (func (export "store") (param INDEX i64) (i64.store (local.get 0) (local.get 1)))
  (func (export "store far") (param INDEX i64)
    (i64.store offset=65530 (local.get 0) (local.get 1)))
  (func (export "load") (param INDEX) (result i64) (i64.load (local.get 0)))
  (func (export "fill") (param INDEX INDEX i32)
    (memory.fill (local.get 0) (local.get 2) (local.get 1)))
  (func (export "paint") (param i32)
    (memory.fill (INDEX.const 0) (local.get 0)
      (INDEX.mul (memory.size) (INDEX.const 65536))))
  (func (export "copy") (param INDEX INDEX INDEX)
    (memory.copy (local.get 0) (local.get 1) (local.get 2)))
  (func (export "grow") (result INDEX) (memory.grow (INDEX.const 1)))
  (func (export "init") (param INDEX)
    (memory.init $passive (local.get 0) (i32.const 0) (i32.const 13)))
  (func (export "drop") (data.drop $passive) (elem.drop $later))
  (func (export "table init") (param i32)
    (table.init $t $later (i32.and (local.get 0) (i32.const 3)) (i32.const 0) (i32.const 2)))
  (func (export "table set") (param i32)
    (table.set $t (i32.and (local.get 0) (i32.const 7)) (global.get $r)))
  (func (export "table grow") (result i32) (table.grow $t (ref.func $seven) (i32.const 2)))
  (func (export "table call") (param i32) (result i32)
    (call_indirect $t (result i32) (i32.and (local.get 0) (i32.const 7))))
  (func (export "forget") (global.set $r (ref.null func)))
  (func (export "throw") (throw $oops (i32.const 3)))
  (func (export "deep") (call $deep))
  (func $deep (call $deep))
  (func (export "stop") unreachable))"#;
