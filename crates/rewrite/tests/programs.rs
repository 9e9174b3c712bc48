//! Libraries that became programs are valid, keep what they had, and refuse what cannot be
//! called.

use std::collections::BTreeSet;

use fathom_rewrite::closed::{self, Additions};
use fathom_rewrite::layout::Layout;
use fathom_rewrite::program::{Call, Constant, Program, ProgramError, program};
use fathom_rewrite::shape::{Import, Shape, Space};

/// A module with an import of each kind, and all kinds of references to them.
const REFERS: &str = r#"(module
  (type $t (func (result i32)))
  (import "env" "other" (func $other))
  (import "env" "value" (global $value i32))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (import "env" "value" (global $again (mut i64)))
  (import "env" "number" (func $number (result i32)))
  (import "env" "memory" (memory $memory 2 3))
  (import "env" "table" (table $table 4 funcref))
  (import "env" "tag" (tag $tag (param i32)))
  (global $own i32 (global.get $value))
  (memory $second 1)
  (elem (table $table) (global.get $value) func $number $own_func)
  (elem declare func $number)
  (data (memory $memory) (i32.const 8) "front")
  (data $passive "behind")
  (func $own_func (result i32) (call_indirect $table (type $t) (i32.const 0)))
  (func $first (drop (ref.func $number)) (call $other))
  (start $first)
  (export "again" (func $number))
  (export "_start" (func $first))
  (func (export "add") (param i32 i64 f64) (result i32 f64 i64)
    (memory.init $memory $passive (i32.const 0) (i32.const 0) (i32.const 6))
    (global.set $again (local.get 1))
    (drop (block $caught (result i32) (try_table (catch $tag $caught) (throw $tag (i32.const 1))) (i32.const 2)))
    (i32.add (local.get 0) (global.get $own)) (local.get 2) (global.get $again)))"#;

fn is_given(import: &Import) -> bool {
    import.module == "wasi_snapshot_preview1"
}

fn validated(wasm: Vec<u8>) -> Vec<u8> {
    let mut validator = wasmparser::Validator::new_with_features(wasmparser::WasmFeatures::all());
    validator.validate_all(&wasm).unwrap();
    wasm
}

fn calling(name: &str, args: &[Constant]) -> Program {
    Program {
        setup: Vec::new(),
        call: Some(Call {
            name: name.to_owned(),
            args: args.to_vec(),
        }),
    }
}

#[test]
fn what_nobody_provides_becomes_the_modules_own_and_indices_stay() {
    let wasm = wat::parse_str(REFERS).unwrap();
    let stubbed = validated(program(&wasm, &Program::default(), &is_given).unwrap());
    let (before, after) = (Shape::of(&wasm).unwrap(), Shape::of(&stubbed).unwrap());
    let names: Vec<&str> = after.imports.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["sched_yield"]);
    assert_eq!(after.funcs.len(), before.funcs.len());
    assert_eq!(after.start, before.start);
    // Own functions are where they were; what was imported is in front of them.
    let own = |shape: &Shape| shape.exported(Space::Func, "add");
    assert_eq!(own(&after), own(&before));
    assert_eq!(before.exported(Space::Func, "again"), Some(2));
    assert_eq!(after.exported(Space::Func, "again"), Some(2));
    assert_eq!(after.memories, before.memories);
    let text = String::from_utf8_lossy(&stubbed).into_owned();
    assert!(text.contains("env.number (nobody provides it)"));
}

#[test]
fn a_function_is_called_from_start() {
    let wasm = wat::parse_str(REFERS).unwrap();
    let args = [Constant::I32(1), Constant::I64(-2), Constant::F64(3)];
    let mut add = calling("add", &args);
    add.setup = vec!["again".to_owned()];
    let made = validated(program(&wasm, &add, &is_given).unwrap());
    let (before, after) = (Shape::of(&wasm).unwrap(), Shape::of(&made).unwrap());
    let imports: BTreeSet<&str> = after.imports.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(imports, BTreeSet::from(["fd_write", "sched_yield"]));
    assert_eq!(after.exported(Space::Memory, "memory"), Some(0));
    assert_eq!(
        after.exported(Space::Func, "add"),
        before.exported(Space::Func, "add").map(|func| func + 1)
    );
    assert_eq!(
        after.exported(Space::Func, "_start"),
        Some(before.funcs.len() as u32 + 2)
    );
}

#[test]
fn what_cannot_be_called_is_said() {
    let wasm = wat::parse_str(
        r#"(module (func (export "takes") (param i32)) (func (export "refs") (result funcref) ref.null func)
             (func (export "none")))"#,
    )
    .unwrap();
    let error = |asked: &Program| program(&wasm, asked, &is_given).unwrap_err();
    assert_eq!(
        error(&calling("missing", &[])),
        ProgramError::NoFunction("missing".to_owned())
    );
    assert!(matches!(
        error(&calling("refs", &[])),
        ProgramError::References(_)
    ));
    let mut setup = calling("none", &[]);
    setup.setup = vec!["takes".to_owned()];
    assert!(matches!(error(&setup), ProgramError::Setup(_)));
    let taken = wat::parse_str(r#"(module (func (export "memory")) (func (export "f")))"#).unwrap();
    let error = program(&taken, &calling("f", &[]), &is_given).unwrap_err();
    assert_eq!(error, ProgramError::Memory);
    assert!(program(b"\0asm\x01\0\0\0\x01", &calling("f", &[]), &is_given).is_err());
}

#[test]
fn data_in_front_is_applied_first_and_references_outside_can_become_functions() {
    let wasm = wat::parse_str(
        r#"(module (import "env" "memory" (memory 1)) (import "env" "f" (func $f (param externref)))
             (data (i32.const 0) "own") (data $late "late")
             (table 1 externref)
             (func (export "g") (param externref) (result externref)
               (memory.init $late (i32.const 0) (i32.const 0) (i32.const 4)) (data.drop $late)
               (call $f (ref.null extern)) (table.get 0 (i32.const 0))))"#,
    )
    .unwrap();
    let shape = Shape::of(&wasm).unwrap();
    let layout = Layout::new(&shape, vec![false; 2], 0);
    let additions = Additions {
        front: vec![(0, wasm_encoder::ConstExpr::i32_const(0), b"first".to_vec())],
        turns_externs: true,
        ..Additions::default()
    };
    let closed = validated(closed::write(&wasm, &shape, &layout, &additions).unwrap());
    let text = String::from_utf8_lossy(&closed).into_owned();
    assert!(text.find("first").unwrap() < text.find("own").unwrap());
    let after = Shape::of(&closed).unwrap();
    assert!(after.tables[0].element_type.is_func_ref());
}
