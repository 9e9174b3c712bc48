;; A call traps; what comes before it is replayed.
(module
  (memory (export "memory") 1)
  (func (export "div") (param i32 i32) (result i32)
    (i32.store (i32.const 0) (local.get 0))
    (i32.div_s (local.get 0) (local.get 1))))
