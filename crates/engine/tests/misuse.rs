//! What an embedder may do by mistake: an error that says so.

use fathom_engine::*;

fn engine() -> Engine {
    Engine::new(&Config::new()).unwrap()
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, &wat::parse_str(wat).unwrap()).unwrap()
}

/// Two definitions of one name are refused by whoever imports it, unless the last one
/// is to count.
#[test]
fn a_name_is_defined_once_unless_it_is_said_otherwise() {
    let engine = engine();
    let importing = module(
        &engine,
        r#"(module (import "host" "f" (func $f (result i32)))
             (func (export "f") (result i32) call $f))"#,
    );
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.func_wrap("host", "f", |_: Caller<'_, ()>| 1i32);
    linker.func_wrap("host", "f", |_: Caller<'_, ()>| 2i32);
    let mut store = Store::new(&engine, ());
    let error = linker.instantiate(&mut store, &importing).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Link { .. }), "{error}");
    assert!(error.to_string().contains("more than once"), "{error}");
    let other = module(&engine, "(module)");
    linker.instantiate(&mut store, &other).unwrap();
    linker.allow_shadowing(true);
    linker.func_wrap("host", "f", |_: Caller<'_, ()>| 3i32);
    let instance = linker.instantiate(&mut store, &importing).unwrap();
    let f = instance.get_func(&store, "f").unwrap();
    assert_eq!(
        f.typed::<(), i32>(&store)
            .unwrap()
            .call(&mut store, ())
            .unwrap(),
        3
    );
}

/// A handle of another store is an error wherever there is a result to say it in.
#[test]
fn handles_of_other_stores_are_errors() {
    let engine = engine();
    let mut store = Store::new(&engine, ());
    let mut other = Store::new(&engine, ());
    let exporting = module(
        &engine,
        r#"(module (memory (export "m") 1 2) (table (export "t") 1 2 funcref)
             (global (export "g") (mut i32) (i32.const 0)))"#,
    );
    let instance = Instance::new(&mut store, &exporting, &[]).unwrap();
    let export = |name| instance.get_export(&store, name).unwrap();
    let memory = export("m").into_memory().unwrap();
    let table = export("t").into_table().unwrap();
    let global = export("g").into_global().unwrap();
    let null = Val::FuncRef(None);
    let errors = [
        memory.grow(&mut other, 1).map(drop),
        table.grow(&mut other, 1, &null).map(drop),
        table.set(&mut other, 0, &null),
        global.set(&mut other, &Val::I32(1)),
    ];
    for error in errors {
        let text = error.unwrap_err().to_string();
        assert!(text.ends_with("of another store"), "{text}");
    }
}

#[test]
fn a_component_is_refused_as_one() {
    let engine = engine();
    let error = Module::new(&engine, b"\0asm\x0d\0\x01\0").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a component, not a module"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}
