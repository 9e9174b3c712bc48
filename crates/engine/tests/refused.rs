//! Modules that are refused: by their first body that is, and without compiling the others.

use std::time::{Duration, Instant};

use fathom_engine::{Config, Engine, Module};

/// Functions of much work, but for these, which do not validate.
fn module(refused: &[usize]) -> Vec<u8> {
    let step = "(local.set 0 (i32.mul (i32.load (local.get 0)) (local.get 0)))";
    let work = step.repeat(80);
    let body = |n: usize| match refused.contains(&n) {
        true => format!("(func (param i32) {work} i32.add drop)"),
        false => format!("(func (param i32) {work})"),
    };
    let bodies: String = (0..600).map(body).collect();
    wat::parse_str(format!("(module (memory 1) {bodies})")).unwrap()
}

/// How long compiling takes, and where it is refused.
fn compiled(wasm: &[u8]) -> (Duration, Option<usize>) {
    let engine = Engine::new(&Config::new()).unwrap();
    let start = Instant::now();
    let module = Module::new(&engine, wasm);
    (
        start.elapsed(),
        module.err().and_then(|error| error.offset()),
    )
}

#[test]
fn nothing_is_compiled_once_a_body_is_refused() {
    let (whole, none) = compiled(&module(&[]));
    assert_eq!(none, None);
    // Both are among the longest, which come first.
    let (soon, offset) = compiled(&module(&[400, 450]));
    assert!(offset.is_some());
    assert!(soon < whole / 3, "{soon:?} beside {whole:?}");
}

#[test]
fn the_first_by_index_is_told() {
    let first = compiled(&module(&[100])).1;
    for others in [&[100, 101][..], &[100, 599], &[599, 100, 300, 200]] {
        for _ in 0..5 {
            assert_eq!(compiled(&module(others)).1, first, "{others:?}");
        }
    }
}

#[test]
fn what_no_option_turns_on_is_said_in_words() {
    let said = |text: &str| {
        let wasm = wat::parse_str(text).unwrap();
        let engine = Engine::new(&Config::new()).unwrap();
        Module::new(&engine, wasm).err().unwrap().to_string()
    };
    let legacy = said("(module (func try catch_all end))");
    assert!(
        legacy.contains(": exceptions of the older form"),
        "{legacy}"
    );
    let name =
        said(r#"(module (func $f) (export "\1b[2J" (func $f)) (export "\1b[2J" (func $f)))"#);
    assert!(!name.contains('\x1b') && name.contains("\\u{1b}"), "{name}");
}
