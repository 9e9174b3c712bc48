//! From the types of a module's binary to ours.

use super::registry::TypeHold;
use super::{FuncType, HeapType, RefType, TypeId, ValType};

/// Builds the signatures of a module's type section one after the other.
#[derive(Debug, Default)]
pub(crate) struct FuncTypeBuilder {
    ids: Vec<TypeId>,
    /// Which of them, and of the group that is being built, are of continuations.
    are_conts: Vec<bool>,
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

    /// The indices of the types so far that are of continuations.
    pub(crate) fn conts(&self) -> Vec<u32> {
        let indices = (0..).zip(&self.are_conts);
        indices.filter(|(_, is)| **is).map(|(i, _)| i).collect()
    }

    /// Adds the next recursive group of the section; its signatures, for a type of
    /// continuations that of the functions they come from.
    pub(crate) fn push(
        &mut self,
        group: wasmparser::RecGroup,
    ) -> Result<Vec<FuncType>, TypeBuildError> {
        let is_cont = |ty: &wasmparser::SubType| {
            let inner = &ty.composite_type.inner;
            matches!(inner, wasmparser::CompositeInnerType::Cont(_))
        };
        self.are_conts.extend(group.types().map(is_cont));
        let shapes = group
            .types()
            .map(|ty| self.shape(ty))
            .collect::<Result<Box<[FuncType]>, _>>()?;
        if shapes.is_empty() {
            return Ok(Vec::new());
        }
        let (ids, types) = self.hold.add(shapes);
        self.ids.extend(ids);
        let signature = |ty: FuncType| match ty.continued() {
            Some(func) => TypeId::signature(func.number()),
            None => ty,
        };
        Ok(types.into_iter().map(signature).collect())
    }

    fn shape(&self, ty: &wasmparser::SubType) -> Result<FuncType, TypeBuildError> {
        if !ty.is_final || !ty.supertype_idxs.is_empty() {
            return Err(gc("subtype"));
        }
        let func = match &ty.composite_type.inner {
            wasmparser::CompositeInnerType::Func(func) => func,
            wasmparser::CompositeInnerType::Cont(cont) => {
                return self.concrete(cont.0.unpack()).map(FuncType::of_cont);
            }
            wasmparser::CompositeInnerType::Array(_) => return Err(gc("array type")),
            wasmparser::CompositeInnerType::Struct(_) => return Err(gc("struct type")),
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
                Abstract::Cont => HeapType::Cont,
                Abstract::NoCont => HeapType::NoCont,
                _ => return Err(refused()),
            },
            Parsed::Concrete(index @ UnpackedIndex::Module(position)) => {
                let id = self.concrete(index)?;
                match self.are_conts.get(position as usize) {
                    Some(true) => HeapType::ConcreteCont(id),
                    _ => HeapType::Concrete(id),
                }
            }
            Parsed::Concrete(_) | Parsed::Exact(_) => return Err(refused()),
        };
        let nullable = ty.is_nullable();
        Ok(RefType { nullable, heap })
    }

    /// The id of a type of the module.
    fn concrete(&self, index: wasmparser::UnpackedIndex) -> Result<TypeId, TypeBuildError> {
        let wasmparser::UnpackedIndex::Module(index) = index else {
            return Err(gc("type"));
        };
        let index = index as usize;
        Ok(match self.ids.get(index) {
            Some(id) => *id,
            // Validated: of the group that is being built.
            None => TypeId::within(index - self.ids.len()),
        })
    }
}
