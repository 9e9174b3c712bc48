;; bounds: guard trap clamp none uffd
(module
  (memory 1)
  (func (param i32) (result i32)
    (i32.add
      (i32.load offset=8 (local.get 0))
      (i32.load8_s offset=0x80000000 (local.get 0))))
  (func (param i32 i64)
    (i64.store32 offset=4 (local.get 0) (local.get 1))))
