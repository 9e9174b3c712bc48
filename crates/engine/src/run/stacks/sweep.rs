//! The end of a stack, moved byte by byte: whatever shape its frame has, a function runs and
//! returns what it should, or traps, and below the end no byte changes.
//!
//! ```text
//!  VmCont │ 5a 5a 5a … 5a 5a │           frames │ VmStackTop │ VmCont
//!         ▲ slot             ▲ limit, of each remaining room
//! ```
//!
//! The canary is all that lies between the limit and the block of the neighbour, and that
//! block. In all ways to compile, under every exact strategy, and with each function called for the
//! first time where that compiles it; `--nocapture` shows a table. Without
//! `.tools/zig` (`make setup`) what LLVM does is SKIPPED.

use std::slice;

use rayon::prelude::*;

use super::tests::place;
use crate::bounds::Guarantee;
use crate::facts::vmcont::VmCont;
use crate::run::instance::Instance;
use crate::run::linker::Linker;
use crate::run::store::{Store, opaque_mut};
use crate::run::values::Val;
use crate::{Bounds, BoundsChoice, Codegen, Compilation, Config, Engine, Module, TrapCode};

#[path = "../../../tests/common/frames.rs"]
mod frames;
#[path = "../../../tests/common/ways.rs"]
mod ways;

use ways::Way;

/// Bytes of a stack: more than any shape needs.
const STACK_BYTES: usize = 32 << 10;
/// What a canary is made of.
const CANARY: u8 = 0x5a;
/// What a function that waits has below its stack pointer for whom it calls.
const SETUP_BYTES: usize = 16;
/// Depths beyond the first that suffices.
const BEYOND: usize = 72;

/// The exact strategies that this host has, each with whether its memory has 64 bits: those
/// that take none of 32.
fn strategies() -> Vec<(Bounds, bool)> {
    let works = |bounds: Bounds, memory: &[u8]| {
        let config = Config::new().bounds(BoundsChoice::Named(bounds));
        let module = Engine::new(&config).and_then(|engine| Module::new(&engine, memory));
        module.is_ok()
    };
    let width = |bounds: Bounds| {
        let is_wide = [(MEMORY, false), (MEMORY64, true)];
        let found = is_wide.iter().find(|(memory, _)| works(bounds, memory));
        found.map(|(_, is_wide)| (bounds, *is_wide))
    };
    let all = Bounds::ALL.into_iter();
    let exact = all.filter(|bounds| bounds.guarantee() == Guarantee::Exact);
    exact.filter_map(width).collect()
}

/// Modules of one memory, of 32 bits and of 64.
const MEMORY: &[u8] = b"\0asm\x01\0\0\0\x05\x03\x01\0\x01";
const MEMORY64: &[u8] = b"\0asm\x01\0\0\0\x05\x03\x01\x04\x01";

struct Guest {
    store: Store<()>,
    instance: Instance,
    module: Module,
}

fn guest(config: &Config, wasm: &[u8]) -> Guest {
    let engine = Engine::new(config).unwrap();
    let module = Module::new(&engine, wasm).unwrap();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    let twice = |x: i64| x.wrapping_mul(2);
    linker.func_wrap("host", "count", twice).unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    Guest {
        store,
        instance,
        module,
    }
}

/// How many functions of a module align their frames to 32 bytes: `and rsp, -32`.
fn realigned(module: &Module) -> usize {
    let is_realigned = |(_, address, bytes): &(u32, usize, usize)| {
        // SAFETY: compiled code can be read, as long as its module lives.
        let code = unsafe { slice::from_raw_parts(*address as *const u8, *bytes) };
        code.windows(4).any(|four| four == [0x48, 0x83, 0xe4, 0xe0])
    };
    module.code_places().filter(is_realigned).count()
}

impl Guest {
    fn call(&mut self, name: &str, args: &[Val]) -> Result<Val, crate::Error> {
        let func = self.instance.get_func(&self.store, name).unwrap();
        let mut results = [Val::I64(0)];
        func.call(&mut self.store, args, &mut results)?;
        let [result] = results;
        Ok(result)
    }

    /// The block of a continuation that waits.
    fn block(&mut self, value: &Val) -> *mut VmCont {
        let Val::ContRef(Some(cont)) = value else {
            panic!("{value:?}");
        };
        let base = opaque_mut(&mut self.store).vm_stacks().base;
        base.wrapping_add(place(cont.raw()) as usize)
    }

    /// What a function comes to on a stack that ends so many bytes below where it is called:
    /// nothing where there is no room. Panics where a byte below has changed.
    fn with_room(&mut self, shape: &str, room: usize, canary: &mut Canary) -> Option<i64> {
        let cont = self.call(&format!("begin-{shape}"), &[]).unwrap();
        let block = self.block(&cont);
        // SAFETY: a continuation of this store that waits; nobody else runs in it, and the
        // slot is its own from the limit to its stack pointer.
        let (slot, top, limit) = unsafe {
            let slot = (*(*block).stack).limit;
            assert_eq!((*block).limit, slot, "it is on no segment");
            let limit = (*block).control.sp - SETUP_BYTES - room;
            assert!(limit > slot, "{shape} needs more than {room} bytes");
            (*block).limit = limit;
            (*(*block).stack).limit = limit;
            (slot, (*block).stack, limit)
        };
        canary.set(slot, limit);
        self.module.forget_first_calls();
        let came_to = self.call("go", &[cont]);
        canary.check(limit, &format!("{shape} with {room} bytes"));
        // SAFETY: the stack is free now, with its block, and begins as it was.
        unsafe {
            (*top).limit = slot;
            (*top.add(1).cast::<VmCont>()).limit = slot;
        }
        match came_to {
            Ok(value) => value.i64(),
            Err(error) => {
                let code = error.trap().map(|trap| trap.code);
                let is_full = code == Some(TrapCode::StackExhausted);
                assert!(is_full, "{shape} with {room} bytes: {error}");
                None
            }
        }
    }
}

/// Bytes that nobody may write: the block below a slot, and the slot up to a limit.
#[derive(Default)]
struct Canary {
    slot: usize,
    neighbour: Vec<u8>,
}

impl Canary {
    /// # Panics
    /// Where it is another slot than before.
    fn set(&mut self, slot: usize, limit: usize) {
        assert!(self.slot == 0 || self.slot == slot, "another slot");
        let neighbour = slot - size_of::<VmCont>();
        // SAFETY: the slot is of a continuation that waits, which has nothing below its limit;
        // in front of it is another block.
        unsafe {
            slice::from_raw_parts_mut(slot as *mut u8, limit - slot).fill(CANARY);
            self.neighbour =
                slice::from_raw_parts(neighbour as *const u8, size_of::<VmCont>()).to_vec();
        }
        self.slot = slot;
    }

    fn check(&self, limit: usize, what: &str) {
        let neighbour = self.slot - size_of::<VmCont>();
        // SAFETY: as above; nothing runs.
        let (block, below) = unsafe {
            let block = slice::from_raw_parts(neighbour as *const u8, size_of::<VmCont>());
            let below = slice::from_raw_parts(self.slot as *const u8, limit - self.slot);
            (block, below)
        };
        assert_eq!(block, self.neighbour, "{what}: the neighbour's block");
        if let Some(at) = below.iter().position(|byte| *byte != CANARY) {
            panic!("{what}: a byte {} below the limit", below.len() - at);
        }
    }
}

/// A row of the table.
struct Swept {
    depths: usize,
    /// Bytes that suffice.
    needed: usize,
}

/// Moves the end of the stack from where nothing has room to where everything has, byte by
/// byte; all of the latter must come to the same.
fn sweep(guest: &mut Guest, shape: &str, expected: i64) -> Swept {
    let mut canary = Canary::default();
    let mut needed = None;
    let mut room = 0;
    while needed.is_none_or(|needed| room < needed + BEYOND) {
        match guest.with_room(shape, room, &mut canary) {
            Some(value) => {
                assert_eq!(value, expected, "{shape} with {room} bytes");
                needed.get_or_insert(room);
            }
            None => assert_eq!(needed, None, "{shape} with {room} bytes, and not with more"),
        }
        room += 1;
    }
    Swept {
        depths: room,
        needed: needed.unwrap_or_default(),
    }
}

/// Names of shapes as a module has them.
fn names() -> Vec<String> {
    let name = |(name, _): &(&str, _)| name.replace(' ', "-");
    frames::SHAPES.iter().map(name).collect()
}

/// All shapes under a strategy, in each way: how many depths, and how many functions of one
/// module realign their frames at most.
fn sweep_under(bounds: Bounds, names: &[String], wasm: &[u8], ways: &[Way]) -> (usize, usize) {
    let (mut depths, mut most_aligned) = (0, 0);
    let mut answers: Vec<i64> = Vec::new();
    for way in ways {
        let config = Config::new()
            .bounds(BoundsChoice::Named(bounds))
            .continuation_stack(STACK_BYTES)
            .max_wasm_stack(STACK_BYTES);
        let mut guest = guest(&way.of(config), wasm);
        let (way, bounds) = (way.to_string(), bounds.to_string());
        let (fallbacks, aligned) = (guest.module.fallbacks(), realigned(&guest.module));
        println!(
            "{way}, {bounds}: {} functions left to Cranelift, {aligned} realigned",
            fallbacks.len()
        );
        if fallbacks.len() == guest.module.info().bodies.len() {
            println!("SKIPPED: {way} does nothing under {bounds}");
            continue;
        }
        most_aligned = most_aligned.max(aligned);
        for (i, name) in names.iter().enumerate() {
            let value = guest.call(&format!("call-{name}"), &[]).unwrap();
            let value = value.i64().expect("an i64");
            match answers.get(i) {
                Some(answer) => assert_eq!(value, *answer, "{name}"),
                None => answers.push(value),
            }
            let swept = sweep(&mut guest, name, value);
            depths += swept.depths;
            println!(
                "{name:28}  {way:40}  {bounds:17}  {:6}  {:12}",
                swept.depths, swept.needed
            );
        }
    }
    (depths, most_aligned)
}

#[test]
fn nothing_is_written_below_the_end_of_a_stack() {
    let names = names();
    let shapes = names.iter().zip(&frames::SHAPES);
    let functions: String = shapes
        .map(|(name, (_, chain))| frames::functions(name, chain))
        .collect();
    let text = frames::module(&names, &functions);
    let binary = |text: &str| wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    let (wasm, wasm64) = (binary(&text), binary(&frames::of_64_bits(&text)));
    let ways = Way::all_and_llvm();
    println!(
        "{:28}  {:40}  strategy           depths  bytes needed",
        "shape", "way"
    );
    let strategies = strategies();
    assert!(
        strategies.iter().any(|(_, is_wide)| *is_wide),
        "{strategies:?}"
    );
    let swept = strategies.into_par_iter().map(|(bounds, is_wide)| {
        let wasm = if is_wide { &wasm64 } else { &wasm };
        sweep_under(bounds, &names, wasm, &ways)
    });
    let both = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1.max(b.1));
    let (depths, most_aligned) = swept.reduce(|| (0, 0), both);
    println!("{depths} depths, 0 canaries touched");
    let has_llvm = ways.iter().any(|way| way.codegen == Codegen::Llvm);
    if has_llvm && std::arch::is_x86_feature_detected!("avx") {
        assert!(most_aligned >= 4, "too few of the dangerous shape");
    }
}
