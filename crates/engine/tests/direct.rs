//! Code that is made in one pass: what of a module is, what is left to Cranelift and named,
//! and what looks at code knows whose it is.

use std::fs;

use fathom_engine::*;

/// What one pass makes, in the order of the functions: an access, a call of it, more
/// results than registers, which is left.
const MIXED: &str = r#"(module (memory 1)
    (func $loads (export "loads") (param i32) (result i32)
        (i32.add (i32.load (local.get 0)) (i32.load offset=70000 (local.get 0))))
    (func (export "calls") (result i32) (call $loads (i32.const 70000)))
    (func (export "many") (result i64 i64 i64 i64 i64 i64 i64 i64 i64)
        (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4) (i64.const 5) (i64.const 6)
        (i64.const 7) (i64.const 8) (i64.const 9))
    (func $idle (export "idle")))"#;

/// Why it is left.
const LEFT: &str = "results in memory";

fn wasm() -> Vec<u8> {
    wat::parse_str(MIXED).unwrap()
}

fn config() -> Config {
    let config = Config::new().bounds(BoundsChoice::Named(Bounds::Trap));
    config.codegen(Codegen::Direct)
}

/// An engine that makes code in one pass; none on another processor, which is refused.
fn engine(config: &Config) -> Option<Engine> {
    match (Engine::new(config), cfg!(target_arch = "x86_64")) {
        (engine, true) => Some(engine.unwrap()),
        (Ok(_), false) => panic!("there is no such generator here"),
        (Err(error), false) => {
            assert_eq!(error.to_string(), "code generator 'direct' is for x86-64");
            None
        }
    }
}

fn named(module: &Module) -> Vec<(u32, String)> {
    let fallbacks = module.fallbacks().into_iter();
    let named = fallbacks.map(|one| {
        assert!(!one.is_refused, "{one:?}");
        (one.func, one.why)
    });
    named.collect()
}

fn call(module: &Module, name: &str) -> Result<()> {
    let mut store = Store::new(module.engine(), ());
    let instance = Instance::new(&mut store, module, &[])?;
    let func = instance.get_func(&store, name).unwrap();
    let ty = func.ty(&store);
    let params: Vec<Val> = ty.params().iter().map(|_| Val::I32(0)).collect();
    let mut results = vec![Val::I32(0); ty.results().len()];
    func.call(&mut store, &params, &mut results)
}

#[test]
fn what_is_left_to_cranelift_is_named() {
    let Some(engine) = engine(&config()) else {
        return;
    };
    let module = Module::new(&engine, wasm()).unwrap();
    assert_eq!(named(&module), [(2, LEFT.to_owned())]);
    call(&module, "many").unwrap();
    let error = call(&module, "loads").unwrap_err();
    let trap = error.trap().map(|trap| trap.code);
    assert_eq!(trap, Some(TrapCode::MemoryOutOfBounds));
}

#[test]
fn what_is_left_when_it_is_first_called_is_named_then() {
    let lazy = config().compilation(Compilation::Lazy);
    let Some(engine) = engine(&lazy) else { return };
    let module = Module::new(&engine, wasm()).unwrap();
    assert_eq!(named(&module), []);
    call(&module, "idle").unwrap();
    assert_eq!(named(&module), []);
    call(&module, "many").unwrap();
    assert_eq!(named(&module), [(2, LEFT.to_owned())]);
}

/// Counts are Cranelift's: nothing is counted that is not.
#[test]
fn what_counts_is_left_as_a_whole() {
    for (config, why) in [
        (config().count(true), "counting"),
        (config().consume_fuel(true), "fuel"),
    ] {
        let Some(engine) = engine(&config) else {
            return;
        };
        let module = Module::new(&engine, wasm()).unwrap();
        let expected: Vec<(u32, String)> = (0..4).map(|func| (func, why.to_owned())).collect();
        assert_eq!(named(&module), expected);
    }
}

#[test]
fn a_listing_shows_what_is_made_in_one_pass() {
    let Some(engine) = engine(&config()) else {
        return;
    };
    let listings = Module::disassemble(&engine, &wasm(), None).unwrap();
    let cranelift = Engine::new(&config().codegen(Codegen::Cranelift)).unwrap();
    let cranelift = Module::disassemble(&cranelift, &wasm(), None).unwrap();
    let [loads, calls, many, _] = &listings[..] else {
        panic!("four functions: {listings:?}")
    };
    assert_ne!(loads.code, cranelift[0].code);
    assert_eq!((&loads.fallback, &loads.clif[..]), (&None, ""));
    let text = loads.to_string();
    for wanted in ["i32.load", "out of bounds memory access", "stack", " !  "] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // A comparison and a branch for each access.
    assert!(loads.cost().check_instructions >= 4, "{text}");
    assert_eq!(calls.cost().check_instructions, 0, "{calls}");
    assert!(calls.to_string().contains("; function 0"), "{calls}");
    assert_eq!(many.fallback.as_deref(), Some(LEFT));
    assert_eq!(many.code, cranelift[2].code);
    assert!(!many.clif.is_empty());
    // One function is listed as it is among all, and is as long as what runs.
    let alone = Module::disassemble(&engine, &wasm(), Some(&[0])).unwrap();
    assert_eq!(alone[0].code, loads.code);
    let module = Module::new(&engine, wasm()).unwrap();
    let bytes: Vec<usize> = module.code_places().map(|(_, _, bytes)| bytes).collect();
    let listed: Vec<usize> = listings.iter().map(|one| one.cost().bytes).collect();
    assert_eq!(bytes, listed);
}

/// Code of one generator is never taken for the other's.
#[test]
fn what_is_kept_is_of_one_generator() {
    let folder = tempfile::tempdir().unwrap();
    let cached = config().cache_dir(Some(folder.path().to_owned()));
    let Some(direct) = engine(&cached) else {
        return;
    };
    let cranelift = Engine::new(&cached.clone().codegen(Codegen::Cranelift)).unwrap();
    let entries = || fs::read_dir(folder.path()).unwrap().count();
    let made = Module::new(&direct, wasm()).unwrap();
    assert!(!made.from_cache());
    let before = entries();
    assert!(!Module::new(&cranelift, wasm()).unwrap().from_cache());
    assert!(entries() > before);
    let kept = Module::new(&direct, wasm()).unwrap();
    assert!(kept.from_cache());
    assert_eq!(kept.fallbacks(), made.fallbacks());
    assert_eq!(kept.code_bytes(), made.code_bytes());
    call(&kept, "many").unwrap();
}

/// A module that is compiled lazily is kept as one that was not.
#[test]
fn what_is_kept_of_a_lazy_module_is_made_in_one_pass() {
    let Some(direct) = engine(&config()) else {
        return;
    };
    let lazy = Engine::new(&config().compilation(Compilation::Lazy)).unwrap();
    let eager = Module::new(&direct, wasm()).unwrap().serialize().unwrap();
    let lazy = Module::new(&lazy, wasm()).unwrap().serialize().unwrap();
    assert_eq!(eager, lazy);
}

/// A table behind the end of a function, and one whose labels are not there: neither is
/// looked at before it is validated.
#[test]
fn a_body_that_is_not_valid_is_the_same_error_by_every_generator() {
    let bodies: [&[u8]; 3] = [
        &[0x0b, 0x0e, 0x00, 0x00, 0x0b],
        &[
            0x41, 0x00, 0x0e, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x0b,
        ],
        &[0x0e, 0x00, 0x00, 0x0b],
    ];
    for body in bodies {
        let mut wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0".to_vec();
        let len = body.len() as u8;
        wasm.extend([0x0a, len + 3, 1, len + 1, 0]);
        wasm.extend_from_slice(body);
        let refused = |codegen| {
            let engine = Engine::new(&Config::new().codegen(codegen)).ok()?;
            Some(Module::new(&engine, &wasm).unwrap_err().to_string())
        };
        let expected = refused(Codegen::Cranelift).expect("it is there");
        for codegen in [Codegen::Direct, Codegen::Tiered] {
            let error = refused(codegen).unwrap_or_else(|| expected.clone());
            assert_eq!(error, expected, "{body:x?}");
        }
    }
}
