//! Tests of the registry.

use super::*;
use crate::facts::types::{FieldType, HeapType, RefType, Storage};

fn own(nullable: bool, position: usize) -> ValType {
    let heap = HeapType::Concrete(TypeId::within(position));
    ValType::Ref(RefType { nullable, heap })
}

fn reference(id: TypeId) -> ValType {
    ValType::Ref(RefType::nullable(HeapType::Concrete(id)))
}

/// A registry of the test's own, whose numbers nobody else takes.
fn registry() -> Registry {
    Registry::default()
}

fn plain(results: &[ValType]) -> Box<[DefType]> {
    group([FuncType::new([], results.iter().copied())])
}

/// A group of types of functions that have nothing above or below them.
fn group<const N: usize>(types: [FuncType; N]) -> Box<[DefType]> {
    Box::new(types.map(DefType::from))
}

#[test]
fn equal_signatures_have_equal_ids() {
    let ty = |result| FuncType::new([ValType::I32, ValType::FUNCREF], [result]);
    let held = [ValType::F32, ValType::F64, ValType::F32].map(|r| TypeHold::of(&ty(r)).unwrap());
    assert_eq!(held[0].0, held[2].0);
    assert_ne!(held[0].0, held[1].0);
    assert_eq!(held[1].0.func_type(), Some(ty(ValType::F64)));
}

#[test]
fn a_signature_can_mention_itself() {
    let mut registry = registry();
    let shape = || group([FuncType::new([own(true, 0)], [ValType::I64])]);
    let number = registry.intern(shape());
    let id = registry.id(number);
    let ty = registry.live(id).unwrap().ty.as_ref().unwrap();
    let ty = ty.func().unwrap().clone();
    assert_eq!(ty.params(), [reference(id)]);
    assert_eq!(registry.intern(shape()), number);
    assert_eq!(registry.find(&ty), Some(number));
    // Iso-recursive: one that mentions it is not it.
    let other = registry.intern(group([ty.clone()]));
    assert_ne!(other, number);
    assert_eq!(registry.find(&ty), Some(number));
    registry.release(vec![number, number]);
    assert!(registry.live(id).is_some(), "the other one mentions it");
    registry.release(vec![other]);
    assert!(registry.live(id).is_none());
    is_empty(&registry);
}

#[test]
fn a_group_is_told_apart_as_a_whole() {
    let mut registry = registry();
    let pair = |second| {
        let first = FuncType::new([own(true, 1)], []);
        group([first, FuncType::new([], [second])])
    };
    let a = registry.intern(pair(ValType::I32));
    let b = registry.intern(pair(ValType::I64));
    assert_ne!(a, b, "the first types look alike");
    assert_eq!(registry.intern(pair(ValType::I32)), a);
    // A plain type is found before one of a larger group that reads like it.
    let ty = FuncType::new([], [ValType::I32]);
    let of_pair = registry.members(a).nth(1);
    assert_eq!(registry.find(&ty), of_pair);
    let alone = registry.intern(group([ty.clone()]));
    assert_eq!(registry.find(&ty), Some(alone));
    registry.release(vec![a, a, b, alone]);
    is_empty(&registry);
}

fn is_empty(registry: &Registry) {
    assert!(registry.slots.len() <= 1 && registry.free.is_empty());
    assert!(registry.shapes.is_empty() && registry.resolved.is_empty());
}

#[test]
fn a_number_that_is_used_again_has_another_id() {
    let mut registry = registry();
    let kept = registry.intern(plain(&[ValType::I32]));
    for life in 0..3 {
        let first = registry.intern(plain(&[ValType::I64]));
        let last = registry.intern(plain(&[ValType::F64]));
        let id = registry.id(first);
        registry.release(vec![first]);
        assert!(registry.live(id).is_none(), "life {life}");
        let other = registry.intern(plain(&[ValType::F32]));
        assert_eq!(other, first, "the number is used again");
        assert_ne!(registry.id(other), id);
        assert!(registry.live(id).is_none());
        // Also where the end of the list was cut off and grows again.
        let ids = [registry.id(other), registry.id(last)];
        registry.release(vec![other, last]);
        assert_eq!(registry.slots.len(), 2);
        let again = registry.intern(plain(&[ValType::F32, ValType::I64]));
        assert!(!ids.contains(&registry.id(again)));
        registry.release(vec![again]);
    }
    registry.release(vec![kept]);
    is_empty(&registry);
}

#[test]
fn a_number_without_generations_left_is_not_used_again() {
    let mut registry = registry();
    let number = registry.intern(plain(&[]));
    registry.slots[number as usize].generation = u32::MAX;
    let id = registry.id(number);
    registry.release(vec![number]);
    assert!(registry.live(id).is_none());
    assert_ne!(registry.intern(plain(&[])), number);
}

#[test]
fn what_mentions_a_type_that_is_gone_is_refused() {
    let (id, hold) = TypeHold::of(&FuncType::new([ValType::V128; 7], [])).unwrap();
    let mentions = FuncType::new([reference(id)], [ValType::V128]);
    drop(TypeHold::of(&mentions).unwrap());
    assert!(TypeHold::mentioned(reference(id)).unwrap().is_some());
    assert!(TypeHold::mentioned(ValType::I32).unwrap().is_none());
    drop(hold);
    assert_eq!(id.func_type(), None);
    assert_eq!(TypeHold::of(&mentions).unwrap_err(), Gone);
    assert_eq!(TypeHold::mentioned(reference(id)).unwrap_err(), Gone);
}

#[test]
fn a_concrete_reference_is_a_funcref() {
    let (id, _hold) = TypeHold::of(&FuncType::new([], [])).unwrap();
    let concrete = RefType {
        nullable: false,
        heap: HeapType::Concrete(id),
    };
    assert!(concrete.is_subtype_of(RefType::FUNCREF));
    assert!(!RefType::FUNCREF.is_subtype_of(concrete));
    assert!(!concrete.is_subtype_of(RefType::EXTERNREF));
}

/// A structure with one field, below a type of its group or another.
fn structure(field: ValType, supertype: Option<TypeId>, is_final: bool) -> DefType {
    let field = FieldType {
        storage: Storage::Val(field),
        mutable: false,
    };
    DefType {
        is_final,
        supertype,
        kind: DefKind::Struct([field].into()),
    }
}

#[test]
fn a_type_is_below_those_that_it_names_and_theirs() {
    let mut hold = TypeHold::default();
    let [root, within] = [ValType::F64, ValType::F32].map(|ty| structure(ty, None, false));
    let middle = structure(ValType::F32, Some(TypeId::within(0)), false);
    let (ids, _) = hold.add(Box::new([within, middle]));
    let (leaf, _) = hold.add(Box::new([structure(ValType::F32, Some(ids[1]), true)]));
    let (other, _) = hold.add(Box::new([root]));
    let lineage = [ids[0], ids[1], leaf[0]].map(TypeId::number);
    assert_eq!(TypeId::lineage(leaf[0].number()), lineage);
    assert!(leaf[0].is_subtype_of(ids[0]) && leaf[0].is_subtype_of(leaf[0]));
    assert!(!ids[0].is_subtype_of(leaf[0]) && !leaf[0].is_subtype_of(other[0]));
}

#[test]
fn types_that_differ_in_what_is_above_or_below_them_are_others() {
    let mut registry = registry();
    let number = registry.intern(Box::new([structure(ValType::I32, None, true)]));
    let open = registry.intern(Box::new([structure(ValType::I32, None, false)]));
    assert_ne!(number, open);
    let below = |above: u32, registry: &Registry| {
        Box::new([structure(ValType::I32, Some(registry.id(above)), true)])
    };
    let leaf = below(open, &registry);
    let leaf = registry.intern(leaf);
    registry.release(vec![number, open]);
    assert!(
        registry.slots[open as usize].ty.is_some(),
        "the leaf names it"
    );
    registry.release(vec![leaf]);
    is_empty(&registry);
}

#[test]
fn a_signature_is_found_among_types_that_can_have_others_below_them() {
    let mut registry = registry();
    let ty = FuncType::new([ValType::V128; 9], []);
    let open = DefType {
        is_final: false,
        ..DefType::from(ty.clone())
    };
    let number = registry.intern(Box::new([open]));
    assert_eq!(registry.find(&ty), Some(number));
    registry.release(vec![number]);
    assert_eq!(registry.find(&ty), None);
    is_empty(&registry);
}
