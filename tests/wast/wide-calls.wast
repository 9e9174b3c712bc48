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

;; Arguments that are calls with as many themselves, calls that leave first, by reference
;; and through a table, back from a function that was called in between; more than there
;; are cells for.
(module
  (type $weighed (func (param i64 f64 i64 f64 i64 f64 i64 f64 i64 f64 i64 f64 i64 f64 i64 f64 i64 f64 i64 f64) (result f64)))
  (type $taken (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (table funcref (elem $weigh))
  (elem declare func $weigh)
  (func $weigh (export "weigh") (type $weighed) (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.add (f64.const 0) (f64.mul (f64.const 1) (f64.convert_i64_s (local.get 0)))) (f64.mul (f64.const 2) (local.get 1))) (f64.mul (f64.const 3) (f64.convert_i64_s (local.get 2)))) (f64.mul (f64.const 4) (local.get 3))) (f64.mul (f64.const 5) (f64.convert_i64_s (local.get 4)))) (f64.mul (f64.const 6) (local.get 5))) (f64.mul (f64.const 7) (f64.convert_i64_s (local.get 6)))) (f64.mul (f64.const 8) (local.get 7))) (f64.mul (f64.const 9) (f64.convert_i64_s (local.get 8)))) (f64.mul (f64.const 10) (local.get 9))) (f64.mul (f64.const 11) (f64.convert_i64_s (local.get 10)))) (f64.mul (f64.const 12) (local.get 11))) (f64.mul (f64.const 13) (f64.convert_i64_s (local.get 12)))) (f64.mul (f64.const 14) (local.get 13))) (f64.mul (f64.const 15) (f64.convert_i64_s (local.get 14)))) (f64.mul (f64.const 16) (local.get 15))) (f64.mul (f64.const 17) (f64.convert_i64_s (local.get 16)))) (f64.mul (f64.const 18) (local.get 17))) (f64.mul (f64.const 19) (f64.convert_i64_s (local.get 18)))) (f64.mul (f64.const 20) (local.get 19))))
  (func $inner (result i64) (i64.trunc_f64_s (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1))))
  (func (export "nested") (result f64)
    (call $weigh (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1)) (call $inner) (call $weigh (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1) (i64.const 1) (f64.const 1))))
  (func (export "leaves") (type $weighed)
    (return_call $weigh (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6) (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14) (local.get 15) (local.get 16) (local.get 17) (local.get 18) (local.get 19)))
  (func (export "leaves-turned") (type $weighed)
    (return_call_ref $weighed (local.get 18) (local.get 19) (local.get 16) (local.get 17) (local.get 14) (local.get 15) (local.get 12) (local.get 13) (local.get 10) (local.get 11) (local.get 8) (local.get 9) (local.get 6) (local.get 7) (local.get 4) (local.get 5) (local.get 2) (local.get 3) (local.get 0) (local.get 1)
      (ref.func $weigh)))
  (func (export "leaves-by-table") (type $weighed)
    (return_call_indirect (type $weighed) (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6) (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14) (local.get 15) (local.get 16) (local.get 17) (local.get 18) (local.get 19) (i32.const 0)))
  (func $take (export "take") (type $taken) (i32.add (i32.mul (local.get 44) (i32.const 45)) (i32.add (i32.mul (local.get 43) (i32.const 44)) (i32.add (i32.mul (local.get 42) (i32.const 43)) (i32.add (i32.mul (local.get 41) (i32.const 42)) (i32.add (i32.mul (local.get 40) (i32.const 41)) (i32.add (i32.mul (local.get 39) (i32.const 40)) (i32.add (i32.mul (local.get 38) (i32.const 39)) (i32.add (i32.mul (local.get 37) (i32.const 38)) (i32.add (i32.mul (local.get 36) (i32.const 37)) (i32.add (i32.mul (local.get 35) (i32.const 36)) (i32.add (i32.mul (local.get 34) (i32.const 35)) (i32.add (i32.mul (local.get 33) (i32.const 34)) (i32.add (i32.mul (local.get 32) (i32.const 33)) (i32.add (i32.mul (local.get 31) (i32.const 32)) (i32.add (i32.mul (local.get 30) (i32.const 31)) (i32.add (i32.mul (local.get 29) (i32.const 30)) (i32.add (i32.mul (local.get 28) (i32.const 29)) (i32.add (i32.mul (local.get 27) (i32.const 28)) (i32.add (i32.mul (local.get 26) (i32.const 27)) (i32.add (i32.mul (local.get 25) (i32.const 26)) (i32.add (i32.mul (local.get 24) (i32.const 25)) (i32.add (i32.mul (local.get 23) (i32.const 24)) (i32.add (i32.mul (local.get 22) (i32.const 23)) (i32.add (i32.mul (local.get 21) (i32.const 22)) (i32.add (i32.mul (local.get 20) (i32.const 21)) (i32.add (i32.mul (local.get 19) (i32.const 20)) (i32.add (i32.mul (local.get 18) (i32.const 19)) (i32.add (i32.mul (local.get 17) (i32.const 18)) (i32.add (i32.mul (local.get 16) (i32.const 17)) (i32.add (i32.mul (local.get 15) (i32.const 16)) (i32.add (i32.mul (local.get 14) (i32.const 15)) (i32.add (i32.mul (local.get 13) (i32.const 14)) (i32.add (i32.mul (local.get 12) (i32.const 13)) (i32.add (i32.mul (local.get 11) (i32.const 12)) (i32.add (i32.mul (local.get 10) (i32.const 11)) (i32.add (i32.mul (local.get 9) (i32.const 10)) (i32.add (i32.mul (local.get 8) (i32.const 9)) (i32.add (i32.mul (local.get 7) (i32.const 8)) (i32.add (i32.mul (local.get 6) (i32.const 7)) (i32.add (i32.mul (local.get 5) (i32.const 6)) (i32.add (i32.mul (local.get 4) (i32.const 5)) (i32.add (i32.mul (local.get 3) (i32.const 4)) (i32.add (i32.mul (local.get 2) (i32.const 3)) (i32.add (i32.mul (local.get 1) (i32.const 2)) (i32.add (i32.mul (local.get 0) (i32.const 1)) (i32.const 0)))))))))))))))))))))))))))))))))))))))))))))))
  (func (export "take-twice") (type $taken)
    (i32.add
      (call $take (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6) (local.get 7) (local.get 8) (local.get 9) (local.get 10) (local.get 11) (local.get 12) (local.get 13) (local.get 14) (local.get 15) (local.get 16) (local.get 17) (local.get 18) (local.get 19) (local.get 20) (local.get 21) (local.get 22) (local.get 23) (local.get 24) (local.get 25) (local.get 26) (local.get 27) (local.get 28) (local.get 29) (local.get 30) (local.get 31) (local.get 32) (local.get 33) (local.get 34) (local.get 35) (local.get 36) (local.get 37) (local.get 38) (local.get 39) (local.get 40) (local.get 41) (local.get 42) (local.get 43) (local.get 44))
      (call $take (local.get 44) (local.get 43) (local.get 42) (local.get 41) (local.get 40) (local.get 39) (local.get 38) (local.get 37) (local.get 36) (local.get 35) (local.get 34) (local.get 33) (local.get 32) (local.get 31) (local.get 30) (local.get 29) (local.get 28) (local.get 27) (local.get 26) (local.get 25) (local.get 24) (local.get 23) (local.get 22) (local.get 21) (local.get 20) (local.get 19) (local.get 18) (local.get 17) (local.get 16) (local.get 15) (local.get 14) (local.get 13) (local.get 12) (local.get 11) (local.get 10) (local.get 9) (local.get 8) (local.get 7) (local.get 6) (local.get 5) (local.get 4) (local.get 3) (local.get 2) (local.get 1) (local.get 0)))))
(assert_return (invoke "weigh" (i64.const 1) (f64.const 2) (i64.const 3) (f64.const 4) (i64.const 5) (f64.const 6) (i64.const 7) (f64.const 8) (i64.const 9) (f64.const 10) (i64.const 11) (f64.const 12) (i64.const 13) (f64.const 14) (i64.const 15) (f64.const 16) (i64.const 17) (f64.const 18) (i64.const 19) (f64.const 20)) (f64.const 2870))
(assert_return (invoke "nested") (f64.const 44100))
(assert_return (invoke "leaves" (i64.const 1) (f64.const 2) (i64.const 3) (f64.const 4) (i64.const 5) (f64.const 6) (i64.const 7) (f64.const 8) (i64.const 9) (f64.const 10) (i64.const 11) (f64.const 12) (i64.const 13) (f64.const 14) (i64.const 15) (f64.const 16) (i64.const 17) (f64.const 18) (i64.const 19) (f64.const 20)) (f64.const 2870))
(assert_return (invoke "leaves-turned" (i64.const 1) (f64.const 2) (i64.const 3) (f64.const 4) (i64.const 5) (f64.const 6) (i64.const 7) (f64.const 8) (i64.const 9) (f64.const 10) (i64.const 11) (f64.const 12) (i64.const 13) (f64.const 14) (i64.const 15) (f64.const 16) (i64.const 17) (f64.const 18) (i64.const 19) (f64.const 20)) (f64.const 1550))
(assert_return (invoke "leaves-by-table" (i64.const 1) (f64.const 2) (i64.const 3) (f64.const 4) (i64.const 5) (f64.const 6) (i64.const 7) (f64.const 8) (i64.const 9) (f64.const 10) (i64.const 11) (f64.const 12) (i64.const 13) (f64.const 14) (i64.const 15) (f64.const 16) (i64.const 17) (f64.const 18) (i64.const 19) (f64.const 20)) (f64.const 2870))
(assert_return (invoke "take" (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4) (i32.const 5) (i32.const 6) (i32.const 7) (i32.const 8) (i32.const 9) (i32.const 10) (i32.const 11) (i32.const 12) (i32.const 13) (i32.const 14) (i32.const 15) (i32.const 16) (i32.const 17) (i32.const 18) (i32.const 19) (i32.const 20) (i32.const 21) (i32.const 22) (i32.const 23) (i32.const 24) (i32.const 25) (i32.const 26) (i32.const 27) (i32.const 28) (i32.const 29) (i32.const 30) (i32.const 31) (i32.const 32) (i32.const 33) (i32.const 34) (i32.const 35) (i32.const 36) (i32.const 37) (i32.const 38) (i32.const 39) (i32.const 40) (i32.const 41) (i32.const 42) (i32.const 43) (i32.const 44) (i32.const 45)) (i32.const 31395))
(assert_return (invoke "take-twice" (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4) (i32.const 5) (i32.const 6) (i32.const 7) (i32.const 8) (i32.const 9) (i32.const 10) (i32.const 11) (i32.const 12) (i32.const 13) (i32.const 14) (i32.const 15) (i32.const 16) (i32.const 17) (i32.const 18) (i32.const 19) (i32.const 20) (i32.const 21) (i32.const 22) (i32.const 23) (i32.const 24) (i32.const 25) (i32.const 26) (i32.const 27) (i32.const 28) (i32.const 29) (i32.const 30) (i32.const 31) (i32.const 32) (i32.const 33) (i32.const 34) (i32.const 35) (i32.const 36) (i32.const 37) (i32.const 38) (i32.const 39) (i32.const 40) (i32.const 41) (i32.const 42) (i32.const 43) (i32.const 44) (i32.const 45)) (i32.const 47610))
