//! What a module declares: its types, its index spaces, what it exports and where it
//! begins. Imports stand first in each space, as in the module.

use wasmparser::{
    CompositeInnerType, ExternalKind, FuncType, GlobalType, MemoryType, Operator, Parser, Payload,
    TableType, TypeRef,
};

use crate::Malformed;

/// A module at a glance.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Types by their indices; none for those of no function.
    pub types: Vec<Option<FuncType>>,
    /// Imports in the module's order.
    pub imports: Vec<Import>,
    /// Of each function, the index of its type.
    pub funcs: Vec<u32>,
    /// Tables.
    pub tables: Vec<TableType>,
    /// Memories.
    pub memories: Vec<MemoryType>,
    /// Globals.
    pub globals: Vec<GlobalType>,
    /// Of each tag, the index of its type.
    pub tags: Vec<u32>,
    /// Exports in the module's order.
    pub exports: Vec<Export>,
    /// The function of the start section.
    pub start: Option<u32>,
    /// How many segments of data it has.
    pub data: u32,
    /// Whether it says in front of its code how many segments of data it has.
    pub counts_data: bool,
    /// Whether its code has `try` of the form before WebAssembly 3.0.
    pub has_old_exceptions: bool,
}

/// What a module imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// From which module.
    pub module: String,
    /// Under which name.
    pub name: String,
    /// What it is.
    pub space: Space,
    /// Its index there.
    pub index: u32,
}

/// What a module exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Under which name.
    pub name: String,
    /// What it is.
    pub space: Space,
    /// Its index there.
    pub index: u32,
}

/// The index spaces that imports and exports are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Functions.
    Func,
    /// Tables.
    Table,
    /// Memories.
    Memory,
    /// Globals.
    Global,
    /// Tags.
    Tag,
}

impl From<ExternalKind> for Space {
    fn from(kind: ExternalKind) -> Space {
        match kind {
            ExternalKind::Func | ExternalKind::FuncExact => Space::Func,
            ExternalKind::Table => Space::Table,
            ExternalKind::Memory => Space::Memory,
            ExternalKind::Global => Space::Global,
            ExternalKind::Tag => Space::Tag,
        }
    }
}

impl Shape {
    /// Of a module in the binary format.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn of(wasm: &[u8]) -> Result<Shape, Malformed> {
        let mut shape = Shape::default();
        for payload in Parser::new(0).parse_all(wasm) {
            shape.take(payload?)?;
        }
        Ok(shape)
    }

    /// The type of a function, where it is there and plain.
    pub fn func_type(&self, func: u32) -> Option<&FuncType> {
        let ty = *self.funcs.get(func as usize)?;
        self.types.get(ty as usize)?.as_ref()
    }

    /// What of a space is imported.
    pub fn imports_of(&self, space: Space) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(move |i| i.space == space)
    }

    /// The index of what is exported of a space under this name.
    pub fn exported(&self, space: Space, name: &str) -> Option<u32> {
        let is_it = |export: &&Export| export.space == space && export.name == name;
        Some(self.exports.iter().find(is_it)?.index)
    }

    fn take(&mut self, payload: Payload<'_>) -> Result<(), Malformed> {
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
                    self.import(import?);
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section {
                    self.funcs.push(ty?);
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    self.tables.push(table?.ty);
                }
            }
            Payload::MemorySection(section) => {
                for ty in section {
                    self.memories.push(ty?);
                }
            }
            Payload::GlobalSection(section) => {
                for global in section {
                    self.globals.push(global?.ty);
                }
            }
            Payload::TagSection(section) => {
                for tag in section {
                    self.tags.push(tag?.func_type_idx);
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    self.exports.push(Export {
                        name: export.name.to_owned(),
                        space: export.kind.into(),
                        index: export.index,
                    });
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::DataCountSection { .. } => self.counts_data = true,
            Payload::DataSection(section) => self.data = section.count(),
            Payload::CodeSectionEntry(body) if !self.tags.is_empty() => self.look_into(&body)?,
            Payload::ComponentSection { .. } => return Err(Malformed::Component),
            _ => {}
        }
        Ok(())
    }

    fn import(&mut self, import: wasmparser::Import<'_>) {
        let (space, index) = match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => (Space::Func, push(&mut self.funcs, ty)),
            TypeRef::Table(ty) => (Space::Table, push(&mut self.tables, ty)),
            TypeRef::Memory(ty) => (Space::Memory, push(&mut self.memories, ty)),
            TypeRef::Global(ty) => (Space::Global, push(&mut self.globals, ty)),
            TypeRef::Tag(ty) => (Space::Tag, push(&mut self.tags, ty.func_type_idx)),
        };
        self.imports.push(Import {
            module: import.module.to_owned(),
            name: import.name.to_owned(),
            space,
            index,
        });
    }

    fn look_into(&mut self, body: &wasmparser::FunctionBody<'_>) -> Result<(), Malformed> {
        if self.has_old_exceptions {
            return Ok(());
        }
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            if let Operator::Try { .. } = operators.read()? {
                self.has_old_exceptions = true;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A type of values for code that is written; references are all to functions.
pub fn plain(ty: wasmparser::ValType) -> wasm_encoder::ValType {
    use wasm_encoder::ValType;
    match ty {
        wasmparser::ValType::I32 => ValType::I32,
        wasmparser::ValType::I64 => ValType::I64,
        wasmparser::ValType::F32 => ValType::F32,
        wasmparser::ValType::F64 => ValType::F64,
        wasmparser::ValType::V128 => ValType::V128,
        wasmparser::ValType::Ref(_) => ValType::FUNCREF,
    }
}

/// Appends, and says where.
fn push<T>(all: &mut Vec<T>, one: T) -> u32 {
    all.push(one);
    all.len() as u32 - 1
}
