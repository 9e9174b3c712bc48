//! Linear memories on huge pages, under every form of every strategy: what a program sees is
//! the same, to the last byte of the memory and behind it, and the kernel says that they are
//! huge where the host has them.

mod common;

use std::io::Write as _;

use fathom_engine::TrapCode;
use fathom_engine::*;

const PAGE: u64 = 65_536;
/// Pages at first, and how many are added each time: neither ends where a huge page does.
const FIRST: u64 = 65;
const MORE: [u64; 4] = [1, 33, 100, 64];

fn module(memory64: bool) -> Vec<u8> {
    let index = if memory64 { "i64" } else { "i32" };
    let text = format!(
        r#"(module (memory (export "memory") {index} {FIRST} 1024)
             (func (export "fill") (param {index} {index})
               (memory.fill (local.get 0) (i32.const 0x5a) (local.get 1)))
             (func (export "load") (param {index}) (result i32) (i32.load8_u (local.get 0)))
             (func (export "grow") (param {index}) (result {index}) (memory.grow (local.get 0))))"#
    );
    wat::parse_str(text).unwrap()
}

/// Calls a function whose parameters and result are an index or an `i32`.
fn call(store: &mut Store<()>, instance: &Instance, name: &str, args: &[u64]) -> Result<u64> {
    let func = instance.get_func(&*store, name).unwrap();
    let params = func.ty(&*store).params().to_vec();
    let args: Vec<Val> = params
        .iter()
        .zip(args)
        .map(|(ty, arg)| match ty {
            ValType::I64 => Val::I64(arg.cast_signed()),
            _ => Val::I32(*arg as i32),
        })
        .collect();
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    func.call(store, &args, &mut results)?;
    Ok(match results.first() {
        Some(Val::I32(value)) => u64::from(value.cast_unsigned()),
        Some(Val::I64(value)) => value.cast_unsigned(),
        _ => 0,
    })
}

/// KiB on huge pages of the mappings that begin in `addresses`.
#[cfg(target_os = "linux")]
fn huge_kib(addresses: std::ops::Range<usize>) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut inside, mut sum) = (false, 0);
    for line in maps.lines() {
        if let Some((start, _)) = line.split_once('-')
            && let Ok(start) = usize::from_str_radix(start, 16)
        {
            inside = addresses.contains(&start);
        } else if inside && let Some(rest) = line.strip_prefix("AnonHugePages:") {
            let kib = rest.trim().trim_end_matches(" kB");
            sum += kib.parse::<u64>().unwrap();
        }
    }
    sum
}

#[test]
fn a_program_sees_nothing_of_them() {
    for memory64 in [false, true] {
        for bounds in Bounds::forms_for(memory64) {
            let choice = BoundsChoice::Named(bounds);
            let config = Config::new().bounds(choice).bounds64(choice);
            let text = if memory64 {
                "(module (memory i64 1))"
            } else {
                "(module (memory 1))"
            };
            let Some(engine) = common::engine_with(config.huge_pages(true), bounds, text) else {
                continue;
            };
            check(&engine, bounds, memory64);
        }
    }
}

fn check(engine: &Engine, bounds: Bounds, memory64: bool) {
    let module = Module::new(engine, module(memory64)).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let mut pages = FIRST;
    call(&mut store, &instance, "fill", &[0, pages * PAGE]).unwrap();
    for more in MORE {
        assert_eq!(
            call(&mut store, &instance, "grow", &[more]).unwrap(),
            pages,
            "{bounds}"
        );
        let before = pages * PAGE;
        assert_eq!(
            call(&mut store, &instance, "load", &[before - 1]).unwrap(),
            0x5a,
            "{bounds}"
        );
        assert_eq!(
            call(&mut store, &instance, "load", &[before]).unwrap(),
            0,
            "{bounds}"
        );
        pages += more;
        call(&mut store, &instance, "fill", &[before, more * PAGE]).unwrap();
        let last = pages * PAGE - 1;
        assert_eq!(
            call(&mut store, &instance, "load", &[last]).unwrap(),
            0x5a,
            "{bounds}"
        );
        if bounds.guarantee() == Guarantee::Exact {
            let behind = call(&mut store, &instance, "load", &[last + 1]).unwrap_err();
            let code = behind.trap().expect("a trap").code;
            assert_eq!(code, TrapCode::MemoryOutOfBounds, "{bounds}");
        }
    }
    let memory = instance.get_memory(&store, "memory").unwrap();
    assert!(
        memory.data(&store).iter().all(|byte| *byte == 0x5a),
        "{bounds}"
    );
    are_huge(bounds, memory.data(&store));
}

/// Whether the kernel has them so, where it is known to.
fn are_huge(bounds: Bounds, bytes: &[u8]) {
    let switch = "/sys/kernel/mm/transparent_hugepage/enabled";
    let mode = std::fs::read_to_string(switch).unwrap_or_default();
    if bounds.name() == "uffd" {
        return;
    }
    if !cfg!(target_os = "linux") || !(mode.contains("[madvise]") || mode.contains("[always]")) {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the host has no huge pages: {mode:?}"
        );
        return;
    }
    #[cfg(target_os = "linux")]
    {
        let start = bytes.as_ptr().addr();
        // A mapping may begin in front of the memory.
        let kib = huge_kib(start.saturating_sub(16 << 20)..start + bytes.len());
        // 263 pages are 16 MiB; a part of them may be on small ones, all of them may not.
        assert!(kib >= 4096, "{bounds}: {kib} KiB");
    }
}
