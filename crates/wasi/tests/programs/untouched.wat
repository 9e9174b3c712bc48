;; The kernel is given pages that nobody has touched, right after they were
;; grown: it must find them present under every strategy.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1 100)
  (func $range (param $at i32) (param $ptr i32) (param $len i32)
    (i32.store (local.get $at) (local.get $ptr))
    (i32.store offset=4 (local.get $at) (local.get $len)))
  (func $must (param $errno i32) (param $where i32)
    (if (local.get $errno)
      (then (call $exit (i32.add (local.get $where) (local.get $errno))))))
  (func (export "_start")
    (drop (memory.grow (i32.const 60)))
    ;; Standard input lands across a page border of fresh pages.
    (call $range (i32.const 0) (i32.const 0x1ffffe) (i32.const 9))
    (call $must (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 64)) (i32.const 100))
    (if (i32.ne (i32.load (i32.const 64)) (i32.const 9)) (then (call $exit (i32.const 1))))
    ;; Random bytes in 300,000 fresh bytes, the last of which are not all zero.
    (call $must (call $random (i32.const 0x210003) (i32.const 300000)) (i32.const 200))
    (if (i64.eqz (i64.load (i32.const 0x2593DB))) (then (call $exit (i32.const 2))))
    ;; Written from there, and from pages that are fresh and hence zero.
    (call $range (i32.const 0) (i32.const 0x1ffffe) (i32.const 9))
    (call $range (i32.const 8) (i32.const 0x30fffe) (i32.const 4))
    (call $must (call $write (i32.const 1) (i32.const 0) (i32.const 2) (i32.const 64)) (i32.const 300))
    (call $exit (i32.load (i32.const 64)))))
