;; One function imported twice, exported again, and called through everything.
(module
  (import "env" "f" (func $one (param i32) (result i32)))
  (import "env" "g" (func $g (param i32) (result i32)))
  (import "env" "f" (func $two (param i32) (result i32)))
  (export "again" (func $two))
  (func (export "both") (param i32) (result i32)
    (i32.add (call $one (local.get 0)) (i32.mul (call $two (local.get 0)) (call $g (local.get 0))))))
