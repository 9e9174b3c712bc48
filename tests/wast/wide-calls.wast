;; More parameters and results, of mixed types, than any register file holds,
;; directly, indirectly and across modules.

(module $far
  (type $wide (func
    (param i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128)
    (result i64 f64 v128 i32 i64 f32 f64 v128 i32 i64)))
  (func (export "turn") (type $wide)
    local.get 16  local.get 18  local.get 19  local.get 15  local.get 11
    local.get 12  local.get 13  local.get 14  local.get 5   local.get 1))
(register "far" $far)

(module
  (type $wide (func
    (param i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128)
    (result i64 f64 v128 i32 i64 f32 f64 v128 i32 i64)))
  (import "far" "turn" (func $turn (type $wide)))
  (table funcref (elem $turn))
  (func (export "direct")
    (param i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128)
    (result i64 f64 v128 i32 i64 f32 f64 v128 i32 i64)
    local.get 0   local.get 1   local.get 2   local.get 3   local.get 4
    local.get 5   local.get 6   local.get 7   local.get 8   local.get 9
    local.get 10  local.get 11  local.get 12  local.get 13  local.get 14
    local.get 15  local.get 16  local.get 17  local.get 18  local.get 19
    call $turn)
  (func (export "indirect")
    (param i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128 i32 i64 f32 f64 v128)
    (result i64 f64 v128 i32 i64 f32 f64 v128 i32 i64)
    local.get 0   local.get 1   local.get 2   local.get 3   local.get 4
    local.get 5   local.get 6   local.get 7   local.get 8   local.get 9
    local.get 10  local.get 11  local.get 12  local.get 13  local.get 14
    local.get 15  local.get 16  local.get 17  local.get 18  local.get 19
    (call_indirect (type $wide) (i32.const 0))))

(assert_return
  (invoke "direct"
    (i32.const 0) (i64.const 1) (f32.const 2) (f64.const 3) (v128.const i64x2 4 40)
    (i32.const 5) (i64.const 6) (f32.const 7) (f64.const 8) (v128.const i64x2 9 90)
    (i32.const 10) (i64.const 11) (f32.const 12) (f64.const 13) (v128.const i64x2 14 140)
    (i32.const 15) (i64.const 16) (f32.const 17) (f64.const 18) (v128.const i64x2 19 190))
  (i64.const 16) (f64.const 18) (v128.const i64x2 19 190) (i32.const 15) (i64.const 11)
  (f32.const 12) (f64.const 13) (v128.const i64x2 14 140) (i32.const 5) (i64.const 1))
(assert_return
  (invoke "indirect"
    (i32.const 0) (i64.const 1) (f32.const 2) (f64.const 3) (v128.const i64x2 4 40)
    (i32.const 5) (i64.const 6) (f32.const 7) (f64.const 8) (v128.const i64x2 9 90)
    (i32.const 10) (i64.const 11) (f32.const 12) (f64.const 13) (v128.const i64x2 14 140)
    (i32.const 15) (i64.const 16) (f32.const 17) (f64.const 18) (v128.const i64x2 19 190))
  (i64.const 16) (f64.const 18) (v128.const i64x2 19 190) (i32.const 15) (i64.const 11)
  (f32.const 12) (f64.const 13) (v128.const i64x2 14 140) (i32.const 5) (i64.const 1))
