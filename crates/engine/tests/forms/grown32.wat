;; spectre: on
;; A 32-bit memory that grows between two accesses, and bulk operations on it.
(module
  (memory 1 16)
  (func (export "push") (param $at i32) (param $value i64) (result i32)
    (i64.store (local.get $at) (local.get $value))
    (memory.grow (i32.const 1))
    (i64.store offset=8 (local.get $at) (local.get $value)))
  (func (export "clear") (param $at i32) (param $len i32)
    (memory.fill (local.get $at) (i32.const 0) (local.get $len))
    (memory.copy (local.get $at) (local.get $len) (i32.const 64))))
