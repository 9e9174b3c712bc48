//! The module that needs no host: imports answer as recorded, exports are called in order
//! from `_start`.
//!
//! ```text
//!  _start ─► host ─► words: what the host did, up to where the guest runs
//!              ├─ write, grow, set …
//!              ├─ call ─► thunk ─► function of the guest ─► import's stub ─► host …
//!              │            └ mixes and checks results         └ mixes and checks arguments
//!              ├─ return: back in the stub, which takes its results from the words
//!              └─ end: memories are checked, the answer is written
//! ```
//!
//! Words are in a passive segment of data, as are the bytes that the host wrote. One is
//! read through the first eight bytes of the module's memory, which are put back: no
//! second memory is needed, and the guest cannot tell.
//!
//! What must stay true: the guest's own functions are as they were; what the host was is
//! functions of the module, so its time is not in a measurement, but delivering is.

mod emit;
mod script;

use fathom_rewrite::Malformed;
use fathom_rewrite::closed::{self, Additions};
use fathom_rewrite::layout::Layout;
use fathom_rewrite::shape::{Import, Shape, Space};
use wasm_encoder::{ConstExpr, MemoryType, TableType};

use crate::record::check::{Checked, check};
use crate::record::event::Reference;
use crate::record::{Record, RecordError};
use emit::Emit;
use script::Script;

/// Why no program is made of a record.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The record is refused.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The module cannot be read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The module is of a kind that is not replayed.
    #[error("{0}")]
    Refused(String),
}

/// A program made of a record, and what there is to say of it.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The module.
    pub wasm: Vec<u8>,
    /// What it prints where it ends well.
    pub answer: String,
    /// What the record is.
    pub checked: Checked,
    /// Bytes that words and the host's writes take in it.
    pub script_bytes: u64,
}

/// What a program compares, and with what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// All that the guest passes, with the record.
    #[default]
    Recorded,
    /// Which imports the guest calls: there are no others' results to give it.
    Order,
    /// The same, and with this the hash at the end.
    Answer(u32),
}

/// Functions that the module imports, in front of all others.
const ADDED_IMPORTS: u32 = 2;
/// More segments of data than this are refused by engines.
const SEGMENTS_MAX: usize = 50_000;

/// Makes of a record and its module a module that needs nothing but WASI for its answer.
///
/// # Errors
/// A record that is refused, or a module that is of another.
pub fn replay(record: &Record, wasm: &[u8]) -> Result<Replay, ReplayError> {
    record.is_of(wasm)?;
    made(record, wasm, Compared::Recorded)
}

/// Makes such a module of a record whose hashes do not hold, since something is left out of it
/// or of its module. It compares its own hash with `answer`; without one, none.
///
/// # Errors
/// A record that is refused. Whether it is of this module is not asked.
pub fn candidate(record: &Record, wasm: &[u8], answer: Option<u32>) -> Result<Replay, ReplayError> {
    let compared = answer.map_or(Compared::Order, Compared::Answer);
    made(record, wasm, compared)
}

fn made(record: &Record, wasm: &[u8], compared: Compared) -> Result<Replay, ReplayError> {
    let shape = &Shape::of(wasm)?;
    refuse_kinds(shape)?;
    let checked = check(record, shape)?;
    let layout = &Layout::new(shape, vec![false; shape.imports.len()], ADDED_IMPORTS);
    let script = Script::of(record, shape, &checked, compared)?;
    if script.front.len() > SEGMENTS_MAX {
        let why = format!("its host filled a memory in {} places", script.front.len());
        return Err(ReplayError::Refused(why));
    }
    let answer = format!("{}{:x}\n", answer_head(&script), script.hash);
    let emit = Emit::new(shape, layout, record, &checked, &script);
    let mut additions = emit.additions();
    give(&mut additions, record, shape, &emit);
    Ok(Replay {
        wasm: closed::write(wasm, shape, layout, &additions)?,
        answer,
        script_bytes: script.words.len() as u64 * 8 + script.bytes.len() as u64,
        checked,
    })
}

/// What is written at the end, in front of the hash.
fn answer_head(script: &Script) -> String {
    let Script { calls, imports, .. } = script;
    format!("fathom replay: {calls} calls in, {imports} out, answer ")
}

/// The first import of the same function: JavaScript gives one for both.
fn canonical(shape: &Shape, func: u32) -> u32 {
    let imports = || shape.imports_of(Space::Func);
    let own = imports().find(|import| import.index == func);
    let is_same =
        |one: &&Import| own.is_some_and(|own| (&one.module, &one.name) == (&own.module, &own.name));
    imports().find(is_same).map_or(func, |first| first.index)
}

/// Refuses what cannot be replayed, whatever was recorded.
fn refuse_kinds(shape: &Shape) -> Result<(), ReplayError> {
    let refused = |why: &str| Err(ReplayError::Refused(why.to_owned()));
    if (0..shape.funcs.len() as u32).any(|func| shape.func_type(func).is_none()) {
        return refused("a function of it has no plain type");
    }
    if shape.memories.iter().any(|ty| ty.shared) {
        return refused("its memory is shared between threads");
    }
    if shape.memories.iter().any(|ty| ty.page_size_log2.is_some()) {
        return refused("its memory has pages of its own size");
    }
    let is_first_imported = shape.imports_of(Space::Memory).next().is_some();
    match shape.memories.first() {
        Some(ty) if ty.initial == 0 && !is_first_imported => {
            refused("its memory has no page at first, through which a record is read")
        }
        _ => Ok(()),
    }
}

/// What the module was given becomes its own.
fn give(additions: &mut Additions, record: &Record, shape: &Shape, emit: &Emit<'_>) {
    let given = &record.header.given;
    for one in &given.memories {
        let ty = &shape.memories[one.index as usize];
        let memory = MemoryType {
            // Words are read through its first bytes.
            minimum: one.size.max(u64::from(one.index == 0)),
            maximum: one.max,
            memory64: ty.memory64,
            shared: false,
            page_size_log2: None,
        };
        additions.memories.insert(one.index, memory);
    }
    for one in &given.tables {
        let ty = &shape.tables[one.index as usize];
        let table = TableType {
            element_type: wasm_encoder::RefType::FUNCREF,
            minimum: one.size,
            maximum: one.max,
            table64: ty.table64,
            shared: false,
        };
        additions.tables.insert(one.index, table);
    }
    for one in &given.globals {
        let ty = shape.globals[one.index as usize].content_type;
        additions
            .values
            .insert(one.index, constant(emit, ty, one.bits));
    }
}

/// A value as a constant.
fn constant(emit: &Emit<'_>, ty: wasmparser::ValType, bits: u64) -> ConstExpr {
    match ty {
        wasmparser::ValType::I32 => ConstExpr::i32_const((bits as u32).cast_signed()),
        wasmparser::ValType::I64 => ConstExpr::i64_const(bits.cast_signed()),
        wasmparser::ValType::F32 => ConstExpr::f32_const(f32::from_bits(bits as u32).into()),
        wasmparser::ValType::F64 => ConstExpr::f64_const(f64::from_bits(bits).into()),
        wasmparser::ValType::V128 => ConstExpr::v128_const(0),
        wasmparser::ValType::Ref(_) => match Reference::of(bits) {
            Some(Reference::Func(func)) => ConstExpr::ref_func(emit.function(func)),
            Some(Reference::Host) => ConstExpr::ref_func(emit.token()),
            Some(Reference::Null) | None => ConstExpr::ref_null(wasm_encoder::HeapType::FUNC),
        },
    }
}
