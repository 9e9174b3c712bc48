;; bounds: trap
;; elide: loops
;; Rule "loops" for a shared memory: another thread may grow it behind the length
;; that was read in front of the loop, so the first index keeps its check. What
;; an access that went well says of the next one holds for it, too.
(module
  (memory 1 4 shared)
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (local.set $sum (i32.add (local.get $sum) (i32.load offset=4 (local.get $at))))
      (br_if $next
        (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end))))
    (local.get $sum)))
