//! 64-bit memories as a host makes them, under every strategy that is exact.

mod common;
#[path = "common/ways.rs"]
mod ways;

use fathom_engine::TrapCode;
use fathom_engine::*;
use ways::Way;

fn each(test: impl Fn(&Engine)) {
    let exact = Bounds::forms_for(true).filter(|b| b.guarantee() == Guarantee::Exact);
    for bounds in exact {
        let config = Config::new()
            .bounds64(BoundsChoice::Named(bounds))
            .memory64_growth_limit(1 << 36);
        if let Some(engine) = common::engine_with(config, bounds, "(module (memory i64 1))") {
            eprintln!("under {bounds}");
            test(&engine);
        }
    }
}

fn memory(store: &mut Store<()>, min: u64, max: Option<u64>) -> Memory {
    let ty = MemoryType {
        min,
        max,
        memory64: true,
        ..MemoryType::default()
    };
    Memory::new(store, ty).unwrap()
}

fn code(error: &Error) -> TrapCode {
    error.trap().expect("a trap").code
}

/// What is reserved for a memory is its maker's to say: a module may import it
/// without a maximum, or with a larger one.
#[test]
fn an_imported_memory_is_as_large_as_its_maker_said() {
    const IMPORTS: [&str; 3] = ["1", "1 2", "1 0x1000000000000"];
    each(|engine| {
        for import in IMPORTS {
            let mut store = Store::new(engine, ());
            let mine = memory(&mut store, 1, Some(2));
            let neighbours = [0; 8].map(|_| memory(&mut store, 1, Some(2)));
            for neighbour in neighbours {
                neighbour.data_mut(&mut store).fill(0xa5);
            }
            let wat = format!(
                r#"(module (memory (import "" "") i64 {import})
                   (func (export "load") (param i64) (result i32) (i32.load (local.get 0))))"#
            );
            let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
            let instance = Instance::new(&mut store, &module, &[mine.into()]).unwrap();
            let load = instance.get_func(&store, "load").unwrap();
            let load = load.typed::<u64, i32>(&store).unwrap();
            assert_eq!(load.call(&mut store, 65_532).unwrap(), 0);
            // Wherever a neighbour is: each is in a unit of 1 GiB of its own.
            for unit in 0..96_u64 {
                for index in [unit << 30, (unit << 30).wrapping_neg()] {
                    let loaded = load.call(&mut store, index.max(65_536)).unwrap_err();
                    assert_eq!(code(&loaded), TrapCode::MemoryOutOfBounds, "{index:#x}");
                }
            }
        }
    });
}

/// A memory may be larger than any that a module's own could be: what an index may be is
/// the memory's, not the module's.
#[test]
fn an_imported_memory_may_be_larger_than_any_of_ones_own() {
    const PAGES: u64 = 65_540;
    let exact = Bounds::forms_for(true).filter(|b| b.guarantee() == Guarantee::Exact);
    for bounds in exact {
        let quota = Quota {
            memory_bytes: (PAGES + 1) * 65_536,
            ..Quota::default()
        };
        let config = Config::new()
            .bounds64(BoundsChoice::Named(bounds))
            .memory64_growth_limit(1 << 20)
            .quota(quota);
        let Some(engine) = common::engine_with(config, bounds, "(module (memory i64 1))") else {
            continue;
        };
        let mut store = Store::new(&engine, ());
        let large = memory(&mut store, 1, Some(PAGES));
        if large.grow(&mut store, PAGES - 1).is_err() {
            eprintln!("SKIPPED: the host has no room for {PAGES} pages under {bounds}");
            continue;
        }
        let wat = r#"(module (memory (import "" "") i64 1)
            (func (export "load") (param i64) (result i64) (i64.load (local.get 0)))
            (func (export "store") (param i64 i64) (i64.store (local.get 0) (local.get 1))))"#;
        let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
        let instance = Instance::new(&mut store, &module, &[large.into()]).unwrap();
        let load = instance.get_func(&store, "load").unwrap();
        let load = load.typed::<u64, u64>(&store).unwrap();
        let write = instance.get_func(&store, "store").unwrap();
        let write = write.typed::<(u64, u64), ()>(&store).unwrap();
        let last = PAGES * 65_536 - 8;
        for index in [1 << 32, last] {
            write.call(&mut store, (index, index)).unwrap();
            assert_eq!(load.call(&mut store, index).unwrap(), index, "{bounds}");
        }
        assert_eq!(load.call(&mut store, 0).unwrap(), 0, "{bounds}");
        let beyond = load.call(&mut store, last + 1).unwrap_err();
        assert_eq!(code(&beyond), TrapCode::MemoryOutOfBounds, "{bounds}");
    }
}

/// Pointers that are followed in a memory of at most 4 GiB.
const FOLLOWS: &str = r#"(module (memory i64 1 65536) (func (export "f") (param i64) (result i64)
    (local.set 0 (i64.load (local.get 0)))
    (local.set 0 (i64.load offset=8 (local.get 0)))
    (i64.load offset=16 (local.get 0))))"#;

/// The register of 64 bits that one of 32 is the lower half of.
fn whole(half: &str) -> String {
    match half.strip_prefix("%e") {
        Some(name) => format!("%r{name}"),
        None => half.trim_end_matches('d').to_owned(),
    }
}

/// The guard against speculation of such a memory is that an access goes to the half of its
/// index with which the index was compared, and not to the index itself, which is the same
/// number behind the comparison.
#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the code is that of x86-64"
)]
fn an_access_goes_to_the_half_that_its_index_was_compared_with() {
    for way in Way::all_and_llvm() {
        let config = way.of(Config::new().bounds64(BoundsChoice::Named(Bounds::GUARD64)));
        let engine = Engine::new(&config).unwrap();
        let wasm = wat::parse_str(FOLLOWS).unwrap();
        let listing = Module::disassemble(&engine, &wasm, None).unwrap().remove(0);
        assert_eq!(listing.fallback, None, "{way}");
        let (mut half, mut accesses) = (None, 0);
        for line in &listing.code {
            if line.is_check && line.text.starts_with("movl ") {
                half = line.text.rsplit(", ").next().map(whole);
            } else if line.trap.is_some() && line.text.starts_with("mov") {
                let half = half.take().unwrap_or_else(|| panic!("{way}: {listing}"));
                let at_half = format!(", {half})");
                assert!(line.text.contains(&at_half), "{way}: {half}: {listing}");
                accesses += 1;
            }
        }
        assert_eq!(accesses, 3, "{way}: {listing}");
    }
}

/// Sixteen bytes behind what both ways to a place have accessed.
const JOINED: &str = r#"(module (memory i64 65536 65536)
    (func (export "f") (param $p i64) (param $way i32) (result i32) (local $q i64)
        (if (local.get $way)
            (then
                (drop (i32.load8_u (local.get $p)))
                (local.set $q (local.get $p)))
            (else
                (drop (i32.load8_u offset=1 (local.get $p)))
                (local.set $q (i64.add (local.get $p) (i64.const 1)))))
        (i32.load8_u (i64.add (local.get $q) (i64.const 16)))))"#;

/// A check is not left out where the guard that stays would make another index of one beyond
/// a memory of 4 GiB.
#[test]
fn an_index_that_its_guard_would_change_keeps_its_check() {
    each(|engine| {
        let module = Module::new(engine, wat::parse_str(JOINED).unwrap()).unwrap();
        let mut store = Store::new(engine, ());
        let instance = match Instance::new(&mut store, &module, &[]) {
            Ok(instance) => instance,
            Err(error) => return eprintln!("SKIPPED: {error}"),
        };
        let f = instance.get_func(&store, "f").unwrap();
        let f = f.typed::<(u64, i32), i32>(&store).unwrap();
        for way in [0, 1] {
            let mut call = |p: u64| f.call(&mut store, (p, way));
            assert_eq!(call((1 << 32) - 18).unwrap(), 0);
            for p in [(1 << 32) - 16, (1 << 32) - 2, (1 << 32) - 1, 1 << 32] {
                let beyond = call(p).unwrap_err();
                assert_eq!(code(&beyond), TrapCode::MemoryOutOfBounds, "{p:#x}");
            }
        }
    });
}
