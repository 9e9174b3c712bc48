;; Bytes of the host's, in front and on the way; growth by both, up to the limit.
(module
  (import "env" "memory" (memory 1 4))
  (import "env" "fill" (func $fill (param i32 i32) (result i32)))
  (data (i32.const 4) "own")
  (func (export "sum") (param $at i32) (param $end i32) (result i32)
    (local $sum i32)
    (drop (call $fill (local.get $at) (local.get $end)))
    (loop $next
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.store (i32.const 65528) (local.get $sum))
    (local.get $sum))
  (func (export "grow") (param i32) (result i32 i32)
    (memory.grow (local.get 0)) (memory.size)))
