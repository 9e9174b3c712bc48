//! What a module's type section defines: functions, continuations, structures and arrays,
//! each with its place below other types (core specification §2.3.6 to §2.3.10).

use std::sync::Arc;

use super::{FuncType, HeapType, RefType, TypeId, ValType};

/// A defined type, as it stands in the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DefType {
    /// Whether no other type can be below it.
    pub is_final: bool,
    /// The type that it is directly below.
    pub supertype: Option<TypeId>,
    /// What its values are.
    pub kind: DefKind,
}

/// What the values of a defined type are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DefKind {
    /// Functions of a signature.
    Func(FuncType),
    /// Continuations of functions of a type.
    Cont(TypeId),
    /// Structures with these fields.
    Struct(Arc<[FieldType]>),
    /// Arrays of such elements.
    Array(FieldType),
}

/// The type of a field of a structure, or of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// What is stored.
    pub storage: Storage,
    /// Whether it can be set.
    pub mutable: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// A value.
    Val(ValType),
}

impl Storage {
    /// The type that is mentioned, if one is.
    fn mentioned(self) -> Option<TypeId> {
        match self {
            Storage::Val(ty) => concrete(&ty),
            Storage::I8 | Storage::I16 => None,
        }
    }

    fn mapped(self, map: &impl Fn(TypeId) -> TypeId) -> Storage {
        match self {
            Storage::Val(ty) => Storage::Val(mapped(ty, map)),
            packed => packed,
        }
    }
}

impl From<FuncType> for DefType {
    /// A type of functions that has nothing above and nothing below it.
    fn from(ty: FuncType) -> DefType {
        DefType {
            is_final: true,
            supertype: None,
            kind: DefKind::Func(ty),
        }
    }
}

impl DefType {
    /// The signature, where it is one of functions.
    pub fn func(&self) -> Option<&FuncType> {
        match &self.kind {
            DefKind::Func(ty) => Some(ty),
            _ => None,
        }
    }

    /// Whether there is nothing above it and can be nothing below it.
    pub fn is_plain(&self) -> bool {
        self.is_final && self.supertype.is_none()
    }

    /// The types that it mentions.
    pub fn mentions(&self) -> impl Iterator<Item = TypeId> {
        let (values, fields, cont): (&[ValType], &[FieldType], _) = match &self.kind {
            DefKind::Func(ty) => (&ty.types, &[], None),
            DefKind::Cont(func) => (&[], &[], Some(*func)),
            DefKind::Struct(fields) => (&[], fields, None),
            DefKind::Array(element) => (&[], std::slice::from_ref(element), None),
        };
        let values = values.iter().filter_map(concrete);
        let fields = fields.iter().filter_map(|field| field.storage.mentioned());
        values.chain(fields).chain(cont).chain(self.supertype)
    }

    /// The same with other mentions.
    pub fn mapped(&self, map: impl Fn(TypeId) -> TypeId) -> DefType {
        if self.mentions().next().is_none() {
            return self.clone();
        }
        let field = |field: &FieldType| FieldType {
            storage: field.storage.mapped(&map),
            ..*field
        };
        let kind = match &self.kind {
            DefKind::Func(ty) => DefKind::Func(FuncType {
                types: ty.types.iter().map(|ty| mapped(*ty, &map)).collect(),
                ..*ty
            }),
            DefKind::Cont(func) => DefKind::Cont(map(*func)),
            DefKind::Struct(fields) => DefKind::Struct(fields.iter().map(field).collect()),
            DefKind::Array(element) => DefKind::Array(field(element)),
        };
        DefType {
            is_final: self.is_final,
            supertype: self.supertype.map(&map),
            kind,
        }
    }
}

/// The type that a type of values mentions.
pub(super) fn concrete(ty: &ValType) -> Option<TypeId> {
    match ty {
        ValType::Ref(ty) => ty.heap.concrete(),
        _ => None,
    }
}

fn mapped(ty: ValType, map: &impl Fn(TypeId) -> TypeId) -> ValType {
    let ValType::Ref(RefType { nullable, heap }) = ty else {
        return ty;
    };
    let heap = match heap {
        HeapType::Concrete(id) => HeapType::Concrete(map(id)),
        HeapType::ConcreteCont(id) => HeapType::ConcreteCont(map(id)),
        HeapType::ConcreteStruct(id) => HeapType::ConcreteStruct(map(id)),
        HeapType::ConcreteArray(id) => HeapType::ConcreteArray(map(id)),
        other => other,
    };
    ValType::Ref(RefType { nullable, heap })
}
