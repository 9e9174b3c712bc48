;; bounds: guard trap clamp shadow
;; spectre: on
;; direct
;; What one pass makes of an access near the beginning, of one with an offset that is behind the
;; reservation, and of a store of an operand that waits in a register while an index is checked.
(module
  (memory 1 1)
  (func (param i32) (result i32)
    (i32.load offset=8 (local.get 0)))
  (func (param i32) (result f64)
    (f64.load offset=0x8000000 (local.get 0)))
  (func (param i32 i64)
    (i64.store16 offset=2 (i32.shl (local.get 0) (i32.const 1)) (i64.xor (local.get 1) (i64.const 5)))))
