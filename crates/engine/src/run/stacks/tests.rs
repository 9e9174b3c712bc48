//! Revisions that are used up: what takes days otherwise.

use std::num::NonZeroU64;

use crate::facts::vmcont::{LAST_REVISION, first_reference};
use crate::run::instance::Instance;
use crate::run::linker::Linker;
use crate::run::store::{Store, opaque_mut};
use crate::run::values::Val;
use crate::{Config, Engine, Module, Resource};

/// Generators of 0, 1, 2 …: one by itself, and one in a continuation that hands on.
const PROGRAM: &str = r#"(module
  (type $p (func)) (type $c (cont $p))
  (type $q (func (param i32))) (type $k (cont $q))
  (tag $t (param i32)) (tag $u (param i32) (result i32))
  (func $count (local $i i32)
    (loop $l
      (suspend $t (local.get $i))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $l)))
  (func $hands-on (resume $c (cont.new $c (ref.func $count))))
  (func $asks (local $i i32)
    (loop $l
      (local.set $i (i32.add (i32.const 1) (suspend $u (local.get $i))))
      (br $l)))
  (func $twice (suspend $t (i32.const 1)) (suspend $t (i32.const 2)))
  (elem declare func $count $hands-on $asks $twice)
  (func (export "one") (result (ref $c)) (cont.new $c (ref.func $count)))
  (func (export "two") (result (ref $c)) (cont.new $c (ref.func $hands-on)))
  (func (export "next") (param (ref $c)) (result i32 (ref $c))
    (block $h (result i32 (ref $c))
      (resume $c (on $t $h) (local.get 0))
      (unreachable)))
  (func (export "bound") (param i32 (ref $c)) (result i32 (ref $c)) (local $k (ref null $k))
    (block $h (result i32 (ref $k))
      (resume $c (on $u $h) (local.get 1))
      (unreachable))
    (local.set $k)
    (cont.bind $k $c (local.get 0) (local.get $k)))
  (func (export "twice") (result (ref $c)) (cont.new $c (ref.func $twice)))
  (func (export "end") (param (ref $c)) (resume $c (local.get 0)))
  (func (export "asking") (result (ref $c)) (cont.new $c (ref.func $asks)))
)"#;

fn guest() -> (Store<()>, Instance) {
    let wasm = wat::parse_str(PROGRAM).unwrap();
    let engine = Engine::new(&Config::new()).unwrap();
    let module = Module::new(&engine, wasm).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine)
        .instantiate(&mut store, &module)
        .unwrap();
    (store, instance)
}

fn call(store: &mut Store<()>, instance: Instance, name: &str, args: &[Val]) -> Vec<Val> {
    let func = instance.get_func(&*store, name).unwrap();
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    func.call(store, args, &mut results).unwrap();
    results
}

/// The place of a reference's block.
pub(super) fn place(raw: NonZeroU64) -> u32 {
    (raw.get() >> 32) as u32
}

/// The same reference, with so many revisions left.
fn nearly_used_up(store: &mut Store<()>, value: &Val, left: u32) -> Val {
    let Val::ContRef(Some(cont)) = value else {
        panic!("{value:?}");
    };
    let place = place(cont.raw());
    let base = opaque_mut(store).vm_stacks().base;
    let raw = first_reference(place) | u64::from(LAST_REVISION - left);
    // SAFETY: a continuation of the store's, which nobody else refers to.
    unsafe { (*base.add(place as usize)).reference = raw };
    Val::ContRef(Some(cont.with_raw(NonZeroU64::new(raw).unwrap())))
}

#[test]
fn a_continuation_goes_on_when_its_revisions_are_used_up() {
    for name in ["one", "two"] {
        for left in 1..7 {
            let (mut store, instance) = guest();
            let mut cont = call(&mut store, instance, name, &[]).remove(0);
            for expected in 0..20 {
                if expected == 4 {
                    cont = nearly_used_up(&mut store, &cont, left);
                }
                let mut results = call(&mut store, instance, "next", &[cont]);
                assert_eq!(results[0].i32(), Some(expected), "{name}, {left} left");
                cont = results.remove(1);
            }
        }
    }
}

#[test]
fn one_that_is_bound_goes_on_too() {
    for left in 1..7 {
        let (mut store, instance) = guest();
        let mut cont = call(&mut store, instance, "asking", &[]).remove(0);
        let mut expected = 0;
        for i in 0..20 {
            if i == 4 {
                cont = nearly_used_up(&mut store, &cont, left);
            }
            let mut results = call(&mut store, instance, "bound", &[Val::I32(100 * i), cont]);
            assert_eq!(results[0].i32(), Some(expected), "{left} left");
            expected = 100 * i + 1;
            cont = results.remove(1);
        }
    }
}

#[test]
fn one_without_revisions_is_not_used_again() {
    let (mut store, instance) = guest();
    let cont = call(&mut store, instance, "one", &[]).remove(0);
    let old = nearly_used_up(&mut store, &cont, 1);
    let Val::ContRef(Some(reference)) = old.clone() else {
        panic!("{old:?}");
    };
    let used_up = place(reference.raw());
    // No reference has the last revision, so this one is used up by its suspension.
    let next = instance.get_func(&store, "next").unwrap();
    let mut results = [Val::I32(0), Val::I32(0)];
    let refused = next.call(&mut store, &[old], &mut results);
    assert!(refused.is_ok(), "{refused:?}");
    for _ in 0..500 {
        let Val::ContRef(Some(other)) = call(&mut store, instance, "one", &[]).remove(0) else {
            panic!("it makes one");
        };
        assert_ne!(place(other.raw()), used_up);
    }
}

#[test]
fn a_stack_is_used_again_when_the_revisions_of_its_continuation_are_used_up() {
    let (mut store, instance) = guest();
    let mut taken = None;
    for round in 0..100 {
        let cont = call(&mut store, instance, "twice", &[]).remove(0);
        let cont = call(&mut store, instance, "next", &[cont]).remove(1);
        // What began is one that has a stack; each third time the last.
        let cont = match round % 3 {
            0 => nearly_used_up(&mut store, &cont, 1),
            _ => cont,
        };
        let mut results = call(&mut store, instance, "next", &[cont]);
        assert_eq!(results[0].i32(), Some(2));
        call(&mut store, instance, "end", &[results.remove(1)]);
        let used = store.allowance().used(Resource::StackBytes);
        assert_eq!(*taken.get_or_insert(used), used, "round {round}");
    }
}

#[test]
fn several_without_revisions_are_not_used_again() {
    let (mut store, instance) = guest();
    let mut conts: Vec<Val> = Vec::new();
    for _ in 0..3 {
        let cont = call(&mut store, instance, "one", &[]).remove(0);
        conts.push(nearly_used_up(&mut store, &cont, 1));
    }
    // Each begins, so that its block is free.
    for cont in conts {
        call(&mut store, instance, "next", &[cont]);
    }
    for _ in 0..100 {
        let cont = call(&mut store, instance, "one", &[]).remove(0);
        let Val::ContRef(Some(reference)) = &cont else {
            panic!("{cont:?}");
        };
        let revision = reference.raw().get() as u32;
        assert!(revision < 1 << 16, "{revision}");
        call(&mut store, instance, "next", &[cont]);
    }
}
