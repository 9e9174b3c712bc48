;; bounds: guard trap
;; elide: dominated
;; inline
(module
  (memory 1 2)
  ;; Accesses keep their own offsets in the module; the second check is superfluous.
  (func $sum (param i32) (result i32)
    (i32.add (i32.load (local.get 0)) (i32.load offset=4 (local.get 0))))
  (func (export "sums") (param i32 i32) (result i32)
    (i32.sub (call $sum (local.get 0)) (call $sum (local.get 1))))
  ;; A return leads behind the call.
  (func $first (param i32 i32) (result i32) (local i32)
    (if (local.get 0) (then (return (local.get 1))))
    (local.get 2))
  (func (export "picks") (param i32) (result i32)
    (call $first (local.get 0) (i32.const 7)))
  ;; Not this one, which calls.
  (func $calls (result i32) (call $first (i32.const 1) (i32.const 2)))
  (func (export "calls") (result i32) (call $calls)))
