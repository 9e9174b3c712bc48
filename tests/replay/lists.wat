;; Asks its host to fill buffers that a list names, which are far from all that it passes; and
;; writes once more, in the end, where it wrote long before. What it is passed was written just now.
(module
  (import "env" "read" (func $read (param i32) (result i32)))
  (memory (export "memory") 80)
  (global $marked (mut i32) (i32.const 0))
  (func (export "mark") (param $at i32)
    (global.set $marked (local.get $at))
    (i32.store (local.get $at) (i32.const 1)))
  (func (export "take") (param $at i32) (result i32)
    (i32.load8_u (local.get $at)))
  (func (export "again")
    (i32.store (global.get $marked) (i32.const 2)))
  (func (export "fill") (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 1024) (local.get $at))
    (i32.store (i32.const 1028) (local.get $length))
    (i32.store (i32.const 1032) (i32.add (local.get $at) (i32.const 1000000)))
    (i32.store (i32.const 1036) (local.get $length))
    (drop (call $read (i32.const 1024)))
    (i32.add
      (i32.load8_u (i32.add (local.get $at) (i32.sub (local.get $length) (i32.const 1))))
      (i32.load8_u offset=1000000 (local.get $at)))))
