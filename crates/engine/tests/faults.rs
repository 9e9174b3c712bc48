//! Pages under `uffd` are there for the host and, once populated, for the
//! kernel.

mod common;

use std::fs::File;
use std::io::{Read, Write};

use fathom_engine::*;

const TRAPS: &str = r#"(module (memory (export "memory") 2)
    (func (export "load") (param i32) (result i32) local.get 0 i32.load))"#;

/// `None` where this host lacks the strategy.
fn instance(bounds: Bounds) -> Option<(Store<()>, Instance)> {
    let engine = common::engine(bounds)?;
    let module = Module::new(&engine, wat::parse_str(TRAPS).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    Some((store, instance))
}

#[test]
fn the_kernel_can_use_a_populated_range_under_every_strategy() {
    for bounds in Bounds::forms_for(false).filter(|bounds| *bounds != Bounds::None) {
        let Some((mut store, i)) = instance(bounds) else {
            continue;
        };
        let memory = i.get_memory(&store, "memory").unwrap();
        memory.populate(&store, 60_000, 10_000).unwrap();
        let bytes = &mut memory.data_mut(&mut store)[60_000..70_000];
        File::open("/dev/zero").unwrap().read_exact(bytes).unwrap();
        File::options()
            .write(true)
            .open("/dev/null")
            .unwrap()
            .write_all(bytes)
            .unwrap();
        assert_eq!(
            memory.populate(&store, 0x1_0000, 0x1_0001),
            Err(OutOfBounds)
        );
        assert_eq!(memory.populate(&store, u64::MAX, 2), Err(OutOfBounds));
    }
}

#[test]
fn the_host_reads_zeros_where_nobody_wrote() {
    let Some((store, i)) = instance(Bounds::Uffd) else {
        return;
    };
    let memory = i.get_memory(&store, "memory").unwrap();
    assert!(memory.data(&store).iter().all(|byte| *byte == 0));
}
