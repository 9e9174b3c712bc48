;; bounds: guard
;; spectre: on
;; direct
;; A frame, operands around a call, a table with a type, a loop, and a division; locals in
;; registers, some of which a call changes.
(module
  (type $f (func (param i32 i64 f64 i32 i32 i32) (result i64 f64)))
  (table 2 4 funcref)
  (func $callee (type $f)
    (i64.add (local.get 1) (i64.extend_i32_u (local.get 5))) (local.get 2))
  (func (param i32) (result i64) (local f64)
    (i64.const 7)
    (call_indirect (type $f)
      (local.get 0) (i64.const -1) (f64.const 0.5) (i32.const 1) (local.get 0) (i32.const 3)
      (i32.const 1))
    (local.set 1)
    (i64.sub))
  (func (param i32 i32) (result i32)
    (loop $turn (result i32)
      (i32.div_s (local.get 0) (local.get 1))
      (br_if $turn (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (i32.const 9)))))
  (func (param i32 f64) (result f64) (local i32)
    (loop $turn
      (local.set 1 (f64.add (local.get 1) (f64.convert_i32_s (local.get 2))))
      (local.set 2 (i32.add (local.get 2) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get 2) (local.get 0))))
    (drop (memory.grow (local.get 2)))
    (local.get 1))
  (memory 1))
