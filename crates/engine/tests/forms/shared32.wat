;; spectre: on
;; A 32-bit memory that threads share, which another one may grow at any time.
(module
  (memory 1 16 shared)
  (func (export "add") (param $at i32) (param $n i64) (result i64)
    (i64.atomic.rmw.add offset=8 (local.get $at) (local.get $n)))
  (func (export "wait") (param $at i32) (result i32)
    (memory.atomic.wait32 (local.get $at) (i32.const 0) (i64.const -1)))
  (func (export "copy_word") (param $to i32) (param $from i32)
    (i32.store (local.get $to) (i32.load (local.get $from)))))
