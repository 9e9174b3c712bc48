;; Exceptions beside what else a function holds: values that live across the
;; call, vectors, many results, loops, handlers in handlers, tail calls.

(module $m
  (tag $int (export "int") (param i32))
  (tag $wide (export "wide-tag") (param i64 f32 f64 v128 externref i32))
  (tag $empty (export "empty"))
  (type $unary (func (param i32) (result i32)))
  (table funcref (elem $throw_int))

  (func $throw_int (export "throw-int") (type $unary)
    (throw $int (local.get 0)))
  (func $deep (param $depth i32) (param $value i32) (result i32)
    (if (i32.eqz (local.get $depth)) (then (throw $int (local.get $value))))
    (i32.add (i32.const 1)
      (call $deep (i32.sub (local.get $depth) (i32.const 1)) (local.get $value))))

  ;; Values that live across a call which throws.
  (func (export "live") (param i32 i64 f64) (result i32 i64 f64)
    (local $v v128)
    (local.set $v (f64x2.splat (local.get 2)))
    (block $caught (result i32)
      (try_table (result i32) (catch $int $caught)
        (call $deep (i32.const 100) (local.get 0))))
    (i64.add (local.get 1) (i64.const 1))
    (f64x2.extract_lane 1 (local.get $v)))

  ;; A local that changed before the throw keeps its new value.
  (func (export "assigned") (result i32) (local $x i32)
    (local.set $x (i32.const 1))
    (block $caught
      (try_table (catch_all $caught)
        (local.set $x (i32.const 2))
        (drop (call $throw_int (i32.const 0)))
        (local.set $x (i32.const 3))))
    (local.get $x))

  (func $throw_wide (param externref)
    (throw $wide (i64.const -2) (f32.const 1.5) (f64.const -2.5)
      (v128.const i32x4 1 2 3 4) (local.get 0) (i32.const 7)))
  (func (export "wide") (param externref)
    (result i64 f32 f64 v128 externref i32)
    (block $caught (result i64 f32 f64 v128 externref i32)
      (try_table (catch $wide $caught) (call $throw_wide (local.get 0)))
      unreachable))

  ;; The first clause that fits, innermost handler first.
  (func (export "order") (param i32) (result i32)
    (block $outer (result i32)
      (try_table (result i32) (catch $int $outer)
        (block $all
          (try_table (result i32) (catch $empty $all) (catch_all $all) (catch $int $outer)
            (call $throw_int (local.get 0)))
          (return))
        (i32.const 11)
        (return))))
  (func (export "passes-inner") (param i32) (result i32)
    (block $outer (result i32)
      (try_table (result i32) (catch $int $outer)
        (block $inner
          (try_table (catch $empty $inner)
            (drop (call $throw_int (local.get 0)))))
        (i32.const 11))))

  ;; Thrown and caught in one function, no call in between.
  (func (export "local") (param i32) (result i32)
    (block $caught (result i32)
      (try_table (result i32) (catch $int $caught)
        (if (local.get 0) (then (throw $int (i32.mul (local.get 0) (i32.const 2)))))
        (i32.const -1))))

  ;; A reference outlives its handler and is thrown again, twice.
  (func (export "again") (param i32) (result i32) (local $e exnref)
    (block $ref (result exnref)
      (try_table (catch_all_ref $ref) (drop (call $throw_int (local.get 0))))
      unreachable)
    (local.set $e)
    (block $first (result i32)
      (try_table (catch $int $first) (throw_ref (local.get $e)))
      unreachable)
    ;; Another exception in between must not disturb it.
    (block $second (result i32)
      (try_table (catch $int $second) (drop (call $throw_int (i32.const 1000))))
      unreachable)
    (block $third (result i32)
      (try_table (catch $int $third) (throw_ref (local.get $e)))
      unreachable)
    (i32.add (i32.add)))
  (func (export "null") (throw_ref (ref.null exn)))

  ;; Through a table, and from a loop that throws each time.
  (func (export "loop") (param $n i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum)
        (block $caught (result i32)
          (try_table (result i32) (catch $int $caught)
            (call_indirect (type $unary) (local.get $n) (i32.const 0))))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n)))
    (local.get $sum))

  ;; A tail call leaves the handler behind.
  (func $tail (param i32) (result i32)
    (block $caught (result i32)
      (try_table (result i32) (catch $int $caught)
        (return_call $throw_int (local.get 0)))
      (return))
    (i32.const 1000)
    i32.add)
  (func (export "tail") (param i32) (result i32)
    (block $caught (result i32)
      (try_table (result i32) (catch $int $caught) (call $tail (local.get 0)))
      (return))
    (i32.const 1)
    i32.add)

  ;; More results than registers, past a handler.
  (func $many (result i32 i64 f32 f64 i32 i64 f32 f64 i32 i64 f32 f64)
    (i32.const 1) (i64.const 2) (f32.const 3) (f64.const 4)
    (i32.const 5) (i64.const 6) (f32.const 7) (f64.const 8)
    (i32.const 9) (i64.const 10) (f32.const 11) (f64.const 12))
  (func (export "many") (result i32 i64 f32 f64 i32 i64 f32 f64 i32 i64 f32 f64)
    (block $caught
      (try_table (catch_all $caught) (call $many) (return)))
    unreachable)

  ;; Parameters of try_table, and a trap is nothing that is caught.
  (func (export "params") (param i32) (result i32)
    (block $caught (result i32)
      (local.get 0) (i32.const 5)
      (try_table (param i32 i32) (result i32) (catch $int $caught)
        i32.add
        (call $throw_int)
        drop
        unreachable)))
  (func (export "trap") (result i32)
    (block $caught
      (try_table (catch_all $caught) (drop (i32.div_u (i32.const 1) (i32.const 0)))))
    (i32.const 1))
)

(assert_return (invoke "live" (i32.const 5) (i64.const 6) (f64.const 7))
  (i32.const 5) (i64.const 7) (f64.const 7))
(assert_return (invoke "assigned") (i32.const 2))
(assert_return (invoke "wide" (ref.extern 3))
  (i64.const -2) (f32.const 1.5) (f64.const -2.5) (v128.const i32x4 1 2 3 4)
  (ref.extern 3) (i32.const 7))
(assert_return (invoke "order" (i32.const 1)) (i32.const 11))
(assert_return (invoke "passes-inner" (i32.const 77)) (i32.const 77))
(assert_return (invoke "local" (i32.const 0)) (i32.const -1))
(assert_return (invoke "local" (i32.const 4)) (i32.const 8))
(assert_return (invoke "again" (i32.const 4)) (i32.const 1008))
(assert_trap (invoke "null") "null reference")
(assert_return (invoke "loop" (i32.const 1000)) (i32.const 500500))
(assert_return (invoke "tail" (i32.const 4)) (i32.const 5))
(assert_return (invoke "many")
  (i32.const 1) (i64.const 2) (f32.const 3) (f64.const 4)
  (i32.const 5) (i64.const 6) (f32.const 7) (f64.const 8)
  (i32.const 9) (i64.const 10) (f32.const 11) (f64.const 12))
(assert_return (invoke "params" (i32.const 4)) (i32.const 9))
(assert_trap (invoke "trap") "integer divide by zero")
(assert_exception (invoke "throw-int" (i32.const 1)))

;; Tags are told apart by what they are, not by how they look.
(register "m" $m)
(module
  (import "m" "int" (tag $theirs (param i32)))
  (import "m" "throw-int" (func $throw (param i32) (result i32)))
  (tag $ours (param i32))
  (func (export "theirs") (param i32) (result i32)
    (block $ours (result i32)
      (block $theirs (result i32)
        (try_table (result i32) (catch $ours $ours) (catch $theirs $theirs)
          (call $throw (local.get 0)))
        (return))
      (return (i32.add (i32.const 100))))
    (i32.add (i32.const 1000))))
(assert_return (invoke "theirs" (i32.const 5)) (i32.const 105))
