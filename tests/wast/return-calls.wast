;; Calls in the place of a function, whose arguments on the stack are more than its own, fewer,
;; or as many. What a caller keeps in registers is there when the last of them returns.
;;
;; Three functions of 9, 14 and 31 numbers call each other in a circle and hand on what they have
;; in another order; the last one adds them up, each by its place.

(module
  (type $a (func (param i32 i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)))
  (type $b (func (param i32 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)))
  (type $c (func (param i32 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)))
  (table funcref (elem $a $b $c))
  (func $a (type $a)
    (if (i32.eqz (local.get 0)) (then
      i64.const 0
      local.get 1 i64.const 1 i64.mul i64.add
      local.get 2 i64.const 2 i64.mul i64.add
      local.get 3 i64.const 3 i64.mul i64.add
      local.get 4 i64.const 4 i64.mul i64.add
      local.get 5 i64.const 5 i64.mul i64.add
      local.get 6 i64.const 6 i64.mul i64.add
      local.get 7 i64.const 7 i64.mul i64.add
      local.get 8 i64.const 8 i64.mul i64.add
      local.get 9 i64.const 9 i64.mul i64.add
      return))
    local.get 0 i32.const 1 i32.sub
    local.get 2
    local.get 3
    local.get 4
    local.get 5
    local.get 6
    local.get 7
    local.get 8
    local.get 9
    local.get 1
    local.get 1 local.get 0 i64.extend_i32_u i64.add
    local.get 2 local.get 0 i64.extend_i32_u i64.add
    local.get 3 local.get 0 i64.extend_i32_u i64.add
    local.get 4 local.get 0 i64.extend_i32_u i64.add
    local.get 5 local.get 0 i64.extend_i32_u i64.add
    return_call $b)
  (func $b (type $b)
    (if (i32.eqz (local.get 0)) (then
      i64.const 0
      local.get 1 i64.const 1 i64.mul i64.add
      local.get 2 i64.const 2 i64.mul i64.add
      local.get 3 i64.const 3 i64.mul i64.add
      local.get 4 i64.const 4 i64.mul i64.add
      local.get 5 i64.const 5 i64.mul i64.add
      local.get 6 i64.const 6 i64.mul i64.add
      local.get 7 i64.const 7 i64.mul i64.add
      local.get 8 i64.const 8 i64.mul i64.add
      local.get 9 i64.const 9 i64.mul i64.add
      local.get 10 i64.const 10 i64.mul i64.add
      local.get 11 i64.const 11 i64.mul i64.add
      local.get 12 i64.const 12 i64.mul i64.add
      local.get 13 i64.const 13 i64.mul i64.add
      local.get 14 i64.const 14 i64.mul i64.add
      return))
    local.get 0 i32.const 1 i32.sub
    local.get 3
    local.get 6
    local.get 9
    local.get 12
    local.get 1
    local.get 4
    local.get 7
    local.get 10
    local.get 13
    local.get 2
    local.get 5
    local.get 8
    local.get 11
    local.get 14
    local.get 1 i64.const 0 i64.xor
    local.get 2 i64.const 7 i64.xor
    local.get 3 i64.const 14 i64.xor
    local.get 4 i64.const 21 i64.xor
    local.get 5 i64.const 28 i64.xor
    local.get 6 i64.const 35 i64.xor
    local.get 7 i64.const 42 i64.xor
    local.get 8 i64.const 49 i64.xor
    local.get 9 i64.const 56 i64.xor
    local.get 10 i64.const 63 i64.xor
    local.get 11 i64.const 70 i64.xor
    local.get 12 i64.const 77 i64.xor
    local.get 13 i64.const 84 i64.xor
    local.get 14 i64.const 91 i64.xor
    local.get 1 i64.const 98 i64.xor
    local.get 2 i64.const 105 i64.xor
    local.get 3 i64.const 112 i64.xor
    i32.const 2 return_call_indirect (type $c))
  (func $c (type $c)
    (if (i32.eqz (local.get 0)) (then
      i64.const 0
      local.get 1 i64.const 1 i64.mul i64.add
      local.get 2 i64.const 2 i64.mul i64.add
      local.get 3 i64.const 3 i64.mul i64.add
      local.get 4 i64.const 4 i64.mul i64.add
      local.get 5 i64.const 5 i64.mul i64.add
      local.get 6 i64.const 6 i64.mul i64.add
      local.get 7 i64.const 7 i64.mul i64.add
      local.get 8 i64.const 8 i64.mul i64.add
      local.get 9 i64.const 9 i64.mul i64.add
      local.get 10 i64.const 10 i64.mul i64.add
      local.get 11 i64.const 11 i64.mul i64.add
      local.get 12 i64.const 12 i64.mul i64.add
      local.get 13 i64.const 13 i64.mul i64.add
      local.get 14 i64.const 14 i64.mul i64.add
      local.get 15 i64.const 15 i64.mul i64.add
      local.get 16 i64.const 16 i64.mul i64.add
      local.get 17 i64.const 17 i64.mul i64.add
      local.get 18 i64.const 18 i64.mul i64.add
      local.get 19 i64.const 19 i64.mul i64.add
      local.get 20 i64.const 20 i64.mul i64.add
      local.get 21 i64.const 21 i64.mul i64.add
      local.get 22 i64.const 22 i64.mul i64.add
      local.get 23 i64.const 23 i64.mul i64.add
      local.get 24 i64.const 24 i64.mul i64.add
      local.get 25 i64.const 25 i64.mul i64.add
      local.get 26 i64.const 26 i64.mul i64.add
      local.get 27 i64.const 27 i64.mul i64.add
      local.get 28 i64.const 28 i64.mul i64.add
      local.get 29 i64.const 29 i64.mul i64.add
      local.get 30 i64.const 30 i64.mul i64.add
      local.get 31 i64.const 31 i64.mul i64.add
      return))
    local.get 0 i32.const 1 i32.sub
    local.get 31
    local.get 28
    local.get 25
    local.get 22
    local.get 19
    local.get 16
    local.get 13
    local.get 10
    local.get 7
    ref.func $a return_call_ref $a)
  (elem declare func $a)

  ;; What is used in the loop is in registers that calls preserve.
  (func $circle (export "circle") (param $n i32) (param $x i64) (result i64)
    (local $i i64) (local $sum i64)
    (local.set $i (i64.const 3))
    (loop $again
      (local.set $sum (i64.add (i64.mul (local.get $sum) (local.get $i))
        (call $a (local.get $n) (i64.add (local.get $x) (i64.const 0)) (i64.add (local.get $x) (i64.const 1)) (i64.add (local.get $x) (i64.const 2)) (i64.add (local.get $x) (i64.const 3)) (i64.add (local.get $x) (i64.const 4)) (i64.add (local.get $x) (i64.const 5)) (i64.add (local.get $x) (i64.const 6)) (i64.add (local.get $x) (i64.const 7)) (i64.add (local.get $x) (i64.const 8)))))
      (local.set $i (i64.sub (local.get $i) (i64.const 1)))
      (br_if $again (i64.ne (local.get $i) (i64.const 0))))
    (local.get $sum))

  ;; The same where exceptions are caught: whose frame is gone catches none.
  (tag $e (param i64))
  (func $throws (param i32 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
    (throw $e (i64.add (local.get 1) (local.get 31))))
  (func $catches-none (param i64) (result i64)
    (block $h (result i64)
      (try_table (result i64) (catch $e $h)
        (return_call $throws (i32.const 0) (local.get 0) (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4) (i64.const 5) (i64.const 6) (i64.const 7) (i64.const 8) (i64.const 9) (i64.const 10) (i64.const 11) (i64.const 12) (i64.const 13) (i64.const 14) (i64.const 15) (i64.const 16) (i64.const 17) (i64.const 18) (i64.const 19) (i64.const 20) (i64.const 21) (i64.const 22) (i64.const 23) (i64.const 24) (i64.const 25) (i64.const 26) (i64.const 27) (i64.const 28) (i64.const 29) (i64.const 30)))))
  (func (export "caught-outside") (param $x i64) (result i64)
    (local $k i64)
    (local.set $k (i64.mul (local.get $x) (i64.const 3)))
    (block $h (result i64)
      (try_table (result i64) (catch $e $h)
        (drop (call $catches-none (local.get $x)))
        (i64.const -1)))
    (i64.add (local.get $k)))

  ;; Vectors on the stack between numbers.
  (func $lanes (param v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 i64 i64 i64 i64 i64 i64) (result i64)
    (i64.add (i64x2.extract_lane 1 (local.get 9)) (i64.mul (i64.const 5) (i64x2.extract_lane 0 (local.get 8))))
    (i64.add (i64.mul (i64.const 100) (local.get 15)))
    (i64.add (i64x2.extract_lane 0 (local.get 0))))
  (func (export "lanes") (param $x i64) (result i64)
    (return_call $lanes (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 0 0)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 1 10)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 2 20)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 3 30)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 4 40)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 5 50)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 6 60)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 7 70)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 8 80)) (i64x2.add (i64x2.splat (local.get $x)) (v128.const i64x2 9 90)) (i64.add (local.get $x) (i64.const 0)) (i64.add (local.get $x) (i64.const 1)) (i64.add (local.get $x) (i64.const 2)) (i64.add (local.get $x) (i64.const 3)) (i64.add (local.get $x) (i64.const 4)) (i64.add (local.get $x) (i64.const 5))))

  ;; A processor's stack would not do for as many as that.
  (func (export "many") (param $n i32) (result i64)
    (return_call $circle (local.get $n) (i64.const 1))))

(assert_return (invoke "circle" (i32.const 0) (i64.const 1000)) (i64.const 0x2c2e0))
(assert_return (invoke "circle" (i32.const 1) (i64.const 1000)) (i64.const 0x66ec8))
(assert_return (invoke "circle" (i32.const 2) (i64.const 1000)) (i64.const 0x1d4780))
(assert_return (invoke "circle" (i32.const 3) (i64.const 1000)) (i64.const 0x2b9cc))
(assert_return (invoke "circle" (i32.const 4) (i64.const 1000)) (i64.const 0x634a8))
(assert_return (invoke "circle" (i32.const 5) (i64.const 1000)) (i64.const 0x1d32fc))
(assert_return (invoke "circle" (i32.const 6) (i64.const 1000)) (i64.const 0x2a910))
(assert_return (invoke "circle" (i32.const 100) (i64.const 1000)) (i64.const 0xb1470))
(assert_return (invoke "many" (i32.const 100000)) (i64.const 0x517e72bc60))
(assert_return (invoke "caught-outside" (i64.const 7)) (i64.const 58))
(assert_return (invoke "lanes" (i64.const 7)) (i64.const 1379))
