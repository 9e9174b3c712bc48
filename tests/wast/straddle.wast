;; A store that begins inside the memory and ends beyond it changes no byte.

(module
  (memory 1)
  (func (export "store16") (param i32) (i32.store16 (local.get 0) (i32.const -1)))
  (func (export "store32") (param i32) (i32.store (local.get 0) (i32.const -1)))
  (func (export "store64") (param i32) (i64.store (local.get 0) (i64.const -1)))
  (func (export "store128") (param i32)
    (v128.store (local.get 0) (v128.const i64x2 -1 -1)))
  (func (export "lane") (param i32)
    (v128.store64_lane 1 (local.get 0) (v128.const i64x2 -1 -1)))
  (func (export "fill") (param i32)
    (memory.fill (local.get 0) (i32.const 255) (i32.const 32)))
  (func (export "copy") (param i32)
    (memory.copy (local.get 0) (i32.const 0) (i32.const 32)))
  ;; Through a constant offset that alone reaches beyond, and one that wraps in
  ;; 32 bits.
  (func (export "far") (param i32) (i64.store offset=0xffffffff (local.get 0) (i64.const -1)))
  (func (export "near") (param i32) (i64.store offset=8 (local.get 0) (i64.const -1)))
  ;; All bytes of the last 32, or-ed.
  (func (export "tail") (result i32)
    (i32.wrap_i64 (i64.or
      (i64.or (i64.load (i32.const 65504)) (i64.load (i32.const 65512)))
      (i64.or (i64.load (i32.const 65520)) (i64.load (i32.const 65528)))))))

(assert_trap (invoke "store16" (i32.const 65535)) "out of bounds memory access")
(assert_trap (invoke "store32" (i32.const 65533)) "out of bounds memory access")
(assert_trap (invoke "store64" (i32.const 65529)) "out of bounds memory access")
(assert_trap (invoke "store128" (i32.const 65521)) "out of bounds memory access")
(assert_trap (invoke "lane" (i32.const 65529)) "out of bounds memory access")
(assert_trap (invoke "fill" (i32.const 65505)) "out of bounds memory access")
(assert_trap (invoke "copy" (i32.const 65505)) "out of bounds memory access")
(assert_trap (invoke "near" (i32.const 65521)) "out of bounds memory access")
(assert_trap (invoke "near" (i32.const -8)) "out of bounds memory access")
(assert_trap (invoke "near" (i32.const -1)) "out of bounds memory access")
(assert_trap (invoke "far" (i32.const 0)) "out of bounds memory access")
(assert_trap (invoke "far" (i32.const 1)) "out of bounds memory access")
(assert_trap (invoke "far" (i32.const -1)) "out of bounds memory access")
(assert_trap (invoke "store128" (i32.const -1)) "out of bounds memory access")
(assert_return (invoke "tail") (i32.const 0))
;; The last places that fit.
(assert_return (invoke "store16" (i32.const 65534)))
(assert_return (invoke "store128" (i32.const 65520)))
(assert_return (invoke "near" (i32.const 65520)))
(assert_return (invoke "tail") (i32.const -1))
