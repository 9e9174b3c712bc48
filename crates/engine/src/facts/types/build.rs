//! From the types of a module's binary to ours.

use super::defined::{DefKind, DefType, FieldType, Storage};
use super::registry::TypeHold;
use super::{FuncType, HeapType, RefType, TypeId, ValType};

/// Builds the types of a module's type section one after the other.
#[derive(Debug, Default)]
pub(crate) struct TypeBuilder {
    ids: Vec<TypeId>,
    /// What they are, and those of the group that is being built.
    kinds: Vec<Kind>,
    hold: TypeHold,
}

/// What a type index stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Func,
    Cont,
    Struct,
    Array,
}

/// Why a type of the binary is none of ours.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TypeBuildError(String);

fn refused(what: impl Into<String>) -> TypeBuildError {
    TypeBuildError(what.into())
}

impl TypeBuilder {
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
        let indices = (0..).zip(&self.kinds);
        let conts = indices.filter(|(_, kind)| **kind == Kind::Cont);
        conts.map(|(index, _)| index).collect()
    }

    /// Adds the next recursive group of the section; its types.
    pub(crate) fn push(
        &mut self,
        group: wasmparser::RecGroup,
    ) -> Result<Vec<DefType>, TypeBuildError> {
        let kind = |ty: &wasmparser::SubType| match ty.composite_type.inner {
            wasmparser::CompositeInnerType::Func(_) => Kind::Func,
            wasmparser::CompositeInnerType::Cont(_) => Kind::Cont,
            wasmparser::CompositeInnerType::Struct(_) => Kind::Struct,
            wasmparser::CompositeInnerType::Array(_) => Kind::Array,
        };
        self.kinds.extend(group.types().map(kind));
        let shapes = group
            .types()
            .map(|ty| self.shape(ty))
            .collect::<Result<Box<[DefType]>, _>>()?;
        if shapes.is_empty() {
            return Ok(Vec::new());
        }
        let (ids, types) = self.hold.add(shapes);
        self.ids.extend(ids);
        Ok(types)
    }

    fn shape(&self, ty: &wasmparser::SubType) -> Result<DefType, TypeBuildError> {
        let composite = &ty.composite_type;
        if composite.shared {
            return Err(refused("a type that threads share"));
        }
        if composite.descriptor_idx.is_some() || composite.describes_idx.is_some() {
            return Err(refused("a type with a custom descriptor"));
        }
        let values = |types: &[wasmparser::ValType]| {
            let values = types.iter().map(|ty| self.val_type(*ty));
            values.collect::<Result<Vec<ValType>, _>>()
        };
        let kind = match &composite.inner {
            wasmparser::CompositeInnerType::Func(func) => DefKind::Func(FuncType::new(
                values(func.params())?,
                values(func.results())?,
            )),
            wasmparser::CompositeInnerType::Cont(cont) => {
                DefKind::Cont(self.concrete(cont.0.unpack())?)
            }
            wasmparser::CompositeInnerType::Array(array) => DefKind::Array(self.field(&array.0)?),
            wasmparser::CompositeInnerType::Struct(fields) => {
                let fields = fields.fields.iter().map(|field| self.field(field));
                DefKind::Struct(fields.collect::<Result<_, _>>()?)
            }
        };
        // Validated: one at most.
        let supertype = ty.supertype_idxs.first().map(|above| above.unpack());
        Ok(DefType {
            is_final: ty.is_final,
            supertype: supertype.map(|above| self.concrete(above)).transpose()?,
            kind,
        })
    }

    fn field(&self, field: &wasmparser::FieldType) -> Result<FieldType, TypeBuildError> {
        let storage = match field.element_type {
            wasmparser::StorageType::I8 => Storage::I8,
            wasmparser::StorageType::I16 => Storage::I16,
            wasmparser::StorageType::Val(ty) => Storage::Val(self.val_type(ty)?),
        };
        let mutable = field.mutable;
        Ok(FieldType { storage, mutable })
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
        let refused = || refused(format!("reference type {ty}"));
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
                Abstract::Any => HeapType::Any,
                Abstract::Eq => HeapType::Eq,
                Abstract::I31 => HeapType::I31,
                Abstract::Struct => HeapType::Struct,
                Abstract::Array => HeapType::Array,
                Abstract::None => HeapType::None,
            },
            Parsed::Concrete(index @ UnpackedIndex::Module(position)) => {
                let id = self.concrete(index)?;
                match self.kinds.get(position as usize) {
                    Some(Kind::Cont) => HeapType::ConcreteCont(id),
                    Some(Kind::Struct) => HeapType::ConcreteStruct(id),
                    Some(Kind::Array) => HeapType::ConcreteArray(id),
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
            return Err(refused("a type that is not the module's"));
        };
        let index = index as usize;
        Ok(match self.ids.get(index) {
            Some(id) => *id,
            // Validated: of the group that is being built.
            None => TypeId::within(index - self.ids.len()),
        })
    }
}
