//! The same module under wasmtime.

use wasmtime::{
    Config, Engine, Extern, ExternType, Func, Global, HeapType, Instance, Memory, Module, Ref,
    SharedMemory, Store, Table, Tag, Trap, Val, ValType,
};

use crate::instructions::Outcomes;
use crate::observe::{
    Bits, Digest, Ended, HOST_RESULT, OUT_OF_BOUNDS, Observed, UNALIGNED, UNCAUGHT, argument, hash,
};

/// wasmtime, with Cranelift.
pub struct Peer(Engine);

impl Peer {
    /// With its defaults, but as strict about versions as we are.
    pub fn new() -> Result<Peer, wasmtime::Error> {
        let mut config = Config::new();
        config.strategy(wasmtime::Strategy::Cranelift);
        config.wasm_exceptions(true);
        config.wasm_function_references(true);
        config.wasm_gc(true);
        config.wasm_memory64(true);
        config.wasm_multi_memory(true);
        config.wasm_tail_call(true);
        config.wasm_extended_const(true);
        config.wasm_wide_arithmetic(true);
        config.wasm_threads(true);
        config.shared_memory(true);
        // As ours does: the host's own instructions where it has them.
        config.wasm_relaxed_simd(true);
        Engine::new(&config).map(Peer)
    }

    /// What these calls of a module's exports give, one after another, and hashes of
    /// its memories afterwards.
    pub fn call<'c>(
        &self,
        bytes: &[u8],
        calls: impl Iterator<Item = (&'c str, &'c [u128])>,
    ) -> Result<Outcomes, wasmtime::Error> {
        let module = Module::new(&self.0, bytes)?;
        let mut store = Store::new(&self.0, ());
        let instance = Instance::new(&mut store, &module, &[])?;
        let mut outcomes = Vec::new();
        for (name, arguments) in calls {
            let func = instance
                .get_func(&mut store, name)
                .expect("an exported function");
            let ty = func.ty(&store);
            let arguments: Vec<Val> = ty
                .params()
                .zip(arguments)
                .map(|(ty, bits)| of_bits(&ty, *bits))
                .collect();
            let mut results: Vec<Val> = ty.results().map(|_| Val::I32(0)).collect();
            outcomes.push(match func.call(&mut store, &arguments, &mut results) {
                Ok(()) => Ok(results.iter().map(bits).collect()),
                Err(error) => Err(ended(&error)),
            });
        }
        let mut exports: Vec<(String, Extern)> = instance
            .exports(&mut store)
            .map(|export| (export.name().to_owned(), export.into_extern()))
            .collect();
        exports.sort_by(|a, b| a.0.cmp(&b.0));
        let memories = exports.into_iter().filter_map(|(_, item)| match item {
            Extern::Memory(memory) => Some(hash(memory.data(&store))),
            _ => None,
        });
        Ok((outcomes, memories.collect()))
    }

    /// Run everything the module exports.
    pub fn observe(&self, bytes: &[u8]) -> Observed {
        let module = match Module::new(&self.0, bytes) {
            Ok(module) => module,
            Err(error) => return Observed::refused(ended(&error)),
        };
        let mut store = Store::new(&self.0, ());
        let imports = match imports(&mut store, &module) {
            Ok(imports) => imports,
            Err(error) => return Observed::refused(ended(&error)),
        };
        match Instance::new(&mut store, &module, &imports) {
            Ok(instance) => run(&mut store, instance, &imports),
            Err(error) => Observed::refused(ended(&error)),
        }
    }
}

/// What a module imports: one thing for all imports of one name and type.
fn imports(store: &mut Store<()>, module: &Module) -> Result<Vec<Extern>, wasmtime::Error> {
    let mut provided: Vec<(String, Extern)> = Vec::new();
    for import in module.imports() {
        let name = format!("{} {} {:?}", import.module(), import.name(), import.ty());
        let same = provided.iter().find(|(known, _)| *known == name);
        let item = match same {
            Some((_, item)) => item.clone(),
            None => provide(store, &import.ty())?,
        };
        provided.push((name, item));
    }
    Ok(provided.into_iter().map(|(_, item)| item).collect())
}

fn provide(store: &mut Store<()>, ty: &ExternType) -> Result<Extern, wasmtime::Error> {
    Ok(match ty {
        ExternType::Func(ty) => {
            let results: Vec<Val> = ty.results().map(|ty| value(&ty, HOST_RESULT)).collect();
            Func::new(store, ty.clone(), move |_, _, out| {
                out.clone_from_slice(&results);
                Ok(())
            })
            .into()
        }
        ExternType::Global(ty) => {
            let init = value(ty.content(), HOST_RESULT);
            Global::new(store, ty.clone(), init)?.into()
        }
        ExternType::Memory(ty) if ty.is_shared() => {
            SharedMemory::new(store.engine(), ty.clone())?.into()
        }
        ExternType::Memory(ty) => Memory::new(store, ty.clone())?.into(),
        ExternType::Table(ty) => {
            let null = Ref::null(ty.element().heap_type());
            Table::new(store, ty.clone(), null)?.into()
        }
        ExternType::Tag(ty) => Tag::new(store, ty)?.into(),
    })
}

fn of_bits(ty: &ValType, bits: u128) -> Val {
    match ty {
        ValType::I32 => Val::I32(bits as u32 as i32),
        ValType::I64 => Val::I64(bits as u64 as i64),
        ValType::F32 => Val::F32(bits as u32),
        ValType::F64 => Val::F64(bits as u64),
        _ => Val::V128(bits.into()),
    }
}

fn value(ty: &ValType, number: u64) -> Val {
    match ty {
        ValType::I32 => Val::I32(number as i32),
        ValType::I64 => Val::I64(number as i64),
        ValType::F32 => Val::F32((number as f32).to_bits()),
        ValType::F64 => Val::F64((number as f64).to_bits()),
        ValType::V128 => Val::V128((u128::from(number) << 64 | u128::from(number)).into()),
        ValType::Ref(ty) => match ty.heap_type() {
            HeapType::Func => Val::FuncRef(None),
            HeapType::Exn | HeapType::NoExn => Val::ExnRef(None),
            HeapType::Extern | HeapType::NoExtern => Val::ExternRef(None),
            HeapType::NoFunc | HeapType::ConcreteFunc(_) => Val::FuncRef(None),
            _ => Val::AnyRef(None),
        },
    }
}

fn run(store: &mut Store<()>, instance: Instance, imports: &[Extern]) -> Observed {
    let mut exports: Vec<(String, Extern)> = instance
        .exports(&mut *store)
        .map(|export| (export.name().to_owned(), export.into_extern()))
        .collect();
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
                .enumerate()
                .map(|(i, ty)| value(&ty, argument(i)))
                .collect();
            let mut results: Vec<Val> = ty.results().map(|_| Val::I32(0)).collect();
            let outcome = match func.call(&mut *store, &args, &mut results) {
                Ok(()) => Ok(results.iter().map(bits).collect()),
                Err(error) => Err(ended(&error)),
            };
            if outcome.is_err() {
                let items = exports.iter().map(|(_, item)| item).chain(imports);
                let after = state(store, items);
                observed.after_traps.push((name.clone(), after));
            }
            observed.calls.push((name.clone(), outcome));
        }
    }
    for (name, item) in exports {
        match item {
            Extern::Global(global) => {
                observed
                    .globals
                    .push((name, bits(&global.get(&mut *store))));
            }
            Extern::Memory(memory) => {
                let data = memory.data(&*store);
                observed
                    .memories
                    .push((name, data.len() as u64, hash(data)));
            }
            Extern::SharedMemory(memory) => {
                let bytes = shared(&memory);
                observed
                    .memories
                    .push((name, bytes.len() as u64, hash(&bytes)));
            }
            Extern::Table(table) => observed.tables.push((name, table.size(&*store))),
            _ => {}
        }
    }
    observed
}

fn shared(memory: &SharedMemory) -> Vec<u8> {
    // SAFETY: the only thread that has it is this one, which runs no Wasm now.
    memory
        .data()
        .iter()
        .map(|byte| unsafe { *byte.get() })
        .collect()
}

/// All memories, tables and globals among these.
fn state<'e>(store: &mut Store<()>, items: impl Iterator<Item = &'e Extern>) -> u64 {
    let mut digest = Digest::default();
    for item in items {
        match item {
            Extern::Global(global) => digest.value(bits(&global.get(&mut *store))),
            Extern::Memory(memory) => digest.bytes(memory.data(&*store)),
            Extern::SharedMemory(memory) => digest.bytes(&shared(memory)),
            Extern::Table(table) => {
                for at in 0..table.size(&*store) {
                    if let Some(element) = table.get(&mut *store, at) {
                        digest.value(Bits::Reference {
                            null: element.is_null(),
                        });
                    }
                }
            }
            _ => {}
        }
    }
    digest.end()
}

fn bits(value: &Val) -> Bits {
    match value {
        Val::I32(v) => Bits::Number(u128::from(v.cast_unsigned())),
        Val::I64(v) => Bits::Number(u128::from(v.cast_unsigned())),
        Val::F32(v) => Bits::Number(u128::from(*v)),
        Val::F64(v) => Bits::Number(u128::from(*v)),
        Val::V128(v) => Bits::Number(v.as_u128()),
        Val::FuncRef(func) => Bits::Reference {
            null: func.is_none(),
        },
        Val::ExternRef(value) => Bits::Reference {
            null: value.is_none(),
        },
        Val::ExnRef(value) => Bits::Reference {
            null: value.is_none(),
        },
        Val::AnyRef(value) => Bits::Reference {
            null: value.is_none(),
        },
        _ => Bits::Reference { null: true },
    }
}

/// Whether the host has arguments for a function: it has no references.
fn is_callable(ty: &wasmtime::FuncType) -> bool {
    let has = |ty: ValType| match ty {
        ValType::Ref(ty) => ty.is_nullable(),
        _ => true,
    };
    ty.params().all(has)
}

fn ended(error: &wasmtime::Error) -> Ended {
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow | Trap::AllocationTooLarge) => Ended::Exhausted,
        Some(trap) => Ended::Trapped(name(*trap)),
        None if error.is::<wasmtime::ThrownException>() => Ended::Trapped(UNCAUGHT),
        None if error.is::<wasmtime::GcHeapOutOfMemory<()>>() => Ended::Exhausted,
        None => Ended::Refused(format!("{error:#}")),
    }
}

fn name(trap: Trap) -> &'static str {
    match trap {
        Trap::UnreachableCodeReached => "unreachable",
        Trap::MemoryOutOfBounds => OUT_OF_BOUNDS,
        Trap::TableOutOfBounds => "out of bounds table access",
        Trap::NullReference => "null reference",
        Trap::CastFailure => "cast failure",
        Trap::ArrayOutOfBounds => "out of bounds array access",
        Trap::IndirectCallToNull => "uninitialized element",
        Trap::BadSignature => "indirect call type mismatch",
        Trap::IntegerDivisionByZero => "integer divide by zero",
        Trap::IntegerOverflow => "integer overflow",
        Trap::BadConversionToInteger => "invalid conversion to integer",
        Trap::HeapMisaligned => UNALIGNED,
        Trap::AtomicWaitNonSharedMemory => "expected shared memory",
        _ => "another trap",
    }
}
