//! The strategy `pkeys` where there are protection keys: `make test-pkeys` runs
//! this in a virtual machine that has them. Elsewhere every test says SKIPPED.

#![cfg(target_arch = "x86_64")]

use std::fs;
use std::ops::Range;
use std::time::{Duration, Instant};

use fathom_engine::TrapCode;
use fathom_engine::*;
use fathom_sys::pkeys;

/// Loads and stores of a 64-bit memory by name, calls, growth.
const MODULE: &str = r#"(module
  (import "host" "nothing" (func $nothing))
  (import "host" "number" (func $number (result i64)))
  (memory (export "memory") i64 1 4)
  (type $f (func (result i32)))
  (table 2 funcref)
  (elem (i32.const 0) $one $one)
  (func $one (result i32) i32.const 1)
  (func (export "load") (param i64) (result i64) local.get 0 i64.load)
  (func (export "load8") (param i64) (result i32) local.get 0 i32.load8_u)
  (func (export "load_16") (param i64) (result i64) local.get 0 i64.load offset=16)
  (func (export "load_2_32") (param i64) (result i64) local.get 0 i64.load offset=0x100000000)
  (func (export "store8") (param i64) local.get 0 i32.const 85 i32.store8)
  (func (export "load_given") (result i64) call $number i64.load)
  (func (export "grow") (result i64) i64.const 1 memory.grow)
  (func (export "host") (param i32)
    (loop $again
      call $nothing
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
  (func (export "indirect") (param $n i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum
        (i32.add (local.get $sum) (call_indirect (type $f) (i32.and (local.get $n) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    local.get $sum)
  (func $deep (export "deep") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
      (else (i32.const 0))))
  (func (export "for_ever") (loop $again (br $again))))"#;

struct Fixture {
    store: Store<i64>,
    instance: Instance,
    /// Address of the memory's first byte.
    base: i64,
}

fn engine() -> Option<Engine> {
    let config = Config::new().bounds(BoundsChoice::Named(Bounds::Pkeys));
    match Engine::new(&config) {
        Ok(engine) => Some(engine),
        Err(error) => {
            println!("SKIPPED: {error}");
            None
        }
    }
}

fn fixture() -> Option<Fixture> {
    Some(fixture_of(&engine()?))
}

fn fixture_of(engine: &Engine) -> Fixture {
    let module = Module::new(engine, wat::parse_str(MODULE).unwrap()).unwrap();
    let mut store = Store::new(engine, 0);
    let nothing = Func::wrap(&mut store, |_: Caller<'_, i64>| {}).unwrap();
    let number = |caller: Caller<'_, i64>| *caller.data();
    let number = Func::wrap(&mut store, number).unwrap();
    let imports = [nothing.into(), number.into()];
    let instance = Instance::new(&mut store, &module, &imports).unwrap();
    let memory = instance.get_memory(&store, "memory").unwrap();
    let base = memory.data(&store).as_ptr() as i64;
    Fixture {
        store,
        instance,
        base,
    }
}

impl Fixture {
    fn call<P: WasmParams, R: WasmResults>(&mut self, name: &str, params: P) -> Result<R> {
        let func = self.instance.get_func(&self.store, name).unwrap();
        let func = func.typed::<P, R>(&self.store).unwrap();
        func.call(&mut self.store, params)
    }

    /// Whether the byte at an address of the process can be loaded.
    fn reaches(&mut self, address: usize) -> bool {
        let index = (address as i64).wrapping_sub(self.base);
        match self.call::<i64, i32>("load8", index) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
                false
            }
        }
    }

    fn switches(&mut self, work: impl FnOnce(&mut Fixture)) -> u64 {
        let before = self.store.counts().key_switches;
        work(self);
        self.store.counts().key_switches - before
    }
}

fn is_out_of_bounds<R>(result: Result<R>) -> bool {
    result.is_err_and(|e| {
        e.trap()
            .is_some_and(|t| t.code == TrapCode::MemoryOutOfBounds)
    })
}

/// A mapping of this process as `/proc/self/smaps` has it.
struct Mapping {
    addresses: Range<usize>,
    name: String,
    is_readable: bool,
    key: u32,
}

fn mappings() -> Vec<Mapping> {
    let text = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut all: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["ProtectionKey:", key] = words[..] {
            all.last_mut().unwrap().key = key.parse().unwrap();
        }
        let Some((start, end)) = words[0].split_once('-') else {
            continue;
        };
        let parse = |text| usize::from_str_radix(text, 16).unwrap();
        all.push(Mapping {
            addresses: parse(start)..parse(end),
            name: words.get(5).copied().unwrap_or("anonymous").to_owned(),
            is_readable: words[1].starts_with('r'),
            key: 0,
        });
    }
    all
}

#[test]
fn inside_everything_works_and_wild_indices_trap() {
    let Some(mut f) = fixture() else { return };
    assert_eq!(f.call::<i64, i64>("load", 65_528).unwrap(), 0);
    f.call::<i64, ()>("store8", 65_535).unwrap();
    assert_eq!(f.call::<i64, i32>("load8", 65_535).unwrap(), 85);
    let ends = [16, 31, 32, 33, 36, 40, 46, 47, 48, 52, 62, 63];
    let mut wild: Vec<u64> = ends.into_iter().map(|bit| 1 << bit).collect();
    wild.extend([65_529, u64::MAX, u64::MAX - 7, u64::MAX - 15, u64::MAX / 2]);
    for index in wild {
        for near in [index, index.wrapping_sub(1) | 7, index | 4096] {
            if near < 65_529 {
                continue;
            }
            let index = near.cast_signed();
            assert!(
                is_out_of_bounds(f.call::<i64, i64>("load", index)),
                "{near:#x}"
            );
            assert!(
                is_out_of_bounds(f.call::<i64, i64>("load_2_32", index)),
                "{near:#x}"
            );
            let stored = f.call::<i64, ()>("store8", index);
            assert_eq!(is_out_of_bounds(stored), near >= 65_536, "{near:#x}");
        }
    }
    assert_eq!(f.call::<(), i64>("grow", ()).unwrap(), 1);
    assert_eq!(f.call::<i64, i64>("load", 131_064).unwrap(), 0);
    assert!(is_out_of_bounds(f.call::<i64, i64>("load", 131_065)));
}

#[test]
fn of_all_mappings_only_those_with_a_key_are_reached() {
    let Some(mut f) = fixture() else { return };
    let (mut locked, mut reached) = (0, Vec::new());
    for mapping in mappings()
        .iter()
        .filter(|m| m.is_readable && m.name != "[vsyscall]")
    {
        let Range { start, end } = mapping.addresses;
        let pages = [start, start + (end - start) / 2, end - 1];
        // What has been read of a file's end is not there.
        for page in if mapping.name.starts_with('/') {
            &pages[..1]
        } else {
            &pages[..]
        } {
            let name = &mapping.name;
            match f.reaches(*page) {
                true => reached.push((mapping.key, *page)),
                false => locked += 1,
            }
            let (page, key) = (*page, mapping.key);
            let is_reached = reached.last().is_some_and(|(_, last)| *last == page);
            assert_eq!(is_reached, key != 0, "{page:#x} of {name} with key {key}");
        }
    }
    println!(
        "{locked} places of the host are locked; reached are {} with a key",
        reached.len()
    );
    assert!(locked > 20, "{locked}");
    println!(
        "vsyscall page reached: {}",
        f.reaches(0xffff_ffff_ff60_0000)
    );
}

#[test]
fn what_is_mapped_while_wasm_runs_is_locked_too() {
    let Some(mut f) = fixture() else { return };
    let nothing = Func::wrap(&mut f.store, |_: Caller<'_, i64>| {}).unwrap();
    // The number is where the instance's own memory begins, which is not known before.
    let fresh = |caller: Caller<'_, i64>| {
        let fresh = std::thread::spawn(|| Box::leak(vec![7u8; 1 << 20].into_boxed_slice()));
        let address = fresh.join().unwrap().as_ptr() as i64;
        (address + 4096).wrapping_sub(*caller.data())
    };
    let fresh = Func::wrap(&mut f.store, fresh).unwrap();
    let module = f.instance.module(&f.store).clone();
    let imports = [nothing.into(), fresh.into()];
    f.instance = Instance::new(&mut f.store, &module, &imports).unwrap();
    let memory = f.instance.get_memory(&f.store, "memory").unwrap();
    *f.store.data_mut() = memory.data(&f.store).as_ptr() as i64;
    assert!(is_out_of_bounds(f.call::<(), i64>("load_given", ())));
}

#[test]
fn the_hosts_stack_is_locked() {
    let Some(mut f) = fixture() else { return };
    let local = 7u64;
    assert!(!f.reaches(std::ptr::from_ref(&local) as usize));
    assert_eq!(local, 7);
}

#[test]
fn what_it_misses() {
    let Some(mut f) = fixture() else { return };
    f.call::<i64, ()>("store8", 8).unwrap();
    // A negative index whose offset leads back: 8 = -8 + 16.
    assert_eq!(f.call::<i64, i64>("load_16", -8).unwrap(), 85);
    // Another memory.
    let mut other = fixture_of(&engine().unwrap());
    other.call::<i64, ()>("store8", 3).unwrap();
    assert!(f.reaches(other.base as usize + 3));
    // What is read only cannot be written: code, lengths, references.
    let fixed = mappings()
        .into_iter()
        .filter(|m| m.is_readable && m.key != 0);
    let mut written = 0;
    for mapping in fixed.filter(|m| m.addresses.end - m.addresses.start == 16 << 30) {
        let index = ((mapping.addresses.end - 4096) as i64).wrapping_sub(f.base);
        written += usize::from(f.call::<i64, ()>("store8", index).is_ok());
    }
    assert_eq!(written, 1, "of the two heaps one is read only");
}

#[test]
fn switches_are_counted_and_indirect_calls_need_none() {
    let Some(mut f) = fixture() else { return };
    let sum = f.switches(|f| assert_eq!(f.call::<i32, i32>("indirect", 1000).unwrap(), 1000));
    assert_eq!(sum, 2);
    assert_eq!(
        f.switches(|f| f.call::<i32, ()>("host", 50).unwrap()),
        2 + 100
    );
    assert_eq!(
        f.switches(|f| assert_eq!(f.call::<(), i64>("grow", ()).unwrap(), 1)),
        4
    );
    assert_eq!(
        f.switches(|f| assert!(f.call::<i64, i64>("load", -1).is_err())),
        3
    );
}

#[test]
fn what_a_host_function_does_to_its_rights_stays() {
    /// PKRU's bits of the last key.
    const LAST: u32 = 3 << 30;
    let Some(mut f) = fixture() else { return };
    let flip = |_: Caller<'_, i64>| pkeys::write(pkeys::read() ^ LAST);
    let flip = Func::wrap(&mut f.store, flip).unwrap();
    let number = Func::wrap(&mut f.store, |_: Caller<'_, i64>| 1_i64 << 40).unwrap();
    let module = f.instance.module(&f.store).clone();
    let imports = [flip.into(), number.into()];
    f.instance = Instance::new(&mut f.store, &module, &imports).unwrap();
    let before = pkeys::read();
    f.call::<i32, ()>("host", 1).unwrap();
    assert_eq!(pkeys::read(), before ^ LAST);
    f.call::<i32, ()>("host", 2).unwrap();
    assert!(is_out_of_bounds(f.call::<(), i64>("load_given", ())));
    assert_eq!(pkeys::read(), before ^ LAST, "a trap is no way back");
    f.call::<i32, ()>("host", 3).unwrap();
    assert_eq!(pkeys::read(), before);
}

#[test]
fn recursion_ends_where_the_stack_of_wasm_does() {
    let Some(mut f) = fixture() else { return };
    assert_eq!(f.call::<i32, i32>("deep", 1000).unwrap(), 1000);
    let error = f.call::<i32, i32>("deep", i32::MAX).unwrap_err();
    assert_eq!(error.trap().unwrap().code, TrapCode::StackExhausted);
    assert_eq!(f.call::<i32, i32>("deep", 10).unwrap(), 10);
}

#[test]
fn threads_run_and_trap_beside_each_other() {
    let Some(engine) = engine() else { return };
    let until = Instant::now() + Duration::from_secs(2);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut f = fixture_of(&engine);
                while Instant::now() < until {
                    assert_eq!(f.call::<i32, i32>("indirect", 100_000).unwrap(), 100_000);
                    assert!(is_out_of_bounds(f.call::<i64, i64>("load", 1 << 40)));
                    f.call::<i32, ()>("host", 100).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_thread_older_than_the_keys_may_use_a_store() {
    let (send, receive) = std::sync::mpsc::channel::<Fixture>();
    let old = std::thread::spawn(move || {
        let Ok(mut f) = receive.recv() else { return };
        let memory = f.instance.get_memory(&f.store, "memory").unwrap();
        assert_eq!(memory.data(&f.store)[9], 0);
        memory.data_mut(&mut f.store)[9] = 4;
        assert_eq!(f.call::<i64, i32>("load8", 9).unwrap(), 4);
    });
    if let Some(f) = fixture() {
        send.send(f).unwrap();
    }
    drop(send);
    old.join().unwrap();
}

#[test]
fn an_interrupt_ends_a_loop() {
    let Some(mut f) = fixture() else { return };
    let interrupt = Interrupt::new();
    f.store.set_interrupt(&interrupt);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            interrupt.raise();
        });
        let error = f.call::<(), ()>("for_ever", ()).unwrap_err();
        assert_eq!(error.trap().unwrap().code, TrapCode::Interrupted);
    });
}

#[test]
fn other_strategies_work_in_the_same_process() {
    let Some(mut f) = fixture() else { return };
    let module = wat::parse_str(
        r#"(module (memory 1) (func (export "load") (param i32) (result i32) local.get 0 i32.load))"#,
    );
    let engine = Engine::new(&Config::new()).unwrap();
    let module = Module::new(&engine, module.unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let load = instance.get_func(&store, "load").unwrap();
    let load = load.typed::<i32, i32>(&store).unwrap();
    for _ in 0..3 {
        assert_eq!(load.call(&mut store, 0).unwrap(), 0);
        assert!(is_out_of_bounds(load.call(&mut store, -1)));
        assert!(is_out_of_bounds(f.call::<i64, i64>("load", -1)));
    }
    assert_eq!(store.counts().key_switches, 0);
}
