;; bounds: guard64
;; elide: loops
;; Rule "loops": the access of the iteration before went well.
(module
  (memory i64 1)
  ;; "start": the first value of the pointer is made safe, no check remains.
  (func (param $at i64) (param $end i64) (result i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (br_if $next
        (i64.ne (local.tee $at (i64.add (local.get $at) (i64.const 8))) (local.get $end))))
    (local.get $sum))
  ;; The pointer is stored before it is used: "base" for the second access, the
  ;; first one's index is in range.
  (func (param $at i64) (param $end i64)
    (loop $next
      (i64.store (i64.const 8) (local.get $at))
      (i64.store (local.get $at) (i64.const 1))
      (br_if $next
        (i64.ne (local.tee $at (i64.add (local.get $at) (i64.const 8))) (local.get $end)))))
  ;; "base": a row and a counter; what lies further in the row uses it too.
  (func (param $row i64) (param $n i64) (result i64) (local $i i64) (local $sum i64)
    (loop $next
      (local.set $sum
        (i64.add (local.get $sum)
          (i64.load (i64.add (local.get $row) (i64.shl (local.get $i) (i64.const 3))))))
      (local.set $sum
        (i64.add (local.get $sum)
          (i64.load
            (i64.add (i64.const 64)
              (i64.add (local.get $row) (i64.shl (local.get $i) (i64.const 3)))))))
      (br_if $next
        (i64.ne (local.tee $i (i64.add (local.get $i) (i64.const 1))) (local.get $n))))
    (local.get $sum))
  ;; Downwards with an offset, and in some iterations only: the checks stay.
  (func (param $at i64) (param $n i64) (result i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load offset=8 (local.get $at))))
      (if (i32.wrap_i64 (local.get $sum))
        (then (i64.store (i64.sub (local.get $n) (i64.const 1)) (i64.const 0))))
      (local.set $at (i64.sub (local.get $at) (i64.const 8)))
      (br_if $next (i64.eqz (local.tee $n (i64.sub (local.get $n) (i64.const 1))))))
    (local.get $sum)))
