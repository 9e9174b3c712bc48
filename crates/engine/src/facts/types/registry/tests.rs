//! Tests of the registry.

use super::*;

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

fn plain(results: &[ValType]) -> Box<[FuncType]> {
    Box::new([FuncType::new([], results.iter().copied())])
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
    let shape = || Box::new([FuncType::new([own(true, 0)], [ValType::I64])]);
    let number = registry.intern(shape());
    let id = registry.id(number);
    let ty = registry.live(id).unwrap().ty.clone().unwrap();
    assert_eq!(ty.params(), [reference(id)]);
    assert_eq!(registry.intern(shape()), number);
    assert_eq!(registry.find(&ty), Some(number));
    // Iso-recursive: one that mentions it is not it.
    let other = registry.intern(Box::new([ty.clone()]));
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
        Box::new([first, FuncType::new([], [second])])
    };
    let a = registry.intern(pair(ValType::I32));
    let b = registry.intern(pair(ValType::I64));
    assert_ne!(a, b, "the first types look alike");
    assert_eq!(registry.intern(pair(ValType::I32)), a);
    // A plain type is found before one of a larger group that reads like it.
    let ty = FuncType::new([], [ValType::I32]);
    let of_pair = registry.members(a).nth(1);
    assert_eq!(registry.find(&ty), of_pair);
    let alone = registry.intern(Box::new([ty.clone()]));
    assert_eq!(registry.find(&ty), Some(alone));
    registry.release(vec![a, a, b, alone]);
    is_empty(&registry);
}

fn is_empty(registry: &Registry) {
    assert!(registry.slots.is_empty() && registry.free.is_empty());
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
        assert_eq!(registry.slots.len(), 1);
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
