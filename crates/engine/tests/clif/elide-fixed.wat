;; bounds: trap
;; elide: loops
;; spectre: on
;; An index that a loop does not change is moved itself, in front: it is added to the base
;; that all accesses have. One that changes has a base of its own, which is moved.
(module
  (memory 1 16)
  (func (param $at i32) (param $n i32) (param $by i32)
    (local $i i32)
    (loop $next
      (f64.store (i32.add (local.get $at) (local.get $i))
        (f64.add
          (f64.load (i32.add (local.get $at) (local.get $i)))
          (f64.load offset=8 (local.get $by))))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (br_if $next (i32.ne (local.get $i) (local.get $n))))))
