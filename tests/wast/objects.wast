;; What a load of a field, an element or a length sees: an optimiser that merges loads, or takes them
;; out of loops, must see each store that may be to the same cell, each call, and null in the middle.

(module
  (type $pair (sub (struct (field $a (mut i32)) (field $b (mut i64)))))
  (type $triple (sub final $pair
    (struct (field $a (mut i32)) (field $b (mut i64)) (field $c (mut i32)))))
  (type $node (struct (field $value (mut i32)) (field $next (mut (ref null $node)))))
  (type $ints (array (mut i32)))
  (type $bytes (array (mut i8)))
  (memory (export "memory") 1)
  (global $kept (mut (ref null $pair)) (ref.null $pair))
  (global $length (mut i32) (i32.const 0))

  ;; Two references to one object or to two.
  (func $twice (param $one (ref null $pair)) (param $other (ref null $pair)) (result i64)
    (local $before i64)
    (local.set $before (struct.get $pair $b (local.get $one)))
    (struct.set $pair $b (local.get $other) (i64.add (local.get $before) (i64.const 7)))
    (i64.add
      (i64.mul (local.get $before) (i64.const 1000))
      (struct.get $pair $b (local.get $one))))
  (func (export "twice") (param $same i32) (result i64)
    (local $one (ref $pair)) (local $other (ref null $pair))
    (local.set $one (struct.new $pair (i32.const 1) (i64.const 5)))
    (local.set $other (if (result (ref null $pair)) (local.get $same)
      (then (local.get $one))
      (else (struct.new $triple (i32.const 2) (i64.const 6) (i32.const 3)))))
    (call $twice (local.get $one) (local.get $other)))

  ;; A call changes what was loaded in front of it.
  (func $change (struct.set $pair $a (global.get $kept) (i32.const 9)))
  (func (export "around-a-call") (result i32)
    (local $one (ref $pair)) (local $sum i32)
    (local.set $one (struct.new $pair (i32.const 4) (i64.const 0)))
    (global.set $kept (local.get $one))
    (local.set $sum (struct.get $pair $a (local.get $one)))
    (call $change)
    (i32.add (i32.mul (local.get $sum) (i32.const 100)) (struct.get $pair $a (local.get $one))))

  ;; In each turn one cell changes which the next one loads: by the same reference, by another, or
  ;; not at all.
  (func $sum (param $one (ref null $pair)) (param $other (ref null $pair)) (param $turns i32) (result i32)
    (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (struct.get $pair $a (local.get $one))))
      (struct.set $pair $a (local.get $other)
        (i32.add (struct.get $pair $a (local.get $one)) (i32.const 1)))
      (br_if $again (local.tee $turns (i32.sub (local.get $turns) (i32.const 1)))))
    (local.get $sum))
  (func (export "changing") (result i32)
    (local $one (ref $pair))
    (local.set $one (struct.new $pair (i32.const 1) (i64.const 0)))
    (call $sum (local.get $one) (local.get $one) (i32.const 5)))
  (func (export "unchanging") (result i32)
    (call $sum (struct.new $pair (i32.const 1) (i64.const 0)) (struct.new_default $pair) (i32.const 5)))

  ;; The object that a reference is to in each turn of a loop is another one, made in the turn.
  (func (export "made-in-turns") (param $turns i32) (result i32)
    (local $it (ref null $pair)) (local $sum i32)
    (loop $again
      (local.set $it (struct.new $pair (local.get $turns) (i64.const 0)))
      (local.set $sum (i32.add (local.get $sum) (struct.get $pair $a (local.get $it))))
      (br_if $again (local.tee $turns (i32.sub (local.get $turns) (i32.const 1)))))
    (local.get $sum))

  ;; A cast loads the header of what a local refers to now.
  (func (export "cast-in-turns") (result i32)
    (local $it (ref null $pair)) (local $sum i32) (local $turns i32)
    (local.set $it (struct.new $pair (i32.const 1) (i64.const 0)))
    (loop $again
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 10))
        (ref.test (ref $triple) (local.get $it))))
      (local.set $it (struct.new $triple (i32.const 1) (i64.const 0) (i32.const 0)))
      (br_if $again (i32.lt_u (local.tee $turns (i32.add (local.get $turns) (i32.const 1))) (i32.const 3))))
    (local.get $sum))

  ;; A list is walked to its end and one further: what was stored before is there.
  (func (export "walk") (param $count i32)
    (local $it (ref null $node)) (local $at i32)
    (loop $again
      (local.set $it (struct.new $node (local.get $count) (local.get $it)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
    (loop $again
      (i32.store (local.get $at) (i32.const 77))
      (i32.store (local.get $at) (struct.get $node $value (local.get $it)))
      (local.set $it (struct.get $node $next (local.get $it)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $again)))

  ;; The same reference in each turn: it is null from the first on, behind the store.
  (func (export "null-in-a-loop") (param $turns i32)
    (local $none (ref null $ints)) (local $at i32)
    (loop $again
      (i32.store (i32.const 1024) (i32.add (local.get $at) (i32.const 1)))
      (global.set $length (array.len (local.get $none)))
      (i32.store (i32.const 1028) (i32.const 5))
      (br_if $again (i32.lt_u
        (local.tee $at (i32.add (local.get $at) (i32.const 1))) (local.get $turns)))))

  ;; Null only where a condition holds that never does: nothing is loaded sooner.
  (func (export "never") (param $is i32) (result i32)
    (local $none (ref null $node)) (local $turns i32) (local $sum i32)
    (local.set $turns (i32.const 100))
    (loop $again
      (if (local.get $is)
        (then (local.set $sum (struct.get $node $value (local.get $none)))))
      (br_if $again (local.tee $turns (i32.sub (local.get $turns) (i32.const 1)))))
    (local.get $sum))

  ;; The order of two traps, and of a trap and a store into an object.
  (func (export "null-first") (param $array (ref null $ints)) (param $at i32)
    (array.set $ints (local.get $array) (i32.div_u (i32.const 1) (local.get $at)) (i32.const 3)))
  (func (export "order") (param $is-null i32) (param $by i32) (result i32)
    (local $array (ref null $ints))
    (if (i32.eqz (local.get $is-null))
      (then (local.set $array (array.new_default $ints (i32.const 1)))))
    (i32.add (array.get $ints (local.get $array) (i32.const 0))
      (i32.div_u (i32.const 6) (local.get $by))))
  (func (export "stored-before") (result i32)
    (local $one (ref $pair))
    (local.set $one (struct.new $pair (i32.const 1) (i64.const 0)))
    (global.set $kept (local.get $one))
    (struct.set $pair $a (local.get $one) (i32.const 2))
    (drop (i32.div_u (i32.const 1) (global.get $length)))
    (struct.set $pair $a (local.get $one) (i32.const 3))
    (i32.const 0))
  (func (export "kept") (result i32) (struct.get $pair $a (global.get $kept)))

  ;; Elements that are next to one another, and lengths in a loop over them.
  (func (export "bytes") (result i32)
    (local $all (ref $bytes)) (local $at i32) (local $sum i32)
    (local.set $all (array.new_fixed $bytes 5
      (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 200) (i32.const 5)))
    (loop $again
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 3))
        (array.get_s $bytes (local.get $all) (local.get $at))))
      (array.set $bytes (local.get $all)
        (i32.rem_u (i32.add (local.get $at) (i32.const 1)) (array.len (local.get $all)))
        (array.get_u $bytes (local.get $all) (local.get $at)))
      (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1)))
        (array.len (local.get $all)))))
    (local.get $sum))

  ;; A float that is loaded and compared is still what it is: minus zero, a signalling NaN.
  (type $float (struct (field $f (mut f32))))
  (func (export "float") (param $bits i32) (result i32)
    (local $one (ref $float)) (local $f f32)
    (local.set $one (struct.new_default $float))
    (struct.set $float $f (local.get $one) (f32.reinterpret_i32 (local.get $bits)))
    (local.set $f (struct.get $float $f (local.get $one)))
    (if (result i32) (f32.eq (local.get $f) (f32.const 0))
      (then (i32.reinterpret_f32 (struct.get $float $f (local.get $one))))
      (else (i32.xor (i32.const -1) (i32.reinterpret_f32 (struct.get $float $f (local.get $one)))))))

  (func (export "load") (param $at i32) (result i32) (i32.load (local.get $at)))
)

(assert_return (invoke "twice" (i32.const 1)) (i64.const 5012))
(assert_return (invoke "twice" (i32.const 0)) (i64.const 5005))
(assert_return (invoke "around-a-call") (i32.const 409))
(assert_return (invoke "changing") (i32.const 15))
(assert_return (invoke "unchanging") (i32.const 5))
(assert_return (invoke "made-in-turns" (i32.const 100)) (i32.const 5050))
(assert_return (invoke "cast-in-turns") (i32.const 11))

(assert_trap (invoke "walk" (i32.const 3)) "null structure reference")
(assert_return (invoke "load" (i32.const 0)) (i32.const 1))
(assert_return (invoke "load" (i32.const 8)) (i32.const 3))
(assert_return (invoke "load" (i32.const 12)) (i32.const 77))
(assert_return (invoke "load" (i32.const 16)) (i32.const 0))

(assert_trap (invoke "null-in-a-loop" (i32.const 3)) "null array reference")
(assert_return (invoke "load" (i32.const 1024)) (i32.const 1))
(assert_return (invoke "load" (i32.const 1028)) (i32.const 0))

(assert_return (invoke "never" (i32.const 0)) (i32.const 0))
(assert_trap (invoke "never" (i32.const 1)) "null structure reference")

(assert_trap (invoke "null-first" (ref.null array) (i32.const 0)) "integer divide by zero")
(assert_trap (invoke "null-first" (ref.null array) (i32.const 1)) "null array reference")
(assert_trap (invoke "order" (i32.const 1) (i32.const 0)) "null array reference")
(assert_trap (invoke "order" (i32.const 0) (i32.const 0)) "integer divide by zero")
(assert_return (invoke "order" (i32.const 0) (i32.const 2)) (i32.const 3))
(assert_trap (invoke "stored-before") "integer divide by zero")
(assert_return (invoke "kept") (i32.const 2))

(assert_return (invoke "bytes") (i32.const 121))

(assert_return (invoke "float" (i32.const 0x80000000)) (i32.const 0x80000000))
(assert_return (invoke "float" (i32.const 0)) (i32.const 0))
(assert_return (invoke "float" (i32.const 0x7fa00001)) (i32.const 0x805ffffe))
(assert_return (invoke "float" (i32.const 0x3f800000)) (i32.const 0xc07fffff))
