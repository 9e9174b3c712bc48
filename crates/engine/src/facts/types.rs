//! The types of WebAssembly 3.0 (core specification §2.3).

mod build;
mod defined;
mod registry;

use std::fmt;
use std::sync::Arc;

pub(crate) use build::{TypeBuildError, TypeBuilder};
pub(crate) use defined::{DefKind, DefType};
pub use defined::{FieldType, Storage};
pub use registry::TypeId;
pub(crate) use registry::{Gone, TypeHold};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValType {
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 128-bit vector.
    V128,
    /// Reference.
    Ref(RefType),
}

/// The type of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RefType {
    /// Whether null is one of its values.
    pub nullable: bool,
    /// What it refers to.
    pub heap: HeapType,
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeapType {
    /// Any function.
    Func,
    /// Something of the host.
    Extern,
    /// An exception.
    Exn,
    /// Any continuation.
    Cont,
    /// Any value that is collected, an integer of 31 bits, or a value of the host's that was
    /// made one of these.
    Any,
    /// One of those that can be compared.
    Eq,
    /// An integer of 31 bits.
    I31,
    /// Any structure.
    Struct,
    /// Any array.
    Array,
    /// A structure of this type.
    ConcreteStruct(TypeId),
    /// An array of this type.
    ConcreteArray(TypeId),
    /// A function of this type.
    Concrete(TypeId),
    /// A continuation of this type.
    ConcreteCont(TypeId),
    /// No function: only null.
    NoFunc,
    /// Nothing of the host: only null.
    NoExtern,
    /// No exception: only null.
    NoExn,
    /// No continuation: only null.
    NoCont,
    /// Nothing that is collected: only null.
    None,
}

/// A family of heap types, with one at its top and one at its bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    Func,
    Extern,
    Exn,
    Cont,
    Any,
}

impl HeapType {
    /// Whether everything it allows is allowed by `other` (specification §3.3.3).
    fn is_subtype_of(self, other: HeapType) -> bool {
        use HeapType::{
            Any, Array, Concrete, ConcreteArray, ConcreteCont, ConcreteStruct, Cont, Eq, I31,
            Struct,
        };
        if self == other || self == other.bottom() {
            return true;
        }
        match (self, other) {
            (Concrete(this), Concrete(other))
            | (ConcreteCont(this), ConcreteCont(other))
            | (ConcreteStruct(this), ConcreteStruct(other))
            | (ConcreteArray(this), ConcreteArray(other)) => this.is_subtype_of(other),
            (Concrete(_), HeapType::Func) | (ConcreteCont(_), Cont) => true,
            (ConcreteStruct(_), Struct) | (ConcreteArray(_), Array) => true,
            (Struct | Array | I31 | ConcreteStruct(_) | ConcreteArray(_), Eq) => true,
            (Eq | Struct | Array | I31 | ConcreteStruct(_) | ConcreteArray(_), Any) => true,
            _ => false,
        }
    }

    /// The type of its hierarchy that allows only null.
    fn bottom(self) -> HeapType {
        match self.hierarchy() {
            Hierarchy::Func => HeapType::NoFunc,
            Hierarchy::Extern => HeapType::NoExtern,
            Hierarchy::Exn => HeapType::NoExn,
            Hierarchy::Cont => HeapType::NoCont,
            Hierarchy::Any => HeapType::None,
        }
    }

    /// The family of types that it is of: no value but null is of two of them.
    pub(crate) fn hierarchy(self) -> Hierarchy {
        use HeapType::{
            Any, Array, Concrete, ConcreteArray, ConcreteCont, ConcreteStruct, Cont, Eq, Exn,
            Extern, Func, I31, NoCont, NoExn, NoExtern, NoFunc, Struct,
        };
        match self {
            Func | Concrete(_) | NoFunc => Hierarchy::Func,
            Extern | NoExtern => Hierarchy::Extern,
            Exn | NoExn => Hierarchy::Exn,
            Cont | ConcreteCont(_) | NoCont => Hierarchy::Cont,
            Any
            | Eq
            | I31
            | Struct
            | Array
            | ConcreteStruct(_)
            | ConcreteArray(_)
            | HeapType::None => Hierarchy::Any,
        }
    }

    /// Whether its values are those of `any`: collected, small integers, or of the host's.
    pub(crate) fn is_any(self) -> bool {
        self.hierarchy() == Hierarchy::Any
    }

    /// Whether its values are those of `extern`.
    pub(crate) fn is_extern(self) -> bool {
        self.hierarchy() == Hierarchy::Extern
    }

    /// The type of a module's that it names.
    pub(crate) fn concrete(self) -> Option<TypeId> {
        match self {
            HeapType::Concrete(id)
            | HeapType::ConcreteCont(id)
            | HeapType::ConcreteStruct(id)
            | HeapType::ConcreteArray(id) => Some(id),
            _ => None,
        }
    }
}

impl RefType {
    /// `funcref`
    pub const FUNCREF: RefType = RefType::nullable(HeapType::Func);
    /// `externref`
    pub const EXTERNREF: RefType = RefType::nullable(HeapType::Extern);
    /// `exnref`
    pub const EXNREF: RefType = RefType::nullable(HeapType::Exn);

    /// `contref`
    pub const CONTREF: RefType = RefType::nullable(HeapType::Cont);

    /// `anyref`
    pub const ANYREF: RefType = RefType::nullable(HeapType::Any);

    /// `(ref null heap)`
    pub const fn nullable(heap: HeapType) -> RefType {
        let nullable = true;
        RefType { nullable, heap }
    }

    /// Whether every value of this type is one of `other` (specification
    /// §3.3.3).
    pub fn is_subtype_of(self, other: RefType) -> bool {
        (other.nullable || !self.nullable) && self.heap.is_subtype_of(other.heap)
    }
}

impl ValType {
    /// `funcref`
    pub const FUNCREF: ValType = ValType::Ref(RefType::FUNCREF);
    /// `externref`
    pub const EXTERNREF: ValType = ValType::Ref(RefType::EXTERNREF);
    /// `exnref`
    pub const EXNREF: ValType = ValType::Ref(RefType::EXNREF);

    /// Whether this is a reference type.
    pub fn is_ref(self) -> bool {
        matches!(self, ValType::Ref(_))
    }

    /// Whether every value of this type is one of `other`.
    pub fn is_subtype_of(self, other: ValType) -> bool {
        match (self, other) {
            (ValType::Ref(this), ValType::Ref(other)) => this.is_subtype_of(other),
            _ => self == other,
        }
    }
}

impl fmt::Display for HeapType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapType::Func => f.write_str("func"),
            HeapType::Extern => f.write_str("extern"),
            HeapType::Exn => f.write_str("exn"),
            HeapType::Cont => f.write_str("cont"),
            HeapType::Any => f.write_str("any"),
            HeapType::Eq => f.write_str("eq"),
            HeapType::I31 => f.write_str("i31"),
            HeapType::Struct => f.write_str("struct"),
            HeapType::Array => f.write_str("array"),
            HeapType::None => f.write_str("none"),
            HeapType::Concrete(id)
            | HeapType::ConcreteCont(id)
            | HeapType::ConcreteStruct(id)
            | HeapType::ConcreteArray(id) => write!(f, "(type {id})"),
            HeapType::NoFunc => f.write_str("nofunc"),
            HeapType::NoExtern => f.write_str("noextern"),
            HeapType::NoExn => f.write_str("noexn"),
            HeapType::NoCont => f.write_str("nocont"),
        }
    }
}

impl fmt::Display for RefType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.nullable, self.heap) {
            (true, HeapType::None) => f.write_str("nullref"),
            (true, heap) if heap != heap.bottom() && heap.concrete().is_none() => {
                write!(f, "{heap}ref")
            }
            (true, heap) => write!(f, "(ref null {heap})"),
            (false, heap) => write!(f, "(ref {heap})"),
        }
    }
}

impl fmt::Display for ValType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValType::I32 => f.write_str("i32"),
            ValType::I64 => f.write_str("i64"),
            ValType::F32 => f.write_str("f32"),
            ValType::F64 => f.write_str("f64"),
            ValType::V128 => f.write_str("v128"),
            ValType::Ref(ty) => ty.fmt(f),
        }
    }
}

/// The signature of a function. Clones share their types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FuncType {
    /// Parameters, then results.
    types: Arc<[ValType]>,
    params: usize,
}

impl FuncType {
    /// A signature from its parameters and results.
    pub fn new(
        params: impl IntoIterator<Item = ValType>,
        results: impl IntoIterator<Item = ValType>,
    ) -> FuncType {
        let mut types: Vec<ValType> = params.into_iter().collect();
        let params = types.len();
        types.extend(results);
        FuncType {
            types: types.into(),
            params,
        }
    }

    /// Slots that a call from or to the host needs: as many as there are
    /// parameters or results, one at least.
    pub(crate) fn slots(&self) -> u32 {
        self.params().len().max(self.results().len()).max(1) as u32
    }

    /// Types of the parameters.
    pub fn params(&self) -> &[ValType] {
        &self.types[..self.params]
    }

    /// Types of the results.
    pub fn results(&self) -> &[ValType] {
        &self.types[self.params..]
    }
}

impl fmt::Display for FuncType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, types: &[ValType]) -> fmt::Result {
            for (i, ty) in types.iter().enumerate() {
                let space = if i == 0 { "" } else { " " };
                write!(f, "{space}{ty}")?;
            }
            Ok(())
        }
        f.write_str("[")?;
        list(f, self.params())?;
        f.write_str("] -> [")?;
        list(f, self.results())?;
        f.write_str("]")
    }
}

/// The type of a memory; sizes in pages of 64 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryType {
    /// Pages at first.
    pub min: u64,
    /// Pages at most, where declared.
    pub max: Option<u64>,
    /// Whether addresses are `i64`, else `i32`.
    pub memory64: bool,
    /// Whether threads can share it.
    pub shared: bool,
}

/// The type of a table; sizes in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableType {
    /// The references that the table holds.
    pub element: RefType,
    /// Elements at first.
    pub min: u64,
    /// Elements at most, where declared.
    pub max: Option<u64>,
    /// Whether indices are `i64`, else `i32`.
    pub table64: bool,
}

/// The type of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalType {
    /// The values that the global holds.
    pub content: ValType,
    /// Whether it can be set.
    pub mutable: bool,
}

/// The type of a tag: the parameters are what its exceptions carry, the
/// results are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TagType(pub FuncType);

/// The type of anything that can be imported or exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternType {
    /// A function.
    Func(FuncType),
    /// A table.
    Table(TableType),
    /// A memory.
    Memory(MemoryType),
    /// A global.
    Global(GlobalType),
    /// A tag.
    Tag(TagType),
}

impl fmt::Display for ExternType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternType::Func(ty) => write!(f, "function {ty}"),
            ExternType::Table(ty) => {
                let (index, limits) = (index_type(ty.table64), limits(ty.min, ty.max));
                write!(f, "table{index} of {} with limits {limits}", ty.element)
            }
            ExternType::Memory(ty) => {
                let shared = if ty.shared { "shared " } else { "" };
                let (index, limits) = (index_type(ty.memory64), limits(ty.min, ty.max));
                write!(f, "{shared}memory{index} with limits {limits}")
            }
            ExternType::Global(ty) => {
                let kind = if ty.mutable { "mutable" } else { "constant" };
                write!(f, "{kind} global of {}", ty.content)
            }
            ExternType::Tag(TagType(ty)) => write!(f, "tag {ty}"),
        }
    }
}

/// How an index type is told apart: 32-bit ones go without saying.
fn index_type(is_64: bool) -> &'static str {
    if is_64 { " i64" } else { "" }
}

fn limits(min: u64, max: Option<u64>) -> String {
    match max {
        Some(max) => format!("{min}..{max}"),
        None => format!("{min}.."),
    }
}
