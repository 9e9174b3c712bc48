//! Probe mode: one instance whose exports are called.

use fathom_runner::Refusal;
use fathom_runner::record::{
    FailureKind,
    protocol::{CallOutcome, WireValue},
};
use wasmi::{Engine, Extern, ExternType, F32, F64, Instance, Memory, Module, Store, Val};

use crate::{refusal, trap_text};

/// An instance and the store it lives in.
pub struct Probed {
    store: Store<()>,
    instance: Instance,
}

impl Probed {
    /// Makes it, with a fresh memory for each that it imports.
    pub fn new(engine: &Engine, module: &[u8]) -> Result<Self, Refusal> {
        let refused = |error: wasmi::Error| refusal(&error);
        let module = Module::new(engine, module).map_err(refused)?;
        let mut store = Store::new(engine, ());
        let mut imports = Vec::new();
        for import in module.imports() {
            let ExternType::Memory(ty) = import.ty() else {
                let message = format!("nothing to import as {} {}", import.module(), import.name());
                return Err(Refusal::new(FailureKind::Link, message));
            };
            let memory = Memory::new(&mut store, *ty).map_err(refused)?;
            imports.push(Extern::Memory(memory));
        }
        let instance = Instance::new(&mut store, &module, &imports).map_err(refused)?;
        Ok(Self { store, instance })
    }
}

impl fathom_runner::Probed for Probed {
    fn call(&mut self, export: &str, args: &[WireValue]) -> Result<CallOutcome, Refusal> {
        let Some(func) = self.instance.get_func(&self.store, export) else {
            let message = format!("the module has no function {export}");
            return Err(Refusal::new(FailureKind::Link, message));
        };
        let args: Vec<Val> = args.iter().map(|value| val_of(*value)).collect();
        let types = func.ty(&self.store);
        let mut results: Vec<Val> = types
            .results()
            .iter()
            .map(|ty| Val::default_for_ty(*ty))
            .collect();
        if let Err(error) = func.call(&mut self.store, &args, &mut results) {
            let code = error.as_trap_code().ok_or_else(|| refusal(&error))?;
            return Ok(CallOutcome::Trap(trap_text(code).to_owned()));
        }
        let texts: Result<Vec<String>, Refusal> = results.iter().map(text_of).collect();
        texts.map(CallOutcome::Result)
    }
}

fn val_of(value: WireValue) -> Val {
    match value {
        WireValue::I32(bits) => Val::I32(bits.cast_signed()),
        WireValue::I64(bits) => Val::I64(bits.cast_signed()),
        WireValue::F32(bits) => Val::F32(F32::from_bits(bits)),
        WireValue::F64(bits) => Val::F64(F64::from_bits(bits)),
        WireValue::V128(bits) => Val::V128(bits.into()),
    }
}

fn text_of(value: &Val) -> Result<String, Refusal> {
    let value = match value {
        Val::I32(value) => WireValue::I32(value.cast_unsigned()),
        Val::I64(value) => WireValue::I64(value.cast_unsigned()),
        Val::F32(value) => WireValue::F32(value.to_bits()),
        Val::F64(value) => WireValue::F64(value.to_bits()),
        Val::V128(value) => WireValue::V128(value.as_u128()),
        Val::FuncRef(_) | Val::ExternRef(_) => {
            let message = "a call's result is a reference";
            return Err(Refusal::new(FailureKind::Unsupported, message));
        }
    };
    Ok(value.to_string())
}
