;; A thread spins, and the main thread waits for it.
(module $threads
  (import "env" "memory" (memory 1 1 shared))
  (import "wasi" "thread-spawn" (func $thread_spawn (param i32) (result i32)))
  (func (export "wasi_thread_start") (param i32 i32) (loop $for_ever (br $for_ever)))
  (func $main (export "_start")
    (drop (call $thread_spawn (i32.const 0)))
    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))
