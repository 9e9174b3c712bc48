;; Functions of the host's that give references, and that nobody calls.
(module
  (import "env" "pick" (func $pick (param funcref) (result funcref)))
  (import "env" "label" (func $label (param externref) (result externref)))
  (table $given 2 10 funcref)
  (func (export "name") (param externref) (result externref) (call $label (local.get 0)))
  (func (export "put") (param funcref) (table.set $given (i32.const 0) (call $pick (local.get 0))))
  (func (export "size") (result i32) (table.size $given)))
