//! Signatures and their ids: equal signatures have equal ids in the whole
//! process, so that comparing two functions' types is comparing two numbers.
//!
//! A signature may mention others, by id, and itself: `(type $t (func (param
//! (ref null $t))))`. While it is looked up, its own id is written
//! [`TypeId::SELF`], which makes equal ones equal before they have an id
//! (specification §3.1.1, iso-recursive equality). Ids are never given back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::{FuncType, HeapType, RefType, ValType};

/// The id of a signature, the same in the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TypeId(u32);

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

#[derive(Default)]
struct Registry {
    /// By shape: own references written [`TypeId::SELF`].
    shapes: HashMap<FuncType, TypeId>,
    /// By resolved signature, the first that looked like this: the host asks
    /// with what it read from a module.
    resolved: HashMap<FuncType, TypeId>,
    /// By id, own references resolved.
    list: Vec<FuncType>,
}

impl TypeId {
    /// A signature's reference to itself, before it has an id.
    const SELF: TypeId = TypeId(u32::MAX);

    /// The id of a signature.
    pub fn of(ty: &FuncType) -> TypeId {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = registry.resolved.get(ty) {
            return *id;
        }
        drop(registry);
        intern(ty.clone())
    }

    /// The signature of this id.
    pub fn func_type(self) -> FuncType {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.list[self.0 as usize].clone()
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

fn intern(shape: FuncType) -> TypeId {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(id) = registry.shapes.get(&shape) {
        return *id;
    }
    let id = TypeId(registry.list.len() as u32);
    let resolved = resolve(&shape, id);
    registry.list.push(resolved.clone());
    registry.resolved.entry(resolved).or_insert(id);
    registry.shapes.insert(shape, id);
    id
}

fn resolve(shape: &FuncType, id: TypeId) -> FuncType {
    let resolve = |ty: &ValType| match *ty {
        ValType::Ref(RefType {
            nullable,
            heap: HeapType::Concrete(TypeId::SELF),
        }) => {
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
    /// A reference to something that needs garbage collection.
    #[error("gc: reference type {0}")]
    Gc(String),
    /// A reference to a type that comes later.
    #[error("gc: recursive group of several types")]
    Forward,
}

impl FuncTypeBuilder {
    /// Ids of the types so far, by type index.
    pub(crate) fn ids(&self) -> &[TypeId] {
        &self.ids
    }

    /// Adds the next type of the section; its signature.
    pub(crate) fn push(&mut self, ty: &wasmparser::FuncType) -> Result<FuncType, TypeBuildError> {
        let convert = |types: &[wasmparser::ValType]| {
            types
                .iter()
                .map(|ty| self.val_type(*ty))
                .collect::<Result<Vec<ValType>, _>>()
        };
        let shape = FuncType::new(convert(ty.params())?, convert(ty.results())?);
        let id = intern(shape);
        self.ids.push(id);
        Ok(id.func_type())
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
        let gc = || TypeBuildError::Gc(ty.to_string());
        let heap = match ty.heap_type() {
            Parsed::Abstract { shared: true, .. } => return Err(gc()),
            Parsed::Abstract { ty: heap, .. } => match heap {
                Abstract::Func => HeapType::Func,
                Abstract::Extern => HeapType::Extern,
                Abstract::Exn => HeapType::Exn,
                _ => return Err(gc()),
            },
            Parsed::Concrete(UnpackedIndex::Module(index)) => {
                let index = index as usize;
                HeapType::Concrete(match self.ids.get(index) {
                    Some(id) => *id,
                    None if index == self.ids.len() => TypeId::SELF,
                    None => return Err(TypeBuildError::Forward),
                })
            }
            Parsed::Concrete(_) | Parsed::Exact(_) => return Err(gc()),
        };
        let nullable = ty.is_nullable();
        Ok(RefType { nullable, heap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(nullable: bool) -> ValType {
        let heap = HeapType::Concrete(TypeId::SELF);
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
        let shape = FuncType::new([own(true)], [ValType::I64]);
        let id = intern(shape.clone());
        let ty = id.func_type();
        assert_eq!(
            ty.params(),
            [ValType::Ref(RefType::nullable(HeapType::Concrete(id)))]
        );
        assert_eq!(intern(shape), id);
        assert_eq!(TypeId::of(&ty), id);
        assert_ne!(intern(FuncType::new([own(false)], [ValType::I64])), id);
        // Iso-recursive: one that mentions it is not it.
        assert_ne!(intern(ty), id);
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
