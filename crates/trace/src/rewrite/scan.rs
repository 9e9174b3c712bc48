//! What of a module must be known before any of it is written again.

use wasmparser::{
    CompositeInnerType, ExternalKind, FuncType, MemoryType, Parser, Payload, TypeRef, ValType,
};

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

/// What is gathered on the way.
#[derive(Default)]
struct Gathered {
    types: Vec<Option<FuncType>>,
    func_imports: Vec<(String, String, u32)>,
    funcs: u32,
    globals: u32,
    memories: Vec<MemoryType>,
    start: Option<u32>,
    initial: Option<u32>,
    memory: Option<u32>,
}

/// Looks through a module.
///
/// # Errors
/// Malformed, or it has not what counting needs.
pub fn scan(wasm: &[u8]) -> Result<Scan, RewriteError> {
    let mut gathered = Gathered::default();
    for payload in Parser::new(0).parse_all(wasm) {
        gathered.take(payload?)?;
    }
    gathered.finish()
}

impl Gathered {
    fn take(&mut self, payload: Payload<'_>) -> Result<(), RewriteError> {
        match payload {
            Payload::TypeSection(section) => {
                for group in section {
                    for ty in group?.types() {
                        self.types.push(match &ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty.clone()),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    match import.ty {
                        TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                            let (module, name) = (import.module.into(), import.name.into());
                            self.func_imports.push((module, name, ty));
                        }
                        TypeRef::Global(_) => self.globals += 1,
                        TypeRef::Memory(ty) => self.memories.push(ty),
                        TypeRef::Table(_) | TypeRef::Tag(_) => {}
                    }
                }
            }
            Payload::FunctionSection(section) => self.funcs = section.count(),
            Payload::GlobalSection(section) => self.globals += section.count(),
            Payload::MemorySection(section) => {
                for ty in section {
                    self.memories.push(ty?);
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    match (export.name, export.kind) {
                        ("_start", ExternalKind::Func | ExternalKind::FuncExact) => {
                            self.start = Some(export.index);
                        }
                        ("memory", ExternalKind::Memory) => self.memory = Some(export.index),
                        _ => {}
                    }
                }
            }
            Payload::StartSection { func, .. } => self.initial = Some(func),
            Payload::ComponentSection { .. } => return Err(RewriteError::Component),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Scan, RewriteError> {
        let start = self.start.ok_or(RewriteError::NoStart)?;
        let index = self.memory.ok_or(RewriteError::NoMemory)?;
        let memory = self.memories.get(index as usize).copied();
        let memory = (index, memory.ok_or(RewriteError::NoMemory)?);
        let (mut rows, mut counted) = (Vec::<String>::new(), Vec::new());
        let mut wasi = WASI[0];
        let mut fd_write = None;
        for (import, (module, name, type_index)) in (0u32..).zip(&self.func_imports) {
            let from = WASI.iter().find(|wasi| *wasi == module);
            if from.is_none() && (module.as_str(), name.as_str()) != THREADS {
                continue;
            }
            let ty = self.types.get(*type_index as usize).cloned().flatten();
            let ty = ty.ok_or(RewriteError::Import(name.clone()))?;
            if let Some(from) = from {
                wasi = from;
                if name == "fd_write" {
                    fd_write = Some(import);
                }
            }
            let known = rows.iter().position(|row| row == name);
            let row = known.unwrap_or_else(|| {
                rows.push(name.clone());
                rows.len() - 1
            });
            counted.push(Counted {
                import,
                row,
                name: name.clone(),
                type_index: *type_index,
                ty,
            });
        }
        let func_imports = self.func_imports.len() as u32;
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
            types: self.types.len() as u32,
            funcs: func_imports + self.funcs,
            globals: self.globals,
            start,
            initial: self.initial,
            memory,
        })
    }
}
