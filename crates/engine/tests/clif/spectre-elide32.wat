;; bounds: trap
;; elide: loops
;; spectre: on
;; A 32-bit memory: nothing but an index is added to the base, which is moved by a
;; few bytes where the first index of a loop is outside.
(module
  (memory 1)
  (func (param $row i32) (param $n i32) (result i32)
    (local $sum i32) (local $i i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum)
        (i32.load (i32.add (local.get $row) (i32.shl (local.get $i) (i32.const 2))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $sum)))
