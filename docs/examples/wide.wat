;; A 64-bit memory.
(module
  (memory i64 1)
  (func (export "_start")
    (i64.store (i64.const 8) (i64.const 1))))
