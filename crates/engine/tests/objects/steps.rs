//! Collections in steps, between which the program moves the only references to objects from
//! places that were not looked at yet to such that were.

use super::*;

/// Objects of several lines each, so that one that is not marked is free alone, near the roots
/// and at the end of a chain; in arrays and in fields, as references of both hierarchies. Each
/// has a number. A turn allocates, and then moves something; `wrong` counts the numbers that
/// are not there once, and elements that are not what they were.
const MOVES: &str = r#"(module
  (type $box (sub (struct (field $number i64) (field $box (mut (ref null $box)))
    (field $extern (mut externref)))))
  (type $wide (sub final $box (struct (field $number i64) (field $box (mut (ref null $box)))
    (field $extern (mut externref)) FIELDS)))
  (type $boxes (array (mut (ref null $box))))
  (type $externs (array (mut externref)))
  (type $longs (array (mut i64)))
  (type $arrays (array (mut (ref null $longs))))
  ;; What is at the end of a chain of these is looked at late.
  (type $chain (struct (field $boxes (ref null $boxes)) (field $externs (ref null $externs))
    (field $next (ref null $chain))))
  (memory 4)
  (global $chain (mut (ref null $chain)) (ref.null $chain))
  (global $aside (mut (ref null $boxes)) (ref.null $boxes))
  (global $aside_from (mut i32) (i32.const -1))
  (global $nulls (mut (ref null $boxes)) (ref.null $boxes))
  (global $many (mut (ref null $boxes)) (ref.null $boxes))
  (global $long (mut (ref null $arrays)) (ref.null $arrays))
  (global $fresh (mut (ref null $box)) (ref.null $box))
  ;; The last of what is marked is looked at first.
  (global $near (mut (ref null $boxes)) (ref.null $boxes))
  (global $near_externs (mut (ref null $externs)) (ref.null $externs))
  (global $count (mut i32) (i32.const 0))
  (global $random (mut i32) (i32.const 1))
  (elem $none (ref null $box) (item (ref.null $box)) (item (ref.null $box))
    (item (ref.null $box)) (item (ref.null $box)))

  (func $below (param $bound i32) (result i32)
    (global.set $random (i32.add (i32.mul (global.get $random) (i32.const 1664525))
      (i32.const 1013904223)))
    (i32.rem_u (i32.shr_u (global.get $random) (i32.const 8)) (local.get $bound)))
  (func $new (param $number i32) (result (ref $box))
    (struct.new $wide (i64.extend_i32_u (local.get $number)) (ref.null $box) (ref.null extern)
      ZEROS))
  (func $end (result (ref $chain))
    (local $at (ref $chain))
    (local.set $at (ref.as_non_null (global.get $chain)))
    (block $last
      (loop $again
        (local.set $at (br_on_null $last (struct.get $chain $next (local.get $at))))
        (br $again)))
    (local.get $at))

  ;; Boxes with numbers from $first on, each with one in a field and one as an externref.
  (func $fill (param $boxes (ref $boxes)) (param $externs (ref $externs)) (param $first i32)
    (local $i i32) (local $box (ref null $box))
    (loop $again
      (local.set $box (call $new (local.get $first)))
      (array.set $boxes (local.get $boxes) (local.get $i) (local.get $box))
      (struct.set $box $box (local.get $box)
        (call $new (i32.add (local.get $first) (i32.const 1))))
      (struct.set $box $extern (local.get $box) (extern.convert_any
        (call $new (i32.add (local.get $first) (i32.const 2)))))
      (array.set $externs (local.get $externs) (local.get $i) (extern.convert_any
        (call $new (i32.add (local.get $first) (i32.const 3)))))
      (local.set $first (i32.add (local.get $first) (i32.const 4)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (global.get $count)))))
  (func (export "begin") (param $count i32) (param $links i32)
    (local $boxes (ref $boxes)) (local $externs (ref $externs)) (local $i i32)
    (global.set $count (local.get $count))
    (global.set $near (local.tee $boxes (array.new_default $boxes (local.get $count))))
    (global.set $near_externs
      (local.tee $externs (array.new_default $externs (local.get $count))))
    (call $fill (local.get $boxes) (local.get $externs) (i32.const 0))
    (local.set $boxes (array.new_default $boxes (local.get $count)))
    (local.set $externs (array.new_default $externs (local.get $count)))
    (call $fill (local.get $boxes) (local.get $externs)
      (i32.mul (local.get $count) (i32.const 4)))
    (global.set $chain
      (struct.new $chain (local.get $boxes) (local.get $externs) (ref.null $chain)))
    (loop $again
      (global.set $chain (struct.new $chain (ref.null $boxes) (ref.null $externs)
        (global.get $chain)))
      (br_if $again (local.tee $links (i32.sub (local.get $links) (i32.const 1)))))
    (global.set $aside (array.new_default $boxes (i32.const 4)))
    (global.set $nulls (array.new_default $boxes (i32.const 4)))
    (global.set $long (array.new_default $arrays (i32.const 4)))
    (global.set $many (array.new_default $boxes (i32.const 4200)))
    (loop $again
      (array.set $boxes (global.get $many) (local.get $i)
        (struct.new $box (i64.extend_i32_u (local.get $i)) (ref.null $box) (ref.null extern)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 4200)))))

  ;; All that a turn allocates, before it has a reference to something far.
  (func $allocate (param $turn i32)
    (local $i i32)
    ;; Small ones come to lie where something was freed.
    (local.set $i (i32.const 10))
    (loop $again
      (drop (array.new $longs (i64.const -1) (i32.const 20)))
      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    (global.set $fresh (call $new (i32.const -1)))
    (if (i32.eqz (call $below (i32.const 8)))
      (then
        (local.set $i (call $below (i32.const 4)))
        (array.set $arrays (global.get $long) (local.get $i)
          (array.new $longs (i64.extend_i32_u (local.get $turn)) (i32.const 1500)))
        (i32.store offset=131072 (i32.mul (local.get $i) (i32.const 4)) (local.get $turn)))))

  (func $move (param $kind i32) (param $i i32) (param $from i32)
    (local $boxes (ref $boxes)) (local $externs (ref $externs))
    (local $one (ref null $box)) (local $other (ref null $box)) (local $box (ref null $box))
    (local $extern externref)
    (local.set $boxes (ref.as_non_null (struct.get $chain $boxes (call $end))))
    (local.set $externs (ref.as_non_null (struct.get $chain $externs (call $end))))
    ;; What was put aside comes back.
    (if (i32.ge_s (global.get $aside_from) (i32.const 0))
      (then
        (array.copy $boxes $boxes (local.get $boxes) (global.get $aside_from)
          (global.get $aside) (i32.const 0) (i32.const 4))
        (array.copy $boxes $boxes (global.get $aside) (i32.const 0)
          (global.get $nulls) (i32.const 0) (i32.const 4))
        (global.set $aside_from (i32.const -1))))
    (block $done
    (block $init (block $fill (block $copy (block $extern_field (block $field (block $extern_array
      (block $array
        (br_table $array $extern_array $field $extern_field $copy $fill $init (local.get $kind)))
      ;; array.set
      (local.set $box (array.get $boxes (local.get $boxes) (local.get $i)))
      (array.set $boxes (local.get $boxes) (local.get $i)
        (array.get $boxes (global.get $near) (local.get $i)))
      (array.set $boxes (global.get $near) (local.get $i) (local.get $box))
      (br $done))
      (local.set $extern (array.get $externs (local.get $externs) (local.get $i)))
      (array.set $externs (local.get $externs) (local.get $i)
        (array.get $externs (global.get $near_externs) (local.get $i)))
      (array.set $externs (global.get $near_externs) (local.get $i) (local.get $extern))
      (br $done))
      ;; struct.set
      (local.set $one (array.get $boxes (local.get $boxes) (local.get $i)))
      (local.set $other (array.get $boxes (global.get $near) (local.get $i)))
      (local.set $box (struct.get $box $box (local.get $one)))
      (struct.set $box $box (local.get $one) (struct.get $box $box (local.get $other)))
      (struct.set $box $box (local.get $other) (local.get $box))
      (br $done))
      (local.set $one (array.get $boxes (local.get $boxes) (local.get $i)))
      (local.set $other (array.get $boxes (global.get $near) (local.get $i)))
      (local.set $extern (struct.get $box $extern (local.get $one)))
      (struct.set $box $extern (local.get $one) (struct.get $box $extern (local.get $other)))
      (struct.set $box $extern (local.get $other) (local.get $extern))
      (br $done))
      ;; From here on elements are put aside for a turn.
      (call $put_aside (local.get $boxes) (local.get $from))
      (array.copy $boxes $boxes (local.get $boxes) (local.get $from)
        (global.get $nulls) (i32.const 0) (i32.const 4))
      (br $done))
      (call $put_aside (local.get $boxes) (local.get $from))
      (array.fill $boxes (local.get $boxes) (local.get $from) (ref.null $box) (i32.const 4))
      (br $done))
      (call $put_aside (local.get $boxes) (local.get $from))
      (array.init_elem $boxes $none (local.get $boxes) (local.get $from)
        (i32.const 0) (i32.const 4))))
  (func $put_aside (param $boxes (ref $boxes)) (param $from i32)
    (array.copy $boxes $boxes (global.get $aside) (i32.const 0)
      (local.get $boxes) (local.get $from) (i32.const 4))
    (global.set $aside_from (local.get $from)))

  ;; Words on the stack where calls that have ended had references.
  (func $overwrite (param $depth i32) (result i64)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64)
    (if (local.get $depth) (then
      (local.set $a (call $overwrite (i32.sub (local.get $depth) (i32.const 1))))
      (local.set $b (call $overwrite (i32.const 0)))
      (local.set $c (call $overwrite (i32.const 0)))
      (local.set $d (call $overwrite (i32.const 0)))))
    (i64.add (i64.add (local.get $a) (local.get $b)) (i64.add (local.get $c) (local.get $d))))

  (func (export "turns") (param $turns i32)
    (loop $again
      (drop (call $overwrite (i32.const 50)))
      (call $allocate (local.get $turns))
      (call $move (call $below (i32.const 7)) (call $below (global.get $count))
        (call $below (i32.sub (global.get $count) (i32.const 4))))
      (br_if $again (local.tee $turns (i32.sub (local.get $turns) (i32.const 1)))))
    (call $allocate (i32.const 1))
    (call $move (i32.const 0) (i32.const 0) (i32.const 0)))

  (func $see (param $box (ref null $box))
    (local $at i32)
    (local.set $at (i32.wrap_i64 (struct.get $box $number (local.get $box))))
    (if (i32.lt_u (local.get $at) (i32.mul (global.get $count) (i32.const 8)))
      (then (i32.store8 (local.get $at)
        (i32.add (i32.load8_u (local.get $at)) (i32.const 1))))))
  (func $see_inside (param $extern externref)
    (call $see (ref.cast (ref $box) (any.convert_extern (local.get $extern)))))
  (func $see_all (param $boxes (ref null $boxes)) (param $externs (ref null $externs))
    (local $i i32) (local $box (ref null $box))
    (loop $again
      (local.set $box (array.get $boxes (local.get $boxes) (local.get $i)))
      (call $see (local.get $box))
      (call $see (struct.get $box $box (local.get $box)))
      (call $see_inside (struct.get $box $extern (local.get $box)))
      (call $see_inside (array.get $externs (local.get $externs) (local.get $i)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (global.get $count)))))
  (func (export "wrong") (result i32)
    (local $i i32) (local $wrong i32) (local $array i32)
    ;; What was made last, while a collection was under way.
    (local.set $wrong (i64.ne (i64.const 0xffffffff)
      (struct.get $box $number (global.get $fresh))))
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536))
    (call $see_all (global.get $near) (global.get $near_externs))
    (call $see_all (struct.get $chain $boxes (call $end))
      (struct.get $chain $externs (call $end)))
    (loop $again
      (local.set $wrong (i32.add (local.get $wrong)
        (i32.ne (i32.load8_u (local.get $i)) (i32.const 1))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.mul (global.get $count) (i32.const 8)))))
    (local.set $i (i32.const 0))
    (loop $again
      (local.set $wrong (i32.add (local.get $wrong) (i64.ne (i64.extend_i32_u (local.get $i))
        (struct.get $box $number (array.get $boxes (global.get $many) (local.get $i))))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 4200))))
    (local.set $i (i32.const 0))
    (loop $again
      (local.set $array (i32.and (local.get $i) (i32.const 3)))
      (if (i32.load offset=131072 (i32.mul (local.get $array) (i32.const 4)))
        (then (local.set $wrong (i32.add (local.get $wrong)
          (i64.ne
            (array.get $longs (array.get $arrays (global.get $long) (local.get $array))
              (i32.shr_u (local.get $i) (i32.const 2)))
            (i64.extend_i32_u
              (i32.load offset=131072 (i32.mul (local.get $array) (i32.const 4)))))))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 6000))))
    (local.get $wrong)))"#;

fn moves() -> String {
    let fields = "(field (mut i64))".repeat(60);
    let zeros = "(i64.const 0)".repeat(60);
    MOVES.replace("FIELDS", &fields).replace("ZEROS", &zeros)
}

/// Bytes between two collections, bytes of a step, objects of each kind, links of the chain and
/// turns.
const RUNS: [(u64, u64, i32, i32, i32); 4] = [
    // A collection under way at nearly every moment, an object at a time.
    (0, 1, 20, 2_000, 40_000),
    // Compiled code allocates by itself meanwhile.
    (64 << 10, 1, 500, 10_000, 10_000),
    (1 << 20, 16 << 10, 1_000, 20_000, 5_000),
    // In one go.
    (64 << 10, u64::MAX, 400, 10, 1_000),
];

#[test]
fn what_a_program_moves_between_two_steps_stays() {
    let wat = moves();
    for (between, step, count, links, turns) in RUNS {
        for way in Way::all_and_llvm() {
            let config = config(between).collection_step(step);
            let engine = Engine::new(&way.of(config)).unwrap();
            eprintln!("{way}, {between} bytes between, {step} a step");
            let mut store = Store::new(&engine, ());
            let moves = instance(&engine, &mut store, &wat);
            call(
                &mut store,
                &moves,
                "begin",
                &[Val::I32(count), Val::I32(links)],
            )
            .unwrap();
            for part in 0..10 {
                call(&mut store, &moves, "turns", &[Val::I32(turns / 10)]).unwrap();
                let wrong = call(&mut store, &moves, "wrong", &[]).unwrap();
                assert_eq!(wrong.unwrap_i32(), 0, "part {part}");
            }
            let stats = store.heap_stats();
            assert!(stats.collections > 2, "{stats:?}");
            if between == 0 {
                assert!(stats.pauses.count() > 5 * stats.collections, "{stats:?}");
            } else {
                let most = 3 * (count as u64 * 8 * 600) + (8 << 20);
                assert!(stats.heap_bytes < most, "{stats:?}");
            }
        }
    }
}

/// Boxes near the roots and far from them, which change places.
const LOGGED: &str = r#"(module
  (type $box (struct (field $number i64) (field $other (mut (ref null $box)))))
  (type $boxes (array (mut (ref null $box))))
  (type $chain (struct (field $boxes (ref null $boxes)) (field $next (ref null $chain))))
  (global $chain (mut (ref null $chain)) (ref.null $chain))
  (global $near (mut (ref null $boxes)) (ref.null $boxes))
  (func $new (param $number i64) (result (ref $box))
    (struct.new $box (local.get $number) (ref.null $box)))
  (func $far (result (ref null $boxes))
    (local $at (ref $chain))
    (local.set $at (ref.as_non_null (global.get $chain)))
    (block $last
      (loop $again
        (local.set $at (br_on_null $last (struct.get $chain $next (local.get $at))))
        (br $again)))
    (struct.get $chain $boxes (local.get $at)))
  (func (export "begin") (param $links i32)
    (local $i i32) (local $boxes (ref $boxes))
    (local.set $boxes (array.new_default $boxes (i32.const 500)))
    (global.set $chain (struct.new $chain (local.get $boxes) (ref.null $chain)))
    (global.set $near (array.new_default $boxes (i32.const 501)))
    (loop $again
      (array.set $boxes (local.get $boxes) (local.get $i)
        (call $new (i64.extend_i32_u (local.get $i))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 500))))
    ;; Not in the same lines.
    (local.set $i (i32.const 0))
    (loop $again
      (array.set $boxes (global.get $near) (local.get $i)
        (call $new (i64.extend_i32_u (local.get $i))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 500))))
    (loop $again
      (global.set $chain (struct.new $chain (ref.null $boxes) (global.get $chain)))
      (br_if $again (local.tee $links (i32.sub (local.get $links) (i32.const 1))))))
  (func (export "noise") (param $count i32)
    (loop $again
      (drop (call $new (i64.const -1)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
  ;; So many nulls are overwritten, and then all boxes change places.
  (func (export "swap") (param $nulls i32)
    (local $i i32) (local $box (ref null $box)) (local $far (ref null $boxes))
    (local.set $far (call $far))
    (loop $again
      (array.set $boxes (global.get $near) (i32.const 500) (ref.null $box))
      (br_if $again (local.tee $nulls (i32.sub (local.get $nulls) (i32.const 1)))))
    (loop $each
      (local.set $box (array.get $boxes (local.get $far) (local.get $i)))
      (array.set $boxes (local.get $far) (local.get $i)
        (array.get $boxes (global.get $near) (local.get $i)))
      (array.set $boxes (global.get $near) (local.get $i) (local.get $box))
      (br_if $each (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 500)))))
  (func (export "wrong") (result i32)
    (local $i i32) (local $wrong i32)
    (loop $again
      (local.set $wrong (i32.add (local.get $wrong) (i32.or
        (i64.ne (i64.extend_i32_u (local.get $i))
          (struct.get $box $number (array.get $boxes (call $far) (local.get $i))))
        (i64.ne (i64.extend_i32_u (local.get $i))
          (struct.get $box $number (array.get $boxes (global.get $near) (local.get $i)))))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 500))))
    (local.get $wrong)))"#;

/// More references than the log has places for are overwritten while a collection is under way,
/// and nothing is allocated.
#[test]
fn more_is_overwritten_than_can_be_told() {
    let engine = Engine::new(&config(0).collection_step(1)).unwrap();
    for nulls in [
        1, 261_142, 261_500, 262_141, 262_142, 262_143, 262_144, 600_000,
    ] {
        let mut store = Store::new(&engine, ());
        let many = instance(&engine, &mut store, LOGGED);
        call(&mut store, &many, "begin", &[Val::I32(2_000)]).unwrap();
        for noise in [3_000, 100, 1_000, 5_000, 3_000] {
            call(&mut store, &many, "noise", &[Val::I32(noise)]).unwrap();
            call(&mut store, &many, "swap", &[Val::I32(nulls)]).unwrap();
            call(&mut store, &many, "noise", &[Val::I32(noise)]).unwrap();
            let wrong = call(&mut store, &many, "wrong", &[]).unwrap();
            assert_eq!(wrong.unwrap_i32(), 0, "{nulls} nulls");
        }
    }
}

/// A value of the host in a field, near the roots.
const HOSTS: &str = r#"(module
  (type $cell (struct (field $any (mut anyref))))
  (type $cells (array (mut (ref null $cell))))
  (global $cell (ref $cell) (struct.new $cell (ref.null any)))
  (type $numbers (array (mut anyref)))
  (global $ballast (ref $cells) (array.new_default $cells (i32.const 60)))
  (global $kept (ref $numbers) (array.new_default $numbers (i32.const 500)))
  (func (export "keep") (param i32 externref)
    (array.set $numbers (global.get $kept) (local.get 0) (any.convert_extern (local.get 1))))
  (func (export "fill") (local $i i32)
    (loop $again
      (array.set $cells (global.get $ballast) (local.get $i) (struct.new_default $cell))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
        (i32.const 60)))))
  (func (export "drop") (struct.set $cell $any (global.get $cell) (ref.null any)))
  (func (export "set") (param externref)
    (struct.set $cell $any (global.get $cell) (any.convert_extern (local.get 0))))
  (func (export "get") (result externref)
    (extern.convert_any (struct.get $cell $any (global.get $cell))))
  (func (export "noise") (param $count i32)
    (loop $again
      (drop (struct.new_default $cell))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))"#;

/// The number of a host's value is used again once nothing refers to it; here it is asked for
/// anew while a collection is under way that has not found it.
#[test]
fn a_value_of_the_host_that_is_asked_for_again_stays() {
    let engine = Engine::new(&config(0).collection_step(1)).unwrap();
    let mut store = Store::new(&engine, ());
    let hosts = instance(&engine, &mut store, HOSTS);
    call(&mut store, &hosts, "fill", &[]).unwrap();
    // Their numbers are none that happen to be on the stack.
    for at in 0..500 {
        let args = [Val::I32(at), Val::ExternRef(Some(ExternRef::new(at)))];
        call(&mut store, &hosts, "keep", &args).unwrap();
    }
    let refs = ["one", "other"].map(ExternRef::new);
    for turn in 0..1000 {
        let of = turn % 2;
        call(
            &mut store,
            &hosts,
            "set",
            &[Val::ExternRef(Some(refs[of].clone()))],
        )
        .unwrap();
        call(
            &mut store,
            &hosts,
            "noise",
            &[Val::I32(turn as i32 * 7 % 97 + 1)],
        )
        .unwrap();
        let found = call(&mut store, &hosts, "get", &[]).unwrap();
        let Val::ExternRef(Some(found)) = found else {
            panic!("turn {turn}: {found:?}");
        };
        let data = found.downcast_ref::<&str>();
        assert_eq!(data.copied().unwrap(), ["one", "other"][of], "turn {turn}");
        call(&mut store, &hosts, "drop", &[]).unwrap();
        call(
            &mut store,
            &hosts,
            "noise",
            &[Val::I32(turn as i32 * 13 % 89 + 1)],
        )
        .unwrap();
    }
    assert!(
        store.heap_stats().collections > 10,
        "{:?}",
        store.heap_stats()
    );
}
