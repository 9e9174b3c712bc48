;; A folder, as descriptor 3: what may be done in it. Each answers an error number.
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open
    (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_link" (func $link
    (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "add.wat")
  (data (i32.const 200) "proc/self/mem")
  (data (i32.const 300) "made.wat")
  (func $opened (param $path i32) (param $len i32) (param $oflags i32) (result i32)
    (call $open (i32.const 3) (i32.const 1) (local.get $path) (local.get $len)
      (local.get $oflags) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 0)))
  (func (export "read") (result i32)
    (call $opened (i32.const 100) (i32.const 7) (i32.const 0)))
  (func (export "create") (result i32)
    (call $opened (i32.const 300) (i32.const 8) (i32.const 1)))
  (func (export "empty") (result i32)
    (call $opened (i32.const 100) (i32.const 7) (i32.const 8)))
  (func (export "link") (result i32)
    (call $link (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 7)
      (i32.const 4) (i32.const 300) (i32.const 8)))
  (func (export "host-memory") (result i32)
    (call $opened (i32.const 200) (i32.const 13) (i32.const 0))))
