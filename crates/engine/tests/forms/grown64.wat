;; spectre: on
;; A 64-bit memory that grows between two accesses, and bulk operations on it.
(module
  (memory i64 1 16)
  (func (export "push") (param $at i64) (param $value i64) (result i64)
    (i64.store (local.get $at) (local.get $value))
    (memory.grow (i64.const 1))
    (i64.store offset=8 (local.get $at) (local.get $value)))
  (func (export "clear") (param $at i64) (param $len i64)
    (memory.fill (local.get $at) (i32.const 0) (local.get $len))
    (memory.copy (local.get $at) (local.get $len) (i64.const 64))))
