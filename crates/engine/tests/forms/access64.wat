;; spectre: off on
;; Loads and stores of a 64-bit memory: near, wide, and far behind the index.
(module
  (memory i64 1 16)
  (func (export "load8") (param i64) (result i32)
    (i32.load8_u (local.get 0)))
  (func (export "load64_near") (param i64) (result i64)
    (i64.load offset=8 (local.get 0)))
  (func (export "load128") (param i64) (result v128)
    (v128.load offset=16 (local.get 0)))
  (func (export "load32_far") (param i64) (result i32)
    (i32.load offset=0x100000010 (local.get 0)))
  (func (export "store16") (param i64 i32)
    (i32.store16 offset=2 (local.get 0) (local.get 1)))
  (func (export "store64") (param i64 f64)
    (f64.store (local.get 0) (local.get 1)))
  (func (export "store_last") (param i64 i64)
    (i64.store offset=0xfffffffffffffff0 (local.get 0) (local.get 1))))
