//! A module whose imports become its own: functions with bodies, memories, tables, globals
//! and tags with contents; and whatever else is new of it.
//!
//! What must stay true: [`Layout`] says where everything is, before anything is written; so
//! bodies can be made that call what is only written here. Segments that are new in front
//! are applied before the module's own.

use std::collections::BTreeMap;

use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{
    ConstExpr, Elements, EntityType, ExportKind, ExportSection, Function, GlobalType,
    ImportSection, MemoryType, NameMap, NameSection, RefType, TableType, TagKind, TagType, ValType,
};
use wasmparser::{Operator, Parser};

use crate::Malformed;
use crate::layout::Layout;
use crate::sections::{Sections, Writer};
use crate::shape::{Shape, Space};

/// A type of functions.
pub type Signature = (Vec<ValType>, Vec<ValType>);

/// What a module has that it had not before.
pub struct Additions {
    /// Types.
    pub types: Vec<Signature>,
    /// Imported functions: module, name, index of the type.
    pub imports: Vec<(&'static str, &'static str, u32)>,
    /// The body of each function that was imported, in order.
    pub bodies: Vec<Function>,
    /// Types of memories that were imported, where they are not what was declared.
    pub memories: BTreeMap<u32, MemoryType>,
    /// Types of tables that were imported, where they are not what was declared.
    pub tables: BTreeMap<u32, TableType>,
    /// Values of globals that were imported; zero or null where there is none.
    pub values: BTreeMap<u32, ConstExpr>,
    /// A memory, for a module without one.
    pub memory: Option<MemoryType>,
    /// Globals.
    pub globals: Vec<(GlobalType, ConstExpr)>,
    /// A table with functions in it, from its second element on.
    pub references: Option<(TableType, Vec<u32>)>,
    /// Tags: the type's index.
    pub tags: Vec<u32>,
    /// Functions behind all others: the type's index, the body.
    pub functions: Vec<(u32, Function)>,
    /// Data in front of the module's own: memory, offset, bytes.
    pub front: Vec<(u32, ConstExpr, Vec<u8>)>,
    /// Data behind it, which code copies.
    pub passive: Vec<Vec<u8>>,
    /// Which exports are left out, by their names.
    pub hides: fn(&str) -> bool,
    /// Exports.
    pub exports: Vec<(String, ExportKind, u32)>,
    /// The function of the start section; none if it is to have no such section.
    pub initial: Option<u32>,
    /// Names of functions.
    pub names: BTreeMap<u32, String>,
    /// Whether references to what is outside become references to functions, of which the
    /// module has some.
    pub turns_externs: bool,
}

impl Default for Additions {
    fn default() -> Additions {
        Additions {
            types: Vec::new(),
            imports: Vec::new(),
            bodies: Vec::new(),
            memories: BTreeMap::new(),
            tables: BTreeMap::new(),
            values: BTreeMap::new(),
            memory: None,
            globals: Vec::new(),
            references: None,
            tags: Vec::new(),
            functions: Vec::new(),
            front: Vec::new(),
            passive: Vec::new(),
            hides: |_| false,
            exports: Vec::new(),
            initial: None,
            names: BTreeMap::new(),
            turns_externs: false,
        }
    }
}

/// Writes a module again, with its imports closed.
///
/// # Errors
/// What cannot be read, or cannot be written again.
pub fn write(
    wasm: &[u8],
    shape: &Shape,
    layout: &Layout,
    additions: &Additions,
) -> Result<Vec<u8>, Malformed> {
    let mut closer = Closer {
        shape,
        layout,
        additions,
    };
    let mut all = Sections::default();
    closer.add_in_front(&mut all)?;
    for payload in Parser::new(0).parse_all(wasm) {
        all.take(&mut closer, payload?)?;
    }
    closer.add_behind(&mut all);
    Ok(all.assemble())
}

struct Closer<'a> {
    shape: &'a Shape,
    layout: &'a Layout,
    additions: &'a Additions,
}

impl Closer<'_> {
    /// What was imported stands in front of what is the module's own.
    fn add_in_front(&mut self, all: &mut Sections<'_>) -> Result<(), reencode::Error> {
        let (shape, additions) = (self.shape, self.additions);
        let mut bodies = additions.bodies.iter();
        for import in self.layout.closed(shape) {
            let index = import.index as usize;
            match import.space {
                Space::Func => {
                    all.functions.function(shape.funcs[index]);
                    all.code.function(bodies.next().unwrap_or(&trap()));
                }
                Space::Table => {
                    let other = additions.tables.get(&import.index).copied();
                    let declared = self.table_type(shape.tables[index])?;
                    all.tables.table(other.unwrap_or(declared));
                }
                Space::Memory => {
                    let other = additions.memories.get(&import.index).copied();
                    let declared = self.memory_type(shape.memories[index])?;
                    all.memories.memory(other.unwrap_or(declared));
                }
                Space::Global => {
                    let ty = self.global_type(shape.globals[index])?;
                    all.globals.global(ty, &self.value(import.index)?);
                }
                Space::Tag => {
                    all.tags.tag(TagType {
                        kind: TagKind::Exception,
                        func_type_idx: shape.tags[index],
                    });
                }
            }
        }
        for (memory, offset, bytes) in &additions.front {
            all.data.active(*memory, offset, bytes.iter().copied());
        }
        Ok(())
    }

    fn add_behind(&self, all: &mut Sections<'_>) {
        let additions = self.additions;
        for (params, results) in &additions.types {
            (all.types.ty()).function(params.iter().copied(), results.iter().copied());
        }
        for (module, name, ty) in &additions.imports {
            all.imports.import(module, name, EntityType::Function(*ty));
        }
        if let Some(memory) = additions.memory {
            all.memories.memory(memory);
        }
        if let Some((ty, funcs)) = &additions.references {
            all.tables.table(*ty);
            all.elements.active(
                Some(self.layout.new_table(0)),
                &ConstExpr::i32_const(1),
                Elements::Functions(funcs.into()),
            );
        }
        for func_type_idx in additions.tags.iter().copied() {
            all.tags.tag(TagType {
                kind: TagKind::Exception,
                func_type_idx,
            });
        }
        for (ty, value) in &additions.globals {
            all.globals.global(*ty, value);
        }
        for (ty, body) in &additions.functions {
            all.functions.function(*ty);
            all.code.function(body);
        }
        for bytes in &additions.passive {
            all.data.passive(bytes.iter().copied());
        }
        if self.shape.counts_data || !additions.passive.is_empty() {
            all.data_count = Some(all.data.len());
        }
        for (name, kind, index) in &additions.exports {
            all.exports.export(name, *kind, *index);
        }
        all.initial = additions.initial;
        if all.names.is_none() && !additions.names.is_empty() {
            let mut names = NameSection::new();
            names.functions(&self.names([]));
            all.names = Some(names);
        }
    }

    /// The value of an imported global that becomes the module's own.
    fn value(&mut self, global: u32) -> Result<ConstExpr, reencode::Error> {
        if let Some(value) = self.additions.values.get(&global) {
            return Ok(value.clone());
        }
        let ty = self.shape.globals[global as usize].content_type;
        Ok(match self.val_type(ty)? {
            ValType::I32 => ConstExpr::i32_const(0),
            ValType::I64 => ConstExpr::i64_const(0),
            ValType::F32 => ConstExpr::f32_const(0.0.into()),
            ValType::F64 => ConstExpr::f64_const(0.0.into()),
            ValType::V128 => ConstExpr::v128_const(0),
            ValType::Ref(RefType { heap_type, .. }) => ConstExpr::ref_null(heap_type),
        })
    }

    /// Names of functions in the order of their indices, with those that are new.
    fn names<'a>(&self, own: impl IntoIterator<Item = (u32, &'a str)>) -> NameMap {
        let mut all: BTreeMap<u32, String> = own
            .into_iter()
            // An engine that looks for what is exported among names would find the guest's.
            .filter(|(_, name)| *name != "_start")
            .map(|(index, name)| (index, name.to_owned()))
            .collect();
        all.extend(self.additions.names.clone());
        let mut names = NameMap::new();
        for (index, name) in &all {
            names.append(*index, name);
        }
        names
    }

    fn is_closed_global(&self, global: u32) -> bool {
        let mut closed = self.layout.closed(self.shape);
        closed.any(|import| import.space == Space::Global && import.index == global)
    }
}

/// The body of a function that cannot be called.
pub fn trap() -> Function {
    let mut body = Function::new([]);
    body.instructions().unreachable().end();
    body
}

impl Writer for Closer<'_> {
    fn naming(&mut self, _: bool) {}
}

impl Reencode for Closer<'_> {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, func: u32) -> Result<u32, reencode::Error> {
        Ok(self.layout.moved(Space::Func, func))
    }

    fn table_index(&mut self, table: u32) -> Result<u32, reencode::Error> {
        Ok(self.layout.moved(Space::Table, table))
    }

    fn memory_index(&mut self, memory: u32) -> Result<u32, reencode::Error> {
        Ok(self.layout.moved(Space::Memory, memory))
    }

    fn global_index(&mut self, global: u32) -> Result<u32, reencode::Error> {
        Ok(self.layout.moved(Space::Global, global))
    }

    fn tag_index(&mut self, tag: u32) -> Result<u32, reencode::Error> {
        Ok(self.layout.moved(Space::Tag, tag))
    }

    fn data_index(&mut self, data: u32) -> Result<u32, reencode::Error> {
        Ok(data.saturating_add(self.additions.front.len() as u32))
    }

    fn abstract_heap_type(
        &mut self,
        ty: wasmparser::AbstractHeapType,
    ) -> Result<wasm_encoder::AbstractHeapType, reencode::Error> {
        use wasm_encoder::AbstractHeapType as To;
        Ok(match utils::abstract_heap_type(self, ty) {
            To::Extern if self.additions.turns_externs => To::Func,
            To::NoExtern if self.additions.turns_externs => To::NoFunc,
            same => same,
        })
    }

    fn const_expr(&mut self, expr: wasmparser::ConstExpr) -> Result<ConstExpr, reencode::Error> {
        // What was imported could be used in it, what is the module's own not everywhere.
        let mut operators = expr.get_operators_reader();
        let first = operators.read()?;
        if let (Operator::GlobalGet { global_index }, true) = (first, operators.is_end_then_eof())
            && self.is_closed_global(global_index)
        {
            return self.value(global_index);
        }
        utils::const_expr(self, expr)
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: wasmparser::ImportSectionReader<'_>,
    ) -> Result<(), reencode::Error> {
        for (place, import) in section.into_imports().enumerate() {
            let import = import?;
            if self.layout.keeps(place) {
                imports.import(import.module, import.name, self.entity_type(import.ty)?);
            }
        }
        Ok(())
    }

    fn parse_export(
        &mut self,
        exports: &mut ExportSection,
        export: wasmparser::Export<'_>,
    ) -> Result<(), reencode::Error> {
        match (self.additions.hides)(export.name) {
            true => Ok(()),
            false => utils::parse_export(self, exports, export),
        }
    }

    fn parse_custom_name_subsection(
        &mut self,
        names: &mut NameSection,
        section: wasmparser::Name<'_>,
    ) -> Result<(), reencode::Error> {
        match section {
            wasmparser::Name::Function(all) => {
                let all: Vec<_> = all.into_iter().collect::<Result<_, _>>()?;
                let own = all
                    .iter()
                    .map(|one| (self.layout.moved(Space::Func, one.index), one.name));
                names.functions(&self.names(own));
                Ok(())
            }
            // Names of what is in functions would have to be put in order again.
            wasmparser::Name::Local(_) | wasmparser::Name::Label(_) => Ok(()),
            other => utils::parse_custom_name_subsection(self, names, other),
        }
    }
}
