//! A module that may have little: no memory, table or anything else above what its
//! store may have, growth that is refused changes nothing, and all is given back.

use fathom_engine::TrapCode;
use fathom_engine::{
    Allowance, Config, Engine, Error, Extern, Instance, Module, Quota, Resource, Store,
    StoreLimits, StoreLimitsBuilder, Val,
};

use crate::generate::Stream;
use crate::observe::argument;
use crate::ours::{provide, value};

/// Bytes of a page of a memory.
const PAGE: u64 = 65_536;

/// What a case came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Instances that were made, and that were not allowed.
    pub instances: u64,
    /// As above.
    pub refused: u64,
    /// Growths by the host that went well, and that did not.
    pub grown: u64,
    /// As above.
    pub not_grown: u64,
    /// Calls that ended at a limit or without fuel.
    pub ended: u64,
}

/// The engine that [`case`] takes: its code consumes fuel.
pub fn engine(config: Config) -> Result<Engine, Error> {
    Engine::new(&config.consume_fuel(true))
}

/// Runs all that a module exports in stores that may have little, by the numbers of
/// `seed`; what was above a limit, or not given back.
pub fn case(engine: &Engine, bytes: &[u8], seed: u64) -> Result<Numbers, String> {
    let mut numbers = Numbers::default();
    let Ok(module) = Module::new(engine, bytes) else {
        return Ok(numbers);
    };
    let mut stream = Stream::new(!seed);
    let allowance = Allowance::new(little(&mut stream));
    for _ in 0..2 {
        let mut lives = Vec::new();
        for _ in 0..1 + stream.below(2) {
            let mut store = Store::within(engine, limits(&mut stream), &allowance);
            if stream.below(2) == 0 {
                store.limiter(|limits| limits);
            }
            live(&mut store, &module, &mut stream, &mut numbers)?;
            lives.push(store);
            is_within(&allowance)?;
        }
        drop(lives);
        for resource in Resource::ALL {
            match allowance.used(resource) {
                0 => {}
                kept => return Err(format!("{kept} of {resource:?} were not given back")),
            }
        }
    }
    Ok(numbers)
}

fn little(stream: &mut Stream) -> Quota {
    let mut below = |bound| stream.below(bound) as u64;
    Quota {
        memory_bytes: below(60) * PAGE + below(2) * 17,
        memories: below(8),
        tables: below(10),
        table_elements: below(4000),
        instances: below(5),
        instance_bytes: below(20_000),
        exception_bytes: below(20_000),
        extern_refs: below(4),
        stack_bytes: 64 << 10,
        heap_bytes: 64 << 20,
    }
}

fn limits(stream: &mut Stream) -> StoreLimits {
    StoreLimitsBuilder::new()
        .memory_size(stream.below(40) * PAGE as usize)
        .table_elements(stream.below(2000))
        .memories(stream.below(8))
        .tables(stream.below(8))
        .trap_on_grow_failure(stream.below(4) == 0)
        .build()
}

fn is_within(allowance: &Allowance) -> Result<(), String> {
    let quota = allowance.quota();
    let limits = [
        (Resource::MemoryBytes, quota.memory_bytes),
        (Resource::Memories, quota.memories),
        (Resource::Tables, quota.tables),
        (Resource::TableElements, quota.table_elements),
        (Resource::Instances, quota.instances),
        (Resource::InstanceBytes, quota.instance_bytes),
        (Resource::ExceptionBytes, quota.exception_bytes),
        (Resource::ExternRefs, quota.extern_refs),
        (Resource::StackBytes, quota.stack_bytes),
        (Resource::HeapBytes, quota.heap_bytes),
    ];
    for (resource, limit) in limits {
        let used = allowance.used(resource);
        if used > limit {
            return Err(format!("{used} of {resource:?}, of {limit}"));
        }
    }
    Ok(())
}

/// Instances of a module, and all that they export.
fn live(
    store: &mut Store<StoreLimits>,
    module: &Module,
    stream: &mut Stream,
    numbers: &mut Numbers,
) -> Result<(), String> {
    store
        .set_fuel(stream.below(30_000) as u64)
        .map_err(|error| error.to_string())?;
    for _ in 0..1 + stream.below(3) {
        let imports: Result<Vec<Extern>, Error> = module
            .imports()
            .map(|(_, _, ty)| provide(store, &ty))
            .collect();
        let instance = imports.and_then(|imports| Instance::new(&mut *store, module, &imports));
        let Ok(instance) = instance else {
            numbers.refused += 1;
            continue;
        };
        numbers.instances += 1;
        for (_, item) in instance.exports(&*store) {
            exercise(store, item, stream, numbers)?;
            is_within(store.allowance())?;
        }
    }
    Ok(())
}

fn exercise(
    store: &mut Store<StoreLimits>,
    item: Extern,
    stream: &mut Stream,
    numbers: &mut Numbers,
) -> Result<(), String> {
    let delta = stream.below(50) as u64;
    let (before, grown, after) = match item {
        Extern::Func(func) => {
            let ty = func.ty(&*store);
            let params = ty.params().iter().enumerate();
            let args: Vec<Val> = params.map(|(i, ty)| value(*ty, argument(i))).collect();
            let results = ty.results().iter().map(|ty| Val::default_for(*ty));
            let mut results: Vec<Val> = results.collect();
            let ended = func.call(&mut *store, &args, &mut results);
            let at_limit = |error: Error| {
                let code = error.trap().map(|trap| trap.code);
                error.limit().is_some() || code == Some(TrapCode::OutOfFuel)
            };
            numbers.ended += u64::from(ended.is_err_and(at_limit));
            return Ok(());
        }
        Extern::Memory(memory) => {
            let before = memory.size(&*store);
            let grown = memory.grow(&mut *store, delta);
            (before, grown, memory.size(&*store))
        }
        Extern::Table(table) => {
            let (before, null) = (table.size(&*store), table.ty(&*store).element);
            let null = Val::default_for(fathom_engine::ValType::Ref(null));
            let grown = table.grow(&mut *store, delta, &null);
            (before, grown, table.size(&*store))
        }
        _ => return Ok(()),
    };
    match grown {
        Ok(old) if (old, after) == (before, before + delta) => numbers.grown += 1,
        Err(_) if before == after => numbers.not_grown += 1,
        other => return Err(format!("{before} by {delta} is {other:?}, {after}")),
    }
    Ok(())
}
