;; Starts threads that wait, each with a memory of its own: as many as it gets, or two.
(module $spawn
  (import "env" "memory" (memory 1 1 shared))
  (import "wasi" "thread-spawn" (func $thread_spawn (param i32) (result i32)))
  (memory $own 1)
  (func (export "wasi_thread_start") (param i32 i32)
    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
  (func (export "count") (result i32) (local $n i32)
    (loop $more
      (if (i32.gt_s (call $thread_spawn (i32.const 0)) (i32.const 0))
        (then (local.set $n (i32.add (local.get $n) (i32.const 1))) (br $more))))
    (local.get $n))
  (func (export "wait")
    (drop (call $thread_spawn (i32.const 0)))
    (drop (call $thread_spawn (i32.const 0)))
    (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))
