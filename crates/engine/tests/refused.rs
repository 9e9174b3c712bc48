//! Modules that are refused: by their first body that is, and without compiling the others.

use fathom_engine::{Config, Engine, ErrorKind, Module, Result};

fn load(wasm: &[u8]) -> Result<Module> {
    Module::new(&Engine::new(&Config::new()).unwrap(), wasm)
}

/// A short function that is beyond the budget, which is found by compiling it only, and a
/// longer one behind it, which comes first; whether that validates is asked for.
fn dear_and_long(is_valid: bool) -> Vec<u8> {
    let (values, gets) = ("i32 ".repeat(1000), "(local.get 0)".repeat(1000));
    let calls = "call $dear ".repeat(1000);
    let work = "(drop (i32.load (local.get 0)))".repeat(5_000);
    let last = if is_valid { "" } else { "i32.add drop" };
    wat::parse_str(format!(
        "(module (memory 1)
           (func $dear (param {values}) (result {values}) {gets} {calls})
           (func (param i32) {work} {last}))"
    ))
    .unwrap()
}

/// By one thread, so that one body comes after the other.
#[test]
fn nothing_is_compiled_once_a_body_is_refused() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    let kind = |is_valid| {
        let wasm = dear_and_long(is_valid);
        let error = load(&wasm).expect_err("one of them is refused");
        error.into_kind()
    };
    let [valid, invalid] = one.build().unwrap().install(|| [true, false].map(kind));
    assert!(
        matches!(&valid, ErrorKind::Budget(why) if why.contains("function 0 ")),
        "{valid}"
    );
    assert!(matches!(invalid, ErrorKind::Invalid { .. }), "{invalid}");
}

/// Functions, some of which do not validate: the later, the longer, and the longest come
/// first.
fn some_of_many(refused: &[usize]) -> Vec<u8> {
    let body = |n: usize| match refused.contains(&n) {
        true => format!("(func (param i32) {} i32.add drop)", "nop ".repeat(n)),
        false => "(func (param i32) (drop (i32.load (local.get 0))))".to_owned(),
    };
    let bodies: String = (0..600).map(body).collect();
    wat::parse_str(format!("(module (memory 1) {bodies})")).unwrap()
}

#[test]
fn the_first_by_index_is_told() {
    let offset = |refused: &[usize]| load(&some_of_many(refused)).err()?.offset();
    let first = offset(&[100]);
    assert!(first.is_some());
    for others in [&[100, 101][..], &[100, 599], &[599, 100, 300, 200]] {
        for _ in 0..5 {
            assert_eq!(offset(others), first, "{others:?}");
        }
    }
}

#[test]
fn what_no_option_turns_on_is_said_in_words() {
    let said = |text: &str| {
        let wasm = wat::parse_str(text).unwrap();
        load(&wasm).err().unwrap().to_string()
    };
    let pages = said("(module (memory 1 (pagesize 1)))");
    assert!(
        pages.contains(": memories with pages of another size"),
        "{pages}"
    );
    let name =
        said(r#"(module (func $f) (export "\1b[2J" (func $f)) (export "\1b[2J" (func $f)))"#);
    assert!(!name.contains('\x1b') && name.contains("\\u{1b}"), "{name}");
}
