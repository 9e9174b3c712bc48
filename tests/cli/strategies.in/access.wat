;; One load with an offset, from a memory of 32 bits.
(module
  (memory 1)
  (func (export "load") (param i32) (result i32)
    (i32.load offset=8 (local.get 0))))
