;; elide: loops
;; spectre: on
;; Loops over a 64-bit memory: what each strategy needs in front and inside.
(module
  (memory i64 1 16)
  (func (export "sum") (param $at i64) (param $end i64) (result i64)
    (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $at) (local.get $end))))
    (local.get $sum))
  (func (export "scale") (param $at i64) (param $n i64)
    (loop $next
      (f64.store (local.get $at)
        (f64.mul (f64.load (local.get $at)) (f64.load offset=8 (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 16)))
      (local.set $n (i64.sub (local.get $n) (i64.const 1)))
      (br_if $next (i64.ne (local.get $n) (i64.const 0))))))
