;; Snapshot 0: another order of whence, another filestat.
(module
  (import "wasi_unstable" "fd_seek" (func $seek (param i32 i64 i32 i32) (result i32)))
  (import "wasi_unstable" "fd_filestat_get" (func $stat (param i32 i32) (result i32)))
  (import "wasi_unstable" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_unstable" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\06\00\00\00")
  (data (i32.const 100) "hello\n")
  (func $must (param i32)
    (if (local.get 0) (then (call $exit (local.get 0)))))
  (func (export "_start")
    ;; Standard output is a file here. Its link count has 32 bits, so that the
    ;; size comes 8 bytes earlier: both are looked at.
    (call $must (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 64)))
    (call $must (call $stat (i32.const 1) (i32.const 200)))
    (if (i64.ne (i64.load (i32.const 224)) (i64.const 6)) (then (call $exit (i32.const 101))))
    ;; 1 is the end, 0 the current offset.
    (call $must (call $seek (i32.const 1) (i64.const -3) (i32.const 1) (i32.const 64)))
    (if (i64.ne (i64.load (i32.const 64)) (i64.const 3)) (then (call $exit (i32.const 102))))
    (call $must (call $seek (i32.const 1) (i64.const 1) (i32.const 0) (i32.const 64)))
    (call $exit (i32.load (i32.const 64)))))
