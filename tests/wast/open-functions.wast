;; Types of functions that have others below them: calls by a table and casts ask the runtime in the
;; middle of an instruction, and what is in registers then is there afterwards.
;;
;; Functions are numbered as in the table: one of the highest type, of the middle one, of the lowest,
;; of another type with the same signature, none.

(module
  (type $high (sub (func (param i64 f64) (result i64))))
  (type $middle (sub $high (func (param i64 f64) (result i64))))
  (type $low (sub final $middle (func (param i64 f64) (result i64))))
  (rec
    (type $other (sub (func (param i64 f64) (result i64))))
    (type $unused (struct)))
  (table $t funcref (elem $high $middle $low $other))
  (table $grown 4 9 (ref null func))

  (func $high (type $high) (i64.add (local.get 0) (i64.const 1)))
  (func $middle (type $middle) (i64.add (local.get 0) (i64.const 20)))
  (func $low (type $low) (i64.trunc_f64_s (local.get 1)))
  (func $other (type $other) (i64.const -1))

  ;; Operands in general registers, in vector registers and in slots around the call, and locals
  ;; that a call's registers are lent to.
  (func $around (param $at i32) (param $a i64) (param $b f64) (result i64)
    (local $c i64) (local $d f64) (local $e i64)
    (local.set $c (i64.mul (local.get $a) (i64.const 3)))
    (local.set $d (f64.mul (local.get $b) (f64.const 0.5)))
    (local.set $e (i64.xor (local.get $a) (i64.const 0x0f0f)))
    (i64.add (local.get $c) (i64.const 5))
    (f64.add (local.get $d) (f64.const 4))
    (i64.sub (local.get $e) (i64.const 7))
    (call_indirect $t (type $middle)
      (i64.add (local.get $a) (i64.const 100))
      (f64.add (local.get $b) (f64.const 0.25))
      (local.get $at))
    i64.add
    (local.set $e)
    i64.trunc_f64_s
    (local.get $e)
    i64.add
    i64.add
    (i64.add (local.get $c))
    (i64.add (i64.trunc_f64_s (local.get $d))))
  (func (export "around") (param i32 i64 f64) (result i64)
    (call $around (local.get 0) (local.get 1) (local.get 2)))

  (func (export "by high") (param i32) (result i64)
    (call_indirect $t (type $high) (i64.const 1) (f64.const 9.5) (local.get 0)))
  (func (export "by low") (param i32) (result i64)
    (call_indirect $t (type $low) (i64.const 1) (f64.const 9.5) (local.get 0)))
  (func (export "by middle") (param i32) (result i64)
    (call_indirect $t (type $middle) (i64.const 1) (f64.const 9.5) (local.get 0)))
  (func (export "in its place") (param i32) (result i64)
    (return_call_indirect $t (type $middle) (i64.const 1) (f64.const 9.5) (local.get 0)))

  ;; A table whose length is not known, of which an element was just changed.
  (func (export "grown") (param i32 i32) (result i64)
    (drop (table.grow $grown (ref.null func) (i32.const 2)))
    (table.set $grown (local.get 1) (table.get $t (local.get 0)))
    (call_indirect $grown (type $high) (i64.const 1) (f64.const 9.5) (local.get 1)))

  (func $test (param $f funcref) (param $a i64) (param $x f64) (result i64)
    (i64.add (local.get $a) (i64.const 3))
    (f64.add (local.get $x) (f64.const 2))
    (i32.add
      (i32.mul (ref.test (ref $high) (local.get $f)) (i32.const 1))
      (i32.add
        (i32.mul (ref.test (ref $middle) (local.get $f)) (i32.const 2))
        (i32.add
          (i32.mul (ref.test (ref null $middle) (local.get $f)) (i32.const 4))
          (i32.mul (ref.test (ref $other) (local.get $f)) (i32.const 8)))))
    (local.set $a (i64.extend_i32_u))
    i64.trunc_f64_s
    i64.add
    (i64.mul (i64.const 100))
    (i64.add (local.get $a)))
  (func (export "test") (param i32 i64 f64) (result i64)
    (call $test (table.get $t (local.get 0)) (local.get 1) (local.get 2)))
  (func (export "test null") (param i64 f64) (result i64)
    (call $test (ref.null func) (local.get 0) (local.get 1)))

  (func (export "cast") (param $at i32) (param $a i64) (result i64)
    (i64.mul (local.get $a) (i64.const 1000))
    (call_ref $middle (local.get $a) (f64.const 7)
      (ref.cast (ref $middle) (table.get $t (local.get $at))))
    i64.add)
  (func (export "cast null") (result i32)
    (ref.is_null (ref.cast (ref null $middle) (ref.null func))))
  (func (export "cast null to one that is not") (drop (ref.cast (ref $middle) (ref.null func))))

  (func (export "branch") (param $at i32) (param $a i64) (result i64)
    (local $kept i64)
    (local.set $kept (i64.add (local.get $a) (i64.const 11)))
    (block $is (result i64 (ref $middle))
      (i64.mul (local.get $a) (i64.const 2))
      (br_on_cast $is funcref (ref $middle) (table.get $t (local.get $at)))
      drop
      (return (i64.sub (local.get $kept))))
    (ref.is_null)
    (i64.extend_i32_u)
    (i64.add)
    (i64.add (local.get $kept)))
  (func (export "branch on failure") (param $at i32) (param $a i64) (result i64)
    (block $is_not (result i64 funcref)
      (i64.mul (local.get $a) (i64.const 2))
      (br_on_cast_fail $is_not funcref (ref null $middle) (table.get $t (local.get $at)))
      drop
      (return (i64.add (local.get $a))))
    drop
    (i64.sub (local.get $a)))

  ;; In a loop, in which locals have registers.
  (func (export "in a loop") (param $turns i32) (result i64)
    (local $sum i64) (local $x f64)
    (loop $again
      (local.set $x (f64.add (local.get $x) (f64.const 1)))
      (local.set $sum
        (i64.add
          (i64.mul (local.get $sum) (i64.const 3))
          (call_indirect $t (type $high) (local.get $sum) (local.get $x)
            (i32.rem_u (local.get $turns) (i32.const 3)))))
      (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
      (br_if $again (local.get $turns)))
    (i64.add (local.get $sum) (i64.trunc_f64_s (local.get $x)))))

(assert_return (invoke "around" (i32.const 1) (i64.const 10) (f64.const 3)) (i64.const 4039))
(assert_return (invoke "around" (i32.const 2) (i64.const 10) (f64.const 3)) (i64.const 3912))
(assert_trap (invoke "around" (i32.const 0) (i64.const 10) (f64.const 3)) "indirect call")
(assert_trap (invoke "around" (i32.const 3) (i64.const 10) (f64.const 3)) "indirect call")
(assert_trap (invoke "around" (i32.const 4) (i64.const 10) (f64.const 3)) "undefined element")

(assert_return (invoke "by high" (i32.const 0)) (i64.const 2))
(assert_return (invoke "by high" (i32.const 1)) (i64.const 21))
(assert_return (invoke "by high" (i32.const 2)) (i64.const 9))
(assert_trap (invoke "by high" (i32.const 3)) "indirect call")
(assert_trap (invoke "by high" (i32.const -1)) "undefined element")
(assert_trap (invoke "by low" (i32.const 0)) "indirect call")
(assert_trap (invoke "by low" (i32.const 1)) "indirect call")
(assert_return (invoke "by low" (i32.const 2)) (i64.const 9))
(assert_trap (invoke "by middle" (i32.const 0)) "indirect call")
(assert_return (invoke "by middle" (i32.const 1)) (i64.const 21))
(assert_return (invoke "by middle" (i32.const 2)) (i64.const 9))
(assert_return (invoke "in its place" (i32.const 1)) (i64.const 21))
(assert_return (invoke "in its place" (i32.const 2)) (i64.const 9))
(assert_trap (invoke "in its place" (i32.const 0)) "indirect call")
(assert_trap (invoke "in its place" (i32.const 5)) "undefined element")

(assert_return (invoke "grown" (i32.const 1) (i32.const 5)) (i64.const 21))
(assert_trap (invoke "grown" (i32.const 3) (i32.const 5)) "indirect call")
(assert_return (invoke "grown" (i32.const 0) (i32.const 0)) (i64.const 2))

(assert_return (invoke "test" (i32.const 0) (i64.const 4) (f64.const 5)) (i64.const 1401))
(assert_return (invoke "test" (i32.const 1) (i64.const 4) (f64.const 5)) (i64.const 1407))
(assert_return (invoke "test" (i32.const 2) (i64.const 4) (f64.const 5)) (i64.const 1407))
(assert_return (invoke "test" (i32.const 3) (i64.const 4) (f64.const 5)) (i64.const 1408))
(assert_return (invoke "test null" (i64.const 4) (f64.const 5)) (i64.const 1404))

(assert_return (invoke "cast" (i32.const 1) (i64.const 6)) (i64.const 6026))
(assert_return (invoke "cast" (i32.const 2) (i64.const 6)) (i64.const 6007))
(assert_trap (invoke "cast" (i32.const 0) (i64.const 6)) "cast failure")
(assert_trap (invoke "cast" (i32.const 3) (i64.const 6)) "cast failure")
(assert_return (invoke "cast null") (i32.const 1))
(assert_trap (invoke "cast null to one that is not") "cast failure")

(assert_return (invoke "branch" (i32.const 0) (i64.const 5)) (i64.const -6))
(assert_return (invoke "branch" (i32.const 1) (i64.const 5)) (i64.const 26))
(assert_return (invoke "branch" (i32.const 2) (i64.const 5)) (i64.const 26))
(assert_return (invoke "branch" (i32.const 3) (i64.const 5)) (i64.const -6))
(assert_return (invoke "branch on failure" (i32.const 0) (i64.const 5)) (i64.const 5))
(assert_return (invoke "branch on failure" (i32.const 1) (i64.const 5)) (i64.const 15))
(assert_return (invoke "branch on failure" (i32.const 2) (i64.const 5)) (i64.const 15))
(assert_return (invoke "branch on failure" (i32.const 3) (i64.const 5)) (i64.const 5))

(assert_return (invoke "in a loop" (i32.const 9)) (i64.const 94729))

;; Types of another module's are the same types.
(module $maker
  (type $high (sub (func (param i64 f64) (result i64))))
  (type $middle (sub $high (func (param i64 f64) (result i64))))
  (func (export "f") (type $middle) (i64.add (local.get 0) (i64.const 300))))
(register "maker" $maker)
(module
  (type $high (sub (func (param i64 f64) (result i64))))
  (type $middle (sub $high (func (param i64 f64) (result i64))))
  (type $beside (sub $high (func (param i64 f64) (result i64))))
  (type $lowest (sub final $middle (func (param i64 f64) (result i64))))
  (import "maker" "f" (func $f (type $high)))
  (table funcref (elem $f))
  (func (export "by high") (result i64)
    (call_indirect (type $high) (i64.const 2) (f64.const 0) (i32.const 0)))
  (func (export "by middle") (result i64)
    (call_indirect (type $middle) (i64.const 2) (f64.const 0) (i32.const 0)))
  (func (export "by lowest") (result i64)
    (call_indirect (type $lowest) (i64.const 2) (f64.const 0) (i32.const 0))))
(assert_return (invoke "by high") (i64.const 302))
(assert_return (invoke "by middle") (i64.const 302))
(assert_trap (invoke "by lowest") "indirect call")
