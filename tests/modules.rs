//! Modules that people have and that are no WASI programs: a small stand-in of each kind,
//! what is said of it in one line, and what is not looked at before.
//!
//! `cargo test --test modules -- --nocapture` prints the table with the times, each of one run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A kind: the file, what is said, and what is said to help.
struct Kind {
    name: &'static str,
    file: Vec<u8>,
    says: &'static str,
    helps: &'static str,
}

fn text(name: &'static str, wat: &str, says: &'static str, helps: &'static str) -> Kind {
    let file = wat::parse_str(wat).unwrap_or_else(|error| panic!("{name}: {error}"));
    Kind {
        name,
        file,
        says,
        helps,
    }
}

fn bytes(name: &'static str, file: &[u8], says: &'static str, helps: &'static str) -> Kind {
    let file = file.to_vec();
    Kind {
        name,
        file,
        says,
        helps,
    }
}

/// Made for JavaScript.
fn for_other_hosts() -> Vec<Kind> {
    vec![
        text(
            "emscripten-minified",
            r#"(module (import "a" "a" (func (param i32) (result i32))) (import "a" "b" (func))
                (import "a" "c" (func)) (import "a" "d" (func)) (export "e" (func 0)))"#,
            "4 imports from 'a' are missing ('a', 'b', 'c' and 1 more): made by Emscripten for \
             JavaScript, names minified",
            "clang --target=wasm32-wasip1",
        ),
        text(
            "emscripten-minified-with-threads",
            r#"(module (import "a" "a" (memory 1 2 shared)) (import "a" "b" (func))
                (import "a" "c" (func)) (export "d" (func 0)))"#,
            "2 imports from 'a' are missing ('b', 'c'): made by Emscripten for JavaScript, names \
             minified",
            "clang --target=wasm32-wasip1",
        ),
        text(
            "emscripten",
            r#"(module (import "env" "abort" (func)) (import "env" "emscripten_resize_heap" (func))
                (import "wasi_snapshot_preview1" "fd_write" (func)))"#,
            "2 imports from 'env' are missing ('abort', 'emscripten_resize_heap'): made by \
             Emscripten for JavaScript",
            "emcc -sSTANDALONE_WASM",
        ),
        text(
            "emscripten-side-module",
            r#"(module (@custom "dylink.0" (before first) "\01\04\00\00\00\00")
                (import "env" "__memory_base" (global i32)) (import "env" "memory" (memory 0))
                (func (export "tree_sitter_c")))"#,
            "a side module of Emscripten",
            "into one module",
        ),
        text(
            "wasm-bindgen",
            r#"(module (import "wbg" "__wbg_new_1a2b" (func (result i32)))
                (import "wbg" "__wbindgen_throw" (func (param i32 i32))))"#,
            "2 imports from 'wbg' are missing ('__wbg_new_1a2b', '__wbindgen_throw'): made by \
             wasm-bindgen",
            "without wasm-bindgen",
        ),
        text(
            "go",
            r#"(module (import "gojs" "runtime.wasmExit" (func (param i32)))
                (import "gojs" "runtime.wasmWrite" (func (param i32))) (func (export "run")))"#,
            "made by Go for JavaScript (gojs)",
            "GOOS=wasip1",
        ),
        text(
            "node-api",
            r#"(module (import "env" "napi_get_undefined" (func (param i32 i32) (result i32)))
                (import "env" "memory" (memory 1 2 shared)))"#,
            "import 'env' 'napi_get_undefined' is missing: an extension of Node.js (Node-API)",
            "run it in Node.js; its memory is shared",
        ),
    ]
}

/// The same, by tools of which there is more than one kind of module.
fn for_other_hosts_again() -> Vec<Kind> {
    vec![
        // It has what programs have that load others, and is none of those that are loaded.
        text(
            "emscripten-main-module",
            r#"(module (@custom "dylink.0" (before first) "\01\04\00\00\00\00")
                (import "env" "__assert_fail" (func (param i32))) (memory (export "memory") 1))"#,
            "made by Emscripten for JavaScript",
            "fathom record",
        ),
        text(
            "wasm-bindgen-unprocessed",
            r#"(module (import "__wbindgen_placeholder__" "__wbindgen_describe" (func (param i32))))"#,
            "has not processed it yet",
            "run wasm-bindgen",
        ),
        text(
            "wasm-bindgen-for-node",
            r#"(module (import "__wbindgen_placeholder__" "__wbindgen_string_new" (func)))"#,
            "made by wasm-bindgen for JavaScript",
            "fathom record",
        ),
        text(
            "kotlin",
            r#"(module (type (struct)) (import "js_code" "kotlin.captureStackTrace" (func)))"#,
            "made by Kotlin for JavaScript",
            "build it for WASI (wasmWasi)",
        ),
        text(
            "dotnet-assembly",
            r#"(module (import "webcil" "memory" (memory 1)))"#,
            "an assembly of .NET",
            "dotnet.native.wasm",
        ),
    ]
}

/// Made for WASI of another kind, or for a host of their own.
fn for_own_hosts() -> Vec<Kind> {
    vec![
        text(
            "component-core",
            r#"(module (import "wasi:io/poll@0.2.0" "poll" (func (param i32 i32 i32))))"#,
            "the core module of a component",
            "wasm32-wasip1",
        ),
        text(
            "component-core-of-own-interfaces",
            r#"(module (import "acme:js-req/bots" "detect" (func (param i32 i32))))"#,
            "the core module of a component",
            "wasm32-wasip1",
        ),
        text(
            "assemblyscript",
            r#"(module (import "env" "abort" (func (param i32 i32 i32 i32)))
                (func (export "__new")) (func (export "add")))"#,
            "made by AssemblyScript",
            "wasi-shim",
        ),
        text(
            "wasix",
            r#"(module (import "wasix_32v1" "futex_wait" (func)) (func (export "_start")))"#,
            "made for WASIX",
            "Wasmer",
        ),
        text(
            "beyond-wasi",
            r#"(module (import "wasi_snapshot_preview1" "sock_open" (func)) (func (export "_start")))"#,
            "no part of WASI preview 1",
            "without the extension",
        ),
        text(
            "own-host",
            r#"(module (import "env" "host_get_timezone_offset" (func))
                (import "wasi_snapshot_preview1" "fd_write" (func)) (func (export "_start")))"#,
            "import 'env' 'host_get_timezone_offset' is missing: made for a host of its own",
            "docs/EMBEDDING.md",
        ),
        text(
            "imported-memory",
            r#"(module (import "env" "memory" (memory 1)) (func (export "_start")))"#,
            "its memory is to come from its host",
            "--import-memory",
        ),
        text(
            "object-file",
            r#"(module (@custom "linking" "\02") (import "env" "__linear_memory" (memory 0)))"#,
            "an object file, not linked yet",
            "wasm-ld",
        ),
        text(
            "escapes",
            r#"(module (import "\1b]0;t\07" "\u{202e}\0d\9b" (func)))"#
                .replace("\\9b", "\\c2\\9b")
                .as_str(),
            r"import '\u{1b}]0;t\u{7}' '\u{202e}\r\u{9b}' is missing",
            "docs/EMBEDDING.md",
        ),
    ]
}

/// Structures and arrays.
fn of_objects() -> Vec<Kind> {
    vec![text(
        "garbage-collection",
        r#"(module (type $s (struct (field i32)))
            (func (export "_start") (drop (struct.new $s (i32.const 1)))))"#,
        "needs garbage collection",
        "--features",
    )]
}

/// Exceptions of before WebAssembly 3.0.
fn of_an_older_form() -> Vec<Kind> {
    vec![text(
        "legacy-exceptions",
        r#"(module (tag $t) (func (export "_start") try throw $t catch_all end))"#,
        "older form (try, catch), and legacy-exceptions is turned off",
        "--translate-to-exnref",
    )]
}

/// Libraries, and by what their functions are called instead.
fn libraries(call: &'static str) -> Vec<Kind> {
    vec![text(
        "library",
        r#"(module (func (export "_initialize")) (func (export "format")) (func (export "free")))"#,
        "a library, not a program: it exports no function _start",
        call,
    )]
}

/// Components, which only `bench` takes.
fn components() -> Vec<Kind> {
    vec![text(
        "component",
        r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#,
        "a component, not a module: measure it by `fathom bench`",
        "wasm32-wasip1",
    )]
}

/// Those that it does not.
fn components_of_other_worlds() -> Vec<Kind> {
    vec![
        text(
            "component-library",
            r#"(component (instance $i) (export "my:own/interface" (instance $i)))"#,
            "a component, but no command: it exports no wasi:cli/run@0.2",
            "there is my:own/interface",
        ),
        text(
            "component-http",
            r#"(component (import "wasi:http/types@0.2.0" (instance)))"#,
            "a component that imports 'wasi:http/types@0.2.0'",
            "wasi:cli/command",
        ),
        bytes("component-cut", b"\0asm\x0d\0\x01\0\x07\x10", "cut off", ""),
    ]
}

/// No modules.
fn other_files() -> Vec<Kind> {
    let program = wat::parse_str(r#"(module (func (export "_start")))"#).unwrap();
    vec![
        bytes(
            "gzip",
            b"\x1f\x8b\x08\0rest",
            "compressed by gzip",
            "gunzip",
        ),
        bytes("zip", b"PK\x03\x04rest", "a ZIP archive", "unzip"),
        bytes("elf", b"\x7fELF\x02\x01\x01", "a native program", "ELF"),
        bytes(
            "html",
            b"<!doctype html><title>404</title>",
            "a page of HTML",
            "link",
        ),
        bytes(
            "words",
            b"404: Not Found\n",
            "it begins with '404: Not Found'",
            "text",
        ),
        bytes(
            "lfs",
            b"version https://git-lfs.github.com/spec/v1\n",
            "Git LFS",
            "git lfs pull",
        ),
        bytes("empty", b"", "an empty file", ""),
        bytes("magic-only", b"\0asm", "cut off", ""),
        bytes(
            "truncated",
            &program[..program.len() - 1],
            "cut off",
            "copied whole",
        ),
    ]
}

/// What stands in front of this many functions is to be known before they are compiled, or
/// validated: the last of them is refused then.
fn large() -> Vec<Kind> {
    let with = in_front_of_many;
    vec![
        with(
            "large-import",
            r#"(import "gojs" "debug" (func)) (func (export "_start"))"#,
            "made by Go",
        ),
        with("large-library", r#"(func (export "f"))"#, "a library"),
    ]
}

/// The same of features that are turned off.
fn large_and_turned_off() -> Vec<Kind> {
    let old = r#"(tag $t) (func (export "_start") try throw $t catch_all end)"#;
    let objects = r#"(type (array i32)) (func (export "_start"))"#;
    vec![
        in_front_of_many("large-legacy", old, "older form"),
        in_front_of_many("large-gc", objects, "garbage collection"),
    ]
}

fn in_front_of_many(name: &'static str, fields: &str, says: &'static str) -> Kind {
    let body = "(local.set 0 (i32.add (local.get 0) (i32.load (local.get 0))))".repeat(60);
    let bodies = format!("(func (param i32) {body})").repeat(3_000);
    let module = format!("(module {fields} (memory 1) {bodies} (func i32.add drop))");
    text(name, &module, says, "")
}

/// The line that a command says of a module, which it refuses soon.
fn refused(words: &[&str], module: &Path) -> String {
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .arg(module)
        .current_dir(module.parent().unwrap())
        .env("HOME", module.parent().unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let took = started.elapsed();
    let line = String::from_utf8(output.stderr).unwrap();
    println!(
        "{:>6.1} ms  {}  {line}",
        took.as_secs_f64() * 1e3,
        words.join(" ")
    );
    assert_eq!(output.status.code(), Some(1), "{words:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{words:?}: {line}");
    assert!(!line.trim_end().contains(char::is_control), "{line:?}");
    assert!(
        !line.contains("must be enabled") && line.len() < 600,
        "{line}"
    );
    assert!(output.stdout.is_empty());
    line
}

fn each(kinds: Vec<Kind>, commands: &[&[&str]]) {
    let folder = tempfile::tempdir().unwrap();
    for kind in kinds {
        let module = folder.path().join(format!("{}.wasm", kind.name));
        fs::write(&module, &kind.file).unwrap();
        for words in commands {
            let line = refused(words, &module);
            let is_said = line.contains(kind.says) && line.contains(kind.helps);
            assert!(is_said, "{}: {line}", kind.name);
        }
        fs::remove_file(module).unwrap();
    }
    // Nothing is left behind.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

const RUN: &[&str] = &["run"];
const BENCH: &[&str] = &["bench", "--rounds", "1"];
const TRACE: &[&str] = &["trace", "--by", "process"];
const OBJDUMP: &[&str] = &["objdump"];
const RUN_LESS: &[&str] = &["run", "--features=-legacy-exceptions,-gc"];
const OBJDUMP_LESS: &[&str] = &["objdump", "--features=-legacy-exceptions,-gc"];

#[test]
fn of_other_hosts() {
    each(for_other_hosts(), &[RUN, BENCH, TRACE]);
    each(for_other_hosts_again(), &[RUN, BENCH, TRACE]);
    each(for_own_hosts(), &[RUN, BENCH, TRACE]);
}

#[test]
fn with_what_is_turned_off() {
    each(of_an_older_form(), &[RUN_LESS, OBJDUMP_LESS]);
    each(of_objects(), &[RUN_LESS, OBJDUMP_LESS]);
}

#[test]
fn what_can_be_turned_off_runs() {
    let folder = tempfile::tempdir().unwrap();
    for kind in of_an_older_form().into_iter().chain(of_objects()) {
        let module = folder.path().join(format!("{}.wasm", kind.name));
        fs::write(&module, &kind.file).unwrap();
        for words in [RUN, TRACE, OBJDUMP] {
            let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
                .args(words)
                .arg(&module)
                .env("HOME", folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{words:?}: {said}");
        }
    }
}

#[test]
fn without_a_start() {
    let run = "call another by `fathom run --invoke` (there are: format, free)";
    each(libraries(run), &[RUN, TRACE]);
    let bench = "call another by `fathom bench --invoke` (there are: format, free)";
    each(libraries(bench), &[BENCH]);
}

#[test]
fn files_that_are_no_modules() {
    each(other_files(), &[RUN, BENCH, TRACE, OBJDUMP]);
    each(components(), &[RUN, TRACE, OBJDUMP]);
    each(components_of_other_worlds(), &[RUN, BENCH]);
}

#[test]
fn before_anything_is_compiled() {
    each(large(), &[RUN, BENCH, TRACE]);
    each(large_and_turned_off(), &[RUN_LESS]);
}

#[test]
fn a_library_is_called_by_name_and_a_wrong_name_is_answered_briefly() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("many.wasm");
    let functions: String = (0..4_000)
        .map(|n| format!(r#"(export "some_rather_long_name_of_a_function_{n}" (func 0))"#))
        .collect();
    fs::write(
        &module,
        wat::parse_str(format!("(module (func) {functions})")).unwrap(),
    )
    .unwrap();
    let wrong = ["run", "--invoke", "some_rather_long_name_of_a_functoin_77"];
    let line = refused(&wrong, &module);
    assert!(
        line.contains("(of 4000, nearest: some_rather_long_name_of_a_function_77"),
        "{line}"
    );
}

#[test]
fn a_library_prepares_itself_once_though_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("once.wasm");
    let text = r#"(module (memory (export "memory") 1) (global $is_done (mut i32) (i32.const 0))
        (func (export "_initialize")
          (if (global.get $is_done) (then unreachable))
          (global.set $is_done (i32.const 1)))
        (func (export "done") (result i32) (global.get $is_done)))"#;
    fs::write(&module, wat::parse_str(text).unwrap()).unwrap();
    let out = folder.path().join("out");
    let bench = [
        "bench",
        "--engines",
        "fathom:guard",
        "--rounds",
        "1",
        "--no-probe",
    ];
    let asked: [&[&str]; 3] = [
        &["--invoke", "_initialize"],
        &["--setup", "_initialize", "--invoke", "done"],
        &["--invoke", "done"],
    ];
    for options in asked {
        for command in [&["run"][..], &bench] {
            let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
            fathom.args(command).args(options).arg(&module);
            fathom.current_dir(&folder).env("HOME", folder.path());
            if command.len() > 1 {
                fathom.args(["--wait-idle", "0s", "--out"]).arg(&out);
            }
            let output = fathom.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?} {options:?}: {said}");
            let _ = fs::remove_dir_all(&out);
        }
    }
}
