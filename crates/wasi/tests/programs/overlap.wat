;; Ranges that overlap are filled as if one after the other.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  ;; (100, 4), (102, 4), (200, 1) for reading; (100, 6) for writing.
  (data (i32.const 0) "\64\00\00\00\04\00\00\00\66\00\00\00\04\00\00\00\c8\00\00\00\01\00\00\00")
  (data (i32.const 32) "\64\00\00\00\06\00\00\00\c8\00\00\00\01\00\00\00")
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 3) (i32.const 64)))
    (drop (call $write (i32.const 1) (i32.const 32) (i32.const 2) (i32.const 68)))
    (call $exit (i32.load (i32.const 64)))))
