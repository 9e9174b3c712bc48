;; spectre: off on
;; A 32-bit memory that is imported: its maximum, and so what is reserved, may be another.
(module
  (import "m" "memory" (memory 1))
  (func (export "swap") (param $a i32) (param $b i32)
    (local $was i64)
    (local.set $was (i64.load (local.get $a)))
    (i64.store (local.get $a) (i64.load offset=4 (local.get $b)))
    (i64.store offset=4 (local.get $b) (local.get $was))))
