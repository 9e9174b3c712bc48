;; Stores beyond its memory, two calls deep.
(module $beyond
  (memory (export "memory") 1)
  (func $store (param i32) (i32.store offset=4 (local.get 0) (i32.const 1)))
  (func $main (export "_start") (call $store (i32.const 65532))))
