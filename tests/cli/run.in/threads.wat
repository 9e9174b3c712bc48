;; Starts four threads that count together, and waits for them.
(module $threads
  (import "env" "memory" (memory 1 1 shared))
  (import "wasi" "thread-spawn" (func $thread_spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (export "memory" (memory 0))
  (func $wasi_thread_start (export "wasi_thread_start") (param $tid i32) (param $arg i32)
    (local $i i32)
    (loop $more
      (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
      (br_if $more (i32.lt_u
        (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000))))
    (drop (i32.atomic.rmw.add (i32.const 4) (i32.const 1)))
    (drop (memory.atomic.notify (i32.const 4) (i32.const 1))))
  (func (export "_start") (local $n i32)
    (loop $more
      (if (i32.le_s (call $thread_spawn (i32.const 0)) (i32.const 0)) (then unreachable))
      (br_if $more (i32.lt_u
        (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 4))))
    (block $done
      (loop $wait
        (local.set $n (i32.atomic.load (i32.const 4)))
        (br_if $done (i32.eq (local.get $n) (i32.const 4)))
        (drop (memory.atomic.wait32 (i32.const 4) (local.get $n) (i64.const -1)))
        (br $wait)))
    (if (i32.ne (i32.atomic.load (i32.const 0)) (i32.const 4000)) (then unreachable))
    ;; "4000\n"
    (i32.store (i32.const 16) (i32.const 24))
    (i32.store (i32.const 20) (i32.const 5))
    (i64.store (i32.const 24) (i64.const 0x0a30303034))
    (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 32)))))
