;; Exceptions of the older form beside what else a function holds: operands below a
;; `try`, parameters and results, clauses in order, nested clauses, loops, branches out
;; of bodies and clauses, calls, tail calls, imported tags, code that is not reached.

(module $tags
  (tag $int (export "int") (param i32))
  (tag $other (export "other") (param i32))
  (tag $wide (export "wide") (param i64 f32 f64 v128 externref i32))
  (tag $none (export "none"))
  (func (export "throw") (param i32) (throw $int (local.get 0)))
  (func (export "throw-none") (throw $none)))
(register "tags" $tags)

(module $m
  ;; One tag under two names, and one of the same type that is another.
  (import "tags" "int" (tag $int (param i32)))
  (import "tags" "int" (tag $same (param i32)))
  (import "tags" "other" (tag $other (param i32)))
  (import "tags" "wide" (tag $wide (param i64 f32 f64 v128 externref i32)))
  (import "tags" "none" (tag $none))
  (import "tags" "throw" (func $far (param i32)))
  (import "tags" "throw-none" (func $far-none))
  (tag $own (param i32))
  (tag $two (param i32 i64))
  (memory 1)
  (global $seen (mut i32) (i32.const 0))
  (type $unary (func (param i32) (result i32)))
  (table funcref (elem $pass))

  ;; Small enough to be inlined.
  (func $note (param i32)
    (global.set $seen (i32.add (i32.mul (global.get $seen) (i32.const 10)) (local.get 0))))
  (func $seen (result i32) (global.get $seen) (global.set $seen (i32.const 0)))
  (func $pass (type $unary) (call $far (local.get 0)) (local.get 0))
  ;; 0: nothing, 1: int, 2: other, 3: none, 4: own, 5: two.
  (func $raise (param i32)
    (block $5 (block $4 (block $3 (block $2 (block $1 (block $0
      (br_table $0 $1 $2 $3 $4 $5 $0 (local.get 0)))
      (return))
      (throw $int (i32.const 11)))
      (throw $other (i32.const 22)))
      (throw $none))
      (throw $own (i32.const 44)))
    (throw $two (i32.const 55) (i64.const 550)))

  ;; The first clause whose tag it is, under either name; the operands below are kept.
  (func (export "clauses") (param i32) (result i32)
    (i32.const 1000)
    (i64.const 7)
    try (result i32)
      (call $raise (local.get 0))
      (i32.const 1)
    catch $other
      (i32.add (i32.const 100))
    catch $same
      (i32.add (i32.const 200))
    catch $int
      (drop) (i32.const -1)
    catch $two
      (i32.wrap_i64)
      (i32.add)
    catch_all
      (i32.const 3)
    end
    (local.set 0)
    (drop)
    (i32.add (local.get 0)))

  ;; Neither the tag's type nor its name makes a tag the same.
  (func (export "another") (param i32) (result i32)
    try (result i32)
      try (result i32)
        (call $raise (local.get 0))
        (i32.const 1)
      catch $own
        (i32.add (i32.const 1))
      end
    catch $same
      (i32.add (i32.const 1000))
    catch $other
      (i32.add (i32.const 2000))
    end)

  ;; Parameters are consumed by the body; a clause begins without them.
  (func (export "params") (param i32) (result i32 i32 i64 i32)
    (i32.const 5)
    (i32.const 6) (i64.const 7)
    try (param i32 i64) (result i32 i64)
      (drop) (drop)
      (i32.const 1) (i64.const 2)
      (f64.const 1) (f32.const 2)
      (call $raise (local.get 0))
      (drop) (drop)
    catch $two
    catch $int
      (i64.const 9)
    end
    (local.get 0))

  (func $wide (param externref)
    (throw $wide (i64.const -2) (f32.const 1.5) (f64.const -2.5)
      (v128.const i32x4 1 2 3 4) (local.get 0) (i32.const 7)))
  (func (export "wide") (param externref)
    (result i64 f32 f64 v128 externref i32)
    try (result i64 f32 f64 v128 externref i32)
      (call $wide (local.get 0))
      (unreachable)
    catch $wide
    end)
  (func (export "wide-again") (param externref)
    (result i64 f32 f64 v128 externref i32)
    try (result i64 f32 f64 v128 externref i32)
      try
        (call $wide (local.get 0))
      catch $wide
        (rethrow 0)
      end
      (unreachable)
    catch $wide
    end)

  ;; Values that live across the call, and what was set before it.
  (func (export "live") (param i32 i64 f64) (result i32 i64 f64 i32)
    (local $v v128) (local $set i32)
    (local.set $v (f64x2.splat (local.get 2)))
    (local.set $set (i32.const 1))
    try (result i32)
      (local.set $set (i32.const 2))
      (call $far (local.get 0))
      (local.set $set (i32.const 3))
      (i32.const -1)
    catch $int
    end
    (i64.add (local.get 1) (i64.const 1))
    (f64x2.extract_lane 1 (local.get $v))
    (local.get $set))

  ;; What a clause raises is not the business of its own `try`, nor of the clauses
  ;; behind it.
  (func (export "out-of-a-clause") (param i32) (result i32)
    try (result i32)
      try (result i32)
        (call $raise (i32.const 1))
        (i32.const 0)
      catch $int
        (drop)
        (call $raise (local.get 0))
        (i32.const 2)
      catch $other
        (drop) (i32.const -1)
      catch_all
        (i32.const -2)
      end
    catch $other
      (i32.add (i32.const 500))
    catch $int
      (i32.add (i32.const 600))
    end)

  ;; A `try` without clauses, and one that is never left by an exception.
  (func (export "bare") (param i32) (result i32)
    try (result i32)
      try (result i32)
        (call $raise (local.get 0))
        (i32.const 1)
      end
    catch $int
    end)
  (func (export "calm") (param i32) (result i32)
    try (result i32)
      (i32.add (local.get 0) (i32.const 1))
    catch $int
      (unreachable)
    catch_all
      (unreachable)
    end)

  ;; Branches: out of the body, out of clauses, to loops, by tables.
  (func (export "branches") (param i32 i32) (result i32)
    (block $out (result i32)
      (loop $again
        try $t (result i32)
          (call $note (i32.const 1))
          (br_if $out (i32.const 70) (i32.eq (local.get 1) (i32.const 1)))
          (drop)
          (br_if $t (i32.const 71) (i32.eq (local.get 1) (i32.const 2)))
          (drop)
          (call $raise (local.get 0))
          (i32.const 72)
        catch $int
          (call $note (i32.const 2))
          (if (i32.eq (local.get 1) (i32.const 3))
            (then (local.set 0 (i32.const 0)) (local.set 1 (i32.const 0)) (br $again)))
          (br_table $t $out $t (i32.sub (local.get 1) (i32.const 4)))
        catch $other
          (call $note (i32.const 3))
          (return)
        catch_all
          (call $note (i32.const 4))
          (br $out (i32.const 74))
        end
        (br $out (i32.add (i32.const 1000))))
      (unreachable)))
  (func (export "seen") (result i32) (call $seen))

  ;; From a loop, each time, and through a table.
  (func (export "loop") (param $n i32) (result i32) (local $sum i32)
    (loop $next
      try (result i32)
        (call_indirect (type $unary) (local.get $n) (i32.const 0))
      catch $int
      end
      (local.set $sum (i32.add (local.get $sum)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  ;; A tail call leaves the function first, and so its `try`.
  (func $tail (param i32) (result i32)
    try (result i32)
      (return_call $pass (local.get 0))
    catch_all
      (i32.const -1)
    end)
  (func $tail-clause (param i32) (result i32)
    try (result i32)
      (call $raise (i32.const 2))
      (unreachable)
    catch $other
      (return_call $pass)
    catch_all
      (i32.const -1)
    end)
  (func (export "tail") (param i32) (result i32 i32)
    try (result i32)
      (call $tail (local.get 0))
    catch $int
      (i32.add (i32.const 1))
    end
    try (result i32)
      (call $tail-clause (local.get 0))
    catch $int
      (i32.add (i32.const 2))
    end)

  ;; Code that nothing gets to, in each place.
  (func (export "dead") (param i32) (result i32)
    try (result i32)
      (br 0 (i32.const 1))
      try
        (throw $int (i32.const 1))
      catch $int
        (drop)
        (rethrow 0)
      catch_all
        (rethrow 0)
      end
      try
        (unreachable)
      delegate 0
    catch $int
      (drop)
      (unreachable)
      try (result i32)
        (i32.const 1)
      catch_all
        (rethrow 1)
      end
    end
    (block (param i32) (result i32)
      (return (i32.add (i32.const 40)))
      try (result i32)
        (call $far (i32.const 1))
        (i32.const 1)
      catch $int
        (i32.const 1)
        (i32.add)
      end))
  (func (export "dead-clause") (param i32) (result i32)
    ;; Nothing in the body raises: the clauses are dead, and what is behind them not.
    try (result i32)
      (local.get 0)
    catch $two
      (drop)
      (rethrow 0)
    catch $int
      try
        (throw $int (i32.const 1))
      catch $int
        (br 1)
      end
      (br 0)
    catch_all
      (rethrow 0)
    end
    (i32.add (i32.const 1)))
  (func (export "behind") (param i32) (result i32)
    ;; What ends in a throw everywhere has no end.
    (block $out (result i32)
      try
        (throw $int (local.get 0))
      catch $int
        (br $out)
      catch_all
        (unreachable)
      end
      (unreachable)))

  ;; Traps are nobody's business; what was stored before one is there.
  (func (export "trap") (param i32)
    (i32.store (i32.const 0) (i32.const 0))
    try
      try
        (i32.store (i32.const 0) (i32.const 7))
        (block $1 (block $0 (br_table $0 $1 (local.get 0)))
          (unreachable))
        (drop (i32.load (i32.const 65536)))
      catch_all
        (i32.store (i32.const 0) (i32.const 8))
      end
    catch_all
      (i32.store (i32.const 0) (i32.const 9))
    end)
  (func (export "trap-in-a-clause")
    try
      try
        (call $raise (i32.const 3))
      catch $none
        (i32.store (i32.const 0) (i32.const 5))
        (drop (i32.div_u (i32.const 1) (i32.const 0)))
      end
    catch_all
      (i32.store (i32.const 0) (i32.const 9))
    end)
  (func (export "load") (result i32) (i32.load (i32.const 0)))

  ;; Nor is a stack that is used up, though each call is in a `try`.
  (func $endless (export "endless") (param i32) (result i32)
    try (result i32)
      (i32.add (call $endless (local.get 0)) (i32.const 1))
    catch $int
    catch_all
      (i32.const -1)
    end)
  (func (export "endless-in-clauses")
    try
      (throw $none)
    catch $none
      try
        (drop (call $endless (i32.const 0)))
      catch_all
      end
      (rethrow 0)
    end)

  ;; Past functions and their `try`s.
  (func $through (param i32) (result i32)
    try (result i32)
      try (result i32)
        (call $pass (local.get 0))
      catch $own
      catch $none
        (i32.const -2)
      end
    catch $other
    end)
  (func (export "through") (param i32) (result i32)
    try (result i32)
      (call $through (local.get 0))
    catch_all
      (i32.const 9)
    end)
  (func (export "uncaught") (param i32) (result i32) (call $through (local.get 0))))

(assert_return (invoke "clauses" (i32.const 0)) (i32.const 1001))
(assert_return (invoke "clauses" (i32.const 1)) (i32.const 1211))
(assert_return (invoke "clauses" (i32.const 2)) (i32.const 1122))
(assert_return (invoke "clauses" (i32.const 3)) (i32.const 1003))
(assert_return (invoke "clauses" (i32.const 4)) (i32.const 1003))
(assert_return (invoke "clauses" (i32.const 5)) (i32.const 1605))
(assert_return (invoke "another" (i32.const 0)) (i32.const 1))
(assert_return (invoke "another" (i32.const 1)) (i32.const 1011))
(assert_return (invoke "another" (i32.const 2)) (i32.const 2022))
(assert_return (invoke "another" (i32.const 4)) (i32.const 45))
(assert_exception (invoke "another" (i32.const 3)))
(assert_return (invoke "params" (i32.const 0))
  (i32.const 5) (i32.const 1) (i64.const 2) (i32.const 0))
(assert_return (invoke "params" (i32.const 1))
  (i32.const 5) (i32.const 11) (i64.const 9) (i32.const 1))
(assert_return (invoke "params" (i32.const 5))
  (i32.const 5) (i32.const 55) (i64.const 550) (i32.const 5))
(assert_exception (invoke "params" (i32.const 3)))
(assert_return (invoke "wide" (ref.extern 3))
  (i64.const -2) (f32.const 1.5) (f64.const -2.5)
  (v128.const i32x4 1 2 3 4) (ref.extern 3) (i32.const 7))
(assert_return (invoke "wide-again" (ref.extern 4))
  (i64.const -2) (f32.const 1.5) (f64.const -2.5)
  (v128.const i32x4 1 2 3 4) (ref.extern 4) (i32.const 7))
(assert_return (invoke "live" (i32.const 3) (i64.const 4) (f64.const 5.5))
  (i32.const 3) (i64.const 5) (f64.const 5.5) (i32.const 2))
(assert_return (invoke "out-of-a-clause" (i32.const 0)) (i32.const 2))
(assert_return (invoke "out-of-a-clause" (i32.const 1)) (i32.const 611))
(assert_return (invoke "out-of-a-clause" (i32.const 2)) (i32.const 522))
(assert_exception (invoke "out-of-a-clause" (i32.const 3)))
(assert_return (invoke "bare" (i32.const 0)) (i32.const 1))
(assert_return (invoke "bare" (i32.const 1)) (i32.const 11))
(assert_exception (invoke "bare" (i32.const 2)))
(assert_return (invoke "calm" (i32.const 1)) (i32.const 2))

(assert_return (invoke "branches" (i32.const 0) (i32.const 0)) (i32.const 1072))
(assert_return (invoke "seen") (i32.const 1))
(assert_return (invoke "branches" (i32.const 0) (i32.const 1)) (i32.const 70))
(assert_return (invoke "branches" (i32.const 0) (i32.const 2)) (i32.const 1071))
(assert_return (invoke "seen") (i32.const 11))
(assert_return (invoke "branches" (i32.const 1) (i32.const 3)) (i32.const 1072))
(assert_return (invoke "seen") (i32.const 121))
(assert_return (invoke "branches" (i32.const 1) (i32.const 4)) (i32.const 1011))
(assert_return (invoke "branches" (i32.const 1) (i32.const 5)) (i32.const 11))
(assert_return (invoke "branches" (i32.const 1) (i32.const 6)) (i32.const 1011))
(assert_return (invoke "seen") (i32.const 121212))
(assert_return (invoke "branches" (i32.const 2) (i32.const 0)) (i32.const 22))
(assert_return (invoke "branches" (i32.const 3) (i32.const 0)) (i32.const 74))
(assert_return (invoke "seen") (i32.const 1314))
(assert_return (invoke "loop" (i32.const 100)) (i32.const 5050))
(assert_return (invoke "tail" (i32.const 10)) (i32.const 11) (i32.const 24))
(assert_return (invoke "dead" (i32.const 0)) (i32.const 41))
(assert_return (invoke "dead-clause" (i32.const 5)) (i32.const 6))
(assert_return (invoke "behind" (i32.const 5)) (i32.const 5))

(assert_trap (invoke "trap" (i32.const 0)) "unreachable")
(assert_return (invoke "load") (i32.const 7))
(assert_trap (invoke "trap" (i32.const 1)) "out of bounds memory access")
(assert_return (invoke "load") (i32.const 7))
(assert_trap (invoke "trap-in-a-clause") "integer divide by zero")
(assert_return (invoke "load") (i32.const 5))
(assert_exhaustion (invoke "endless" (i32.const 0)) "call stack exhausted")
(assert_exhaustion (invoke "endless-in-clauses") "call stack exhausted")
(assert_return (invoke "through" (i32.const 5)) (i32.const 9))
(assert_exception (invoke "uncaught" (i32.const 5)))

;; What does not validate.
(assert_invalid (module (tag $t) (func try catch $t (i32.const 1) end)) "type mismatch")
(assert_invalid (module (tag $t (param i32)) (func try catch $t end)) "type mismatch")
(assert_invalid (module (func (i32.const 1) try (drop) end)) "type mismatch")
(assert_invalid (module (func try catch 0 end)) "unknown tag")
(assert_invalid (module (func try (rethrow 0) end)) "invalid rethrow label")
(assert_invalid (module (func try delegate 1)) "unknown label")
(assert_invalid (module (tag $t) (func try catch $t try (rethrow 0) catch_all end end))
  "invalid rethrow label")
(assert_malformed (module quote "(func try catch_all catch_all end)") "unexpected")
(assert_malformed (module quote "(func catch_all end)") "unexpected")
(assert_malformed (module quote "(func block delegate 0)") "unexpected")
