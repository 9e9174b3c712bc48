//! A host that has no mapping left (`vm.max_map_count`): what cannot be laid or
//! taken back is an error, and a memory of which that is true is never used again.
//!
//! What a test does to the process's mappings is done in a child.

#![allow(unsafe_code)]

mod common;

use std::ptr::null_mut;

use fathom_engine::*;

/// More mappings than tests want to make.
const MAPPINGS_MAX: usize = 1 << 18;

/// All the mappings that the process may still have, each of them a page.
struct Mappings(Vec<*mut libc::c_void>);

impl Mappings {
    /// Nothing where the host sets no limit worth reaching.
    fn exhaust() -> Option<Mappings> {
        let mut mappings = Mappings(Vec::with_capacity(MAPPINGS_MAX));
        mappings.refill().then_some(mappings)
    }

    /// Take what is to be had; whether that came to an end.
    fn refill(&mut self) -> bool {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        while self.0.len() < MAPPINGS_MAX {
            // Neighbours of one protection would be one mapping.
            let protection = [libc::PROT_NONE, libc::PROT_READ][self.0.len() % 2];
            // SAFETY: a fresh page at an address of the kernel's choice.
            let page = unsafe { libc::mmap(null_mut(), 1, protection, flags, -1, 0) };
            if page == libc::MAP_FAILED {
                return true;
            }
            self.0.push(page);
        }
        false
    }

    /// Give so many back.
    fn leave(&mut self, count: usize) {
        for page in self.0.split_off(self.0.len() - count) {
            // SAFETY: a page of this list, which nobody uses.
            unsafe { libc::munmap(page, 1) };
        }
    }
}

impl Drop for Mappings {
    fn drop(&mut self) {
        self.leave(self.0.len());
    }
}

const MODULE: &str = r#"(module
  (memory 1 4)
  (data (i32.const 8232) "DATA")
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "store") (param i32 i64) (i64.store (local.get 0) (local.get 1)))
  (func (export "load") (param i32) (result i64) (i64.load (local.get 0))))"#;

fn wasm(data: usize) -> Vec<u8> {
    wat::parse_str(MODULE.replace("DATA", &"x".repeat(data))).unwrap()
}

fn pool(engine: &Engine, data: usize, resident_bytes: usize) -> Pool<()> {
    let module = Module::new(engine, wasm(data)).unwrap();
    let limits = PoolLimits {
        lanes: 1,
        resident_bytes,
        ..PoolLimits::default()
    };
    Pool::new(&Linker::new(engine), &module, limits).unwrap()
}

/// A word of each page, among them some of the data.
const PLACES: [i32; 5] = [8232, 4096, 65_536 + 8, 2 * 65_536 - 8, 3 * 65_536 - 8];

/// What the pages hold once it was grown to three pages.
fn observe(pool: &Pool<()>, lease: &mut Pooled<()>) -> Vec<i64> {
    let grow = pool.func::<i32, i32>("grow").unwrap();
    let load = pool.func::<i32, i64>("load").unwrap();
    let (grow, load) = (lease.func(&grow).unwrap(), lease.func(&load).unwrap());
    assert_eq!(grow.call(&mut *lease, 2).unwrap(), 1);
    let words = PLACES.map(|at| load.call(&mut *lease, at).unwrap());
    words.to_vec()
}

#[test]
fn what_cannot_be_taken_back_is_never_used_again() {
    if common::is_emulated() || !common::is_alone("what_cannot_be_taken_back_is_never_used_again") {
        return;
    }
    let engines = Bounds::forms_for(false).filter_map(|it| Some((it, common::engine(it)?)));
    let engines: Vec<_> = engines.collect();
    let pools = |(bounds, engine): &(Bounds, Engine)| {
        let bounds = *bounds;
        // What stays is locked, which takes no mapping; what does not is mapped anew.
        let kinds = [(4, 0), (30_000, 0), (4, 1 << 20), (30_000, 1 << 20)];
        kinds.map(|(data, resident)| (bounds, data, pool(engine, data, resident)))
    };
    let pools: Vec<_> = engines.iter().flat_map(pools).collect();
    let mut leases = Vec::new();
    for (_, _, pool) in &pools {
        let mut lease = pool.instantiate(()).unwrap();
        let new = observe(pool, &mut lease);
        let store = pool.func::<(i32, i64), ()>("store").unwrap();
        let store = lease.func(&store).unwrap();
        for at in PLACES {
            store.call(&mut lease, (at, 77)).unwrap();
        }
        leases.push((lease, new));
    }
    let mut after = Vec::with_capacity(pools.len());
    let Some(mut mappings) = Mappings::exhaust() else {
        eprintln!("SKIPPED: the host sets no limit to mappings");
        return;
    };
    for (lease, new) in leases {
        drop(lease);
        after.push(new);
        mappings.refill();
    }
    drop(mappings);
    let mut dropped = Vec::new();
    for ((bounds, data, pool), new) in pools.iter().zip(after) {
        if pool.idle() == 0 {
            dropped.push(*bounds);
        }
        let mut lease = pool.instantiate(()).unwrap();
        assert_eq!(observe(pool, &mut lease), new, "{bounds}, {data} bytes");
    }
    // What it takes back of those is mapped anew: it must have been refused.
    for bounds in [Bounds::Trap, Bounds::Guard, Bounds::Clamp] {
        let times = dropped.iter().filter(|it| **it == bounds).count();
        assert_eq!(times, 2, "{bounds}: restoring was to fail");
    }
}

#[test]
fn data_that_cannot_be_laid_is_an_error() {
    if common::is_emulated() || !common::is_alone("data_that_cannot_be_laid_is_an_error") {
        return;
    }
    for bounds in Bounds::all_for(false) {
        let Some(engine) = common::engine(bounds) else {
            continue;
        };
        let pool = pool(&engine, 30_000, 1 << 20);
        let new = observe(&pool, &mut pool.instantiate(()).unwrap());
        // Their images are made for the first instance, which is in use.
        let pools: Vec<Pool<()>> = (0..8)
            .map(|_| self::pool(&engine, 30_000, 1 << 20))
            .collect();
        let held: Vec<_> = pools
            .iter()
            .map(|pool| pool.instantiate(()).unwrap())
            .collect();
        let Some(mut mappings) = Mappings::exhaust() else {
            eprintln!("SKIPPED: the host sets no limit to mappings");
            return;
        };
        let mut leases = Vec::with_capacity(pools.len());
        for pool in &pools {
            leases.push(pool.instantiate(()));
            mappings.leave(1);
        }
        drop((held, mappings));
        let mut refusals = Vec::new();
        for (pool, lease) in pools.iter().zip(leases) {
            match lease {
                Ok(mut lease) => assert_eq!(observe(pool, &mut lease), new, "{bounds}"),
                Err(error) => refusals.push(error.to_string()),
            }
            let mut lease = pool.instantiate(()).unwrap();
            assert_eq!(observe(pool, &mut lease), new, "{bounds}, afterwards");
        }
        let laying = |text: &&String| text.contains("mapping its data segments: ");
        if bounds != Bounds::Pkeys {
            assert!(
                refusals.iter().any(|it| laying(&it)),
                "{bounds}: {refusals:#?}"
            );
        }
    }
}
