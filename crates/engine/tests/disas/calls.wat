;; Direct, imported and indirect calls; the null element is found by the fault of
;; loading its type.
(module
  (import "m" "f" (func $imported (param i32) (result i32)))
  (type $t (func (param i32) (result i32)))
  (table 8 8 funcref)
  (func $leaf (type $t) (i32.add (local.get 0) (i32.const 1)))
  (func (type $t) (call $leaf (local.get 0)))
  (func (type $t) (call $imported (local.get 0)))
  (func (type $t) (call_indirect (type $t) (local.get 0) (local.get 0))))
