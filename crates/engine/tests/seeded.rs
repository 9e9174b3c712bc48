//! A few seeds of what `make fuzz` runs for hours: leases in pools, the cache under
//! attack, signals and forks while Wasm runs.

#![allow(unsafe_code)]

mod common;
#[path = "../../../fuzz/src/folders.rs"]
mod folders;
#[path = "../../../fuzz/src/pools.rs"]
mod pools;
#[allow(dead_code, reason = "the long run counts configurations")]
#[path = "../../../fuzz/src/signals.rs"]
mod signals;

use common::numbers;

const LIVES: u64 = 12;
const FOLDERS: u64 = 40;
const WORKERS: u64 = 40;

#[test]
fn leases_in_pools_are_what_they_would_be_alone() {
    let engines = pools::engines().unwrap();
    let mut again = 0;
    for seed in 0..LIVES {
        let wasm = wat::parse_str(pools::module(&mut numbers(seed))).unwrap();
        for (name, engine) in &engines {
            match pools::check(engine, &wasm, &mut numbers(seed + 1000)) {
                Ok(seen) => again += seen.again,
                Err(why) => panic!("seed {seed}, {name}: {why}"),
            }
        }
    }
    assert!(again > LIVES, "instances were used again {again} times");
}

#[test]
fn a_cache_under_attack_gives_each_module_its_own_code() {
    let (mut found, mut attacks) = (0, 0);
    for seed in 0..FOLDERS {
        let folder = tempfile::tempdir().unwrap();
        match folders::check(folder.path(), &mut numbers(seed)) {
            Ok(seen) => {
                found += seen.found;
                attacks += seen.attacks;
            }
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(found > FOLDERS && attacks > FOLDERS, "{found}, {attacks}");
}

#[test]
fn signals_and_forks_change_nothing() {
    if common::is_emulated() || !common::is_alone("signals_and_forks_change_nothing") {
        return;
    }
    signals::begin();
    let stage = signals::Stage::new().unwrap();
    let (mut forks, mut sent) = (0, 0);
    for seed in 0..WORKERS {
        match stage.check(&mut numbers(seed)) {
            Ok(seen) => {
                forks += seen.forks;
                sent += seen.signals;
            }
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(forks > WORKERS && sent > WORKERS, "{forks}, {sent}");
}
