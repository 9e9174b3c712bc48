;; Signals do what they do by default: some nothing, abrt ends the program.
(module
  (import "wasi_snapshot_preview1" "proc_raise" (func $raise (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (if (call $yield) (then (unreachable)))
    (if (call $raise (i32.const 0)) (then (unreachable)))
    (if (call $raise (i32.const 27)) (then (unreachable)))
    (if (i32.ne (call $raise (i32.const 77)) (i32.const 28)) (then (unreachable)))
    (drop (call $raise (i32.const 6)))
    (unreachable)))
