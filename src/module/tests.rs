//! What is said of modules by their first sections.

use super::*;

fn run() -> Purpose<'static> {
    Purpose::Run(None, Features::all())
}

fn compile() -> Purpose<'static> {
    Purpose::Compile(Features::all())
}

fn checked(text: &str, purpose: Purpose<'_>) -> Result<(), String> {
    check(&wat::parse_str(text).unwrap(), purpose)
}

fn said(text: &str) -> String {
    checked(text, run()).unwrap_err()
}

#[test]
fn programs_pass() {
    let wasi = r#"(module (import "wasi_snapshot_preview1" "fd_write" (func))
        (import "wasi" "thread-spawn" (func)) (import "env" "memory" (memory 1 1 shared))
        (func (export "_start")))"#;
    assert_eq!(checked(wasi, run()), Ok(()));
    assert_eq!(checked(wasi, Purpose::Measure), Ok(()));
    let library = r#"(module (import "a" "b" (func)) (func (export "f")))"#;
    assert_eq!(checked(library, compile()), Ok(()));
    let new = r#"(module (tag $t) (func (export "_start")
        (block $b (try_table (catch $t $b) (throw $t)))))"#;
    assert_eq!(checked(new, run()), Ok(()));
    let old = r#"(module (tag $t) (func (export "_start") try throw $t catch_all end))"#;
    assert_eq!(checked(old, run()), Ok(()));
}

#[test]
fn exceptions_of_the_older_form_can_be_turned_off() {
    let old = r#"(module (tag $t) (func (export "_start") try throw $t catch_all end))"#;
    for off in ["-legacy-exceptions", "-exceptions", "3.0", "none"] {
        let features: Features = off.parse().unwrap();
        for purpose in [Purpose::Run(None, features), Purpose::Compile(features)] {
            let line = checked(old, purpose).unwrap_err();
            let says = "older form (try, catch), and legacy-exceptions is turned off";
            assert!(line.contains(says), "{off}: {line}");
        }
    }
    assert_eq!(checked(old, Purpose::Measure), Ok(()));
}

#[test]
fn missing_imports_are_counted_and_the_first_are_named() {
    let one = r#"(module (import "moon" "phase" (func)))"#;
    assert!(said(one).starts_with("import 'moon' 'phase' is missing: made for a host"));
    let imports = |from: &str| {
        let each = ["a", "b", "c", "d"].map(|name| format!(r#"(import "{from}" "{name}" (func))"#));
        each.concat()
    };
    let of_one = format!("(module {})", imports("host"));
    let expected = "4 imports from 'host' are missing ('a', 'b', 'c' and 1 more): ";
    assert!(said(&of_one).starts_with(expected));
    let of_two = format!(r#"(module {} (import "y" "z" (memory 1)))"#, imports("x"));
    let expected = "5 imports are missing ('x' 'a', 'x' 'b', 'x' 'c' and 2 more): ";
    assert!(said(&of_two).starts_with(expected));
}

#[test]
fn names_have_an_end_and_tell_a_terminal_nothing() {
    let long = "x".repeat(100_000);
    let line = said(&format!(r#"(module (import "\1b[2J" "{long}" (func)))"#));
    assert!(
        line.starts_with("import '\\u{1b}[2J' 'xxx") && line.len() < 400,
        "{line}"
    );
}

#[test]
fn a_library_is_called_by_the_command_that_was_given() {
    let library = r#"(module (func (export "f")))"#;
    for (purpose, command) in [
        (run(), "run"),
        (Purpose::RunStubbed(None), "run"),
        (Purpose::Measure, "bench"),
        (Purpose::Call(None), "bench"),
        (Purpose::CallStubbed(None), "bench"),
    ] {
        let line = checked(library, purpose).unwrap_err();
        let said = format!("call another by `fathom {command} --invoke` (there are: f)");
        assert!(line.ends_with(&said), "{line}");
    }
}

#[test]
fn a_name_that_is_not_there_is_answered_by_near_ones() {
    let named = |count: usize, name: &str| {
        let functions = (0..count).map(|n| format!(r#"(func (export "function{n}"))"#));
        let module = format!("(module {})", functions.collect::<String>());
        checked(&module, Purpose::Run(Some(name), Features::all())).unwrap_err()
    };
    assert_eq!(named(0, "f"), "it exports no function f (there is none)");
    let few = "it exports no function f (there are: function0, function1)";
    assert_eq!(named(2, "f"), few);
    let many = named(5_000, "functoin7");
    assert!(many.contains("(of 5000, nearest: function7"), "{many}");
    assert!(many.len() < 200, "{many}");
    assert!(named(5_000, "zzz").len() < 200);
}

#[test]
fn a_file_that_is_cut_off_is_said_to_be() {
    let wasm = wat::parse_str(r#"(module (func (export "_start")))"#).unwrap();
    for end in 8..wasm.len() {
        // Between two sections nothing is missing yet, as far as sizes tell.
        let line = check(&wasm[..end], compile());
        assert!(line.is_ok() || line.unwrap_err().contains("cut off"));
    }
    let cut = check(&wasm[..wasm.len() - 1], compile()).unwrap_err();
    let (have, need) = (wasm.len() - 1, wasm.len());
    assert_eq!(
        cut,
        format!("it is cut off: of at least {need} bytes, {have} are here; was it copied whole?")
    );
}

#[test]
fn what_cannot_be_read_is_left_to_the_engine() {
    // A section without a size, and one whose size is no number.
    for behind in [&[1][..], &[1, 0xff, 0xff, 0xff, 0xff, 0xff]] {
        let wasm = [b"\0asm\x01\0\0\0", behind].concat();
        assert_eq!(check(&wasm, Purpose::Measure), Ok(()));
    }
}

/// What the recorder refuses is not offered to be recorded.
#[test]
fn a_recording_is_offered_where_it_can_be_made() {
    let said = |text: &str| {
        let wasm = wat::parse_str(text).unwrap();
        check(&wasm, Purpose::Measure).unwrap_err()
    };
    let offers = |text: &str| said(text).contains("fathom record");
    let own = r#"(import "host" "call" (func))"#;
    assert!(offers(&format!("(module {own})")));
    assert!(!offers(&format!("(module (type (struct)) {own})")));
    let shared = r#"(import "env" "memory" (memory 1 2 shared))"#;
    assert!(!offers(&format!("(module {shared} {own})")));
    let functions: String = (0..6)
        .map(|n| format!(r#"(func (export "{n}"))"#))
        .collect();
    let library = said(&format!(r#"(module {functions} (func (export "")))"#));
    assert!(library.contains("(there are 7: 0, 1, 2"), "{library}");
}
