//! Small copies and fills among loads and stores of the same bytes: what a memory holds
//! after each call is what a plain model of byte arrays says, traps included.
//!
//! ```text
//!  seed ─ program ─┬─ text ─► module ─► the engine, configuration by configuration
//!                  └─ model ─► calls: the checksum of what was loaded, or a trap; bytes
//! ```
//!
//! Places are near each other, near both ends of a memory and near the ends of the numbers
//! that indices are; lengths around those that are done in the code. Places and lengths are
//! constants or parameters. A trap ends the call that it is in: what was written before it
//! stays, and of what trapped itself not a byte is written.

use std::fmt::Write as _;

use fathom_engine::{
    Bounds, BoundsChoice, Config, Engine, Error, Guarantee, Linker, Memory, MemoryType, Module,
    Opt, Store, TrapCode, Val,
};

use crate::generate::Below;
use crate::ours::ways::Way;

const PAGE: u64 = 65_536;
const FUNCTIONS: usize = 6;
const CALLS: usize = 24;
/// The numbers that each function is given.
const PARAMS: usize = 3;

/// A memory as modules name it.
struct Name {
    /// Which bytes it is; two names are one memory.
    bytes: usize,
    wide: bool,
    ty: &'static str,
    import: bool,
}

const NAMES: [Name; 5] = [
    Name {
        bytes: 0,
        wide: false,
        ty: "1 1",
        import: true,
    },
    Name {
        bytes: 0,
        wide: false,
        ty: "1 1",
        import: true,
    },
    Name {
        bytes: 1,
        wide: false,
        ty: "1 1",
        import: false,
    },
    Name {
        bytes: 2,
        wide: true,
        ty: "i64 1 1",
        import: false,
    },
    Name {
        bytes: 3,
        wide: false,
        ty: "1 1 shared",
        import: false,
    },
];
const MEMORIES: usize = 4;

/// The bytes of all memories.
type Model = Vec<Vec<u8>>;

/// How often things happened, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Calls of functions.
    pub calls: u64,
    /// Those that trapped.
    pub trapped: u64,
    /// Copies and fills that were done, of a length that is not 0.
    pub moved: u64,
}

/// A number: written down, or a parameter and something that is added.
#[derive(Clone, Copy)]
enum Number {
    Constant(u64),
    Param(usize, u64),
}

#[derive(Clone, Copy)]
struct Place {
    name: usize,
    at: Number,
}

enum Statement {
    Load(Place, u64),
    Store(Place, u64, u64),
    Copy(Place, Place, Number),
    Fill(Place, u8, Number),
}

/// The configurations that a program is run in.
///
/// # Errors
/// An engine that cannot be made.
pub fn engines() -> Result<Vec<(String, Engine)>, Error> {
    let exact = Bounds::all_for(false).filter(|bounds| bounds.guarantee() == Guarantee::Exact);
    let exact = exact.filter(|bounds| *bounds != Bounds::Guard);
    let mut all = vec![("--opt none".to_owned(), Config::new().opt(Opt::None))];
    for bounds in exact.map(BoundsChoice::Named).chain([BoundsChoice::Auto]) {
        for way in Way::all().into_iter().filter(Way::is_eager) {
            all.push((
                format!("{bounds:?} {way}"),
                way.of(Config::new().bounds(bounds)),
            ));
        }
    }
    let engine = |(name, config)| Ok((name, Engine::new(&config)?));
    all.into_iter().map(engine).collect()
}

/// Make a program and hold the engines to what the model says.
///
/// # Errors
/// What differs, in a line.
pub fn check(engines: &[(String, Engine)], below: Below<'_>) -> Result<(Vec<u8>, Seen), String> {
    let functions: Vec<Vec<Statement>> = (0..FUNCTIONS)
        .map(|_| (0..2 + below(9)).map(|_| statement(below)).collect())
        .collect();
    let calls: Vec<(usize, [u64; PARAMS])> = (0..CALLS)
        .map(|_| (below(FUNCTIONS), [start(below), start(below), len(below)]))
        .collect();
    let mut seen = Seen::default();
    let mut model: Model = (0..MEMORIES).map(first_bytes).collect();
    let mut expected = Vec::new();
    for (function, params) in &calls {
        let result = run(&functions[*function], params, &mut model, &mut seen);
        seen.calls += 1;
        seen.trapped += u64::from(result.is_none());
        expected.push((result, model.clone()));
    }
    let wasm = wat::parse_str(text(&functions)).expect("a module");
    for (name, engine) in engines {
        compare(engine, &wasm, &calls, &expected).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok((wasm, seen))
}

/// What a memory holds at first.
fn first_bytes(memory: usize) -> Vec<u8> {
    let byte = |at: u64| (at * 37 + at / 253 + memory as u64) as u8;
    (0..PAGE).map(byte).collect()
}

/// Where something begins.
fn start(below: Below<'_>) -> u64 {
    let near = below(160) as u64;
    match below(12) {
        0..=4 => 1000 + near,
        5 | 6 => near,
        7..=9 => (PAGE + 8).wrapping_sub(near),
        10 => u64::from(u32::MAX).wrapping_sub(near),
        _ => match below(3) {
            0 => u64::MAX.wrapping_sub(near),
            1 => (1 << 63) - 8 + near,
            _ => (1 << 32) + near,
        },
    }
}

/// How much: mostly what is done in place.
fn len(below: Below<'_>) -> u64 {
    match below(12) {
        0 => 0,
        1..=6 => below(132) as u64,
        7..=9 => 1 << below(8),
        10 => below(700) as u64,
        _ => [PAGE, u64::from(u32::MAX), u64::MAX, 1 << 31][below(4)],
    }
}

fn number(below: Below<'_>, constant: fn(Below<'_>) -> u64, param: usize) -> Number {
    match below(2) {
        0 => Number::Constant(constant(below)),
        _ => Number::Param(param, [0, 0, 1, 7, 64, u64::MAX - 15][below(6)]),
    }
}

fn place(below: Below<'_>) -> Place {
    let (name, param) = (below(NAMES.len()), below(2));
    Place {
        name,
        at: number(below, start, param),
    }
}

/// Another place: half of the time in the same bytes.
fn second(below: Below<'_>, first: Place) -> Place {
    match below(2) {
        0 => place(below),
        _ => Place {
            name: first.name ^ usize::from(first.name < 2 && below(2) == 0),
            ..place(below)
        },
    }
}

fn statement(below: Below<'_>) -> Statement {
    let first = place(below);
    let width = 1 << below(4);
    match below(8) {
        0 | 1 => Statement::Load(first, width),
        2 | 3 => Statement::Store(first, width, below(1 << 62) as u64),
        4..=6 => Statement::Copy(first, second(below, first), number(below, len, 2)),
        _ => Statement::Fill(first, below(256) as u8, number(below, len, 2)),
    }
}

impl Number {
    /// What it is as an index or a length of so many bits.
    fn value(self, params: &[u64; PARAMS], wide: bool) -> u64 {
        let value = match self {
            Number::Constant(value) => value,
            Number::Param(param, more) => params[param].wrapping_add(more),
        };
        if wide {
            value
        } else {
            value & u64::from(u32::MAX)
        }
    }

    fn text(self, wide: bool) -> String {
        let (ty, bits) = if wide { ("i64", 64) } else { ("i32", 32) };
        let constant = |value: u64| format!("({ty}.const {})", value & (u64::MAX >> (64 - bits)));
        match self {
            Number::Constant(value) => constant(value),
            Number::Param(param, more) => {
                let given = match wide {
                    true => format!("(local.get {param})"),
                    false => format!("(i32.wrap_i64 (local.get {param}))"),
                };
                match more {
                    0 => given,
                    _ => format!("({ty}.add {given} {})", constant(more)),
                }
            }
        }
    }
}

impl Place {
    fn name(self) -> &'static Name {
        &NAMES[self.name]
    }

    /// The range of so many bytes, if it is inside.
    fn range(self, params: &[u64; PARAMS], len: u64) -> Option<std::ops::Range<usize>> {
        let start = self.at.value(params, self.name().wide);
        let end = start.checked_add(len).filter(|end| *end <= PAGE)?;
        Some(start as usize..end as usize)
    }

    fn text(self) -> String {
        self.at.text(self.name().wide)
    }
}

/// What a call gives, nothing where it traps.
fn run(
    statements: &[Statement],
    params: &[u64; PARAMS],
    model: &mut Model,
    seen: &mut Seen,
) -> Option<u64> {
    let mut sum = 0_u64;
    for statement in statements {
        match *statement {
            Statement::Load(place, width) => {
                let range = place.range(params, width)?;
                let mut word = [0; 8];
                word[..width as usize].copy_from_slice(&model[place.name().bytes][range]);
                sum = sum.rotate_left(7) ^ u64::from_le_bytes(word);
            }
            Statement::Store(place, width, value) => {
                let range = place.range(params, width)?;
                let bytes = value.to_le_bytes();
                model[place.name().bytes][range].copy_from_slice(&bytes[..width as usize]);
            }
            Statement::Copy(to, from, len) => {
                let len = len.value(params, to.name().wide && from.name().wide);
                let (range, source) = (to.range(params, len)?, from.range(params, len)?);
                let moved = model[from.name().bytes][source].to_vec();
                model[to.name().bytes][range].copy_from_slice(&moved);
                seen.moved += u64::from(len > 0);
            }
            Statement::Fill(place, value, len) => {
                let len = len.value(params, place.name().wide);
                model[place.name().bytes][place.range(params, len)?].fill(value);
                seen.moved += u64::from(len > 0);
            }
        }
    }
    Some(sum)
}

/// The program as a module.
fn text(functions: &[Vec<Statement>]) -> String {
    let mut text = String::from("(module\n");
    for (at, name) in NAMES.iter().enumerate() {
        let ty = name.ty;
        let _ = match name.import {
            true => writeln!(text, "(import \"host\" \"memory\" (memory {ty}))"),
            false => writeln!(text, "(memory (export \"{at}\") {ty})"),
        };
    }
    for (at, statements) in functions.iter().enumerate() {
        let _ = writeln!(
            text,
            "(func (export \"f{at}\") (param i64 i64 i64) (result i64) (local $sum i64)"
        );
        for statement in statements {
            line(&mut text, statement);
        }
        text.push_str("(local.get $sum))\n");
    }
    text.push(')');
    text
}

fn line(text: &mut String, statement: &Statement) {
    let suffix = |width: u64| match width {
        8 => String::new(),
        _ => (width * 8).to_string(),
    };
    let _ = match *statement {
        Statement::Load(place, width) => {
            let sign = if width == 8 { "" } else { "_u" };
            writeln!(
                text,
                "(local.set $sum (i64.xor (i64.rotl (local.get $sum) (i64.const 7))
                   (i64.load{}{sign} {} {})))",
                suffix(width),
                place.name,
                place.text()
            )
        }
        Statement::Store(place, width, value) => writeln!(
            text,
            "(i64.store{} {} {} (i64.const {value}))",
            suffix(width),
            place.name,
            place.text()
        ),
        Statement::Copy(to, from, len) => {
            let len = len.text(to.name().wide && from.name().wide);
            let (target, source) = (to.text(), from.text());
            writeln!(
                text,
                "(memory.copy {} {} {target} {source} {len})",
                to.name, from.name
            )
        }
        Statement::Fill(place, value, len) => {
            let (name, at, len) = (place.name, place.text(), len.text(place.name().wide));
            writeln!(text, "(memory.fill {name} {at} (i32.const {value}) {len})")
        }
    };
}

fn compare(
    engine: &Engine,
    wasm: &[u8],
    calls: &[(usize, [u64; PARAMS])],
    expected: &[(Option<u64>, Model)],
) -> Result<(), String> {
    let say = |error: Error| format!("refused: {error}");
    let module = Module::new(engine, wasm).map_err(say)?;
    let mut store = Store::new(engine, ());
    let ty = MemoryType {
        min: 1,
        max: Some(1),
        memory64: false,
        shared: false,
    };
    let imported = Memory::new(&mut store, ty).map_err(say)?;
    let mut linker = Linker::new(engine);
    linker
        .define(&store, "host", "memory", imported)
        .map_err(say)?;
    let instance = linker.instantiate(&mut store, &module).map_err(say)?;
    let mut memories = vec![imported];
    for at in (0..NAMES.len()).filter(|at| !NAMES[*at].import) {
        let memory = instance.get_memory(&store, &at.to_string());
        memories.push(memory.ok_or("no memory")?);
    }
    for (at, memory) in memories.iter().enumerate() {
        let written = memory.write(&mut store, 0, &first_bytes(at));
        written.map_err(|error| error.to_string())?;
    }
    for (i, ((function, params), (result, model))) in calls.iter().zip(expected).enumerate() {
        let func = instance.get_func(&store, &format!("f{function}"));
        let mut results = [Val::I64(0)];
        let params = params.map(|param| Val::I64(param.cast_signed()));
        let ended = func
            .ok_or("no function")?
            .call(&mut store, &params, &mut results);
        let found = match ended {
            Ok(()) => Some(results[0].unwrap_i64().cast_unsigned()),
            Err(error) => match error.trap().map(|trap| trap.code) {
                Some(TrapCode::MemoryOutOfBounds) => None,
                _ => return Err(format!("call {i} of f{function}: {error}")),
            },
        };
        if found != *result {
            return Err(format!(
                "call {i} of f{function}: {found:x?}, not {result:x?}"
            ));
        }
        let mut bytes = vec![0; PAGE as usize];
        for (at, memory) in memories.iter().enumerate() {
            let read = memory.read(&store, 0, &mut bytes);
            read.map_err(|error| error.to_string())?;
            if bytes != model[at] {
                let first = bytes
                    .iter()
                    .zip(&model[at])
                    .position(|(one, other)| one != other);
                return Err(format!(
                    "call {i} of f{function}: other bytes of memory {at} at {first:?}"
                ));
            }
        }
    }
    Ok(())
}
