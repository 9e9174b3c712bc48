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

;; More results than there are registers to return them in.
(module
  (type $many (func (param i64) (result i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64
    v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128)))
  (table funcref (elem $make))
  (func $make (export "make") (type $many)
    (i64.add (local.get 0) (i64.const 0)) (i64.add (local.get 0) (i64.const 1))
    (i64.add (local.get 0) (i64.const 2)) (i64.add (local.get 0) (i64.const 3))
    (i64.add (local.get 0) (i64.const 4)) (i64.add (local.get 0) (i64.const 5))
    (i64.add (local.get 0) (i64.const 6)) (i64.add (local.get 0) (i64.const 7))
    (i64.add (local.get 0) (i64.const 8)) (i64.add (local.get 0) (i64.const 9))
    (i64.add (local.get 0) (i64.const 10)) (i64.add (local.get 0) (i64.const 11))
    (v128.const i64x2 0 0) (v128.const i64x2 1 3)
    (v128.const i64x2 2 6) (v128.const i64x2 3 9)
    (v128.const i64x2 4 12) (v128.const i64x2 5 15)
    (v128.const i64x2 6 18) (v128.const i64x2 7 21)
    (v128.const i64x2 8 24) (v128.const i64x2 9 27)
    (v128.const i64x2 10 30) (v128.const i64x2 11 33))
  (func (export "pass") (type $many) (call $make (local.get 0)))
  (func (export "pass-indirect") (type $many)
    (call_indirect (type $many) (local.get 0) (i32.const 0))))

(assert_return (invoke "make" (i64.const 100))
  (i64.const 100) (i64.const 101) (i64.const 102) (i64.const 103) (i64.const 104) (i64.const 105) (i64.const 106) (i64.const 107) (i64.const 108) (i64.const 109) (i64.const 110) (i64.const 111)
  (v128.const i64x2 0 0) (v128.const i64x2 1 3) (v128.const i64x2 2 6) (v128.const i64x2 3 9) (v128.const i64x2 4 12) (v128.const i64x2 5 15) (v128.const i64x2 6 18) (v128.const i64x2 7 21) (v128.const i64x2 8 24) (v128.const i64x2 9 27) (v128.const i64x2 10 30) (v128.const i64x2 11 33))
(assert_return (invoke "pass" (i64.const 100))
  (i64.const 100) (i64.const 101) (i64.const 102) (i64.const 103) (i64.const 104) (i64.const 105) (i64.const 106) (i64.const 107) (i64.const 108) (i64.const 109) (i64.const 110) (i64.const 111)
  (v128.const i64x2 0 0) (v128.const i64x2 1 3) (v128.const i64x2 2 6) (v128.const i64x2 3 9) (v128.const i64x2 4 12) (v128.const i64x2 5 15) (v128.const i64x2 6 18) (v128.const i64x2 7 21) (v128.const i64x2 8 24) (v128.const i64x2 9 27) (v128.const i64x2 10 30) (v128.const i64x2 11 33))
(assert_return (invoke "pass-indirect" (i64.const 100))
  (i64.const 100) (i64.const 101) (i64.const 102) (i64.const 103) (i64.const 104) (i64.const 105) (i64.const 106) (i64.const 107) (i64.const 108) (i64.const 109) (i64.const 110) (i64.const 111)
  (v128.const i64x2 0 0) (v128.const i64x2 1 3) (v128.const i64x2 2 6) (v128.const i64x2 3 9) (v128.const i64x2 4 12) (v128.const i64x2 5 15) (v128.const i64x2 6 18) (v128.const i64x2 7 21) (v128.const i64x2 8 24) (v128.const i64x2 9 27) (v128.const i64x2 10 30) (v128.const i64x2 11 33))
