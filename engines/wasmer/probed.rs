//! Probe mode: one instance whose exports are called.

use fathom_runner::Refusal;
use fathom_runner::record::{
    FailureKind,
    protocol::{CallOutcome, WireValue},
};
use wasmer::{Engine, ExternType, Imports, Instance, Memory, Module, Store, Value};

use crate::{failed, not_instantiated, refused, trap_text};

/// An instance and the store it lives in.
pub struct Probed {
    store: Store,
    instance: Instance,
}

impl Probed {
    /// Makes it, with a fresh memory for each that it imports.
    pub fn new(engine: &Engine, module: &[u8]) -> Result<Self, Refusal> {
        let module = Module::new(engine, module).map_err(|error| refused(&error))?;
        let mut store = Store::new(engine.clone());
        let mut imports = Imports::new();
        for import in module.imports() {
            let ExternType::Memory(ty) = import.ty() else {
                let message = format!("nothing to import as {} {}", import.module(), import.name());
                return Err(Refusal::new(FailureKind::Link, message));
            };
            let memory = Memory::new(&mut store, *ty)
                .map_err(|error| Refusal::new(FailureKind::Io, error.to_string()))?;
            imports.define(import.module(), import.name(), memory);
        }
        let instance = Instance::new(&mut store, &module, &imports)
            .map_err(|error| not_instantiated(&error))?;
        Ok(Self { store, instance })
    }
}

impl fathom_runner::Probed for Probed {
    fn call(&mut self, export: &str, args: &[WireValue]) -> Result<CallOutcome, Refusal> {
        let Ok(func) = self.instance.exports.get_function(export) else {
            let message = format!("the module has no function {export}");
            return Err(Refusal::new(FailureKind::Link, message));
        };
        let args: Vec<Value> = args.iter().map(|value| val_of(*value)).collect();
        match func.call(&mut self.store, &args) {
            Ok(results) => {
                let texts: Result<Vec<String>, Refusal> = results.iter().map(text_of).collect();
                texts.map(CallOutcome::Result)
            }
            Err(error) => {
                let code = error.clone().to_trap().ok_or_else(|| failed(&error))?;
                Ok(CallOutcome::Trap(trap_text(code)))
            }
        }
    }
}

fn val_of(value: WireValue) -> Value {
    match value {
        WireValue::I32(bits) => Value::I32(bits.cast_signed()),
        WireValue::I64(bits) => Value::I64(bits.cast_signed()),
        WireValue::F32(bits) => Value::F32(f32::from_bits(bits)),
        WireValue::F64(bits) => Value::F64(f64::from_bits(bits)),
        WireValue::V128(bits) => Value::V128(bits),
    }
}

fn text_of(value: &Value) -> Result<String, Refusal> {
    let value = match value {
        Value::I32(value) => WireValue::I32(value.cast_unsigned()),
        Value::I64(value) => WireValue::I64(value.cast_unsigned()),
        Value::F32(value) => WireValue::F32(value.to_bits()),
        Value::F64(value) => WireValue::F64(value.to_bits()),
        Value::V128(value) => WireValue::V128(*value),
        _ => {
            let message = "a call's result is a reference";
            return Err(Refusal::new(FailureKind::Unsupported, message));
        }
    };
    Ok(value.to_string())
}
