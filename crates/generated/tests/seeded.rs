//! A few seeds of what `make fuzz` runs for hours: leases in pools, and the cache under attack.

use fathom_generated::generate::Stream;
use fathom_generated::{folders, pools};

const LIVES: u64 = 12;
const FOLDERS: u64 = 40;

/// Numbers below a bound, the same each time for a seed.
fn below(seed: u64) -> impl FnMut(usize) -> usize {
    let mut stream = Stream::new(seed);
    move |bound| stream.below(bound)
}

#[test]
fn leases_in_pools_are_what_they_would_be_alone() {
    let engines = pools::engines().unwrap();
    let mut again = 0;
    for seed in 0..LIVES {
        let wasm = wat::parse_str(pools::module(&mut below(seed))).unwrap();
        for (name, engine) in &engines {
            match pools::check(engine, &wasm, &mut below(seed + 1000)) {
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
        match folders::check(folder.path(), &mut below(seed)) {
            Ok(seen) => {
                found += seen.found;
                attacks += seen.attacks;
            }
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(found > FOLDERS && attacks > FOLDERS, "{found}, {attacks}");
}
