//! From the types of a module's binary to ours.

use super::registry::TypeHold;
use super::{FuncType, HeapType, RefType, TypeId, ValType};

/// Builds the signatures of a module's type section one after the other.
#[derive(Debug, Default)]
pub(crate) struct FuncTypeBuilder {
    ids: Vec<TypeId>,
    hold: TypeHold,
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

    /// What keeps them, from now on the caller's.
    pub(crate) fn take_hold(&mut self) -> TypeHold {
        std::mem::take(&mut self.hold)
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
        if shapes.is_empty() {
            return Ok(Vec::new());
        }
        let (ids, types) = self.hold.add(shapes);
        self.ids.extend(ids);
        Ok(types)
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
