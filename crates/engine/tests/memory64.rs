//! 64-bit memories as a host makes them, under every strategy that is exact.

mod common;

use fathom_engine::TrapCode;
use fathom_engine::*;

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
