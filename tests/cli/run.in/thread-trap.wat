;; A thread divides by zero while the main thread is in an endless loop.
(module $thread_trap
  (import "env" "memory" (memory 1 1 shared))
  (import "wasi" "thread-spawn" (func $thread_spawn (param i32) (result i32)))
  (func $wasi_thread_start (export "wasi_thread_start") (param $tid i32) (param $arg i32)
    (drop (i32.div_u (local.get $tid) (local.get $arg))))
  (func (export "_start")
    (drop (call $thread_spawn (i32.const 0)))
    (loop $for_ever (br $for_ever))))
