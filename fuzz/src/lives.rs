//! Generated modules in a pool, life after life, beside an instance of their own.
//!
//! ```text
//!  seed ─► module ─► pool of one place ─┬─ life 0: calls ─┐ the same at the beginning,
//!                └► a new store a life ─┴─ …              ┘ after each call, at the end
//! ```
//!
//! What must stay true: no life sees anything of an earlier one, whichever calls that
//! made and however they ended.

use fathom_engine::{
    AsContextMut, Engine, Extern, ExternType, Instance, Linker, Memory, Module, Pool, PoolLimits,
    Store, Val, ValType,
};

use crate::generate::Stream;
use crate::instructions::values;
use crate::observe::hash;

/// Lives of one module.
const LIVES: usize = 5;
/// Calls of a life at most.
const MOST_CALLS: usize = 6;

/// Each life of a module in a pool and in an instance of its own; how many there were,
/// none where a pool cannot make it.
pub fn difference(engine: &Engine, wasm: &[u8], seed: u64) -> Result<u64, String> {
    let Ok(module) = Module::new(engine, wasm) else {
        return Ok(0);
    };
    let Some(linker) = linker(engine, &module) else {
        return Ok(0);
    };
    let mut stream = Stream::new(seed);
    // Cleaned where it lies, given back to the kernel, or the one or the other by size.
    let resident_bytes = [1 << 30, 0, 1 << 16][stream.below(3)];
    let limits = PoolLimits {
        lanes: 1,
        idle: 1,
        resident_bytes,
    };
    let pool = Pool::new(&linker, &module, limits).map_err(|error| error.to_string())?;
    for life in 0..LIVES {
        let pooled = pool.instantiate(());
        let mut store = Store::new(engine, ());
        let own = linker.instantiate(&mut store, &module);
        let (mut pooled, own) = match (pooled, own) {
            (Ok(pooled), Ok(own)) => (pooled, own),
            (Err(_), Err(_)) => continue,
            (Err(error), _) | (_, Err(error)) => {
                return Err(format!("life {life}: one of both fails: {error}"));
            }
        };
        let reused = pooled.instance();
        let look = |what: &str, seen: Vec<String>, expected: Vec<String>| {
            let mut both = seen.iter().zip(&expected);
            match both.find(|(seen, expected)| seen != expected) {
                Some((seen, expected)) => {
                    Err(format!("life {life}, {what}: {seen}, not {expected}"))
                }
                None => Ok(()),
            }
        };
        look(
            "at the beginning",
            state(&mut pooled, reused),
            state(&mut store, own),
        )?;
        for _ in 0..stream.below(MOST_CALLS + 1) {
            let Some((name, arguments)) = choose(&module, &mut stream) else {
                break;
            };
            let seen = call(&mut pooled, reused, &name, &arguments);
            let expected = call(&mut store, own, &name, &arguments);
            if seen != expected {
                return Err(format!(
                    "life {life}, {name}({arguments:?}): {seen}, not {expected}"
                ));
            }
            look(&name, state(&mut pooled, reused), state(&mut store, own))?;
        }
    }
    Ok(LIVES as u64)
}

/// What a module imports, where a pool can have it.
fn linker(engine: &Engine, module: &Module) -> Option<Linker<()>> {
    let mut linker = Linker::<()>::new(engine);
    for (from, name, ty) in module.imports() {
        // What is not a function belongs to a store, so a pool cannot have it.
        let ExternType::Func(ty) = ty else {
            return None;
        };
        let results = ty.results().iter().map(|ty| Val::default_for(*ty));
        let results: Vec<Val> = results.collect();
        linker.func_new(from, name, ty.clone(), move |_, _, out| {
            out.clone_from_slice(&results);
            Ok(())
        });
    }
    Some(linker)
}

/// An exported function and arguments for it.
fn choose(module: &Module, stream: &mut Stream) -> Option<(String, Vec<Val>)> {
    let functions: Vec<_> = module
        .exports()
        .filter_map(|(name, ty)| match ty {
            ExternType::Func(ty) => Some((name.to_owned(), ty)),
            _ => None,
        })
        .collect();
    if functions.is_empty() {
        return None;
    }
    let (name, ty) = &functions[stream.below(functions.len())];
    let arguments = ty.params().iter().map(|ty| match ty {
        ValType::I32 => Val::I32(values::edge(stream, 'i') as u32 as i32),
        ValType::I64 => Val::I64(values::edge(stream, 'I') as u64 as i64),
        ValType::F32 => Val::F32(values::edge(stream, 'f') as u32),
        ValType::F64 => Val::F64(values::edge(stream, 'F') as u64),
        ValType::V128 => Val::V128(values::edge(stream, 'v')),
        other => Val::default_for(*other),
    });
    Some((name.clone(), arguments.collect()))
}

fn call(
    mut store: impl AsContextMut<Data = ()>,
    instance: Instance,
    name: &str,
    arguments: &[Val],
) -> String {
    let Some(func) = instance.get_func(&store, name) else {
        return "no such function".to_owned();
    };
    let ty = func.ty(&store);
    let mut results: Vec<Val> = ty
        .results()
        .iter()
        .map(|ty| Val::default_for(*ty))
        .collect();
    match func.call(&mut store, arguments, &mut results) {
        Ok(()) => results.iter().map(shown).collect::<Vec<_>>().join(" "),
        Err(error) => error.to_string(),
    }
}

/// A value; of a reference, whether it is one.
fn shown(value: &Val) -> String {
    match value {
        Val::FuncRef(func) => format!("func {}", func.is_some()),
        Val::ExternRef(value) => format!("extern {}", value.is_some()),
        Val::ExnRef(exn) => format!("exn {}", exn.is_some()),
        number => format!("{number:?}"),
    }
}

/// All that an instance exports and that a life can change.
fn state(store: &mut impl AsContextMut<Data = ()>, instance: Instance) -> Vec<String> {
    let mut exports: Vec<(String, Extern)> = instance.exports(&*store).into_iter().collect();
    exports.sort_by(|a, b| a.0.cmp(&b.0));
    let shown = exports.into_iter().map(|(name, item)| match item {
        Extern::Global(global) => format!("{name} = {}", shown(&global.get(&*store))),
        Extern::Memory(memory) => {
            let bytes = contents(&*store, &memory);
            format!("{name} = {} bytes, {:x}", bytes.len(), hash(&bytes))
        }
        Extern::Table(table) => {
            let size = table.size(&*store);
            let elements =
                (0..size).map(|at| table.get(&*store, at).map_or("-".to_owned(), |v| shown(&v)));
            format!(
                "{name} = {size} elements, {:x}",
                hash(elements.collect::<String>().as_bytes())
            )
        }
        Extern::Func(_) | Extern::Tag(_) => name,
    });
    shown.collect()
}

fn contents(store: &impl AsContextMut<Data = ()>, memory: &Memory) -> Vec<u8> {
    match memory.as_shared(store) {
        None => memory.data(store).to_vec(),
        Some(shared) => {
            let mut bytes = vec![0; shared.data_size()];
            shared.read(0, &mut bytes).expect("inside the memory");
            bytes
        }
    }
}
