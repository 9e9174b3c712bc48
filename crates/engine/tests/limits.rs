//! What is beyond the implementation is refused in one line that names the
//! limit (`docs/LIMITS.md`); what is just inside works.

use fathom_engine::*;

fn engine() -> Engine {
    Engine::new(&Config::new().opt(Opt::None)).unwrap()
}

fn load(wat: &str) -> Result<Module> {
    Module::new(&engine(), wat::parse_str(wat).unwrap())
}

fn refusal(wat: &str) -> String {
    let text = load(wat).map(|_| ()).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

fn instantiate(wat: &str) -> Result<()> {
    let module = load(wat)?;
    Instance::new(Store::new(module.engine(), ()), &module, &[]).map(|_| ())
}

#[test]
fn memories() {
    // A minimum of any size is a module, and no instance.
    for pages in ["0x1000001", "0x1000000000000"] {
        let wat = format!(
            r#"(module (memory i64 {pages}) (data (i64.const 0) "x")
              (func (export "load") (param i64) (result i32) (i32.load (local.get 0)))
              (func (export "last") (result i32) (i32.load (i64.const 0xffffffffffff)))
              (func (export "grow") (result i64) (memory.grow (i64.const 1))))"#
        );
        load(&wat).unwrap();
        let text = instantiate(&wat).unwrap_err().to_string();
        assert!(
            text.ends_with("of memories are beyond the limit of 4 GiB"),
            "{text}"
        );
        let unlimited = Engine::new(&Config::new().quota(Quota::UNLIMITED)).unwrap();
        let module = Module::new(&unlimited, wat::parse_str(&wat).unwrap()).unwrap();
        let text = Instance::new(Store::new(&unlimited, ()), &module, &[]).map(|_| ());
        let text = text.unwrap_err().to_string();
        assert!(
            text.contains(" pages is beyond the limit of 16777216 pages of 64 KiB"),
            "{text}"
        );
        assert!(!text.contains('\n'), "{text}");
    }
    let text = refusal("(module (memory i64 0x1000000000001))");
    assert!(text.contains("memory size must be at most"), "{text}");
    let text = refusal(&format!("(module {})", "(memory 0)".repeat(101)));
    assert!(
        text.contains("memories count exceeds limit of 100"),
        "{text}"
    );
    load(&format!("(module {})", "(memory 0)".repeat(100))).unwrap();
    load("(module (memory i64 0x1000000))").unwrap();
    // A maximum is a promise, and bounds nothing beyond the limit.
    load("(module (memory i64 0 0x1000000000000))").unwrap();
    let text = refusal("(module (memory i64 0 0x1000000000001))");
    assert!(text.contains("memory size must be at most"), "{text}");
}

/// A tag has results for whoever suspends with it: stack switching, which is beyond 3.0.
#[test]
fn tags_with_results() {
    let wasm = wat::parse_str("(module (tag (result i32)))").unwrap();
    let load = |features: &str| {
        let config = Config::new().features(features.parse().unwrap());
        Module::new(&Engine::new(&config).unwrap(), &wasm).map(|_| ())
    };
    for features in ["3.0", "-stack-switching", "3.0,+wide-arithmetic"] {
        let text = load(features).unwrap_err().to_string();
        assert!(
            text.contains("stack-switching is turned off"),
            "{features}: {text}"
        );
        assert!(!text.contains('\n'), "{text}");
    }
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        load("all").unwrap();
        load("3.0,+stack-switching").unwrap();
    }
}

/// One instruction set has processors without vectors: riscv64.
#[test]
fn vectors() {
    match load("(module (func (result v128) v128.const i64x2 1 2))") {
        Err(error) if cfg!(target_arch = "riscv64") => assert_eq!(
            error.to_string(),
            "unsupported at offset 0xb: simd needs the V extension with vectors of 128 bits, \
             which this processor lacks"
        ),
        loaded => drop(loaded.unwrap()),
    }
}

#[test]
fn tables() {
    let text = instantiate("(module (table 10000001 funcref))").unwrap_err();
    assert_eq!(
        text.to_string(),
        "table of 10000001 elements is beyond the limit of 10000000"
    );
    let text = instantiate("(module (table i64 0x1000000000000 funcref))").unwrap_err();
    assert!(text.to_string().contains("beyond the limit of 10000000"));
    instantiate("(module (table 1000000 funcref))").unwrap();
}

#[test]
fn functions() {
    let params = |n| format!("(module (func (param {})))", "i32 ".repeat(n));
    let text = refusal(&params(1001));
    assert!(text.contains("function params size"), "{text}");
    load(&params(1000)).unwrap();
    let results = |n| format!("(module (func (result {}) unreachable))", "i32 ".repeat(n));
    let text = refusal(&results(1001));
    assert!(text.contains("function returns size"), "{text}");
    load(&results(1000)).unwrap();
    let locals = |n| format!("(module (func (local {})))", "i64 ".repeat(n));
    let text = refusal(&locals(50_001));
    assert!(text.contains("too many locals"), "{text}");
    load(&locals(50_000)).unwrap();
    let size = |n| format!("(module (func {}))", "nop ".repeat(n));
    let text = refusal(&size(7_700_000));
    assert!(text.contains("function body size"), "{text}");
}

/// A module whose section `id` says that it has `count` items.
fn counting(id: u8, count: u32) -> Vec<u8> {
    let mut items = Vec::new();
    let mut rest = count;
    while rest >= 0x80 {
        items.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    items.push(rest as u8);
    let mut wasm = b"\0asm\x01\0\0\0".to_vec();
    wasm.extend([id, items.len() as u8]);
    wasm.extend(items);
    wasm
}

#[test]
fn counts() {
    for (id, what, limit) in [
        (1, "types", 1_000_000),
        (2, "imports", 1_000_000),
        (3, "functions", 1_000_000),
        (4, "tables", 100_000),
        (6, "globals", 1_000_000),
        (7, "exports", 1_000_000),
        (9, "element segments", 100_000),
        (11, "data segments", 100_000),
        (13, "tags", 1_000_000),
    ] {
        let refused = Module::new(&engine(), counting(id, limit + 1)).map(|_| ());
        let text = refused.unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        let expected = format!("{what} count exceeds limit of {limit}");
        assert!(text.contains(&expected), "{text}, not {expected}");
    }
}

#[test]
fn sizes() {
    let text = refusal("(module (memory 65537))");
    assert!(text.contains("memory size must be at most"), "{text}");
    let name = "n".repeat(100_001);
    let text = refusal(&format!("(module (func (export \"{name}\")))"));
    assert!(text.contains("string size"), "{text}");
    let clauses = "(catch_all 0)".repeat(10_001);
    let text = refusal(&format!("(module (func (block (try_table {clauses}))))"));
    assert!(text.contains("catches size"), "{text}");
}

/// There is no limit of its own: a body can be as deep as it is long.
#[test]
fn nesting() {
    const DEPTH: usize = 20_000;
    for (open, close) in [
        ("block ", "end "),
        ("loop ", "end "),
        ("i32.const 1 if ", "end "),
        ("try_table (catch_all 0) ", "end "),
        ("try ", "catch_all end "),
        ("try ", "delegate 0 "),
        ("try nop catch_all ", "end "),
    ] {
        let (open, close) = (open.repeat(DEPTH), close.repeat(DEPTH));
        let wasm = wat::parse_str(format!("(module (func {open} {close}))")).unwrap();
        for opt in Opt::ALL {
            let engine = Engine::new(&Config::new().opt(opt)).unwrap();
            Module::new(&engine, &wasm).unwrap();
        }
    }
}

#[test]
fn frames_larger_than_the_stack_exhaust_it() {
    // Each local is live across the call, 16 bytes.
    let sets: String = (0..40_000)
        .map(|i| format!("call $v local.set {i} "))
        .collect();
    let gets: String = (0..40_000)
        .map(|i| format!("local.get {i} v128.xor "))
        .collect();
    let wat = format!(
        "(module
            (func $v (result v128) v128.const i64x2 1 2)
            (func (export \"f\") (result v128) (local {}) {sets}
                v128.const i64x2 0 0 {gets}))",
        "v128 ".repeat(40_000)
    );
    let config = Config::new().opt(Opt::None).max_wasm_stack(256 << 10);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, wat::parse_str(&wat).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let i = Instance::new(&mut store, &module, &[]).unwrap();
    let f = i.get_func(&store, "f").unwrap();
    let error = f.call(&mut store, &[], &mut [Val::V128(0)]).unwrap_err();
    assert_eq!(error.trap().map(|t| t.code), Some(TrapCode::StackExhausted));
}
