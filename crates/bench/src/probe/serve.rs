//! Our own engine's side of a probe: the calls, and a watch over what lies
//! around the memory under test, which only the engine's host can keep.
//!
//! ```text
//!  same store    canary memory | memory under test | canary memory
//!  same process  … fence | the memory's whole reservation | fence …
//! ```
//!
//! After the calls every canary must be as it was. The host's own way into the
//! memory is tried at its edges too.

use std::io;

use fathom_engine::{
    AsContextMut, Engine, Error, ErrorKind, Extern, ExternType, Instance, Linker, Memory,
    MemoryType, Module, Pool, PoolLimits, Store, Val,
};
use fathom_record::protocol::{Call, CallOutcome, WireValue};
use fathom_sys::fence::Fence;

use super::model::{CANARY, Reach, specified};
use super::module::MEMORY;
use crate::generator;

/// A byte that is not the memory's was changed, or is within the host's reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Escape(pub String);

/// Why a probe was not served to its end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The engine does not want the module, or this machine lacks something.
    #[error(transparent)]
    Engine(#[from] Error),
    /// Another code generator than the one that was asked for.
    #[error("{0}")]
    Other(String),
    /// A call of something that is not there.
    #[error("the module has no function {0}")]
    Missing(String),
    /// An import that is no memory.
    #[error("a probe gives memories only, not '{0}'")]
    Import(String),
    /// An argument that cannot be read.
    #[error(transparent)]
    Argument(#[from] fathom_record::protocol::UnknownValue),
    /// The watch could not be set up.
    #[error("fencing the memory: {0}")]
    Fence(io::Error),
    /// The events go nowhere.
    #[error("telling an outcome: {0}")]
    Tell(io::Error),
    /// The sandbox leaks.
    #[error(transparent)]
    Escape(#[from] Escape),
}

/// Makes `calls`, in order, on one instance of `module`, and tells what became
/// of each; on one that has been used before, where `is_pooled` says so.
///
/// # Errors
/// [`ServeError::Escape`] where anything around the memory was changed.
pub fn serve(
    engine: &Engine,
    is_pooled: bool,
    module: &[u8],
    calls: &[Call],
    tell: &mut dyn FnMut(u32, CallOutcome) -> io::Result<()>,
) -> Result<(), ServeError> {
    let module = Module::new(engine, module)?;
    generator::shares(&module).map_err(ServeError::Other)?;
    let memory64 = has_wide_memory(&module);
    // A pool gives no memories, so that one who imports them is never in it.
    if is_pooled && module.imports().next().is_none() {
        let pool = Pool::new(&Linker::new(engine), &module, PoolLimits::default())?;
        use_up(&pool)?;
        let mut pooled = pool.instantiate(())?;
        let instance = pooled.instance();
        let before = canary(&mut pooled, memory64)?;
        return watch(&mut pooled, instance, before, memory64, calls, tell);
    }
    let mut store = Store::new(engine, ());
    let before = canary(&mut store, memory64)?;
    let imports = memories_for(&mut store, &module)?;
    let instance = Instance::new(&mut store, &module, &imports)?;
    watch(&mut store, instance, before, memory64, calls, tell)
}

/// A lease before the one that is probed: the memory grown as far as a few pages,
/// all of it written.
fn use_up(pool: &Pool<()>) -> Result<(), ServeError> {
    let mut pooled = pool.instantiate(())?;
    let memory = pooled.instance().get_memory(&pooled, MEMORY);
    if let Some(memory) = memory {
        for pages in [7, 1] {
            if memory.grow(&mut pooled, pages).is_ok() {
                break;
            }
        }
        if !memory.ty(&pooled).shared {
            memory.data_mut(&mut pooled).fill(CANARY);
        }
    }
    Ok(())
}

fn watch<C: AsContextMut<Data = ()>>(
    store: &mut C,
    instance: Instance,
    before: Memory,
    memory64: bool,
    calls: &[Call],
    tell: &mut dyn FnMut(u32, CallOutcome) -> io::Result<()>,
) -> Result<(), ServeError> {
    let behind = canary(store, memory64)?;
    let memory = instance
        .get_memory(&*store, MEMORY)
        .ok_or_else(|| ServeError::Missing(MEMORY.to_owned()))?;
    let start = memory.data(store).as_ptr() as usize;
    let fence = Fence::around(start, CANARY).map_err(ServeError::Fence)?;
    for (index, call) in (0..).zip(calls) {
        let outcome = outcome_of(store, instance, call)?;
        tell(index, outcome).map_err(ServeError::Tell)?;
    }
    for (memory, which) in [(before, "before"), (behind, "after")] {
        if let Some(at) = memory.data(store).iter().position(|byte| *byte != CANARY) {
            let text = format!("byte {at:#x} of the memory made {which} it was changed");
            return Err(Escape(text).into());
        }
    }
    if let Some(at) = fence.first_changed() {
        let text = format!(
            "a byte {:+#x} from the start of the memory, outside its reservation, was changed",
            (at as i128) - (start as i128)
        );
        return Err(Escape(text).into());
    }
    host_keeps_out(store, memory)?;
    Ok(())
}

/// A fresh memory for each that the module imports.
fn memories_for(store: &mut Store<()>, module: &Module) -> Result<Vec<Extern>, ServeError> {
    let mut memories = Vec::new();
    for (_, name, ty) in module.imports() {
        let ExternType::Memory(ty) = ty else {
            return Err(ServeError::Import(name.to_owned()));
        };
        memories.push(Memory::new(&mut *store, ty)?.into());
    }
    Ok(memories)
}

/// Whether the memory under test has 64-bit indices.
fn has_wide_memory(module: &Module) -> bool {
    module
        .exports()
        .any(|(name, ty)| name == MEMORY && matches!(ty, ExternType::Memory(ty) if ty.memory64))
}

/// A memory of one page, full of canaries.
fn canary(store: &mut impl AsContextMut, memory64: bool) -> Result<Memory, Error> {
    let one_page = MemoryType {
        min: 1,
        max: Some(1),
        memory64,
        ..MemoryType::default()
    };
    let memory = Memory::new(&mut *store, one_page)?;
    memory.data_mut(store).fill(CANARY);
    Ok(memory)
}

fn outcome_of(
    store: &mut impl AsContextMut,
    instance: Instance,
    call: &Call,
) -> Result<CallOutcome, ServeError> {
    let export = instance.get_export(&*store, &call.export);
    let Some(func) = export.and_then(Extern::into_func) else {
        return Err(ServeError::Missing(call.export.clone()));
    };
    let mut args = Vec::with_capacity(call.args.len());
    for text in &call.args {
        args.push(val_of(text.parse()?));
    }
    let types = func.ty(&*store);
    let mut results: Vec<Val> = types
        .results()
        .iter()
        .map(|ty| Val::default_for(*ty))
        .collect();
    match func.call(&mut *store, &args, &mut results) {
        Ok(()) => Ok(CallOutcome::Result(results.iter().map(text_of).collect())),
        Err(error) => match error.kind() {
            ErrorKind::Trap(trap) => Ok(CallOutcome::Trap(trap.code.to_string())),
            _ => Err(error.into()),
        },
    }
}

fn val_of(value: WireValue) -> Val {
    match value {
        WireValue::I32(bits) => Val::I32(bits.cast_signed()),
        WireValue::I64(bits) => Val::I64(bits.cast_signed()),
        WireValue::F32(bits) => Val::F32(bits),
        WireValue::F64(bits) => Val::F64(bits),
        WireValue::V128(bits) => Val::V128(bits),
    }
}

fn text_of(value: &Val) -> String {
    let value = match value {
        Val::I32(value) => WireValue::I32(value.cast_unsigned()),
        Val::I64(value) => WireValue::I64(value.cast_unsigned()),
        Val::F32(bits) => WireValue::F32(*bits),
        Val::F64(bits) => WireValue::F64(*bits),
        Val::V128(bits) => WireValue::V128(*bits),
        // No export of a probe's module gives one; nothing a judge takes for a value.
        _ => return "a reference".to_owned(),
    };
    value.to_string()
}

/// Ranges that a guest names and the host reads, writes or hands to the kernel
/// are inside exactly where the specification says so.
fn host_keeps_out(store: &mut impl AsContextMut, memory: Memory) -> Result<(), Escape> {
    let len = memory.data_size(&*store) as u64;
    let starts = [
        0,
        1,
        len.wrapping_sub(1),
        len,
        len + 1,
        (1 << 32) - 1,
        1 << 32,
        u64::MAX - 7,
    ];
    for index in starts {
        for width in [0, 1, 8, 16] {
            let mut bytes = vec![0; width];
            let inside = specified(Reach {
                index,
                offset: 0,
                width: width as u64,
                len,
            });
            let read = memory.read(&*store, index, &mut bytes).is_ok();
            let populated = memory.populate(&*store, index, width as u64).is_ok();
            let written = memory.write(&mut *store, index, &bytes).is_ok();
            if [read, populated, written] != [inside; 3] {
                return Err(Escape(format!(
                    "the host's own access of {width} bytes at {index:#x} of {len:#x}: \
                     expected {inside}, read {read}, populated {populated}, wrote {written}"
                )));
            }
        }
    }
    Ok(())
}
