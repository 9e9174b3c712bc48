//! Probe mode: one instance whose exports are called.

use fathom_runner::Refusal;
use fathom_runner::record::{
    FailureKind,
    protocol::{CallOutcome, WireValue},
};
use wasmtime::{Engine, Error, Extern, ExternType, Instance, Memory, Module, Store, Trap, Val};

use crate::{failed, line_of, not_instantiated, trap_text};

/// An instance and the store it lives in.
pub struct Probed {
    store: Store<()>,
    instance: Instance,
}

impl Probed {
    /// Makes it, with a fresh memory for each that it imports.
    pub fn new(engine: &Engine, module: &Module) -> Result<Self, Refusal> {
        let mut store = Store::new(engine, ());
        let mut imports = Vec::new();
        for import in module.imports() {
            let ExternType::Memory(ty) = import.ty() else {
                let message = format!("nothing to import as {} {}", import.module(), import.name());
                return Err(Refusal::new(FailureKind::Link, message));
            };
            let refused = |error: Error| Refusal::new(FailureKind::Io, line_of(&error));
            imports.push(Extern::Memory(
                Memory::new(&mut store, ty).map_err(refused)?,
            ));
        }
        let instance = Instance::new(&mut store, module, &imports);
        let instance = instance.map_err(|error| not_instantiated(&error))?;
        Ok(Self { store, instance })
    }
}

impl fathom_runner::Probed for Probed {
    fn call(&mut self, export: &str, args: &[WireValue]) -> Result<CallOutcome, Refusal> {
        let Some(func) = self.instance.get_func(&mut self.store, export) else {
            let message = format!("the module has no function {export}");
            return Err(Refusal::new(FailureKind::Link, message));
        };
        let args: Vec<Val> = args.iter().map(|value| val_of(*value)).collect();
        let mut results = vec![Val::I32(0); func.ty(&self.store).results().len()];
        if let Err(error) = func.call(&mut self.store, &args, &mut results) {
            let trap = error.downcast_ref::<Trap>();
            let trap = trap.ok_or_else(|| failed(&error))?;
            return Ok(CallOutcome::Trap(trap_text(*trap)));
        }
        let texts: Result<Vec<String>, Refusal> = results.iter().map(text_of).collect();
        texts.map(CallOutcome::Result)
    }
}

fn val_of(value: WireValue) -> Val {
    match value {
        WireValue::I32(bits) => Val::I32(bits.cast_signed()),
        WireValue::I64(bits) => Val::I64(bits.cast_signed()),
        WireValue::F32(bits) => Val::F32(bits),
        WireValue::F64(bits) => Val::F64(bits),
        WireValue::V128(bits) => Val::V128(bits.into()),
    }
}

fn text_of(value: &Val) -> Result<String, Refusal> {
    let value = match value {
        Val::I32(value) => WireValue::I32(value.cast_unsigned()),
        Val::I64(value) => WireValue::I64(value.cast_unsigned()),
        Val::F32(bits) => WireValue::F32(*bits),
        Val::F64(bits) => WireValue::F64(*bits),
        Val::V128(value) => WireValue::V128(value.as_u128()),
        _ => {
            let message = "a call's result is a reference";
            return Err(Refusal::new(FailureKind::Unsupported, message));
        }
    };
    Ok(value.to_string())
}
