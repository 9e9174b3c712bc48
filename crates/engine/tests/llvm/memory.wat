;; bounds: guard trap
(module
  (memory 1)
  (global $g (mut i32) (i32.const 0))
  (func (param i32) (result i32)
    (i32.store offset=8 (local.get 0) (i32.const 7))
    (global.set $g (i32.const 1))
    (i32.load8_s (local.get 0))))
