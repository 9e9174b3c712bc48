//! Engines for tests that run under every strategy.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::Write as _;
use std::process::Command;
use std::sync::Mutex;

use fathom_engine::*;

/// The strategies of which it has been said that they are left out.
static SKIPPED: Mutex<Vec<Bounds>> = Mutex::new(Vec::new());

/// An engine with `bounds` for 32-bit memories.
pub fn engine(bounds: Bounds) -> Option<Engine> {
    engine_with(
        Config::new().bounds(BoundsChoice::Named(bounds)),
        bounds,
        "(module (memory 1))",
    )
}

/// An engine with this configuration, of which `bounds` is one strategy; `None`
/// where the host, or this instruction set, lacks what the strategy needs for the
/// memory of `module`, which is said past the harness, because it hides what a test
/// prints.
pub fn engine_with(config: Config, bounds: Bounds, module: &str) -> Option<Engine> {
    let wasm = wat::parse_str(module).unwrap();
    let made = Engine::new(&config.allow_unchecked(true))
        .and_then(|engine| Module::new(&engine, &wasm).map(|_| engine));
    match made {
        Err(error) if !bounds.needs().is_empty() => {
            let mut skipped = SKIPPED.lock().unwrap();
            if !skipped.contains(&bounds) {
                skipped.push(bounds);
                let _ = writeln!(std::io::stderr(), "SKIPPED under {bounds}: {error}");
            }
            None
        }
        made => Some(made.expect("a strategy that needs nothing of the host")),
    }
}

/// Set for a process that runs one test and no other.
const ALONE: &str = "FATHOM_TEST_ALONE";

/// This test program once more, by the emulator that runs it if there is one.
pub fn this_program() -> Command {
    let program = std::env::current_exe().unwrap();
    let emulator = std::env::var("FATHOM_EMULATOR").unwrap_or_default();
    let mut words = emulator.split_whitespace();
    match words.next() {
        None => Command::new(program),
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
    }
}

/// Whether an emulator runs this program: what is taken from the process is taken from
/// the emulator then, which has no page that a fork empties either.
pub fn is_emulated() -> bool {
    let emulated = std::env::var_os("FATHOM_EMULATOR").is_some_and(|it| !it.is_empty());
    if emulated {
        eprintln!("SKIPPED: an emulator runs this");
    }
    emulated
}

/// Whether this process runs the test `name` only; if not, one is made that does, and
/// that it went well is checked here. For what concerns a whole process.
pub fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut child = this_program();
    child.args(["--exact", name, "--nocapture"]).env(ALONE, "1");
    let ended = child.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{name}: {}\n{said}", ended.status);
    let counted = String::from_utf8_lossy(&ended.stdout);
    assert!(
        counted.contains(" 1 passed;"),
        "no test is named {name}: {counted}"
    );
    let _ = std::io::stderr().write_all(&ended.stderr);
    false
}

/// Numbers below a bound, the same each time for a seed: SplitMix64 (Steele, Lea and
/// Flood, 2014).
pub fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |end| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// An instance of a module, in a store of its own.
pub fn instance(engine: &Engine, wat: &str) -> (Store<()>, Instance, Module) {
    let wasm = wat::parse_str(wat).unwrap_or_else(|error| panic!("{error}\n{wat}"));
    let module = Module::new(engine, wasm).unwrap();
    let mut store = Store::new(engine, ());
    let linker = Linker::new(engine);
    let instance = linker.instantiate(&mut store, &module).unwrap();
    (store, instance, module)
}

/// Calls a function by its name.
pub fn call(
    store: &mut Store<()>,
    instance: Instance,
    name: &str,
    args: &[Val],
) -> Result<Vec<Val>> {
    let func = instance.get_func(&*store, name).unwrap();
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    func.call(store, args, &mut results)?;
    Ok(results)
}
