//! Loops that LLVM gets in two versions, the second without volatile accesses; and what the
//! others make of them.

use fathom_engine::*;

use super::{SHAPES, engines, only_vectors_are_left};

/// Loops that are proved and so have accesses that LLVM moves: what is loaded as an integer
/// and as a float, and what is stored wide and loaded again.
const LOOPS: [&str; 9] = [
    "(local.set $i (i32.load offset=256 (local.get $p)))
     (f32.store offset=512 (local.get $p) (select
        (f32.mul (f32.load (local.get $p)) (f32.load offset=256 (local.get $p)))
        (f32.const nan)
        (i32.eq (local.get $i) (i32.const 0x3f800000))))",
    "(local.set $i (i32.load offset=256 (local.get $p)))
     (if (i32.eq (local.get $i) (i32.const 0x3f800000)) (then
        (f32.store offset=512 (local.get $p)
            (f32.mul (f32.load (local.get $p)) (f32.load offset=256 (local.get $p))))))",
    "(local.set $v (v128.load offset=256 (local.get $p)))
     (v128.store offset=512 (local.get $p) (v128.bitselect
        (f32x4.mul (v128.load (local.get $p)) (v128.load offset=256 (local.get $p)))
        (v128.const f32x4 nan nan nan nan)
        (i32x4.eq (local.get $v) (v128.const i32x4 0x3f800000 0x3f800000 0x3f800000 0x3f800000))))",
    "(f32.store offset=512 (local.get $p) (select
        (f32.mul (f32.load (local.get $p)) (f32.load offset=256 (local.get $p)))
        (f32.const nan)
        (i32.eq (i32.load offset=256 (local.get $p)) (i32.const 0x3f800000))))",
    "(f32.store offset=512 (local.get $p) (select
        (f32.div (f32.load (local.get $p)) (f32.load offset=256 (local.get $p)))
        (f32.const nan)
        (i64.eqz (i64.xor (i64.load32_u offset=256 (local.get $p)) (i64.const 0x3f800000)))))",
    "(v128.store offset=512 (local.get $p) (v128.bitselect
        (f32x4.mul (v128.load (local.get $p)) (v128.load offset=256 (local.get $p)))
        (v128.const f32x4 nan nan nan nan)
        (i32x4.eq (v128.load offset=256 (local.get $p)) (v128.const i32x4 0x3f800000 0x3f800000 0x3f800000 0x3f800000))))",
    "(f64.store offset=1024 (local.get $p) (f64.promote_f32 (f32.load (local.get $p))))
     (f32.store offset=512 (local.get $p) (f32.demote_f64 (f64.load offset=1024 (local.get $p))))",
    "(f32.store offset=512 (local.get $p) (select
        (f32.mul (f32.load (local.get $p)) (f32.mul (f32.load offset=768 (local.get $p)) (f32.const 0.5)))
        (f32.const nan)
        (f32.eq (f32.load offset=768 (local.get $p)) (f32.const 2))))",
    "(f32.store offset=768 (local.get $p) (f32.abs (f32.copysign (f32.const 2) (f32.load (local.get $p)))))
     (f32.store offset=512 (local.get $p)
        (f32.mul (f32.load (local.get $p)) (f32.mul (f32.load offset=768 (local.get $p)) (f32.const 0.5))))",
];

/// The bits that a loop leaves at 512, of signalling NaNs at 0, ones at 256 and twos at 768.
fn left_by(engine: &Engine, body: &str) -> Vec<u32> {
    let step = if body.contains("f64") { 8 } else { 4 };
    let step = if body.contains("v128") { 16 } else { step };
    let vector = match body.contains("$v") {
        true => "(local $v v128)",
        false => "",
    };
    let wat = format!(
        r#"(module (memory (export "m") 1) (func (export "go") (param $n i32) (local $p i32) (local $i i32) {vector}
            (loop
                {body}
                (br_if 0 (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const {step})))
                    (local.get $n))))))"#
    );
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    only_vectors_are_left(&module);
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let memory = instance.get_memory(&store, "m").unwrap();
    let words = |number: u32| number.to_le_bytes().repeat(64);
    for (at, number) in [
        (0, 0x7f80_0001),
        (256, 1.0_f32.to_bits()),
        (768, 2.0_f32.to_bits()),
    ] {
        memory.data_mut(&mut store)[at..at + 256].copy_from_slice(&words(number));
    }
    let go = instance.get_func(&store, "go").unwrap();
    go.call(&mut store, &[Val::I32(128)], &mut []).unwrap();
    let left = memory.data(&store)[512..640].chunks(4);
    let left = left.step_by(step.min(8) / 4);
    left.map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

#[test]
fn loops_of_two_versions_quiet() {
    for (way, engine) in engines() {
        let mut wrong = Vec::new();
        for body in LOOPS {
            let left = left_by(&engine, body);
            if !left
                .iter()
                .all(|bits| SHAPES[0].nan(u64::from(*bits)) == (true, true))
            {
                wrong.push(format!("{body}: {left:x?}"));
            }
        }
        assert!(wrong.is_empty(), "{way}: {}", wrong.join("\n"));
    }
}
