//! What an embedder may do by mistake: an error that says so.

use fathom_engine::*;

fn engine() -> Engine {
    Engine::new(&Config::new()).unwrap()
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

/// A second definition of a name is refused where it is made, unless it is to count.
#[test]
fn a_name_is_defined_once_unless_it_is_said_otherwise() {
    let engine = engine();
    let importing = module(
        &engine,
        r#"(module (import "host" "f" (func $f (result i32)))
             (func (export "f") (result i32) call $f))"#,
    );
    let mut linker: Linker<()> = Linker::new(&engine);
    let mut store = Store::new(&engine, ());
    let answer = |linker: &Linker<()>, store: &mut Store<()>| {
        let instance = linker.instantiate(&mut *store, &importing).unwrap();
        let f = instance.get_typed_func::<(), i32>(&*store, "f").unwrap();
        f.call(store, ()).unwrap()
    };
    linker.func_wrap("host", "f", || 1i32).unwrap();
    let errors = [
        linker.func_wrap("host", "f", || 2i32).map(drop),
        linker.func_wrap("host", "f", || 2i64).map(drop),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Defined { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(text.starts_with("'host' 'f' is defined already"), "{text}");
    }
    assert_eq!(answer(&linker, &mut store), 1);
    linker.allow_shadowing(true);
    linker.func_wrap("host", "f", || 3i32).unwrap();
    assert_eq!(answer(&linker, &mut store), 3);
}

/// What a store owns is defined for that store.
#[test]
fn an_item_of_another_store_is_not_defined() {
    let engine = engine();
    let (store, mut other) = (Store::new(&engine, ()), Store::new(&engine, ()));
    let ty = GlobalType {
        content: ValType::I32,
        mutable: false,
    };
    let global = Global::new(&mut other, ty, 1).unwrap();
    let mut linker = Linker::new(&engine);
    let refused = linker.define(&store, "m", "g", global).map(drop);
    assert_eq!(refused.unwrap_err().to_string(), "item of another store");
    linker.define(&other, "m", "g", global).unwrap();
    let mut third = Store::new(&engine, ());
    assert!(linker.get(&mut third, "m", "g").is_err());
    assert!(linker.get(&mut other, "m", "g").is_ok());
    assert!(linker.get(&mut other, "m", "h").is_err());
}

#[test]
fn text_is_refused_as_text() {
    let text = Module::new(&engine(), " ;; a comment\n(module)").unwrap_err();
    assert!(text.to_string().contains("text format"), "{text}");
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
        global.set(&mut other, Val::I32(1)),
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
