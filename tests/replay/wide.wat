;; A memory with 64-bit addresses.
(module
  (import "env" "put" (func $put (param i64)))
  (memory (export "memory") i64 1 3)
  (func (export "get") (param i64) (result i64)
    (call $put (local.get 0))
    (drop (memory.grow (i64.const 1)))
    (i64.add (i64.load (local.get 0)) (memory.size))))
