//! Exceptions of the older form mean what they say: each program is written twice, with
//! them and with `try_table`, and does the same, step by step, under each strategy. Where
//! node is installed, it is asked for the same programs of the older form.
//!
//! `FATHOM_LEGACY=20000 cargo test --test legacy` draws so many programs, from
//! `FATHOM_LEGACY_FROM` on.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod continuations;
mod host;
mod program;

#[path = "../common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_engine::*;

use common::numbers;
use program::FUNCTIONS;

/// Programs of a plain run, and calls of each function.
const PROGRAMS: u64 = 150;
const CALLS: i32 = 4;
/// Of the programs, those that LLVM compiles, too.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const LLVM_PROGRAMS: usize = 20;
/// More than any of them takes.
const FUEL: u64 = 1 << 30;

fn seeds() -> std::ops::Range<u64> {
    let number = |name, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let from = number("FATHOM_LEGACY_FROM", 0);
    from..from + number("FATHOM_LEGACY", PROGRAMS)
}

/// A program of the older form, and of the newer.
fn wasm(seed: u64) -> [Vec<u8>; 2] {
    program::program(&mut numbers(seed)).map(|text| {
        let parsed = wat::parse_str(&text);
        parsed.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
    })
}

/// How a call ended.
fn ending(
    ended: Result<()>,
    result: &Val,
    tag: Tag,
    instance: &Instance,
    store: &Store<()>,
) -> String {
    let error = match ended {
        Ok(()) => return format!("{:?}", result.i32().unwrap()),
        Err(error) => error,
    };
    if let Some(trap) = error.trap() {
        return format!("trap {:?}", trap.code);
    }
    let exception = error.exception().expect("a trap or an exception");
    let name = match exception.tag(store) {
        theirs if theirs == tag => "t0".to_owned(),
        ours => (2..6)
            .map(|n| format!("t{n}"))
            .find(|name| instance.get_tag(store, name) == Some(ours))
            .expect("one of its tags"),
    };
    let values: Vec<String> = exception
        .values(store)
        .iter()
        .map(|value| match value {
            Val::I64(n) => n.to_string(),
            other => other.i32().unwrap().to_string(),
        })
        .collect();
    format!("{name}({})", values.join(","))
}

/// All that can be seen of a program: a line for each call.
fn observed(engine: &Engine, wasm: &[u8]) -> Vec<String> {
    let module = Module::new(engine, wasm).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Vec::new();
    for func in 0..FUNCTIONS {
        for arg in 0..CALLS {
            seen.push(called(engine, &module, func, arg));
        }
    }
    seen
}

fn called(engine: &Engine, module: &Module, func: usize, arg: i32) -> String {
    let mut store = Store::new(engine, ());
    // Where it is consumed.
    let _ = store.set_fuel(FUEL);
    let ty = FuncType::new([ValType::I32], []);
    let tag = Tag::new(&mut store, &ty).unwrap();
    let throw = move |mut caller: Caller<'_, ()>, n: i32| -> Result<()> {
        Err(ExnRef::new(&mut caller, tag, &[Val::I32(n)])?.into())
    };
    let throw = Func::wrap(&mut store, throw).unwrap();
    let imports = [tag.into(), tag.into(), throw.into()];
    let instance = Instance::new(&mut store, module, &imports).unwrap();
    let global = |store: &Store<()>, name: &str| instance.get_global(store, name).unwrap();
    let random = global(&store, "random");
    random
        .set(&mut store, Val::I32(func as i32 * 1000 + arg))
        .unwrap();
    let function = instance.get_func(&store, &format!("f{func}")).unwrap();
    let mut results = [Val::I32(0)];
    let ended = function.call(&mut store, &[Val::I32(arg)], &mut results);
    let ended = ending(ended, &results[0], tag, &instance, &store);
    let [seen, steps] = ["seen", "steps"].map(|name| {
        let value = global(&store, name).get(&store);
        value.i32().unwrap()
    });
    let memory = instance.get_memory(&store, "memory").unwrap();
    let mut bytes = [0; 16];
    memory.read(&store, 0, &mut bytes).unwrap();
    format!("f{func}({arg}) {ended} seen {seen} steps {steps} {bytes:?}")
}

/// Engines in which the same programs are translated, and run, in different ways.
fn engines() -> Vec<(String, Engine)> {
    let module = "(module (memory 1))";
    let mut engines = Vec::new();
    for bounds in Bounds::ALL {
        // Elsewhere what is out of bounds does not trap.
        if bounds.guarantee() != Guarantee::Exact || !bounds.supports(false) {
            continue;
        }
        let config = Config::new().bounds(BoundsChoice::Named(bounds));
        if let Some(engine) = common::engine_with(config, bounds, module) {
            engines.push((bounds.to_string(), engine));
        }
    }
    let plain = Config::new().opt(Opt::None);
    let others = [
        ("plain", plain),
        ("without inlining", Config::new().inline(false)),
        ("with fuel", Config::new().consume_fuel(true)),
        ("lazily", Config::new().compilation(Compilation::Lazy)),
    ];
    for (name, config) in others {
        engines.push((name.to_owned(), Engine::new(&config).unwrap()));
    }
    engines
}

#[test]
fn both_forms_do_the_same() {
    let engines = engines();
    let mut exceptions = 0;
    for seed in seeds() {
        let [older, newer] = wasm(seed);
        let expected = observed(&engines[0].1, &newer);
        exceptions += expected.iter().filter(|line| line.contains(" t")).count();
        for (name, engine) in &engines {
            let seen = observed(engine, &older);
            assert_eq!(seen, expected, "seed {seed}, {name}");
        }
    }
    let calls = (seeds().end - seeds().start) as usize * FUNCTIONS * CALLS as usize;
    assert!(
        exceptions > calls / 50,
        "{exceptions} of {calls} end by an exception or a trap"
    );
}

/// What LLVM takes of them, and what it leaves to Cranelift, call one another.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn both_generators_do_the_same() {
    let zig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/zig/ziglang/zig");
    if !zig.is_file() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
        return;
    }
    let cranelift = Engine::new(&Config::new()).unwrap();
    let config = Config::new().codegen(Codegen::Llvm).clang(Some(zig));
    let llvm = Engine::new(&config).unwrap();
    for seed in seeds().take(LLVM_PROGRAMS) {
        let [older, _] = wasm(seed);
        let expected = observed(&cranelift, &older);
        assert_eq!(observed(&llvm, &older), expected, "seed {seed}");
    }
}

/// The node that engines are measured with, or the system's.
fn node() -> Option<PathBuf> {
    let installed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/engines/node/bin/node");
    let named = [installed, PathBuf::from("node")];
    let runs = |node: &PathBuf| Command::new(node).arg("--version").output().is_ok();
    named.into_iter().find(runs)
}

/// What node says of modules, each of them's lines.
fn judged(node: &Path, modules: &[PathBuf]) -> Vec<Vec<String>> {
    let referee = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/legacy/referee.js");
    let mut command = Command::new(node);
    command.arg(referee).arg(CALLS.to_string()).args(modules);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let of_each = text.split_terminator("\n\n");
    of_each
        .map(|lines| lines.lines().map(str::to_owned).collect())
        .collect()
}

/// A line without what kind of trap it was: node has other words for it.
fn without_kind(line: String) -> String {
    match line.split_once("trap ") {
        Some((front, behind)) => format!("{front}trap {}", behind.split_once(' ').unwrap().1),
        None => line,
    }
}

#[test]
fn node_sees_the_same() {
    let Some(node) = node() else {
        eprintln!("SKIPPED: no node");
        return;
    };
    let engine = Engine::new(&Config::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let seeds: Vec<u64> = seeds().collect();
    for some in seeds.chunks(500) {
        let modules = some.iter().map(|seed| {
            let path = folder.path().join(format!("{seed}.wasm"));
            std::fs::write(&path, &wasm(*seed)[0]).unwrap();
            path
        });
        let modules: Vec<PathBuf> = modules.collect();
        let judged = judged(&node, &modules);
        assert_eq!(judged.len(), some.len());
        for ((seed, module), expected) in some.iter().zip(&modules).zip(judged) {
            let seen = observed(&engine, &std::fs::read(module).unwrap());
            let seen: Vec<String> = seen.into_iter().map(without_kind).collect();
            assert_eq!(seen, expected, "seed {seed}");
        }
    }
}
