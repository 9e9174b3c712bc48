//! The types of WebAssembly 2.0 (core specification §2.3).

use std::fmt;

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
    /// Reference to a function, or null.
    FuncRef,
    /// Reference to something of the host, or null.
    ExternRef,
}

impl ValType {
    /// Whether this is a reference type.
    pub fn is_ref(self) -> bool {
        matches!(self, ValType::FuncRef | ValType::ExternRef)
    }
}

impl fmt::Display for ValType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValType::I32 => "i32",
            ValType::I64 => "i64",
            ValType::F32 => "f32",
            ValType::F64 => "f64",
            ValType::V128 => "v128",
            ValType::FuncRef => "funcref",
            ValType::ExternRef => "externref",
        })
    }
}

/// The signature of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FuncType {
    params: Box<[ValType]>,
    results: Box<[ValType]>,
}

impl FuncType {
    /// A signature from its parameters and results.
    pub fn new(
        params: impl IntoIterator<Item = ValType>,
        results: impl IntoIterator<Item = ValType>,
    ) -> FuncType {
        FuncType {
            params: params.into_iter().collect(),
            results: results.into_iter().collect(),
        }
    }

    /// Types of the parameters.
    pub fn params(&self) -> &[ValType] {
        &self.params
    }

    /// Types of the results.
    pub fn results(&self) -> &[ValType] {
        &self.results
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
        list(f, &self.params)?;
        f.write_str("] -> [")?;
        list(f, &self.results)?;
        f.write_str("]")
    }
}

/// The type of a memory; sizes in pages of 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryType {
    /// Pages at first.
    pub min: u64,
    /// Pages at most, where declared.
    pub max: Option<u64>,
}

/// The type of a table; sizes in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableType {
    /// What it holds: a reference type.
    pub element: ValType,
    /// Elements at first.
    pub min: u32,
    /// Elements at most, where declared.
    pub max: Option<u32>,
}

/// The type of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalType {
    /// What it holds.
    pub content: ValType,
    /// Whether it can be set.
    pub mutable: bool,
}

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
}

impl fmt::Display for ExternType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternType::Func(ty) => write!(f, "function {ty}"),
            ExternType::Table(ty) => {
                write!(
                    f,
                    "table of {} with limits {}",
                    ty.element,
                    limits(ty.min, ty.max)
                )
            }
            ExternType::Memory(ty) => write!(f, "memory with limits {}", limits(ty.min, ty.max)),
            ExternType::Global(ty) => {
                write!(
                    f,
                    "{} global of {}",
                    if ty.mutable { "mutable" } else { "constant" },
                    ty.content
                )
            }
        }
    }
}

fn limits<N: fmt::Display>(min: N, max: Option<N>) -> String {
    match max {
        Some(max) => format!("{min}..{max}"),
        None => format!("{min}.."),
    }
}
