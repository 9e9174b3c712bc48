;; A library that is made for a host of its own.
(module
  (import "host" "log" (func $log (param i32)))
  (import "host" "memory" (memory 1))
  (import "host" "base" (global $base i32))
  (func (export "prepare") (i32.store (i32.const 8) (i32.const 40)))
  (func (export "sum") (param i32 i64) (result i32 i64 f64)
    (i32.add (i32.load (i32.const 8)) (local.get 0))
    (i64.add (local.get 1) (i64.extend_i32_u (global.get $base)))
    (f64.const -0))
  (func $speak (export "speak") (call $log (i32.const 1))))
