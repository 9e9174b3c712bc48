;; Small functions that call nothing and have no loop are translated in the place of
;; their calls: whatever they do has to look as if they had been called.
(module
  (memory 1)
  (global $count (mut i32) (i32.const 0))
  (table funcref (elem $sign))

  ;; Returns from the middle, out of nested blocks.
  (func $sign (param i32) (result i32)
    (block
      (block
        (br_if 1 (i32.eqz (local.get 0)))
        (br_if 0 (i32.lt_s (local.get 0) (i32.const 0)))
        (return (i32.const 1)))
      (return (i32.const -1)))
    (i32.const 0))
  (func (export "sign") (param i32) (result i32)
    (i32.add (i32.const 100) (call $sign (local.get 0))))
  (func (export "signs") (param i32 i32) (result i32)
    (i32.sub (call $sign (local.get 0)) (call $sign (local.get 1))))
  (func (export "through the table") (param i32) (result i32)
    (i32.sub (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0))
      (call $sign (local.get 0))))

  ;; Its locals are zero each time, and none of the caller's.
  (func $next (param i64) (result i64) (local $was i64)
    (local.set 0 (i64.add (local.get 0) (local.get $was)))
    (local.set $was (i64.const 1000))
    (i64.add (local.get 0) (i64.const 1)))
  (func (export "locals") (param i64) (result i64) (local $own i64)
    (local.set $own (i64.const 7))
    (loop $again (result i64)
      (local.set 0 (call $next (call $next (local.get 0))))
      (br_if $again (i64.lt_u (local.get 0) (i64.const 10)))
      (i64.add (local.get 0) (local.get $own))))

  ;; A label of its own body is the end of the call.
  (func $branches (param i32) (result i32)
    (block (block (block (br_table 0 1 2 (local.get 0)))
      (br 2 (i32.const 15)))
      (return (i32.const 25)))
    (br_if 0 (i32.const 30) (i32.eq (local.get 0) (i32.const 2)))
    (drop) (i32.const 5))
  (func (export "branches") (param i32) (result i32)
    (block (result i32) (i32.add (i32.const 1000) (call $branches (local.get 0)))))

  ;; Several results, vectors, floats and references.
  (func $turn (param f64 v128 i32) (result i32 v128 f64)
    (local.get 2) (local.get 1) (local.get 0))
  (func (export "turn") (param f64 i32) (result i32 i32 f64)
    (local v128)
    (call $turn (local.get 0) (i32x4.splat (i32.const 9)) (local.get 1))
    (local.set 0) (local.set 2)
    (i32x4.extract_lane 3 (local.get 2)) (local.get 0))
  (func $is_null (param funcref) (result i32) (ref.is_null (local.get 0)))
  (func (export "is null") (result i32)
    (i32.add (call $is_null (ref.null func)) (i32.mul (i32.const 10) (call $is_null (ref.func $sign)))))

  ;; Comparisons as arguments and results.
  (func $not (param i32) (result i32) (i32.eqz (local.get 0)))
  (func (export "not") (param i32 i32) (result i32)
    (if (result i32) (call $not (i32.lt_u (local.get 0) (local.get 1)))
      (then (i32.const 1)) (else (i32.const 2))))

  ;; What it does is done, in its order, also where nothing comes of it.
  (func $bump (param i32)
    (global.set $count (i32.add (global.get $count) (local.get 0)))
    (i32.store (local.get 0) (global.get $count)))
  (func (export "bump") (result i32)
    (call $bump (i32.const 4)) (call $bump (i32.const 8)) (call $bump (i32.const 4))
    (i32.add (i32.load (i32.const 4)) (i32.mul (i32.const 100) (i32.load (i32.const 8)))))

  ;; One that never comes back, and what stands behind its call.
  (func $stop (param i32) (result i32) (unreachable))
  (func (export "stop") (param i32) (result i32)
    (if (local.get 0) (then (return (i32.add (call $stop (i32.const 1)) (i32.const 1)))))
    (i32.const 3))
  (func $load (param i32) (result i32) (i32.load offset=65532 (local.get 0)))
  (func $divide (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func $fill (param i32) (memory.fill (local.get 0) (i32.const 1) (i32.const 16)))
  (func (export "load") (param i32) (result i32) (i32.add (call $load (local.get 0)) (i32.const 1)))
  (func (export "divide") (param i32 i32) (result i32) (call $divide (local.get 0) (local.get 1)))
  (func (export "fill") (param i32) (call $fill (local.get 0)))
  (func $grow (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "grow") (result i32)
    (drop (call $grow (i32.const 1)))
    (i32.add (call $load (i32.const 65536)) (memory.size)))

  ;; Chains of calls: the inner one is inlined, the outer one calls and is not.
  (func $outer (param i32) (result i32) (i32.mul (call $sign (local.get 0)) (i32.const 2)))
  (func (export "outer") (param i32) (result i32) (call $outer (local.get 0)))
  (func (export "tail") (param i32) (result i32) (return_call $sign (local.get 0)))
)

(assert_return (invoke "sign" (i32.const 9)) (i32.const 101))
(assert_return (invoke "sign" (i32.const 0)) (i32.const 100))
(assert_return (invoke "sign" (i32.const -9)) (i32.const 99))
(assert_return (invoke "signs" (i32.const 5) (i32.const -5)) (i32.const 2))
(assert_return (invoke "through the table" (i32.const -5)) (i32.const 0))
(assert_return (invoke "locals" (i64.const 0)) (i64.const 17))
(assert_return (invoke "locals" (i64.const 9)) (i64.const 18))
(assert_return (invoke "branches" (i32.const 0)) (i32.const 1015))
(assert_return (invoke "branches" (i32.const 1)) (i32.const 1025))
(assert_return (invoke "branches" (i32.const 2)) (i32.const 1030))
(assert_return (invoke "branches" (i32.const 3)) (i32.const 1005))
(assert_return (invoke "branches" (i32.const -1)) (i32.const 1005))
(assert_return (invoke "turn" (f64.const -0.0) (i32.const 3)) (i32.const 3) (i32.const 9) (f64.const -0.0))
(assert_return (invoke "is null") (i32.const 1))
(assert_return (invoke "not" (i32.const 1) (i32.const 2)) (i32.const 2))
(assert_return (invoke "not" (i32.const 2) (i32.const 1)) (i32.const 1))
(assert_return (invoke "bump") (i32.const 1216))
(assert_return (invoke "stop" (i32.const 0)) (i32.const 3))
(assert_trap (invoke "stop" (i32.const 1)) "unreachable")
(assert_return (invoke "load" (i32.const 0)) (i32.const 1))
(assert_trap (invoke "divide" (i32.const 1) (i32.const 0)) "integer divide by zero")
(assert_trap (invoke "divide" (i32.const 0x80000000) (i32.const -1)) "integer overflow")
(assert_trap (invoke "fill" (i32.const 65530)) "out of bounds memory access")
(assert_return (invoke "grow") (i32.const 2))
(assert_return (invoke "outer" (i32.const -3)) (i32.const -2))
(assert_return (invoke "tail" (i32.const -3)) (i32.const -1))

;; A broken small function is refused with its own place, whoever calls it.
(assert_invalid
  (module
    (func (export "caller") (result i32) (call $broken))
    (func $broken (result i32) (i64.const 0)))
  "type mismatch")
