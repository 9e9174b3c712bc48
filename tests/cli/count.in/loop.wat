;; Adds up bytes, each of which it loads twice.
(module
  (memory 1)
  (func (export "sum") (param $len i32) (result i32)
    (local $at i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum)
        (i32.add (i32.load8_u (local.get $at)) (i32.load8_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $len))))
    (local.get $sum)))
