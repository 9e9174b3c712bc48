//! `memory.copy` and `memory.fill` near every end, by constant and by variable lengths,
//! under every strategy, held against a model: bytes after what went well, and the same
//! bytes as before where it trapped.

mod common;
#[path = "common/ways.rs"]
mod ways;

use std::time::Duration;

use fathom_engine::*;

/// How long it may take to end what is interrupted.
const PATIENCE: Duration = Duration::from_secs(20);

/// Lengths done in place, those next to them, and those about what is long.
const LENGTHS: [u32; 27] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 4095,
    4096, 4097,
];
const PAGE: u64 = 65_536;

/// What a memory is here.
#[derive(Clone, Copy, Debug)]
struct Kind {
    memory64: bool,
    shared: bool,
    /// Whether the module imports its memory twice.
    aliased: bool,
}

impl Kind {
    fn index(self) -> &'static str {
        if self.memory64 { "i64" } else { "i32" }
    }

    fn ty(self) -> String {
        let index = if self.memory64 { "i64 " } else { "" };
        match self.shared {
            true => format!("{index}1 2 shared"),
            false => format!("{index}1 2"),
        }
    }

    /// A module with a function for each constant length, and one for variable ones.
    fn text(self) -> String {
        let (ty, i) = (self.ty(), self.index());
        let (memories, other) = match self.aliased {
            true => (
                format!("(import \"m\" \"m\" (memory {ty})) (import \"m\" \"m\" (memory {ty}))"),
                "1",
            ),
            false => (format!("(memory {ty})"), "0"),
        };
        let mut text = format!("(module {memories}\n");
        text += &format!(
            r#"(func (export "copy") (param {i} {i} {i})
                 (memory.copy 0 {other} (local.get 0) (local.get 1) (local.get 2)))
               (func (export "fill") (param {i} i32 {i})
                 (memory.fill {other} (local.get 0) (local.get 1) (local.get 2)))
               (export "memory" (memory 0))"#
        );
        for len in LENGTHS {
            text += &format!(
                r#"(func (export "copy{len}") (param {i} {i})
                     (memory.copy 0 {other} (local.get 0) (local.get 1) ({i}.const {len})))
                   (func (export "fill{len}") (param {i} i32)
                     (memory.fill {other} (local.get 0) (local.get 1) ({i}.const {len})))"#
            );
        }
        text + ")"
    }
}

fn index(kind: Kind, value: u64) -> Val {
    match kind.memory64 {
        true => Val::I64(value.cast_signed()),
        false => Val::I32((value as u32).cast_signed()),
    }
}

/// Where ranges of a length begin: near both ends of the memory, and far outside.
fn starts(kind: Kind, len: u64, end: u64) -> Vec<u64> {
    let mut starts = vec![
        0,
        1,
        7,
        end.saturating_sub(len) / 2,
        u64::from(u32::MAX),
        1 << 31,
    ];
    for near in [end, end.saturating_sub(len)] {
        starts.extend([near.saturating_sub(1), near, near + 1]);
    }
    starts.push((1u64 << 32).saturating_sub(len));
    if kind.memory64 {
        starts.extend([
            1 << 32,
            u64::MAX,
            u64::MAX - len,
            (u64::MAX - len).wrapping_add(1),
            1 << 63,
        ]);
    }
    starts.retain(|start| kind.memory64 || *start <= u64::from(u32::MAX));
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// A guest, and what its memory must hold.
struct Held {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    model: Vec<u8>,
    kind: Kind,
}

impl Held {
    fn new(engine: &Engine, kind: Kind) -> Held {
        let module = Module::new(engine, wat::parse_str(kind.text()).unwrap()).unwrap();
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        if kind.aliased {
            let ty = MemoryType {
                min: 1,
                max: Some(2),
                memory64: kind.memory64,
                shared: kind.shared,
            };
            let memory = Memory::new(&mut store, ty).unwrap();
            linker.define(&store, "m", "m", memory).unwrap();
        }
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let memory = instance.get_memory(&store, "memory").unwrap();
        let model: Vec<u8> = (0..PAGE).map(|n| (n * 31 + n / 251) as u8).collect();
        memory.write(&mut store, 0, &model).unwrap();
        Held {
            store,
            instance,
            memory,
            model,
            kind,
        }
    }

    fn grow(&mut self) {
        self.memory.grow(&mut self.store, 1).unwrap();
        self.model.resize(2 * PAGE as usize, 0);
    }

    /// Whether it went well; what it has done is in the model, too.
    fn call(&mut self, name: &str, args: &[Val], expected: bool) {
        let func = self.instance.get_func(&self.store, name).unwrap();
        let ended = func.call(&mut self.store, args, &mut []);
        let (kind, len) = (self.kind, self.model.len());
        match ended {
            Ok(()) => assert!(expected, "{kind:?} {name} {args:?} of {len} went well"),
            Err(error) => {
                assert!(!expected, "{kind:?} {name} {args:?} of {len}: {error}");
                let code = error.trap().map(|trap| trap.code);
                assert_eq!(code, Some(TrapCode::MemoryOutOfBounds), "{error:?}");
                let name = error.frames()[0].func_name.as_deref();
                assert!(name.is_some(), "{error:?}");
            }
        }
    }

    fn compare(&self, what: &str) {
        let mut bytes = vec![0; self.model.len()];
        self.memory.read(&self.store, 0, &mut bytes).unwrap();
        if bytes != self.model {
            let at = bytes
                .iter()
                .zip(&self.model)
                .position(|(one, other)| one != other);
            panic!("{:?} {what}: other bytes at {at:?}", self.kind);
        }
    }

    fn copy(&mut self, len: u64, to: u64, from: u64, by_constant: bool) {
        let end = self.model.len() as u64;
        let inside = |start: u64| start.checked_add(len).is_some_and(|last| last <= end);
        let expected = inside(to) && inside(from);
        if expected {
            let from = from as usize;
            self.model
                .copy_within(from..from + len as usize, to as usize);
        }
        let mut args = vec![index(self.kind, to), index(self.kind, from)];
        match by_constant {
            true => self.call(&format!("copy{len}"), &args, expected),
            false => {
                args.push(index(self.kind, len));
                self.call("copy", &args, expected);
            }
        }
    }

    fn fill(&mut self, len: u64, to: u64, value: i32, by_constant: bool) {
        let end = self.model.len() as u64;
        let expected = to.checked_add(len).is_some_and(|last| last <= end);
        if expected {
            self.model[to as usize..(to + len) as usize].fill(value as u8);
        }
        let mut args = vec![index(self.kind, to), Val::I32(value)];
        match by_constant {
            true => self.call(&format!("fill{len}"), &args, expected),
            false => {
                args.push(index(self.kind, len));
                self.call("fill", &args, expected);
            }
        }
    }

    fn everything(&mut self) {
        let end = self.model.len() as u64;
        for len in LENGTHS.map(u64::from) {
            let starts = starts(self.kind, len, end);
            for by_constant in [true, false] {
                for (n, to) in starts.iter().enumerate() {
                    self.fill(len, *to, n as i32 * 77 + 0x1_00a5, by_constant);
                    for from in &starts {
                        self.copy(len, *to, *from, by_constant);
                    }
                }
                // Ranges that overlap, in both directions.
                for distance in [1, 2, 3, 7, 8, 15, 16, 31, 64, 127] {
                    self.copy(len, 1000 + distance, 1000, by_constant);
                    self.copy(len, 1000, 1000 + distance, by_constant);
                }
                self.compare(&format!("length {len}, constant: {by_constant}"));
            }
        }
        let far = if self.kind.memory64 {
            u64::MAX
        } else {
            u64::from(u32::MAX)
        };
        for len in [end, end - 1, end + 1, far, far - 1, far / 2 + 1] {
            for start in [0, 1, end, far] {
                self.copy(len, start, 0, false);
                self.copy(len, 0, start, false);
                self.fill(len, start, 9, false);
            }
        }
        self.compare("long ranges");
    }
}

fn check(kind: Kind, opt: Opt) {
    let mut tried = 0;
    for bounds in Bounds::forms_for(kind.memory64) {
        let config = Config::new().opt(opt);
        let config = match kind.memory64 {
            true => config.bounds64(BoundsChoice::Named(bounds)),
            false => config.bounds(BoundsChoice::Named(bounds)),
        };
        let text = format!("(module (memory {}))", kind.ty());
        let Some(engine) = common::engine_with(config, bounds, &text) else {
            continue;
        };
        tried += 1;
        let mut held = Held::new(&engine, kind);
        held.everything();
        held.grow();
        held.everything();
    }
    assert!(tried > 3, "{kind:?}");
}

fn all_of(memory64: bool, shared: bool) {
    for (aliased, opt) in [(false, Opt::Speed), (true, Opt::Speed), (false, Opt::None)] {
        let kind = Kind {
            memory64,
            shared,
            aliased,
        };
        check(kind, opt);
    }
}

#[test]
fn of_32_bits() {
    all_of(false, false);
}

#[test]
fn of_32_bits_shared() {
    all_of(false, true);
}

#[test]
fn of_64_bits() {
    all_of(true, false);
}

#[test]
fn of_64_bits_shared() {
    all_of(true, true);
}

/// Between memories of different index types a length is the shorter one's.
#[test]
fn between_memories() {
    let engine = Engine::default();
    let text = r#"(module (memory $a (export "a") 1) (memory $b (export "b") i64 1)
        (func (export "ab") (param i64 i32)
          (memory.copy $b $a (local.get 0) (local.get 1) (i32.const 24)))
        (func (export "ba") (param i32 i64)
          (memory.copy $a $b (local.get 0) (local.get 1) (i32.const 24))))"#;
    let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let [a, b] = ["a", "b"].map(|name| instance.get_memory(&store, name).unwrap());
    let ab = instance
        .get_typed_func::<(i64, i32), ()>(&store, "ab")
        .unwrap();
    let ba = instance
        .get_typed_func::<(i32, i64), ()>(&store, "ba")
        .unwrap();
    a.data_mut(&mut store)[PAGE as usize - 24..].fill(7);
    ab.call(&mut store, (8, PAGE as i32 - 24)).unwrap();
    assert_eq!(b.data(&store)[8..32], [7; 24]);
    assert_eq!(b.data(&store)[32], 0);
    ba.call(&mut store, (0, 8)).unwrap();
    assert_eq!(a.data(&store)[..24], [7; 24]);
    let before = (a.data(&store).to_vec(), b.data(&store).to_vec());
    for (to, from) in [
        (PAGE as i64 - 23, 0),
        (i64::MAX, 0),
        (-1, 0),
        (0, PAGE as i32 - 23),
        (0, -1),
    ] {
        ab.call(&mut store, (to, from)).unwrap_err();
        ba.call(&mut store, (from, to)).unwrap_err();
    }
    assert_eq!(
        (a.data(&store), b.data(&store)),
        (&before.0[..], &before.1[..])
    );
}

/// What does nothing but fill and copy is hardly ever met in compiled code.
#[test]
fn an_interrupt_ends_loops_of_what_takes_long() {
    let wat = r#"(module (memory $m 1024) (memory $other 1024) (table $t 1000000 funcref)
        (type $a (array (mut i8)))
        (global $a (mut (ref null $a)) (ref.null $a))
        (func (export "array") (global.set $a (array.new_default $a (i32.const 50000000))))
        (func (export "memory.fill") (loop $l
          (memory.fill $m (i32.const 0) (i32.const 1) (i32.const 0x4000000)) (br $l)))
        (global $short (mut i32) (i32.const 4095))
        (func (export "short memory.fill") (loop $l
          (memory.fill $m (i32.const 0) (i32.const 1) (global.get $short)) (br $l)))
        (func (export "memory.copy") (loop $l
          (memory.copy $m $m (i32.const 0) (i32.const 1) (i32.const 0x3ffffff)) (br $l)))
        (func (export "memory.copy of another") (loop $l
          (memory.copy $m $other (i32.const 0) (i32.const 1) (i32.const 0x3ffffff)) (br $l)))
        (func (export "table.fill") (loop $l
          (table.fill $t (i32.const 0) (ref.null func) (i32.const 1000000)) (br $l)))
        (func (export "table.copy") (loop $l
          (table.copy $t $t (i32.const 0) (i32.const 1) (i32.const 999999)) (br $l)))
        (func (export "array.fill") (loop $l
          (array.fill $a (global.get $a) (i32.const 0) (i32.const 3) (i32.const 50000000)) (br $l)))
        (func (export "array.copy") (loop $l
          (array.copy $a $a (global.get $a) (i32.const 0) (global.get $a) (i32.const 1)
                      (i32.const 49999999)) (br $l)))
        (func (export "array.new") (loop $l
          (drop (array.new_default $a (i32.const 20000000))) (br $l))))"#;
    let wasm = wat::parse_str(wat).unwrap();
    for way in ways::Way::all_and_llvm() {
        let engine = Engine::new(&way.of(Config::new())).unwrap();
        let module = Module::new(&engine, &wasm).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let mut names: Vec<String> = module.exports().map(|(name, _)| name.to_owned()).collect();
        // Others take it.
        names.sort_by_key(|name| name != "array");
        for name in names {
            let func = instance.get_func(&store, &name).unwrap();
            if name == "array" {
                func.call(&mut store, &[], &mut []).unwrap();
                continue;
            }
            let interrupt = Interrupt::new();
            store.set_interrupt(&interrupt);
            let stopper = interrupt.clone();
            let goes_on = format!("{name}, {way}: it goes on");
            let stopped = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                if !stopper.stop(PATIENCE) {
                    // The call never returns.
                    eprintln!("{goes_on}");
                    std::process::exit(1);
                }
            });
            let error = func.call(&mut store, &[], &mut []).unwrap_err();
            let code = error.trap().map(|trap| trap.code);
            assert_eq!(code, Some(TrapCode::Interrupted), "{name}, {way}: {error}");
            stopped.join().unwrap();
            assert!(interrupt.clear());
        }
    }
}
