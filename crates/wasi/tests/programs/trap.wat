;; What was written before a trap stays written.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\06\00\00\00")
  (data (i32.const 100) "before")
  (func $divide (param i32) (result i32)
    (i32.div_u (i32.const 1) (local.get 0)))
  (func (export "_start")
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 64)))
    (drop (call $divide (i32.const 0)))))
