;; A call that needs a memory, from a module that exports none.
(module
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $call (param i32 i32) (result i32)))
  (func (export "_start") (drop (call $call (i32.const 3) (i32.const 0)))))
