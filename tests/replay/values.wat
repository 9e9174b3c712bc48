;; Every type of value, both ways; what is no number has one form only.
(module
  (import "env" "all" (func $all (param i32 i64 f32 f64) (result f64 f32 i64 i32)))
  (import "env" "none" (func $none))
  (func (export "all") (param i32 i64 f32 f64) (result f64 f32 i64 i32)
    (call $none)
    (call $all (local.get 0) (local.get 1) (local.get 2) (local.get 3)))
  (func (export "nan") (param i64) (result f64 f32)
    (f64.reinterpret_i64 (local.get 0)) (f32.reinterpret_i32 (i32.const 0x7fa00001)))
  (func (export "one") (result i64) (i64.const -1)))
