;; bounds: trap
;; elide: off
;; spectre: off on
(module
  (memory i64 1)
  (func (param i64 i64)
    (memory.copy (local.get 0) (local.get 1) (i64.const 24)))
  (func (param i64 i32)
    (memory.fill (local.get 0) (local.get 1) (i64.const 7))))
