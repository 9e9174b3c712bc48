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

/// Whether each mapping of these addresses is one that huge pages were asked for, as the
/// kernel says (proc(5), `VmFlags`). Whether it has some is up to what it has left.
#[cfg(target_os = "linux")]
fn all_are_asked_for(addresses: std::ops::Range<usize>) -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut is_inside, mut flags) = (false, Vec::new());
    for line in maps.lines() {
        let range = line.split(' ').next().and_then(|word| word.split_once('-'));
        let address = |text| usize::from_str_radix(text, 16).ok();
        if let Some((start, end)) = range
            && let (Some(start), Some(end)) = (address(start), address(end))
        {
            is_inside = start < addresses.end && addresses.start < end;
        } else if is_inside && let Some(rest) = line.strip_prefix("VmFlags:") {
            flags.push(rest.split_whitespace().any(|flag| flag == "hg"));
        }
    }
    !flags.is_empty() && flags.into_iter().all(|is_asked_for| is_asked_for)
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

/// Whether the kernel knows, where it has such pages at all.
#[cfg(target_os = "linux")]
fn are_huge(bounds: Bounds, bytes: &[u8]) {
    // An emulator asks its own kernel for nothing.
    if bounds.name() == "uffd" || common::is_emulated() {
        return;
    }
    let switch = "/sys/kernel/mm/transparent_hugepage/enabled";
    if !std::fs::exists(switch).unwrap_or(false) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: the host has no huge pages");
        return;
    }
    let start = bytes.as_ptr().addr();
    assert!(all_are_asked_for(start..start + bytes.len()), "{bounds}");
}

#[cfg(not(target_os = "linux"))]
fn are_huge(_: Bounds, _: &[u8]) {}
