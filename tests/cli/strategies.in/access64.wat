;; One load with an offset, from a memory of 64 bits.
(module
  (memory i64 1)
  (func (export "load") (param i64) (result i32)
    (i32.load offset=8 (local.get 0))))
