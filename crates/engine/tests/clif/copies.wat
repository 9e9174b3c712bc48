;; bounds: guard trap
;; elide: off
;; spectre: off on
(module
  (memory 1)
  (func (param i32 i32)
    (memory.copy (local.get 0) (local.get 1) (i32.const 24)))
  (func (param i32 i32)
    (memory.fill (local.get 0) (local.get 1) (i32.const 7))))
