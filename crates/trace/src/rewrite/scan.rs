//! What of a module must be known before any of it is written again.

use fathom_rewrite::shape::{Import, Shape, Space};
use wasmparser::{FuncType, MemoryType, ValType};

use super::RewriteError;

/// The modules that WASI's functions are imported from, and the names of those from
/// elsewhere.
const WASI: [&str; 2] = ["wasi_snapshot_preview1", "wasi_unstable"];
const THREADS: (&str, &str) = ("wasi", "thread-spawn");

/// An imported function that is counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Its position among the imported functions.
    pub import: u32,
    /// The row of the answer: functions of one name share one.
    pub row: usize,
    /// Its name.
    pub name: String,
    /// Its type's index.
    pub type_index: u32,
    /// Its type.
    pub ty: FuncType,
}

/// A module at a glance.
#[derive(Debug)]
pub struct Scan {
    /// Which imported functions are counted.
    pub counted: Vec<Counted>,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// Module and position of an imported `fd_write`; none if it is not imported.
    pub fd_write: Option<u32>,
    /// The position of an imported `clock_time_get`; none if it is not imported.
    pub clock: Option<u32>,
    /// The module that WASI is imported from.
    pub wasi: &'static str,
    /// Imported functions.
    pub func_imports: u32,
    /// Types, of all kinds.
    pub types: u32,
    /// Functions, imported and own.
    pub funcs: u32,
    /// Globals, imported and own.
    pub globals: u32,
    /// The function exported as `_start`.
    pub start: u32,
    /// The function of the start section.
    pub initial: Option<u32>,
    /// The memory exported as `memory`: its index and its type.
    pub memory: (u32, MemoryType),
}

/// Looks through a module.
///
/// # Errors
/// Malformed, or it has not what counting needs.
pub fn scan(wasm: &[u8]) -> Result<Scan, RewriteError> {
    let shape = Shape::of(wasm)?;
    let start = shape.exported(Space::Func, "_start");
    let start = start.ok_or(RewriteError::NoStart)?;
    let index = shape.exported(Space::Memory, "memory");
    let index = index.ok_or(RewriteError::NoMemory)?;
    let memory = shape.memories.get(index as usize).copied();
    let memory = (index, memory.ok_or(RewriteError::NoMemory)?);
    let (mut rows, mut counted) = (Vec::<String>::new(), Vec::new());
    let mut wasi = WASI[0];
    let mut fd_write = None;
    for Import {
        module,
        name,
        index: import,
        ..
    } in shape.imports_of(Space::Func)
    {
        let from = WASI.iter().find(|wasi| *wasi == module);
        if from.is_none() && (module.as_str(), name.as_str()) != THREADS {
            continue;
        }
        let ty = shape.func_type(*import).cloned();
        let ty = ty.ok_or(RewriteError::Import(name.clone()))?;
        if let Some(from) = from {
            wasi = from;
            if name == "fd_write" {
                fd_write = Some(*import);
            }
        }
        let known = rows.iter().position(|row| row == name);
        let row = known.unwrap_or_else(|| {
            rows.push(name.clone());
            rows.len() - 1
        });
        counted.push(Counted {
            import: *import,
            row,
            name: name.clone(),
            type_index: shape.funcs[*import as usize],
            ty,
        });
    }
    let func_imports = shape.imports_of(Space::Func).count() as u32;
    // Of the type that it has in WASI, or it cannot be called.
    let is_clock = |one: &&Counted| {
        one.name == "clock_time_get"
            && one.ty.params() == [ValType::I32, ValType::I64, ValType::I32]
            && one.ty.results() == [ValType::I32]
    };
    let clock = counted.iter().find(is_clock).map(|one| one.import);
    Ok(Scan {
        counted,
        rows,
        fd_write,
        clock,
        wasi,
        func_imports,
        types: shape.types.len() as u32,
        funcs: shape.funcs.len() as u32,
        globals: shape.globals.len() as u32,
        start,
        initial: shape.start,
        memory,
    })
}
