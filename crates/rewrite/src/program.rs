//! A library made a program: what nobody provides traps when it is called, and functions
//! are called from `_start`.
//!
//! ```text
//!  _start ─► [_initialize] ─► setup … ─► function(arguments) ─► one line for each result
//! ```
//!
//! What must stay true: functions of the module's own keep their indices where nothing is
//! called, since then nothing is imported in front of them.

use std::collections::BTreeMap;

use wasm_encoder::{ExportKind, Function, InstructionSink, MemoryType, ValType};
use wasmparser::FuncType;

use crate::Malformed;
use crate::closed::{self, Additions, trap};
use crate::layout::Layout;
use crate::output::{self, Part, Printer, WASI};
use crate::shape::{Import, Shape, Space, plain};

/// What is to become of a module.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Functions that are called first, without arguments.
    pub setup: Vec<String>,
    /// The function that is called, where one is.
    pub call: Option<Call>,
}

/// A call of an exported function.
#[derive(Clone, Debug)]
pub struct Call {
    /// Under which name it is exported.
    pub name: String,
    /// What it is given.
    pub args: Vec<Constant>,
}

/// A value that is written into the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// A vector.
    V128(u128),
}

impl Constant {
    /// Pushes it.
    pub fn push(self, f: &mut InstructionSink<'_>) {
        match self {
            Constant::I32(value) => f.i32_const(value),
            Constant::I64(value) => f.i64_const(value),
            Constant::F32(bits) => f.f32_const(f32::from_bits(bits).into()),
            Constant::F64(bits) => f.f64_const(f64::from_bits(bits).into()),
            Constant::V128(bits) => f.v128_const(bits.cast_signed()),
        };
    }
}

/// Why a module cannot be made a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// There is no such function.
    #[error("it exports no function {0}")]
    NoFunction(String),
    /// What is called first is given nothing.
    #[error("{0} takes arguments: what is called first is given none")]
    Setup(String),
    /// A result or an argument that no text stands for.
    #[error("{0} takes or returns references, for which there is no text")]
    References(String),
    /// Its name is too long for a line.
    #[error("the name of what is called has {0} characters")]
    Name(usize),
    /// WASI cannot find it.
    #[error(
        "its memory cannot be exported as \"memory\": it exports something else under that name"
    )]
    Memory,
}

/// The longest name of a function that is called.
const NAME_MAX: usize = 1000;

/// Makes a program of a module: of its imports, `is_given` tells which somebody provides.
///
/// # Errors
/// [`ProgramError`], one line.
pub fn program(
    wasm: &[u8],
    program: &Program,
    is_given: &dyn Fn(&Import) -> bool,
) -> Result<Vec<u8>, ProgramError> {
    let shape = &Shape::of(wasm)?;
    let kept = shape.imports.iter().map(is_given).collect();
    let Some(call) = &program.call else {
        let layout = Layout::new(shape, kept, 0);
        return Ok(closed::write(wasm, shape, &layout, &stubs(shape, &layout))?);
    };
    let layout = Layout::new(shape, kept, 1);
    let calls = Calls {
        shape,
        layout: &layout,
        program,
        call,
    };
    Ok(closed::write(wasm, shape, &layout, &calls.additions()?)?)
}

/// Bodies that trap, with names that say of what.
fn stubs(shape: &Shape, layout: &Layout) -> Additions {
    let mut names = BTreeMap::new();
    let mut bodies = Vec::new();
    for import in layout.closed(shape).filter(|i| i.space == Space::Func) {
        let Import { module, name, .. } = import;
        let at = layout.moved(Space::Func, import.index);
        names.insert(at, format!("{module}.{name} (nobody provides it)"));
        bodies.push(trap());
    }
    Additions {
        bodies,
        names,
        initial: shape.start.map(|func| layout.moved(Space::Func, func)),
        ..Additions::default()
    }
}

/// The program that calls.
struct Calls<'a> {
    shape: &'a Shape,
    layout: &'a Layout,
    program: &'a Program,
    call: &'a Call,
}

impl Calls<'_> {
    fn additions(&self) -> Result<Additions, ProgramError> {
        let (shape, layout) = (self.shape, self.layout);
        if self.call.name.len() > NAME_MAX {
            return Err(ProgramError::Name(self.call.name.len()));
        }
        let mut additions = stubs(shape, layout);
        let is_own = shape.memories.is_empty();
        if is_own {
            additions.memory = Some(MemoryType {
                minimum: 1,
                maximum: Some(1),
                memory64: false,
                shared: false,
                page_size_log2: None,
            });
        }
        let memory = layout.moved(Space::Memory, self.memory()?);
        if shape.exported(Space::Memory, "memory").is_none() {
            let export = ("memory".to_owned(), ExportKind::Memory, memory);
            additions.exports.push(export);
        }
        additions.hides = |name| ["_start", "_initialize"].contains(&name);
        let printer = Printer {
            memory,
            is_wide: shape.memories.first().is_some_and(|ty| ty.memory64),
            fd_write: layout.added_import(0),
            digits: layout.new_func(0),
        };
        additions.types = vec![
            output::fd_write_type(),
            output::digits_type(),
            (Vec::new(), Vec::new()),
        ];
        additions.imports = vec![(WASI, "fd_write", layout.new_type(0))];
        additions.functions = vec![
            (layout.new_type(1), printer.digits()),
            (layout.new_type(2), self.start(&printer)?),
        ];
        let start = ("_start".to_owned(), ExportKind::Func, layout.new_func(1));
        additions.exports.push(start);
        Ok(additions)
    }

    /// The memory that text goes through: the one that WASI works on, or else the first.
    fn memory(&self) -> Result<u32, ProgramError> {
        if let Some(memory) = self.shape.exported(Space::Memory, "memory") {
            return Ok(memory);
        }
        match self
            .shape
            .exports
            .iter()
            .any(|export| export.name == "memory")
        {
            true => Err(ProgramError::Memory),
            false => Ok(0),
        }
    }

    fn function(&self, name: &str) -> Result<(u32, &FuncType), ProgramError> {
        let func = self.shape.exported(Space::Func, name);
        let found = func.and_then(|func| Some((func, self.shape.func_type(func)?)));
        found.ok_or_else(|| ProgramError::NoFunction(name.to_owned()))
    }

    fn start(&self, printer: &Printer) -> Result<Function, ProgramError> {
        let (func, ty) = self.function(&self.call.name)?;
        let kinds = ty.params().iter().chain(ty.results());
        if kinds
            .clone()
            .any(|kind| matches!(kind, wasmparser::ValType::Ref(_)))
        {
            return Err(ProgramError::References(self.call.name.clone()));
        }
        let results: Vec<ValType> = ty.results().iter().map(|ty| plain(*ty)).collect();
        let mut locals = vec![(2, ValType::I32)];
        locals.extend(results.iter().map(|ty| (1, *ty)));
        let mut body = Function::new(locals);
        let f = &mut body.instructions();
        let initialize = self.shape.exported(Space::Func, "_initialize");
        // Once, where it is named as well.
        let mut named = self.program.setup.iter().chain([&self.call.name]);
        let first = initialize.filter(|_| named.all(|name| name != "_initialize"));
        let first = first.map(|_| "_initialize".to_owned());
        for name in first.iter().chain(&self.program.setup) {
            let (func, ty) = self.function(name)?;
            if !ty.params().is_empty() {
                return Err(ProgramError::Setup(name.clone()));
            }
            f.call(self.layout.moved(Space::Func, func));
            for _ in ty.results() {
                f.drop();
            }
        }
        for arg in &self.call.args {
            arg.push(f);
        }
        f.call(self.layout.moved(Space::Func, func));
        for index in (0..results.len() as u32).rev() {
            f.local_set(2 + index);
        }
        self.tell(f, printer, &results);
        f.end();
        Ok(body)
    }

    /// Writes what was returned, where there is a page of memory to write it from.
    fn tell(&self, f: &mut InstructionSink<'_>, printer: &Printer, results: &[ValType]) {
        f.memory_size(printer.memory);
        match printer.is_wide {
            true => f.i64_eqz(),
            false => f.i32_eqz(),
        };
        f.if_(wasm_encoder::BlockType::Empty).return_().end();
        if results.is_empty() {
            let line = format!("{} returned\n", self.call.name);
            printer.write(f, 1, [0, 1], &[Part::Text(&line)]);
        }
        for (index, ty) in (0u32..).zip(results) {
            let line = format!("{} returned {ty:?} 0x", self.call.name).to_lowercase();
            for (half, text) in halves(*ty).iter().zip([line.as_str(), " 0x"]) {
                let push = |f: &mut InstructionSink<'_>| bits(f, 2 + index, *ty, *half);
                let parts = [Part::Text(text), Part::Number(16, &push)];
                printer.write(f, 1, [0, 1], &parts);
            }
            printer.write(f, 1, [0, 1], &[Part::Text("\n")]);
        }
    }
}

/// The parts of a value that are written as numbers, the higher one first.
fn halves(ty: ValType) -> &'static [u8] {
    match ty {
        ValType::V128 => &[1, 0],
        _ => &[0],
    }
}

/// Pushes the bits of a local, those of one half of a vector. All that is no number has the
/// same bits: engines may choose them.
fn bits(f: &mut InstructionSink<'_>, local: u32, ty: ValType, half: u8) {
    f.local_get(local);
    match ty {
        ValType::I32 => f.i64_extend_i32_u(),
        ValType::F32 => f
            .i32_reinterpret_f32()
            .i32_const(0x7fc0_0000)
            .local_get(local)
            .local_get(local)
            .f32_eq()
            .select()
            .i64_extend_i32_u(),
        ValType::F64 => f
            .i64_reinterpret_f64()
            .i64_const(0x7ff8_0000_0000_0000)
            .local_get(local)
            .local_get(local)
            .f64_eq()
            .select(),
        ValType::V128 => f.i64x2_extract_lane(half),
        ValType::I64 | ValType::Ref(_) => f,
    };
}
