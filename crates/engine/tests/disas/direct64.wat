;; bounds: trap guard64 clamp shadow shadow-compressed
;; spectre: on
;; direct
;; The same of a memory of 64 bits, and of one that is not the first.
(module
  (memory i64 1 1)
  (memory i64 1 1)
  (func (param i64) (result i32)
    (i32.load offset=8 (local.get 0)))
  (func (param i64 i64)
    (i64.store 1 offset=0x100000000 (local.get 0) (local.get 1))))
