;; elide: loops
;; spectre: on
;; Loops over a 32-bit memory: what each strategy needs in front and inside.
(module
  (memory 1 16)
  (func (export "sum") (param $at i32) (param $end i32) (result i64)
    (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (local.get $sum))
  (func (export "scale") (param $at i32) (param $n i32)
    (loop $next
      (f64.store (local.get $at)
        (f64.mul (f64.load (local.get $at)) (f64.load offset=8 (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (i32.ne (local.get $n) (i32.const 0))))))
