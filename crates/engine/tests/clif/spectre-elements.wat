;; bounds: guard64
;; elide: loops
;; spectre: on
;; Elements of one array: what the first one adds is taken off its address, once.
(module
  (memory i64 1)
  (func (param i64 i32 i32 i32) (result i32)
    (i32.load (i64.add (local.get 0)
      (i64.shl (i64.extend_i32_u (i32.and (local.get 1) (i32.const 255))) (i64.const 2))))
    (i32.load (i64.add (local.get 0)
      (i64.shl (i64.extend_i32_u (i32.and (local.get 2) (i32.const 255))) (i64.const 2))))
    (i32.load (i64.add (local.get 0)
      (i64.shl (i64.extend_i32_u (i32.and (local.get 3) (i32.const 255))) (i64.const 2))))
    i32.add
    i32.add))
