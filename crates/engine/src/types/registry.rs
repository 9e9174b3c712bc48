//! Signatures and their ids: equal signatures have equal ids in the whole
//! process, so that comparing two functions' types is comparing two numbers.
//!
//! A signature may mention others, by id, and those of its own recursive group,
//! itself among them: `(type $t (func (param (ref null $t))))`. While a group is
//! looked up, its own types are written as their positions in it, which makes
//! equal groups equal before they have ids (specification §3.1.1, iso-recursive
//! equality). Ids are never given back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::{FuncType, HeapType, RefType, ValType};

/// The id of a signature, the same in the whole process. Compiled code reads it
/// as the number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TypeId(u32);

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

#[derive(Default)]
struct Registry {
    /// First id of a recursive group, by shape: references to the group's own
    /// types are written as their position ([`TypeId::within`]).
    shapes: HashMap<Box<[FuncType]>, u32>,
    /// By resolved signature, the first that looked like this: the host asks
    /// with what it read from a module.
    resolved: HashMap<FuncType, TypeId>,
    /// By id, references resolved.
    list: Vec<FuncType>,
}

impl TypeId {
    /// Ids from here on are positions in the group that is being built.
    const FIRST_WITHIN: u32 = 1 << 31;

    /// The type at a position of the group that is being built.
    fn within(position: usize) -> TypeId {
        TypeId(TypeId::FIRST_WITHIN + position as u32)
    }

    /// The id of a signature.
    pub fn of(ty: &FuncType) -> TypeId {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = registry.resolved.get(ty) {
            return *id;
        }
        drop(registry);
        TypeId(intern(Box::new([ty.clone()])))
    }

    /// The signature of this id.
    pub fn func_type(self) -> FuncType {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.list[self.0 as usize].clone()
    }

    /// How many parameters its signature has.
    pub(crate) fn param_count(self) -> usize {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.list[self.0 as usize].params().len()
    }

    /// The number that compiled code compares.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The id that a number stands for, which came from [`TypeId::number`].
    pub(crate) fn from_number(number: u32) -> TypeId {
        TypeId(number)
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A recursive one would print itself without end.
        write!(f, "#{}", self.0)
    }
}

/// The id of a group's first type.
fn intern(shape: Box<[FuncType]>) -> u32 {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = registry.shapes.get(&shape) {
        return *first;
    }
    let first = registry.list.len() as u32;
    for (id, ty) in (first..).zip(&shape) {
        let resolved = resolve(ty, first);
        registry.list.push(resolved.clone());
        registry.resolved.entry(resolved).or_insert(TypeId(id));
    }
    registry.shapes.insert(shape, first);
    first
}

fn resolve(shape: &FuncType, first: u32) -> FuncType {
    let resolve = |ty: &ValType| match *ty {
        ValType::Ref(RefType {
            nullable,
            heap: HeapType::Concrete(TypeId(id)),
        }) if id >= TypeId::FIRST_WITHIN => {
            let id = TypeId(first + (id - TypeId::FIRST_WITHIN));
            let heap = HeapType::Concrete(id);
            ValType::Ref(RefType { nullable, heap })
        }
        other => other,
    };
    FuncType::new(
        shape.params.iter().map(resolve),
        shape.results.iter().map(resolve),
    )
}

/// Builds the signatures of a module's type section one after the other.
#[derive(Debug, Default)]
pub(crate) struct FuncTypeBuilder {
    ids: Vec<TypeId>,
}

/// Why a type of the binary is none of ours.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypeBuildError {
    /// Something that needs garbage collection.
    #[error("gc: {0}")]
    Gc(String),
}

fn gc(what: impl Into<String>) -> TypeBuildError {
    TypeBuildError::Gc(what.into())
}

impl FuncTypeBuilder {
    /// Ids of the types so far, by type index.
    pub(crate) fn ids(&self) -> &[TypeId] {
        &self.ids
    }

    /// Adds the next recursive group of the section; its signatures.
    pub(crate) fn push(
        &mut self,
        group: wasmparser::RecGroup,
    ) -> Result<Vec<FuncType>, TypeBuildError> {
        let shapes = group
            .types()
            .map(|ty| self.shape(ty))
            .collect::<Result<Box<[FuncType]>, _>>()?;
        let count = shapes.len() as u32;
        if count == 0 {
            return Ok(Vec::new());
        }
        let first = intern(shapes);
        let ids = (first..first + count).map(TypeId);
        self.ids.extend(ids.clone());
        Ok(ids.map(TypeId::func_type).collect())
    }

    fn shape(&self, ty: &wasmparser::SubType) -> Result<FuncType, TypeBuildError> {
        if !ty.is_final || !ty.supertype_idxs.is_empty() {
            return Err(gc("subtype"));
        }
        let func = match &ty.composite_type.inner {
            wasmparser::CompositeInnerType::Func(func) => func,
            wasmparser::CompositeInnerType::Array(_) => return Err(gc("array type")),
            wasmparser::CompositeInnerType::Struct(_) => return Err(gc("struct type")),
            _ => return Err(gc("type")),
        };
        let convert = |types: &[wasmparser::ValType]| {
            types
                .iter()
                .map(|ty| self.val_type(*ty))
                .collect::<Result<Vec<ValType>, _>>()
        };
        Ok(FuncType::new(
            convert(func.params())?,
            convert(func.results())?,
        ))
    }

    /// A value type of the module.
    pub(crate) fn val_type(&self, ty: wasmparser::ValType) -> Result<ValType, TypeBuildError> {
        use wasmparser::ValType as Parsed;
        Ok(match ty {
            Parsed::I32 => ValType::I32,
            Parsed::I64 => ValType::I64,
            Parsed::F32 => ValType::F32,
            Parsed::F64 => ValType::F64,
            Parsed::V128 => ValType::V128,
            Parsed::Ref(ty) => ValType::Ref(self.ref_type(ty)?),
        })
    }

    /// A reference type of the module.
    pub(crate) fn ref_type(&self, ty: wasmparser::RefType) -> Result<RefType, TypeBuildError> {
        use wasmparser::{AbstractHeapType as Abstract, HeapType as Parsed, UnpackedIndex};
        let refused = || gc(format!("reference type {ty}"));
        let heap = match ty.heap_type() {
            Parsed::Abstract { shared: true, .. } => return Err(refused()),
            Parsed::Abstract { ty: heap, .. } => match heap {
                Abstract::Func => HeapType::Func,
                Abstract::Extern => HeapType::Extern,
                Abstract::Exn => HeapType::Exn,
                Abstract::NoFunc => HeapType::NoFunc,
                Abstract::NoExtern => HeapType::NoExtern,
                Abstract::NoExn => HeapType::NoExn,
                _ => return Err(refused()),
            },
            Parsed::Concrete(UnpackedIndex::Module(index)) => {
                let index = index as usize;
                HeapType::Concrete(match self.ids.get(index) {
                    Some(id) => *id,
                    // Validated: of the group that is being built.
                    None => TypeId::within(index - self.ids.len()),
                })
            }
            Parsed::Concrete(_) | Parsed::Exact(_) => return Err(refused()),
        };
        let nullable = ty.is_nullable();
        Ok(RefType { nullable, heap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(nullable: bool, position: usize) -> ValType {
        let heap = HeapType::Concrete(TypeId::within(position));
        ValType::Ref(RefType { nullable, heap })
    }

    #[test]
    fn equal_signatures_have_equal_ids() {
        let ty = |result| FuncType::new([ValType::I32, ValType::FUNCREF], [result]);
        let ids = [ValType::F32, ValType::F64, ValType::F32].map(|r| TypeId::of(&ty(r)));
        assert_eq!(ids[0], ids[2]);
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids[1].func_type(), ty(ValType::F64));
    }

    #[test]
    fn a_signature_can_mention_itself() {
        let shape = || Box::new([FuncType::new([own(true, 0)], [ValType::I64])]);
        let id = TypeId(intern(shape()));
        let ty = id.func_type();
        assert_eq!(
            ty.params(),
            [ValType::Ref(RefType::nullable(HeapType::Concrete(id)))]
        );
        assert_eq!(TypeId(intern(shape())), id);
        assert_eq!(TypeId::of(&ty), id);
        // Iso-recursive: one that mentions it is not it.
        assert_ne!(TypeId(intern(Box::new([ty]))), id);
    }

    #[test]
    fn a_group_is_told_apart_as_a_whole() {
        let pair = |second| {
            let first = FuncType::new([own(true, 1)], []);
            Box::new([first, FuncType::new([], [second])])
        };
        let (a, b) = (intern(pair(ValType::I32)), intern(pair(ValType::I64)));
        assert_ne!(a, b, "the first types look alike");
        assert_eq!(intern(pair(ValType::I32)), a);
    }

    #[test]
    fn a_concrete_reference_is_a_funcref() {
        let id = TypeId::of(&FuncType::new([], []));
        let concrete = RefType {
            nullable: false,
            heap: HeapType::Concrete(id),
        };
        assert!(concrete.is_subtype_of(RefType::FUNCREF));
        assert!(!RefType::FUNCREF.is_subtype_of(concrete));
        assert!(!concrete.is_subtype_of(RefType::EXTERNREF));
    }
}
