;; The host throws through the guest, catches it, and goes on; in the end it only leaves.
(module
  (import "env" "fail" (func $fail (param i32)))
  (import "env" "call" (func $call (param i32) (result i32)))
  (global $depth (mut i32) (i32.const 0))
  (func (export "risky") (param i32) (result i32)
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (call $fail (local.get 0))
    (global.get $depth))
  (func (export "outer") (param i32) (result i32)
    (i32.add (call $call (local.get 0)) (i32.const 100))))
