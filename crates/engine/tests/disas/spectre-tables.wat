;; bounds: guard
;; spectre: off on
;; Tables: the element's address is null where the index is outside. Calls: the code's
;; is, where the type is wrong. Exceptions: the exception's is, where the tag is
;; another one. `br_table` is a conditional move with both.
(module
  (import "m" "f" (func $thrower))
  (type $t (func (param i32) (result i32)))
  (table $fixed 4 4 funcref)
  (table $growing 4 externref)
  (tag $tag (param i64))
  (func (export "call") (param i32 i32) (result i32)
    (call_indirect $fixed (type $t) (local.get 0) (local.get 1)))
  (func (export "get") (param i32) (result externref)
    (table.get $growing (local.get 0)))
  (func (export "set") (param i32 externref)
    (table.set $growing (local.get 0) (local.get 1)))
  (func (export "catch") (result i64)
    (block $caught (result i64)
      (try_table (catch $tag $caught) (call $thrower))
      (i64.const 0)))
  (func (export "choose") (param i32) (result i32)
    (block $c (block $b (block $a
      (br_table $a $b $c (local.get 0)))
      (return (i32.const 10)))
      (return (i32.const 20)))
    (i32.const 30)))
