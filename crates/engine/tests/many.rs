//! Many memories at once in one process.
//!
//! `FATHOM_HOW_MANY=1 cargo test --test many how_many -- --nocapture` says how many
//! there can be under each strategy, and what ends it.

use fathom_engine::TrapCode;
use fathom_engine::*;

/// Memories that are alive at once under `auto`.
const MANY: usize = 10_000;
/// Mappings that many memories take: three each.
const MAPPINGS: u64 = 3 * MANY as u64 + 1000;

fn module(engine: &Engine, memory: &str, index: &str) -> Module {
    let wat = format!(
        r#"(module (memory {memory})
          (func (export "put") (param {index} i32) (i32.store (local.get 0) (local.get 1)))
          (func (export "get") (param {index}) (result i32) (i32.load (local.get 0))))"#
    );
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

fn index_of(memory64: bool, index: u64) -> Val {
    match memory64 {
        true => Val::I64(index.cast_signed()),
        false => Val::I32((index as u32).cast_signed()),
    }
}

/// Each has a value of its own, and traps at its own end.
fn each_is_its_own(engine: &Engine, module: &Module, memory64: bool) {
    let mut store = Store::new(engine, ());
    let instances: Vec<Instance> = (0..MANY)
        .map(|_| Instance::new(&mut store, module, &[]).unwrap())
        .collect();
    let at = index_of(memory64, 65_532);
    for (number, instance) in (0..).zip(&instances) {
        let put = instance.get_func(&store, "put").unwrap();
        let args = [at.clone(), Val::I32(number)];
        put.call(&mut store, &args, &mut []).unwrap();
    }
    for (number, instance) in (0..).zip(&instances) {
        let get = instance.get_func(&store, "get").unwrap();
        let mut result = [Val::I32(0)];
        get.call(&mut store, std::slice::from_ref(&at), &mut result)
            .unwrap();
        assert!(matches!(result[0], Val::I32(value) if value == number));
        for beyond in [65_533, 1 << 31] {
            let beyond = [index_of(memory64, beyond)];
            let error = get.call(&mut store, &beyond, &mut result).unwrap_err();
            assert_eq!(error.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
        }
    }
}

#[test]
fn ten_thousand_memories_are_alive_under_auto() {
    let most = fathom_sys::caps::max_map_count().unwrap_or(0);
    if most < MAPPINGS {
        eprintln!("SKIPPED: vm.max_map_count is {most}, {MAPPINGS} are needed");
        return;
    }
    let engine = Engine::new(&Config::new()).unwrap();
    let narrow = module(&engine, "1", "i32");
    each_is_its_own(&engine, &narrow, false);
    // In the same process: what was given back is used again.
    let wide = module(&engine, "i64 1 16", "i64");
    each_is_its_own(&engine, &wide, true);
}

/// How many memories of a type there can be, and the error of the next.
fn count(engine: &Engine, ty: MemoryType) -> (usize, String) {
    const ENOUGH: usize = 70_000;
    let mut store = Store::new(engine, ());
    for made in 0..ENOUGH {
        if let Err(error) = Memory::new(&mut store, ty) {
            return (made, error.to_string());
        }
    }
    (ENOUGH, "went on".to_owned())
}

#[test]
fn how_many_there_can_be() {
    if std::env::var_os("FATHOM_HOW_MANY").is_none() {
        eprintln!("SKIPPED: it takes minutes; set FATHOM_HOW_MANY to have it printed");
        return;
    }
    let types = [
        ("32-bit", false, None),
        ("32-bit, at most 16 pages", false, Some(16)),
        ("64-bit", true, None),
        ("64-bit, at most 16 pages", true, Some(16)),
    ];
    for bounds in Bounds::ALL {
        for (name, memory64, max) in types {
            if !bounds.supports(memory64) {
                continue;
            }
            let config = Config::new()
                .bounds(BoundsChoice::Named(match bounds.supports(false) {
                    true => bounds,
                    false => Bounds::Guard,
                }))
                .bounds64(BoundsChoice::Named(match bounds.supports(true) {
                    true => bounds,
                    false => Bounds::GUARD64,
                }))
                .quota(Quota::UNLIMITED)
                .allow_unchecked(true);
            let ty = MemoryType {
                min: 1,
                max,
                memory64,
                ..MemoryType::default()
            };
            match Engine::new(&config) {
                Ok(engine) => {
                    let (made, why) = count(&engine, ty);
                    println!("{bounds} | {name} | {made} | {why}");
                }
                Err(error) => println!("SKIPPED under {bounds}: {error}"),
            }
        }
    }
}
