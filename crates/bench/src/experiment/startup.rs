//! How long it takes from nothing to the first instruction, and how many instances
//! there can be in a second.
//!
//! Two of the modules import nothing, so that what is timed is the engine and no
//! system interface; the third imports thirty functions of the host and calls none.
//! Each looks at its own memory, globals and table when it is started and traps unless
//! they are as new: an instance that shows what another one left has no time.

use std::fmt::Write as _;
use std::path::PathBuf;

use fathom_engine::Bounds;
use fathom_record::{Compared, Experiment, Variant, campaign::WorkloadNote};

use super::{Command, Design, Environment, Measured};
use crate::{
    check::Expected,
    choose::{Controls, OWN_DRIVER, Program},
    plan::Task,
    request::{RequestError, Strategies, ensure},
};

/// Functions, and bytes of data, of the large module.
const FUNCTIONS: u32 = 2000;
const DATA_BYTES: u32 = 256 << 10;

const TINY: &str = r#"(module
  (memory 1)
  (data (i32.const 1024) "*")
  (global $calls (mut i32) (i32.const 0))
  (table funcref (elem $answer))
  (func $answer (result i32) (i32.load8_u (i32.const 1024)))
  START)"#;

/// Looks whether everything is new, and sees to it that it is not any more.
const START: &str = r#"(func (export "_start")
    (if (i32.or (global.get $calls) (i32.load (i32.const 2048))) (then unreachable))
    (global.set $calls (i32.const 1))
    (i32.store (i32.const 2048) (i32.const 1))
    (if (i32.ne (call_indirect (result i32) (i32.const 0)) (i32.const 42)) (then unreachable)))"#;

/// Functions of the host that the third module imports: WASI's, by their parameters
/// and whether they return an error.
const HOST: [(&str, &str); 30] = [
    ("args_get", "i32 i32"),
    ("args_sizes_get", "i32 i32"),
    ("environ_get", "i32 i32"),
    ("environ_sizes_get", "i32 i32"),
    ("clock_res_get", "i32 i32"),
    ("clock_time_get", "i32 i64 i32"),
    ("fd_advise", "i32 i64 i64 i32"),
    ("fd_allocate", "i32 i64 i64"),
    ("fd_close", "i32"),
    ("fd_datasync", "i32"),
    ("fd_fdstat_get", "i32 i32"),
    ("fd_fdstat_set_flags", "i32 i32"),
    ("fd_filestat_get", "i32 i32"),
    ("fd_filestat_set_size", "i32 i64"),
    ("fd_pread", "i32 i32 i32 i64 i32"),
    ("fd_prestat_get", "i32 i32"),
    ("fd_prestat_dir_name", "i32 i32 i32"),
    ("fd_pwrite", "i32 i32 i32 i64 i32"),
    ("fd_read", "i32 i32 i32 i32"),
    ("fd_readdir", "i32 i32 i32 i64 i32"),
    ("fd_renumber", "i32 i32"),
    ("fd_seek", "i32 i64 i32 i32"),
    ("fd_sync", "i32"),
    ("fd_tell", "i32 i32"),
    ("fd_write", "i32 i32 i32 i32"),
    ("path_create_directory", "i32 i32 i32"),
    ("path_filestat_get", "i32 i32 i32 i32 i32"),
    ("path_remove_directory", "i32 i32 i32"),
    ("path_unlink_file", "i32 i32 i32"),
    ("random_get", "i32 i32"),
];

/// The module that imports: the tiny one behind its imports, its memory exported as
/// WASI asks for.
fn host() -> String {
    let mut text = String::from("(module\n");
    for (name, params) in HOST {
        let _ = writeln!(
            text,
            "(import \"wasi_snapshot_preview1\" \"{name}\" (func (param {params}) (result i32)))"
        );
    }
    let own = TINY.replacen("(module", "", 1);
    text + &own.replace("(memory 1)", "(memory (export \"memory\") 1)")
}

/// The large module: many functions, all in its table, and an image of data.
fn large() -> String {
    let mut text = String::from("(module (memory 32) (global $calls (mut i32) (i32.const 0))\n");
    // `write!` to a string cannot fail.
    let _ = write!(text, "(data (i32.const 65536) \"");
    for at in 0..DATA_BYTES {
        text.push(char::from(
            b'a' + (at.wrapping_mul(2_654_435_761) >> 28) as u8,
        ));
    }
    text.push_str("\")\n(data (i32.const 1024) \"*\")\n");
    text.push_str("(func $answer (result i32) (i32.load8_u (i32.const 1024)))\n");
    for i in 0..FUNCTIONS {
        let (at, factor) = (65_536 + 97 * i, 2 * i + 3);
        let _ = writeln!(
            text,
            "(func $f{i} (result i32) (local i32 i32)
              (local.set 0 (i32.const {factor}))
              (loop (local.set 1 (i32.add (local.get 1)
                  (i32.mul (i32.load offset={at} (local.get 0)) (i32.const {factor}))))
                (i32.store offset={at} (local.get 0) (i32.xor (local.get 1) (i32.const {i})))
                (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
                (br_if 0 (i32.gt_s (local.get 0) (i32.const 0))))
              (if (result i32) (i32.and (local.get 1) (i32.const 1))
                (then (i32.rotl (local.get 1) (i32.const {})))
                (else (i32.div_u (local.get 1) (i32.const {factor})))))",
            i % 31
        );
    }
    text.push_str("(table funcref (elem $answer");
    for i in 0..FUNCTIONS {
        let _ = write!(text, " $f{i}");
    }
    let _ = write!(text, "))\n{START})");
    text
}

/// How it is measured: instances in a row are timed too.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Startup,
    command: Some(Command::Bench),
    help: "measures the time to the first instruction and the rate of new instances",
    cycles: true,
    // The first instance of a process is one that counts.
    warmup: 0,
    measured,
    suits,
    controls: Controls::First,
    ..Design::USUAL
};

/// Modules, cold and cached.
fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let request = env.request;
    ensure(request.workloads.is_empty(), || {
        "startup has no kernels".to_owned()
    })?;
    ensure(request.size.is_none(), || "startup has no sizes".to_owned())?;
    let modules = [
        (
            "tiny",
            TINY.replace("START", START),
            "one page of memory, a table of one function",
        ),
        (
            "large",
            large(),
            "2 MiB of memory, 256 KiB of data, a table of 2001 functions",
        ),
        (
            "host",
            host().replace("START", START),
            "one page of memory, 30 functions imported from WASI and not called",
        ),
    ];
    let (mut programs, mut notes, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text, what) in modules {
        let bytes = wat::parse_str(&text)
            .map_err(|error| RequestError::Refused(format!("a module of Fathom's own: {error}")))?;
        let file = format!("{name}.wasm");
        for is_cached in [false, true] {
            let (name, how) = match is_cached {
                false => (name.to_owned(), "compiled"),
                true => (format!("{name}-cached"), "found in the cache"),
            };
            notes.push(WorkloadNote {
                suite: "startup".to_owned(),
                name: name.clone(),
                why: format!("{what}; {how}"),
                answer: None,
                category: None,
                bytes: Some(bytes.len() as u64),
                ..WorkloadNote::default()
            });
            programs.push(program(name, &file, is_cached));
        }
        written.push((file, bytes));
    }
    Ok(Measured {
        written,
        compared: Compared::Run,
        variants: vec![Variant::Wasm],
        threads: vec![1, 2],
        strategies: vec![
            Strategies::pooled(Bounds::Guard),
            Strategies::one(Bounds::Guard),
            Strategies::pooled(Bounds::Uffd),
            Strategies::one(Bounds::Uffd),
        ],
        natives: Vec::new(),
        ..Measured::new("startup".to_owned(), (programs, notes))
    })
}

fn program(name: String, file: &str, is_cached: bool) -> Program<'static> {
    let artifact = PathBuf::from(file);
    Program {
        suite: "startup".to_owned(),
        name,
        size: String::new(),
        args: Vec::new(),
        artifact: Box::new(move |_| artifact.clone()),
        expected: Expected::Text(String::new()),
        folder: None,
        is_cached,
        stack_bytes: None,
        load: None,
    }
}

/// Whether a task makes sense: only our engine has a cache that it says it used,
/// and what it found there is the same for all threads.
fn suits(task: &Task) -> bool {
    !task.is_cached || (task.driver == OWN_DRIVER && task.cell.threads == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_engine::{Config, Engine, Linker, Module, Pool, PoolLimits, Store};

    #[test]
    fn the_modules_start_once_in_each_life_and_no_more() {
        let engine = Engine::new(&Config::new().opt(fathom_engine::Opt::None)).unwrap();
        let [tiny, host] = [TINY.to_owned(), host()].map(|text| text.replace("START", START));
        for text in [tiny, large(), host] {
            let module = Module::new(&engine, wat::parse_str(&text).unwrap()).unwrap();
            let mut linker = Linker::new(&engine);
            linker.define_unknown_imports_as_traps(&module).unwrap();
            let mut store = Store::new(&engine, ());
            let instance = linker.instantiate(&mut store, &module).unwrap();
            let start = instance.get_func(&store, "_start").unwrap();
            start.call(&mut store, &[], &mut []).unwrap();
            assert!(start.call(&mut store, &[], &mut []).is_err());
            let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
            let start = pool.func::<(), ()>("_start").unwrap();
            for _ in 0..3 {
                let mut instance = pool.instantiate(()).unwrap();
                instance
                    .func(&start)
                    .unwrap()
                    .call(&mut instance, ())
                    .unwrap();
            }
        }
    }
}
