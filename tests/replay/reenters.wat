;; The host calls back, a thousand deep, and writes on the way.
(module
  (import "env" "down" (func $down (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "step") (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.load (i32.const 16)))
      (else (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1))))))))
