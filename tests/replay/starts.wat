;; It calls its host before anybody can call it.
(module
  (import "env" "early" (func $early (param i32) (result i32)))
  (memory (export "memory") 1)
  (func $first (i32.store (i32.const 8) (call $early (i32.const 5))))
  (start $first)
  (func (export "_initialize") (i32.store (i32.const 12) (i32.const 3)))
  (func (export "_start") (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.load (i32.const 12)))))
  (func (export "get") (result i32) (i32.load (i32.const 8))))
