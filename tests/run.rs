//! `fathom run` where a transcript does not reach: streams, signals, long stacks.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Copies standard input to standard output, and exits with the number of
/// arguments.
const CAT: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2)
  (func (export "_start")
    (loop $again
      (i32.store (i32.const 0) (i32.const 65536))
      (i32.store (i32.const 4) (i32.const 65536))
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)) (then (unreachable)))
      (if (i32.load (i32.const 4))
        (then
          (if (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)) (then (unreachable)))
          (br $again))))
    (drop (call $args (i32.const 16) (i32.const 20)))
    (call $exit (i32.load (i32.const 16)))))"#;

/// Writes one byte for ever, whatever the outcome.
const YES: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\02\00\00\00")
  (data (i32.const 16) "y\n")
  (func (export "_start")
    (loop $for_ever
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
      (br $for_ever))))"#;

/// Functions to call by name.
const LIBRARY: &str = r#"(module
  (func $inner (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func (export "div") (param i32 i32) (result i32)
    (call $inner (local.get 0) (local.get 1)))
  (func (export "two") (param f64) (result i64 f64) (i64.const -1) (local.get 0))
  (func $deep (export "deep") (call $deep)))"#;

struct Module {
    path: PathBuf,
    _temp: tempfile::TempDir,
}

fn module(text: &str) -> Module {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("program.wat");
    std::fs::write(&path, text).unwrap();
    Module { path, _temp: temp }
}

fn fathom(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("run").args(args).stdin(Stdio::null());
    command
}

fn run(options: &[&str], module: &Path, args: &[&str]) -> Output {
    fathom(options).arg(module).args(args).output().unwrap()
}

#[test]
fn streams_arguments_and_status_are_the_programs_own() {
    let cat = module(CAT);
    for bounds in ["auto", "clamp", "trap", "guard"] {
        let mut child = fathom(&[
            "--bounds",
            bounds,
            cat.path.to_str().unwrap(),
            "--",
            "a",
            "-b",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
        let data: Vec<u8> = (0..300_000u32).map(|i| (i * 7) as u8).collect();
        let mut stdin = child.stdin.take().unwrap();
        let copy = data.clone();
        let writer = std::thread::spawn(move || stdin.write_all(&copy));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert_eq!(output.status.code(), Some(3), "{bounds}");
        assert!(output.stdout == data, "{bounds}");
    }
}

#[test]
fn a_function_of_rust_has_the_name_that_its_source_has() {
    let name = "_ZN4shop4till4open17h0123456789abcdefE";
    let program = module(&format!(
        r#"(module (func ${name} (export "_start") unreachable))"#
    ));
    let text = run(&[], &program.path, &[]).stderr;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("trap: unreachable in shop::till::open (function 0) at"),
        "{text}"
    );
    assert!(
        text.contains("0: shop::till::open (function 0) at"),
        "{text}"
    );
}

#[test]
fn a_trap_is_134_with_its_name_its_place_and_its_frames() {
    let library = module(LIBRARY);
    let output = run(&["--invoke", "div"], &library.path, &["1", "0"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(134));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("trap: integer divide by zero in inner (function 0) at 0x"),
        "{text}"
    );
    assert!(lines[1].contains("0: inner (function 0)"), "{text}");
    assert!(lines[2].contains("1: div (function 1)"), "{text}");
    let output = run(&["--invoke", "deep"], &library.path, &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(134));
    assert!(
        text.contains("call stack exhausted") && text.contains(" more\n"),
        "{text}"
    );
    assert!(text.lines().count() < 40);
}

#[test]
fn functions_are_called_by_name() {
    let library = module(LIBRARY);
    let output = run(&["--invoke", "div"], &library.path, &["--", "-7", "0x2"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-3\n");
    let output = run(&["--invoke", "two"], &library.path, &["2.5"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-1\n2.5\n");
}

#[test]
fn a_reader_that_leaves_ends_the_program() {
    let yes = module(YES);
    let mut child = fathom(&[yes.path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"y\ny\n");
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[test]
fn an_interrupt_ends_the_program() {
    let spin = module(r#"(module (func (export "_start") (loop $l (br $l))))"#);
    // Where the tests themselves run in the background, interrupts are ignored
    // by them and by what they start.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_fathom"), "run"])
        .arg(&spin.path)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    // A shell shows 128 + 2.
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

#[test]
fn the_strategy_is_said_when_asked_for() {
    let library = module(LIBRARY);
    let output = run(
        &["--verbose", "--invoke", "div"],
        &library.path,
        &["4", "2"],
    );
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("bounds auto = guard"), "{text}");
    let none = ["--bounds", "none", "--unsafe-no-bounds", "--opt", "none"];
    let options = [&none[..], &["--invoke", "div"]].concat();
    let output = run(&options, &library.path, &["4", "2"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}

/// Whose the functions are is known when they are compiled: at the end, where that is when
/// they are called.
#[test]
#[cfg(target_arch = "x86_64")]
fn who_made_functions_is_said_when_asked_for() {
    let program = module(
        r#"(module (func (export "one") (result i32) (i32.const 1))
          (func (export "many") (result i32 i32 i32 i32 i32 i32 i32 i32 i32) (unreachable))
          (func (export "idle")))"#,
    );
    for (options, name, said) in [
        (
            &["--compilation", "eager"][..],
            "one",
            "2 of 3 functions by direct, 1 by cranelift: 1 for results in memory",
        ),
        (&[], "one", "1 of 1 functions by direct, 0 by cranelift\n"),
        (
            &[],
            "many",
            "0 of 1 functions by direct, 1 by cranelift: 1 for results in memory",
        ),
    ] {
        let options = [
            &["--verbose", "--codegen", "direct", "--invoke", name],
            options,
        ]
        .concat();
        let text = run(&options, &program.path, &[]).stderr;
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(said), "{name}: {text}");
        assert_eq!(text.matches("by direct").count(), 1, "{name}: {text}");
    }
}

/// A program of one memory: `load` and `grow`, by name.
const GROWS: &str = r#"(module (memory INDEX 1)
  (func (export "load") (param INDEX) (result i32) (i32.load (local.get 0)))
  (func (export "grow") (param INDEX INDEX) (result INDEX i32)
    (memory.grow (local.get 0)) (i32.load (local.get 1)))
  (func (export "beyond") (param INDEX INDEX) (result i32)
    (drop (memory.grow (local.get 0))) (i32.load (local.get 1))))"#;

/// Runs under a limit of the shell's.
fn limited(
    limit: &str,
    options: &[&str],
    module: &Path,
    args: &[&str],
) -> (Option<i32>, String, String) {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit {limit}; exec \"$0\" run \"$@\""))
        .arg(env!("CARGO_BIN_EXE_fathom"))
        .args(options)
        .arg(module)
        .args(args);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// KiB of address space in which a 32-bit memory behind guard pages does not fit.
const FEW_KIB: &str = "-v 10485760";

#[test]
fn auto_falls_back_where_the_host_refuses_and_says_so() {
    for (index, taken) in [("i32", "trap"), ("i64", "trap")] {
        let program = module(&GROWS.replace("INDEX", index));
        let invoke = ["-v", "--compilation", "eager", "--invoke", "grow"];
        let (status, out, err) = limited(FEW_KIB, &invoke, &program.path, &["10", "70000"]);
        assert_eq!((status, out.as_str()), (Some(0), "1\n0\n"), "{err}");
        let said = format!("bounds auto = {taken}, because the host refuses guard");
        assert!(err.contains(&said), "{err}");
        assert!(
            err.contains("(RLIMIT_AS), raise it by `ulimit -v`"),
            "{err}"
        );
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn who_asks_for_lazy_compilation_is_told_where_there_is_none() {
    let program = module("(module (func (export \"get\") (result i32) (i32.const 7)))");
    let folder = tempfile::tempdir().unwrap();
    let cache = [
        "--cache",
        folder.path().to_str().unwrap(),
        "--invoke",
        "get",
    ];
    let said = "fathom: all functions are compiled first: a cache keeps whole modules\n";
    for asked in [["--compilation", "lazy"], ["--codegen", "tiered"]] {
        let options = [&asked[..], &cache].concat();
        let (status, out, err) = limited("-f unlimited", &options, &program.path, &[]);
        assert_eq!((status, out.as_str(), err.as_str()), (Some(0), "7\n", said));
    }
}

/// Blocks of a file: less than data and code have that are kept in files in memory.
const FEW_BLOCKS: &str = "-f 8";

#[test]
fn a_limit_to_the_size_of_files_is_none_to_memories_and_code() {
    let bytes = "\\2a".repeat(40_000);
    let text = format!(
        "(module (memory 1) (data (i32.const 8) \"{bytes}\")
           (func (export \"get\") (result i32) (i32.load8_u (i32.const 40007))))"
    );
    let program = module(&text);
    let because =
        "the host lets no file of 1 MiB in memory be executed (vm.memfd_noexec, ulimit -f)";
    let told = format!("fathom: all functions are compiled first: {because}\n");
    for (compilation, told) in [("eager", String::new()), ("lazy", told)] {
        let options = ["--compilation", compilation, "--invoke", "get"];
        let said = limited(FEW_BLOCKS, &options, &program.path, &[]);
        assert_eq!(said, (Some(0), "42\n".to_owned(), told));
    }
}

#[test]
fn a_named_strategy_that_the_host_refuses_is_one_line_with_limit_and_remedy() {
    let program = module(&GROWS.replace("INDEX", "i32"));
    for bounds in ["guard", "trap", "shadow", "uffd"] {
        let invoke = ["--bounds", bounds, "--invoke", "load"];
        let (status, _, err) = limited("-v 6291456", &invoke, &program.path, &["0"]);
        assert_eq!(status, Some(1), "{err}");
        assert!(
            err.contains(&format!("under '{bounds}': reserving 8")),
            "{err}"
        );
        assert!(
            err.contains("6 GiB in all (RLIMIT_AS), raise it by"),
            "{err}"
        );
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

/// The kernel refuses to open the pages: the memory keeps its size, and what is
/// beyond stays out of bounds.
#[test]
fn growth_that_the_host_refuses_changes_nothing() {
    for index in ["i32", "i64"] {
        let program = module(&GROWS.replace("INDEX", index));
        for bounds in ["auto", "trap", "shadow", "shadow-compressed", "debug"] {
            let grow = |name, at| {
                let options = ["--bounds", bounds, "--invoke", name];
                limited("-d 1048576", &options, &program.path, &["20000", at])
            };
            let (status, out, err) = grow("grow", "65532");
            let refused = (Some(0), "-1\n0\n");
            assert_eq!((status, out.as_str()), refused, "{bounds}: {err}");
            for at in ["65533", "65536", "100000000"] {
                let (status, _, err) = grow("beyond", at);
                assert_eq!(status, Some(134), "{bounds}: {err}");
                assert!(err.contains("out of bounds memory access"), "{err}");
            }
        }
    }
}

/// A minimum that does not fit is refused, by the limit that it meets.
#[test]
fn a_minimum_that_cannot_be_had_is_one_line() {
    for (pages, limit, said) in [
        (
            0x200_0000_u64,
            "-v unlimited",
            "2 TiB of memories are beyond the limit of 4 GiB",
        ),
        (
            20_000,
            "-d 1048576",
            "opening 1.2 GiB: the machine or a limit (RLIMIT_DATA",
        ),
    ] {
        let wat = format!(r#"(module (memory i64 {pages}) (func (export "_start")))"#);
        let (status, _, err) = limited(limit, &[], &module(&wat).path, &[]);
        assert_eq!(status, Some(1), "{err}");
        assert!(err.contains(said), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

/// The map of a call that prints a quotient: address, bytes and name of each function.
fn perf_map(options: &[&str]) -> Vec<(u64, u64, String)> {
    let library = module(LIBRARY);
    let call = [
        "--perf-map",
        "--invoke",
        "div",
        library.path.to_str().unwrap(),
        "6",
        "3",
    ];
    let mut command = fathom(&[options, &call].concat());
    let child = command.stdout(Stdio::null()).spawn().unwrap();
    let map = format!("/tmp/perf-{}.map", child.id());
    assert!(child.wait_with_output().unwrap().status.success());
    let text = std::fs::read_to_string(&map).unwrap();
    std::fs::remove_file(&map).unwrap();
    let number = |word: &str| u64::from_str_radix(word, 16).unwrap();
    let functions = text.lines().map(|line| {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        (number(words[0]), number(words[1]), words[2].to_owned())
    });
    functions.collect()
}

#[test]
fn functions_are_named_for_profilers() {
    let mut functions = perf_map(&[]);
    assert_eq!(functions.len(), 4, "{functions:?}");
    assert_eq!(functions[0].2, "wasm: inner", "{functions:?}");
    functions.sort();
    for pair in functions.windows(2) {
        let (address, bytes, _) = &pair[0];
        assert!(*bytes > 0 && address + bytes <= pair[1].0, "{functions:?}");
    }
    let lazy = perf_map(&["--compilation", "lazy"]);
    let is_named = |name: &str| lazy.iter().any(|(.., named)| named == name);
    assert!(is_named("wasm: div"), "{lazy:?}");
}

/// Prints its arguments, each with a zero behind it.
const ARGS: &str = r#"(module
  (import "wasi_snapshot_preview1" "args_get" (func $get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $env (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $env_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_dir_name" (func $dir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func $print (param $at i32) (param $len i32)
    (i32.store (i32.const 8) (local.get $at))
    (i32.store (i32.const 12) (local.get $len))
    (drop (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0))))
  (func (export "_start")
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $get (i32.const 1024) (i32.const 8192)))
    (call $print (i32.const 8192) (i32.load (i32.const 4)))
    (drop (call $env_sizes (i32.const 0) (i32.const 4)))
    (drop (call $env (i32.const 1024) (i32.const 8192)))
    (call $print (i32.const 8192) (i32.load (i32.const 4)))
    (drop (call $dir (i32.const 3) (i32.const 8192) (i32.const 3)))
    (call $print (i32.const 8192) (i32.const 3))))"#;

#[test]
fn what_is_behind_the_module_is_the_programs() {
    let args = module(ARGS);
    for words in [
        &["--version"][..],
        &["-h"],
        &["--help", "x"],
        &["--bounds", "armour", "--timeout=0"],
        &["x", "--", "-y"],
        &["--root", "/nowhere", "-v"],
    ] {
        let output = run(&[], &args.path, words);
        let expected: String = std::iter::once("program.wat")
            .chain(words.iter().copied())
            .map(|word| word.to_owned() + "\0")
            .collect();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.starts_with(&expected), "{words:?}: {output:?}");
        // A first `--` is no argument, as ever.
        let escaped = [&["--"], words].concat();
        assert_eq!(run(&[], &args.path, &escaped).stdout, output.stdout);
    }
}

#[test]
fn arguments_and_names_are_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let args = module(ARGS);
    let folder = args.path.parent().unwrap();
    let name = OsStr::from_bytes(b"d\xff\xfe");
    std::fs::create_dir(folder.join(name)).unwrap();
    let program = OsStr::from_bytes(b"p\xff.wat");
    std::fs::rename(&args.path, folder.join(program)).unwrap();
    let output = fathom(&["--dir"])
        .arg(name)
        .arg("--env")
        .arg(OsStr::from_bytes(b"K\x80=\xff"))
        .arg(program)
        .arg(OsStr::from_bytes(b"\xff\x01"))
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"p\xff.wat\0\xff\x01\0K\x80=\xff\0d\xff\xfe");
}

#[test]
fn address_space_that_is_short_is_said_in_a_line() {
    let module = module("(module (memory 1) (func (export \"_start\")))");
    // What `ulimit` counts in KiB. Where there are no protection keys, that is the line.
    for limit in ["4000000", "20000000", "40000000"] {
        let mut limited = Command::new("sh");
        let script = "ulimit -v \"$1\"; exec \"$0\" run --bounds pkeys \"$2\"";
        limited.args(["-c", script, env!("CARGO_BIN_EXE_fathom"), limit]);
        let output = limited.arg(&module.path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{limit}: {said}");
        assert_eq!(said.lines().count(), 1, "{limit}: {said}");
        assert!(said.starts_with("fathom: "), "{limit}: {said}");
    }
}
