;; The stack used up, again and again, in every kind of call: a trap each time,
;; and the instance works afterwards.

(module
  (type $f (func (param i32) (result i32)))
  (table funcref (elem $indirect))
  (memory 1)
  (func $direct (export "direct") (param i32) (result i32)
    (i32.add (call $direct (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $indirect (export "indirect") (param i32) (result i32)
    (i32.add (call_indirect (type $f) (local.get 0) (i32.const 0)) (i32.const 1)))
  ;; A frame of many live values.
  (func $large (export "large") (param v128) (result v128)
    (local v128 v128 v128 v128 v128 v128 v128 v128)
    (local.set 1 (i32x4.add (local.get 0) (local.get 0)))
    (local.set 2 (i32x4.add (local.get 1) (local.get 0)))
    (local.set 3 (i32x4.mul (local.get 2) (local.get 1)))
    (local.set 4 (i32x4.mul (local.get 3) (local.get 2)))
    (local.set 5 (call $large (local.get 4)))
    (i32x4.add (local.get 5)
      (i32x4.add (local.get 1)
        (i32x4.add (local.get 2) (i32x4.add (local.get 3) (local.get 4))))))
  (func (export "alive") (result i32)
    (i32.store (i32.const 0) (i32.const 6))
    (i32.load (i32.const 0))))

(assert_exhaustion (invoke "direct" (i32.const 0)) "call stack exhausted")
(assert_return (invoke "alive") (i32.const 6))
(assert_exhaustion (invoke "indirect" (i32.const 0)) "call stack exhausted")
(assert_return (invoke "alive") (i32.const 6))
(assert_exhaustion (invoke "large" (v128.const i32x4 1 2 3 4)) "call stack exhausted")
(assert_return (invoke "alive") (i32.const 6))
(assert_exhaustion (invoke "direct" (i32.const 0)) "call stack exhausted")
(assert_return (invoke "alive") (i32.const 6))
