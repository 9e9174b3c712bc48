//! What a module declares: the facts translation, instantiation and the API
//! read, decoded once from the binary.
//!
//! Index spaces follow the core specification (§2.5.1): imports come first.
//! A [`ModuleInfo`] holds no code and no addresses; it can be rebuilt from the
//! bytes at any time, so the code cache does not store it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::facts::object::{Cell, Field, Layout};
use crate::facts::types::{FuncType, GlobalType, MemoryType, TableType, TagType, TypeHold, TypeId};

/// A declared import: two names and what is expected.
#[derive(Clone, Debug)]
pub struct Import {
    /// First name, by convention the module.
    pub module: String,
    /// Second name.
    pub name: String,
    /// What has to be supplied.
    pub kind: ImportKind,
}

/// What an import asks for.
#[derive(Clone, Debug)]
pub enum ImportKind {
    /// A function of the type at this index in [`ModuleInfo::types`].
    Func(u32),
    /// A table.
    Table(TableType),
    /// A memory.
    Memory(MemoryType),
    /// A global.
    Global(GlobalType),
    /// A tag whose parameters are those of the type at this index.
    Tag(u32),
}

/// The item an export names, as an index into its index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityIndex {
    /// Function index.
    Func(u32),
    /// Table index.
    Table(u32),
    /// Memory index.
    Memory(u32),
    /// Global index.
    Global(u32),
    /// Tag index.
    Tag(u32),
}

/// A constant expression, in the order its instructions stand.
///
/// Evaluated on a small stack at instantiation (specification §3.4.8).
#[derive(Clone, Debug)]
pub struct ConstExpr(pub Vec<ConstOp>);

/// One instruction of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstOp {
    /// `i32.const`
    I32(i32),
    /// `i64.const`
    I64(i64),
    /// `f32.const`, as bits
    F32(u32),
    /// `f64.const`, as bits
    F64(u64),
    /// `v128.const`
    V128(u128),
    /// `global.get`
    GlobalGet(u32),
    /// `ref.null`
    RefNull,
    /// `ref.func`
    RefFunc(u32),
    /// `i32.add`, `i32.sub`, `i32.mul`
    I32Arith(Arith),
    /// `i64.add`, `i64.sub`, `i64.mul`
    I64Arith(Arith),
    /// `struct.new`, of the type at this index
    StructNew(u32),
    /// `struct.new_default`
    StructNewDefault(u32),
    /// `array.new`
    ArrayNew(u32),
    /// `array.new_default`
    ArrayNewDefault(u32),
    /// `array.new_fixed`, of so many elements
    ArrayNewFixed(u32, u32),
    /// `ref.i31`
    RefI31,
    /// `any.convert_extern`
    AnyConvertExtern,
    /// `extern.convert_any`
    ExternConvertAny,
}

/// The arithmetic that extended constant expressions allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
}

/// How a segment is applied.
#[derive(Clone, Debug)]
pub enum SegmentMode {
    /// Copied at instantiation to `offset` of the item at `index`.
    Active {
        /// Table or memory index.
        index: u32,
        /// Where to copy to.
        offset: ConstExpr,
    },
    /// Copied on demand by `table.init` or `memory.init`.
    Passive,
    /// Only declares functions for `ref.func`.
    Declared,
}

/// An element segment.
#[derive(Clone, Debug)]
pub struct ElementSegment {
    /// How it is applied.
    pub mode: SegmentMode,
    /// The functions, or the expressions that give references.
    pub items: ElementItems,
}

/// The items of an element segment.
#[derive(Clone, Debug)]
pub enum ElementItems {
    /// Function indices.
    Funcs(Vec<u32>),
    /// Constant expressions of a reference type.
    Exprs(Vec<ConstExpr>),
}

impl ElementItems {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            ElementItems::Funcs(funcs) => funcs.len(),
            ElementItems::Exprs(exprs) => exprs.len(),
        }
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A data segment. Its bytes stay in the module's binary.
#[derive(Clone, Debug)]
pub struct DataSegment {
    /// How it is applied; never [`SegmentMode::Declared`].
    pub mode: SegmentMode,
    /// Where its bytes are in the binary.
    pub bytes: Range<usize>,
}

/// A global defined by the module.
#[derive(Clone, Debug)]
pub struct GlobalDef {
    /// The global's type, which says whether it can change.
    pub ty: GlobalType,
    /// The expression that gives the first value.
    pub init: ConstExpr,
    /// Its value, where translation may fold it: it is immutable, of a numeric type
    /// and initialised by one constant, or by a global that has one.
    pub constant: Option<ConstOp>,
}

/// A table defined by the module.
#[derive(Clone, Debug)]
pub struct TableDef {
    /// The table's type and its limits.
    pub ty: TableType,
    /// The value of its elements at first; `None` is null.
    pub init: Option<ConstExpr>,
}

/// Where a type is among those that it is above or below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypePlace {
    /// Whether no other type can be below it.
    pub is_final: bool,
    /// How many types it is below.
    pub depth: u32,
}

/// A name and what is exported by it.
pub type Export = (String, EntityIndex);

/// Everything a module declares.
#[derive(Clone, Debug, Default)]
pub struct ModuleInfo {
    /// Name of the module in its name section.
    pub name: Option<String>,
    /// The type section; for a type of continuations, the type of the functions they
    /// come from; for one of objects, nothing.
    pub types: Vec<FuncType>,
    /// Of each of `types`, how its objects are laid out.
    pub(crate) layouts: Vec<Option<Arc<Layout>>>,
    /// Whether any of them has such; asked at each access of some kinds.
    pub(crate) has_objects: bool,
    /// Of each of `types`, what there is above and below it.
    pub(crate) places: Vec<TypePlace>,
    /// Which of `types` are of continuations: sorted.
    pub cont_types: Vec<u32>,
    /// The id of each of `types` in this process.
    pub type_ids: Vec<TypeId>,
    /// The numbers of those ids, for compiled code.
    pub(crate) type_numbers: Vec<u32>,
    /// What keeps the types.
    pub(crate) held_types: Arc<TypeHold>,
    /// Imports, in order.
    pub imports: Vec<Import>,
    /// Type index of every function, imported ones first.
    pub funcs: Vec<u32>,
    /// Type of every table, imported ones first.
    pub tables: Vec<TableType>,
    /// Initial values of the defined tables.
    pub table_defs: Vec<TableDef>,
    /// Type of every memory, imported ones first.
    pub memories: Vec<MemoryType>,
    /// Type of every global, imported ones first.
    pub globals: Vec<GlobalType>,
    /// Defined globals.
    pub global_defs: Vec<GlobalDef>,
    /// Type index of every tag, imported ones first.
    pub tags: Vec<u32>,
    /// Exports, in order: name and item.
    pub exports: Vec<Export>,
    /// Positions in `exports`, to find them by.
    pub(crate) exported: ExportOrder,
    /// Start function.
    pub start: Option<u32>,
    /// Element segments.
    pub elements: Vec<ElementSegment>,
    /// Data segments.
    pub data: Vec<DataSegment>,
    /// For every defined function, where its body is in the binary.
    pub bodies: Vec<Range<usize>>,
    /// Names of functions in the name section, by function index.
    pub func_names: HashMap<u32, String>,
    /// How many of `funcs` are imported.
    pub imported_funcs: u32,
    /// How many of `tables` are imported.
    pub imported_tables: u32,
    /// How many of `memories` are imported.
    pub imported_memories: u32,
    /// How many of `globals` are imported.
    pub imported_globals: u32,
    /// How many of `tags` are imported.
    pub imported_tags: u32,
    /// Functions whose reference can be taken (exports, start, element segments,
    /// `ref.func` in constant expressions and bodies): sorted, unique.
    pub escaping: Vec<u32>,
}

impl ModuleInfo {
    /// How objects of type `index` are laid out.
    pub(crate) fn layout(&self, index: u32) -> &Layout {
        let layout = self.layouts[index as usize].as_deref();
        layout.expect("validated: a type of objects")
    }

    /// The fields of the structures of type `index`.
    pub(crate) fn fields(&self, index: u32) -> &[Field] {
        match self.layout(index) {
            Layout::Struct { fields, .. } => fields,
            Layout::Array(_) => unreachable!("validated: a type of structures"),
        }
    }

    /// What the elements of the arrays of type `index` are.
    pub(crate) fn element(&self, index: u32) -> Cell {
        match self.layout(index) {
            Layout::Array(cell) => *cell,
            Layout::Struct { .. } => unreachable!("validated: a type of arrays"),
        }
    }

    /// The signature of function `index`.
    pub fn func_type(&self, index: u32) -> &FuncType {
        &self.types[self.funcs[index as usize] as usize]
    }

    /// The type of tag `index`.
    pub fn tag_type(&self, index: u32) -> TagType {
        TagType(self.types[self.tags[index as usize] as usize].clone())
    }

    /// The position of `func` among the defined functions, or `None` when it
    /// is imported.
    pub fn defined_func(&self, func: u32) -> Option<usize> {
        func.checked_sub(self.imported_funcs).map(|i| i as usize)
    }

    /// The value of a global when translation may fold it: see
    /// `GlobalDef::constant`.
    pub fn constant_global(&self, index: u32) -> Option<ConstOp> {
        let defined = index.checked_sub(self.imported_globals)?;
        self.global_defs[defined as usize].constant
    }

    /// The name of a function for messages: from the name section, else from
    /// an export, else nothing.
    pub fn func_name(&self, index: u32) -> Option<&str> {
        let named = self.func_names.get(&index).map(String::as_str);
        named.or_else(|| self.exported.name_of(&self.exports, index))
    }

    /// What is exported by this name.
    pub(crate) fn export(&self, name: &str) -> Option<EntityIndex> {
        self.exported.named(&self.exports, name)
    }
}

/// The positions of exports in two orders: a module may have a hundred thousand, of which a
/// host asks for each by its name, and a backtrace for the name of each function.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExportOrder {
    /// All, by name.
    by_name: Vec<u32>,
    /// Those of functions, by function, of one function in the order of the module.
    by_func: Vec<u32>,
}

impl ExportOrder {
    pub(crate) fn of(exports: &[Export]) -> Self {
        let positions = 0..u32::try_from(exports.len()).expect("the parser's limit on exports");
        let is_func = |at: &u32| matches!(exports[*at as usize].1, EntityIndex::Func(_));
        let mut by_func: Vec<u32> = positions.clone().filter(is_func).collect();
        by_func.sort_by_key(|at| func_of(exports, *at));
        let mut by_name: Vec<u32> = positions.collect();
        by_name.sort_by(|a, b| exports[*a as usize].0.cmp(&exports[*b as usize].0));
        Self { by_name, by_func }
    }

    fn named(&self, exports: &[Export], name: &str) -> Option<EntityIndex> {
        let at = (self.by_name).binary_search_by(|at| exports[*at as usize].0.as_str().cmp(name));
        Some(exports[self.by_name[at.ok()?] as usize].1)
    }

    /// The first name under which a function is exported.
    fn name_of<'a>(&self, exports: &'a [Export], func: u32) -> Option<&'a str> {
        let first = (self.by_func).partition_point(|at| func_of(exports, *at) < Some(func));
        let at = *self.by_func.get(first)?;
        (func_of(exports, at) == Some(func)).then(|| exports[at as usize].0.as_str())
    }
}

/// The function that is exported at a position.
fn func_of(exports: &[Export], at: u32) -> Option<u32> {
    match exports[at as usize].1 {
        EntityIndex::Func(func) => Some(func),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::features::Features;
    use crate::facts::module::decode;

    #[test]
    fn exports_are_found_by_name_and_functions_have_their_first() {
        let text = r#"(module
            (func $f) (func $g) (func) (memory 0)
            (export "z" (func $g)) (export "m" (memory 0)) (export "" (func $f))
            (export "a" (func $g)) (export "é" (func $f)))"#;
        let wasm = wat::parse_str(text).unwrap();
        let info = decode(&wasm, Features::all()).unwrap().0;
        let info = ModuleInfo {
            func_names: HashMap::new(),
            ..info
        };
        for (name, item) in &info.exports {
            assert_eq!(info.export(name), Some(*item), "{name:?}");
        }
        for name in ["b", "zz", "e", "mm"] {
            assert_eq!(info.export(name), None, "{name:?}");
        }
        let names = [0, 1, 2, 3].map(|func| info.func_name(func));
        assert_eq!(names, [Some(""), Some("z"), None, None]);
        assert_eq!(ModuleInfo::default().func_name(0), None);
    }
}
