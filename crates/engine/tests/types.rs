//! Types are given back when nobody uses them, and not before.

use fathom_engine::*;

const MODULES: u64 = 6;
const TYPES: u64 = 2000;

fn leb(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// A module of many types of 500 parameters that no other number gives.
fn many_types(number: u64) -> Vec<u8> {
    let mut section = leb(TYPES);
    for i in 0..TYPES {
        let id = number * TYPES + i;
        section.push(0x60);
        section.extend(leb(500));
        section.extend((0..500).map(|k| 0x7f - ((id >> (2 * (k % 20))) & 3) as u8));
        section.push(0);
    }
    let mut wasm = b"\0asm\x01\0\0\0\x01".to_vec();
    wasm.extend(leb(section.len() as u64));
    wasm.extend(section);
    wasm
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * fathom_sys::map::page_bytes() as u64
}

fn engine() -> Engine {
    Engine::new(&Config::new().opt(Opt::None)).unwrap()
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

#[test]
fn a_module_that_is_dropped_keeps_nothing() {
    let engine = engine();
    drop(Module::new(&engine, many_types(0)).unwrap());
    let before = resident_bytes();
    for number in 1..MODULES {
        drop(Module::new(&engine, many_types(number)).unwrap());
    }
    // Each has some 16 MB of types.
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 24 << 20, "{grown} bytes were kept");
}

/// Exports a function of a type that mentions itself, and calls one by reference.
const OWNER: &str = r#"(module
  (type $t (func (param (ref null $t) f32 f32 f32) (result i32)))
  (table (export "table") 2 (ref null $t))
  (func $f (export "f") (type $t) (i32.const 42))
  (elem (table 0) (i32.const 0) (ref null $t) (ref.func $f))
  (func (export "call") (result i32)
    (call_indirect (type $t) (ref.null $t) (f32.const 1) (f32.const 2) (f32.const 3)
      (i32.const 0))))"#;

const USER: &str = r#"(module
  (type $t (func (param (ref null $t) f32 f32 f32) (result i32)))
  (import "m" "f" (func $f (type $t)))
  (import "m" "table" (table 1 (ref null $t)))
  (func (export "call") (result i32)
    (i32.add
      (call $f (ref.null $t) (f32.const 1) (f32.const 2) (f32.const 3))
      (call_indirect (type $t) (ref.null $t) (f32.const 1) (f32.const 2) (f32.const 3)
        (i32.const 0)))))"#;

/// Takes the numbers of types that were given back.
fn others(engine: &Engine) -> Vec<Module> {
    let other = |i: usize| {
        let params = "f64 ".repeat(i + 1);
        module(
            engine,
            &format!("(module (type (func (param {params}) (result v128))))"),
        )
    };
    (0..50).map(other).collect()
}

#[test]
fn an_instance_keeps_the_types_of_its_module() {
    let engine = engine();
    let mut store = Store::new(&engine, ());
    let owner = {
        let module = module(&engine, OWNER);
        Instance::new(&mut store, &module, &[]).unwrap()
    };
    let f = owner.get_func(&store, "f").unwrap();
    let ty = f.ty(&store);
    let _others = others(&engine);
    let call = |store: &mut Store<()>, i: Instance| {
        let call = i.get_func(&*store, "call").unwrap();
        call.typed::<(), i32>(&*store)
            .unwrap()
            .call(store, ())
            .unwrap()
    };
    assert_eq!(call(&mut store, owner), 42);
    assert_eq!(f.ty(&store), ty);
    // The same type of a module that is loaded later is the same type.
    let user = {
        let module = module(&engine, USER);
        let mut linker = Linker::new(&engine);
        linker.instance(&store, "m", owner).unwrap();
        linker.instantiate(&mut store, &module).unwrap()
    };
    assert_eq!(call(&mut store, user), 84);
}

#[test]
fn a_type_that_outlives_its_module_is_no_other() {
    let engine = engine();
    let (ty, element) = {
        let module = module(&engine, OWNER);
        let Some((_, ExternType::Table(table))) = module.exports().next() else {
            panic!("the table is exported first")
        };
        (module.exported_func("f").unwrap(), table.element)
    };
    let HeapType::Concrete(id) = element.heap else {
        panic!("a table of one type")
    };
    assert_eq!(id.func_type(), None, "it was given back");
    let _others = others(&engine);
    assert_eq!(id.func_type(), None, "and is none of those that came later");
    let mut store = Store::new(&engine, ());
    let gone = "it mentions a type that nothing uses any more";
    let refused = Func::new(&mut store, ty.clone(), |_, _, _| Ok(())).unwrap_err();
    assert!(refused.to_string().contains(gone), "{refused}");
    let table = TableType {
        element,
        min: 1,
        max: None,
        table64: false,
    };
    let refused = Table::new(&mut store, table, Val::FuncRef(None)).unwrap_err();
    assert!(refused.to_string().contains(gone), "{refused}");
    let content = ValType::Ref(element);
    let global = GlobalType {
        content,
        mutable: true,
    };
    let refused = Global::new(&mut store, global, Val::FuncRef(None)).unwrap_err();
    assert!(refused.to_string().contains(gone), "{refused}");
    let tag = FuncType::new([content], []);
    let refused = Tag::new(&mut store, &tag).unwrap_err();
    assert!(refused.to_string().contains(gone), "{refused}");
}

#[test]
fn what_the_host_made_keeps_its_type() {
    let engine = engine();
    let mut store = Store::new(&engine, ());
    let owner = module(&engine, OWNER);
    let ty = owner.exported_func("f").unwrap();
    let Some((_, ExternType::Table(table))) = owner.exports().next() else {
        panic!("the table is exported first")
    };
    let f = Func::new(&mut store, ty.clone(), |_, _, results| {
        results[0] = Val::I32(21);
        Ok(())
    })
    .unwrap();
    let table = Table::new(&mut store, table, Val::FuncRef(Some(f))).unwrap();
    drop(owner);
    let _others = others(&engine);
    assert_eq!(f.ty(&store), ty);
    // What is loaded later has the same type.
    let user = module(&engine, USER);
    let i = Instance::new(&mut store, &user, &[f.into(), table.into()]).unwrap();
    let call = i.get_func(&store, "call").unwrap();
    let call = call.typed::<(), i32>(&store).unwrap();
    assert_eq!(call.call(&mut store, ()).unwrap(), 42);
}

/// A host function fits whichever type reads like its own, in whatever order modules
/// were loaded.
#[test]
fn a_host_function_fits_types_of_all_groups() {
    let engine = engine();
    let mut linker = Linker::new(&engine);
    linker
        .func_wrap("h", "f", |_: Caller<'_, ()>, _: f32, _: f64, _: f32| {})
        .unwrap();
    let imports = r#"(import "h" "f" (func (type $a)))"#;
    let of_pair = module(
        &engine,
        &format!("(module (rec (type $a (func (param f32 f64 f32))) (type (func))) {imports})"),
    );
    let alone = module(
        &engine,
        &format!("(module (type $a (func (param f32 f64 f32))) {imports})"),
    );
    for module in [&of_pair, &alone, &of_pair] {
        linker.instantiate(Store::new(&engine, ()), module).unwrap();
    }
}

#[test]
fn trampolines_of_types_that_are_gone_are_dropped() {
    let engine = engine();
    let mut store = Store::new(&engine, ());
    let kept = Func::wrap(&mut store, |_: Caller<'_, ()>, x: f64, y: i64| {
        (x as i64 + y) as f64
    })
    .unwrap();
    for round in 0..2000usize {
        let bit = |k: usize| match (round >> k) & 1 {
            0 => ValType::F32,
            _ => ValType::F64,
        };
        let ty = FuncType::new((0..12).map(bit), [ValType::I32]);
        let mut other = Store::new(&engine, ());
        let func = Func::new(&mut other, ty, |_, _, results| {
            results[0] = Val::I32(7);
            Ok(())
        });
        let _ = func.unwrap();
    }
    let kept = kept.typed::<(f64, i64), f64>(&store).unwrap();
    assert_eq!(kept.call(&mut store, (1.0, 2)).unwrap(), 3.0);
}
