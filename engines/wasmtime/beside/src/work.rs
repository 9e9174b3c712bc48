//! What is measured: one text for both engines, a module of each, which calls its own
//! `api`.

use super::{api, dynamic};
use api::{Engine, Instance, InstancePre, Linker, Module, Store};

/// Wasm and what runs it, ready to be asked.
pub struct Ready {
    store: Store<u64>,
    instance: Instance,
}

pub fn compile(engine: &Engine, wasm: &[u8]) -> Module {
    Module::new(engine, wasm).expect("it compiles")
}

/// The fifteen functions that the small module imports, of as many types as those of
/// WASI's programs.
pub fn linker(engine: &Engine) -> Linker<u64> {
    let mut linker = Linker::new(engine);
    macro_rules! define {
        ($($name:literal $last:ty, $($ty:ty)*;)*) => {
            $(linker.func_wrap("host", $name, |$(_: $ty,)* _: $last| {}).expect("a new name");)*
        };
    }
    define! {
        "f0" i32, ; "f1" i64, ; "f2" i32, i32; "f3" i64, i32; "f4" i32, i32 i32;
        "f5" i64, i32 i32; "f6" i32, i32 i32 i32; "f7" i64, i32 i32 i32;
        "f8" i32, i32 i32 i32 i32; "f9" i64, i32 i32 i32 i32;
        "f10" i32, i32 i32 i32 i32 i32; "f11" i64, i32 i32 i32 i32 i32;
        "f12" i32, i32 i32 i32 i32 i32 i32; "f13" i64, i32 i32 i32 i32 i32 i32;
        "f14" i32, i32 i32 i32 i32 i32 i32 i32;
    }
    linker
        .func_new("dynamic", "f", dynamic(engine), |_, _, _| Ok(()))
        .expect("a new name");
    linker
}

/// The same for a program: what it imports fails when it is called.
pub fn any(module: &Module) -> Linker<u64> {
    let mut linker = Linker::new(module.engine());
    linker
        .define_unknown_imports_as_traps(module)
        .expect("functions only");
    linker
}

pub fn instance(linker: &Linker<u64>, module: &Module) -> Ready {
    let mut store = Store::new(linker.engine(), 0);
    let instance = linker
        .instantiate(&mut store, module)
        .expect("it has its imports");
    Ready { store, instance }
}

pub fn prepared(linker: &Linker<u64>, module: &Module) -> InstancePre<u64> {
    linker.instantiate_pre(module).expect("it has its imports")
}

pub fn of_prepared(pre: &InstancePre<u64>) -> Ready {
    let mut store = Store::new(pre.module().engine(), 0);
    let instance = pre.instantiate(&mut store).expect("it has its imports");
    Ready { store, instance }
}

impl Ready {
    /// Calls the function that adds, so often.
    pub fn add(&mut self, calls: u32) {
        let add = self
            .instance
            .get_typed_func::<(i32, i32), i32>(&mut self.store, "add");
        let add = add.expect("it is exported");
        for n in 0..calls {
            add.call(&mut self.store, (n as i32, 1)).expect("it adds");
        }
    }

    /// Calls one without parameters, so often.
    pub fn call(&mut self, name: &str, calls: u32) {
        let func = self
            .instance
            .get_typed_func::<(), ()>(&mut self.store, name);
        let func = func.expect("it is exported");
        for _ in 0..calls {
            func.call(&mut self.store, ()).expect("it returns");
        }
    }

    /// Calls one that does something so often itself.
    pub fn repeat(&mut self, name: &str, times: u32) {
        let func = self
            .instance
            .get_typed_func::<i32, ()>(&mut self.store, name);
        let func = func.expect("it is exported");
        func.call(&mut self.store, times as i32)
            .expect("it returns");
    }
}
