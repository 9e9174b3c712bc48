;; bounds: trap
;; elide: loops
;; Rule "loops" for a 32-bit memory: the first index is compared with the length
;; in front of the loop.
(module
  (memory 1)
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (br_if $next
        (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
    (local.get $sum))
  (func (param $row i32) (param $n i32) (result i32) (local $i i32) (local $sum i32)
    (loop $next
      (local.set $sum
        (i32.add (local.get $sum)
          (i32.load (i32.add (local.get $row) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next
        (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $sum))
  ;; Growth in front of the access: the check stays.
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $next
      (drop (memory.grow (i32.const 1)))
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (br_if $next
        (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
    (local.get $sum)))
