//! Our engine beside the wasmtime crate: what an embedder waits for, interleaved in one
//! process, and the memory of processes that run a program.
//!
//! ```sh
//! cargo run --release --manifest-path engines/wasmtime/beside/Cargo.toml -- [ROUNDS] [PROGRAM.wasm…]
//! ```
//!
//! A row is the median of our time, the median of wasmtime's, and the median of the
//! ratios of two rounds, one in which we came first and one in which wasmtime did (who
//! comes first finds other caches), with the interval that contains the true one in 95 of
//! 100 runs (order statistics).

#![expect(
    clippy::duplicate_mod,
    reason = "one text of what is measured, compiled against each engine"
)]

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

mod ours;
mod theirs;

const CALLS: u32 = 20_000;
const COPIES: u32 = 100_000;
const SIZES: [u32; 4] = [8, 16, 32, 64];

/// A module with fifteen imports and what is called in it.
fn small() -> Vec<u8> {
    let mut text = String::from("(module\n");
    for n in 0..15 {
        let params = "i32 ".repeat(n / 2);
        let last = ["i32", "i64"][n % 2];
        text += &format!("(import \"host\" \"f{n}\" (func $f{n} (param {params}{last})))\n");
    }
    text += r#"(import "dynamic" "f" (func $dynamic (param i32)))
        (memory (export "memory") 1)
        (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
        (func (export "nothing"))
        (func (export "back") (call $f0 (i32.const 1)))
        (func (export "dynamic") (call $dynamic (i32.const 1)))"#;
    for size in SIZES {
        // By turns, so that no call waits for what the last one has written.
        let places = "(i32.and (i32.shl (local.get $n) (i32.const 7)) (i32.const 0x3f80))";
        for (name, param, len) in [
            ("constant", "", format!("(i32.const {size})")),
            (
                "variable",
                "(param $len i32)",
                "(local.get $len)".to_owned(),
            ),
        ] {
            let given = if param.is_empty() {
                String::new()
            } else {
                format!("(i32.const {size})")
            };
            text += &format!(
                r#"(func $copy-{name}-{size} (param $n i32) {param}
                  (loop $more
                    (memory.copy (i32.add {places} (i32.const 0x8000)) {places} {len})
                    (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
                (func (export "copy-{name}-{size}") (param i32)
                  (call $copy-{name}-{size} (local.get 0) {given}))
                (func $fill-{name}-{size} (param $n i32) {param}
                  (loop $more
                    (memory.fill {places} (local.get $n) {len})
                    (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
                (func (export "fill-{name}-{size}") (param i32)
                  (call $fill-{name}-{size} (local.get 0) {given}))"#
            );
        }
    }
    wat::parse_str(text + ")").expect("the text is well-formed")
}

/// One row: pairs of times in nanoseconds.
struct Row {
    name: String,
    pairs: Vec<[f64; 2]>,
}

fn row<'r>(rows: &'r mut Vec<Row>, name: &str) -> &'r mut Row {
    let at = rows
        .iter()
        .position(|row| row.name == name)
        .unwrap_or_else(|| {
            rows.push(Row {
                name: name.to_owned(),
                pairs: Vec::new(),
            });
            rows.len() - 1
        });
    &mut rows[at]
}

/// Nanoseconds of each of so many.
fn timed<R>(each: u32, what: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let made = black_box(what());
    (start.elapsed().as_nanos() as f64 / f64::from(each), made)
}

/// Both, ours first in even rounds.
fn pair<A, B>(
    rows: &mut Vec<Row>,
    (name, round, each): (&str, usize, u32),
    ours: impl FnOnce() -> A,
    theirs: impl FnOnce() -> B,
) -> (A, B) {
    let ((our_ns, a), (their_ns, b)) = if round % 2 == 0 {
        let a = timed(each, ours);
        (a, timed(each, theirs))
    } else {
        let b = timed(each, theirs);
        (timed(each, ours), b)
    };
    row(rows, name).pairs.push([our_ns, their_ns]);
    (a, b)
}

fn round(rows: &mut Vec<Row>, round: usize, small: &[u8], programs: &[(String, Vec<u8>)]) {
    let engines = (
        fathom_engine::Engine::default(),
        wasmtime::Engine::default(),
    );
    let (m, w) = pair(
        rows,
        ("compile, small module", round, 1),
        || ours::compile(&engines.0, small),
        || theirs::compile(&engines.1, small),
    );
    let (ml, wl) = (ours::linker(&engines.0), theirs::linker(&engines.1));
    let first = pair(
        rows,
        ("first instance", round, 1),
        || ours::instance(&ml, &m),
        || theirs::instance(&wl, &w),
    );
    drop(first);
    let warm = pair(
        rows,
        ("warm instance", round, 1),
        || ours::instance(&ml, &m),
        || theirs::instance(&wl, &w),
    );
    drop(warm);
    let pre = (ours::prepared(&ml, &m), theirs::prepared(&wl, &w));
    pair(
        rows,
        ("warm instance, InstancePre, with its end", round, 50),
        || (0..50).for_each(|_| drop(ours::of_prepared(&pre.0))),
        || (0..50).for_each(|_| drop(theirs::of_prepared(&pre.1))),
    );
    let (mut a, mut b) = (ours::instance(&ml, &m), theirs::instance(&wl, &w));
    pair(
        rows,
        ("call, two numbers", round, CALLS),
        || a.add(CALLS),
        || b.add(CALLS),
    );
    for (row, name) in [
        ("call, nothing", "nothing"),
        ("call and back", "back"),
        ("call and back, func_new", "dynamic"),
    ] {
        pair(
            rows,
            (row, round, CALLS),
            || a.call(name, CALLS),
            || b.call(name, CALLS),
        );
    }
    for size in SIZES {
        for what in ["copy", "fill"] {
            for kind in ["constant", "variable"] {
                let name = format!("{what}-{kind}-{size}");
                let row = format!("memory.{what}, {size} bytes, {kind}");
                pair(
                    rows,
                    (&row, round, COPIES),
                    || a.repeat(&name, COPIES),
                    || b.repeat(&name, COPIES),
                );
            }
        }
    }
    for program in programs {
        of_program(rows, round, program);
    }
}

/// Compiling a program of the project's, and its instances.
fn of_program(rows: &mut Vec<Row>, round: usize, (name, wasm): &(String, Vec<u8>)) {
    let engines = (
        fathom_engine::Engine::default(),
        wasmtime::Engine::default(),
    );
    let (m, w) = pair(
        rows,
        (&format!("compile, {name}"), round, 1),
        || ours::compile(&engines.0, wasm),
        || theirs::compile(&engines.1, wasm),
    );
    let (ml, wl) = (ours::any(&m), theirs::any(&w));
    drop(pair(
        rows,
        (&format!("first instance, {name}"), round, 1),
        || ours::instance(&ml, &m),
        || theirs::instance(&wl, &w),
    ));
    let pre = (ours::prepared(&ml, &m), theirs::prepared(&wl, &w));
    pair(
        rows,
        (&format!("warm instance, {name}, with its end"), round, 20),
        || (0..20).for_each(|_| drop(ours::of_prepared(&pre.0))),
        || (0..20).for_each(|_| drop(theirs::of_prepared(&pre.1))),
    );
}

/// What a process needs at most that compiles a program and makes an instance of it.
fn hold(engine: &str, path: &str) {
    let wasm = std::fs::read(path).expect("the program can be read");
    match engine {
        "ours" => {
            let m = ours::compile(&fathom_engine::Engine::default(), &wasm);
            black_box(ours::instance(&ours::any(&m), &m));
        }
        _ => {
            let m = theirs::compile(&wasmtime::Engine::default(), &wasm);
            black_box(theirs::instance(&theirs::any(&m), &m));
        }
    }
}

/// In MiB: what the process itself says, for the kernel's account of a child begins with
/// what its parent had.
fn peak_of(engine: &str, path: &PathBuf) -> f64 {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    let said = child.arg("--hold").arg(engine).arg(path).output();
    let said = said.expect("a child");
    assert!(said.status.success(), "{engine}: {}", said.status);
    let text = String::from_utf8(said.stdout).expect("a number");
    text.trim().parse::<f64>().expect("a number") / 1024.0
}

/// Peak of this process, in KiB.
fn own_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of the ratios and the order statistics around it.
fn ratio(pairs: &[[f64; 2]]) -> [f64; 3] {
    let both_orders = pairs.chunks_exact(2).map(|two| {
        let [one, other] = [two[0], two[1]].map(|[ours, theirs]| ours / theirs);
        (one * other).sqrt()
    });
    let mut ratios: Vec<f64> = both_orders.collect();
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len() as f64;
    let reach = 0.98 * count.sqrt();
    let at = |place: f64| ratios[place.clamp(0.0, count - 1.0) as usize];
    [
        at(count / 2.0 - reach),
        at(count / 2.0),
        at((count / 2.0 + reach).ceil()),
    ]
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if_eq("--hold").is_some() {
        let (engine, path) = (
            args.next().expect("an engine"),
            args.next().expect("a path"),
        );
        hold(&engine, &path);
        println!("{}", own_peak());
        return ExitCode::SUCCESS;
    }
    let rounds = args.next_if(|arg| arg.parse::<usize>().is_ok());
    let rounds = rounds.map_or(40, |rounds| {
        rounds.parse::<usize>().expect("a number").max(2)
    });
    let rounds = rounds.next_multiple_of(2);
    let paths: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let name = |path: &PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let read = |path: &PathBuf| {
        (
            name(path).unwrap_or_default(),
            std::fs::read(path).expect("it can be read"),
        )
    };
    let programs: Vec<_> = paths.iter().map(read).collect();
    let (small, mut rows) = (small(), Vec::new());
    for n in 0..rounds {
        round(&mut rows, n, &small, &programs);
        for path in &paths {
            let name = format!("memory in MiB, {}", name(path).unwrap_or_default());
            let pair = [peak_of("ours", path), peak_of("theirs", path)];
            row(&mut rows, &name).pairs.push(pair);
        }
    }
    println!("| what | Fathom | wasmtime 48.0.8 | ratio (95 %) |\n|---|---|---|---|");
    for Row { name, pairs } in &rows {
        let [low, middle, high] = ratio(pairs);
        let [ours, theirs] = [0, 1].map(|at| median(pairs.iter().map(|pair| pair[at]).collect()));
        let shown = |value: f64| match value {
            _ if name.starts_with("memory in") => format!("{value:.1} MiB"),
            0.0..1e3 => format!("{value:.1} ns"),
            1e3..1e6 => format!("{:.1} µs", value / 1e3),
            _ => format!("{:.1} ms", value / 1e6),
        };
        println!(
            "| {name} | {} | {} | {middle:.2} ({low:.2}–{high:.2}) |",
            shown(ours),
            shown(theirs)
        );
    }
    ExitCode::SUCCESS
}
