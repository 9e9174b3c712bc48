//! Programs of continuations, made at random: what they do on stacks of their own is what a
//! slow interpreter says, which copies frames to and fro and has no stack at all.
//!
//! ```text
//!  seed ─ program ─┬─ encode    ─► module ─► the engine, configuration by configuration
//!                  └─ interpret ─► calls: value, trap or exception, and what is global
//! ```
//!
//! The calls of a program are made one after the other in one store: whatever a trap or an
//! exception has ended, the next call must be right.

pub mod encode;
pub mod interpret;
pub mod program;

use fathom_engine::{
    Bounds, BoundsChoice, Caller, Codegen, Config, Engine, Error, Linker, Module, Opt, Quota,
    Store, TrapCode, Val,
};

use crate::generate::Below;
use interpret::{End, Machine};
use program::{Program, SLOTS};

/// How often things happened, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Calls of programs.
    pub calls: u64,
    /// Those that ended by a trap or an exception.
    pub failed: u64,
    /// Switches between stacks, of all kinds.
    pub switches: u64,
}

/// The configurations that a program is run in.
///
/// # Errors
/// An engine that cannot be made.
pub fn engines() -> Result<Vec<(String, Engine)>, Error> {
    let mut engines = Vec::new();
    let by_llvm = match Engine::new(&Config::new().codegen(Codegen::Llvm)) {
        Ok(_) => &[(Codegen::Llvm, Opt::Speed, Bounds::Guard, false)][..],
        Err(why) => {
            eprintln!("SKIPPED: code by LLVM: {why}");
            &[]
        }
    };
    for &(codegen, opt, bounds, fuel) in [
        (Codegen::Cranelift, Opt::Speed, Bounds::Guard, false),
        (Codegen::Cranelift, Opt::None, Bounds::Guard, false),
        (Codegen::Cranelift, Opt::Speed, Bounds::Trap, true),
        // What switches stacks is Cranelift's then, and calls what is not.
        (Codegen::Direct, Opt::Speed, Bounds::Guard, false),
        (Codegen::Direct, Opt::Speed, Bounds::Trap, false),
    ]
    .iter()
    .chain(by_llvm)
    {
        let config = Config::new()
            .codegen(codegen)
            .opt(opt)
            .bounds(BoundsChoice::Named(bounds))
            .consume_fuel(fuel)
            .initial_fuel(1 << 40)
            .quota(Quota {
                stack_bytes: 4 << 30,
                ..Quota::default()
            });
        let name = format!(
            "{bounds} --codegen {codegen} --opt {opt}{}",
            if fuel { " with fuel" } else { "" }
        );
        engines.push((name, Engine::new(&config)?));
    }
    Ok(engines)
}

/// How a call ended, as both sides say it.
fn ended(result: Result<i64, Error>, store: &Store<()>) -> Result<End, String> {
    let error = match result {
        Ok(value) => return Ok(End::Value(value)),
        Err(error) => error,
    };
    if let Some(exception) = error.exception() {
        return match exception.values(store).first() {
            Some(Val::I64(value)) => Ok(End::Exception(*value)),
            other => Err(format!("an exception with {other:?}")),
        };
    }
    match error.trap().map(|trap| trap.code) {
        Some(TrapCode::Unreachable) => Ok(End::Unreachable),
        Some(TrapCode::UnhandledTag) => Ok(End::Unhandled),
        Some(TrapCode::ConsumedContinuation) => Ok(End::Consumed),
        Some(TrapCode::NullContinuation) => Ok(End::Null),
        _ => Err(error.to_string()),
    }
}

/// Make a program and hold the engines to what the interpreter says.
///
/// # Errors
/// What differs, in a line.
pub fn check(engines: &[(String, Engine)], below: Below<'_>) -> Result<(Vec<u8>, Seen), String> {
    let program = Program::random(below);
    let wasm = encode::encode(&program);
    let calls: Vec<(usize, i64)> = (0..2 + below(4))
        .map(|_| (below(program.funcs.len()), below(1000) as i64))
        .collect();
    let mut machine = Machine::new(&program);
    let expected: Vec<(End, i64)> = calls
        .iter()
        .map(|(func, argument)| {
            let end = machine.call(*func, *argument);
            (end, machine.checksum)
        })
        .collect();
    for (name, engine) in engines {
        run(engine, &wasm, &calls, &expected).map_err(|why| format!("{name}: {why}"))?;
    }
    let failed = expected
        .iter()
        .filter(|(end, _)| !matches!(end, End::Value(_)));
    let seen = Seen {
        calls: calls.len() as u64,
        failed: failed.count() as u64,
        switches: machine.switches,
    };
    Ok((wasm, seen))
}

fn run(
    engine: &Engine,
    wasm: &[u8],
    calls: &[(usize, i64)],
    expected: &[(End, i64)],
) -> Result<(), String> {
    let say = |error: Error| format!("refused: {error}");
    let module = Module::new(engine, wasm).map_err(say)?;
    let mut store = Store::new(engine, ());
    let mut linker = Linker::new(engine);
    let mix = |_: Caller<'_, ()>, value: i64| -> i64 { program::host(value) };
    linker.func_wrap("host", "mix", mix).map_err(say)?;
    let instance = linker.instantiate(&mut store, &module).map_err(say)?;
    let checksum = instance.get_func(&store, "checksum").ok_or("no checksum")?;
    for (i, ((func, argument), expected)) in calls.iter().zip(expected).enumerate() {
        let func = instance.get_func(&store, &format!("f{func}"));
        let func = func.ok_or("no function")?.typed::<i64, i64>(&store);
        let result = func.map_err(say)?.call(&mut store, *argument);
        let end = ended(result, &store)?;
        let sum = checksum.typed::<(), i64>(&store).map_err(say)?;
        let sum = sum.call(&mut store, ()).map_err(say)?;
        if (end, sum) != *expected {
            return Err(format!(
                "call {i}: {:?}, not {expected:?}; {SLOTS} slots",
                (end, sum)
            ));
        }
    }
    Ok(())
}
