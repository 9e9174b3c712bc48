//! The module `spectest` that every script of the suite may import
//! (<https://github.com/WebAssembly/spec/tree/main/interpreter#spectest-host-module>).

use fathom_engine::{
    Caller, Extern, Global, GlobalType, Linker, Memory, MemoryType, RefType, Result, Store, Table,
    TableType, Val,
};

const NAME: &str = "spectest";

/// Define it.
pub fn define(linker: &mut Linker<()>, store: &mut Store<()>) -> Result<()> {
    linker
        .func_wrap(NAME, "print", |_: Caller<'_, ()>| {})?
        .func_wrap(NAME, "print_i32", |_: i32| {})?
        .func_wrap(NAME, "print_i64", |_: i64| {})?
        .func_wrap(NAME, "print_f32", |_: f32| {})?
        .func_wrap(NAME, "print_f64", |_: f64| {})?
        .func_wrap(NAME, "print_i32_f32", |_: i32, _: f32| {})?
        .func_wrap(NAME, "print_f64_f64", |_: f64, _: f64| {})?;
    let globals = [
        ("global_i32", Val::I32(666)),
        ("global_i64", Val::I64(666)),
        ("global_f32", Val::F32(666.6_f32.to_bits())),
        ("global_f64", Val::F64(666.6_f64.to_bits())),
    ];
    for (name, value) in globals {
        let ty = GlobalType {
            content: value.ty(),
            mutable: false,
        };
        let global = Global::new(&mut *store, ty, &value)?;
        linker.define(&*store, NAME, name, Extern::Global(global))?;
    }
    let ty = TableType {
        element: RefType::FUNCREF,
        min: 10,
        max: Some(20),
        table64: false,
    };
    let table = Table::new(&mut *store, ty, Val::FuncRef(None))?;
    linker.define(&*store, NAME, "table", Extern::Table(table))?;
    let limits = MemoryType {
        min: 1,
        max: Some(2),
        ..MemoryType::default()
    };
    let memory = Memory::new(&mut *store, limits)?;
    linker.define(&*store, NAME, "memory", Extern::Memory(memory))?;
    let shared = MemoryType {
        shared: true,
        ..limits
    };
    let memory = Memory::new(&mut *store, shared)?;
    linker.define(&*store, NAME, "shared_memory", Extern::Memory(memory))?;
    Ok(())
}
