;; bounds: guard64 trap
;; elide: loops
;; spectre: on
;; Accesses without a check: none is at an address of which a check alone says that
;; it is inside.
(module
  (memory i64 1)
  ;; dominated: the second address is computed from the first, guarded one
  (func (param i64) (result i64)
    (i64.add
      (i64.load (local.get 0))
      (i64.load (i64.add (local.get 0) (i64.const 800)))))
  ;; with something of known range between them
  (func (param i64 i32) (result i64)
    (i64.add
      (i64.load (local.get 0))
      (i64.load (i64.add (local.get 0)
        (i64.extend_i32_u (i32.and (local.get 1) (i32.const 255)))))))
  ;; range: no guard, it is arithmetic
  (func (param i64) (result i32)
    (i32.load8_u (i64.and (local.get 0) (i64.const 1023))))
  ;; joins: the access behind keeps its check and its guard
  (func (param i64 i64 i32) (result i64)
    (if (local.get 2)
      (then (drop (i64.load (local.get 0))))
      (else
        (drop (i64.load (local.get 1)))
        (local.set 0 (local.get 1))))
    (i64.load (local.get 0)))
  ;; loops: the first index by umin, an iteration adds 8
  (func (param $p i64) (param $n i64) (result i64)
    (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $p))))
      (local.set $p (i64.add (local.get $p) (i64.const 8)))
      (br_if $next (i64.ne (i64.const 0)
        (local.tee $n (i64.sub (local.get $n) (i64.const 1))))))
    (local.get $sum))
  ;; the same by 16 MiB: too far for what is in flight, so the check stays
  (func (param $p i64) (param $n i64) (result i64)
    (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $p))))
      (local.set $p (i64.add (local.get $p) (i64.const 0x1000000)))
      (br_if $next (i64.ne (i64.const 0)
        (local.tee $n (i64.sub (local.get $n) (i64.const 1))))))
    (local.get $sum))
  ;; the first address is computed from that of the access in front of the loop
  (func (param $p i64) (param $n i64) (result i64)
    (local $sum i64)
    (drop (i64.load (local.get $p)))
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $p))))
      (local.set $p (i64.add (local.get $p) (i64.const 8)))
      (br_if $next (i64.ne (i64.const 0)
        (local.tee $n (i64.sub (local.get $n) (i64.const 1))))))
    (local.get $sum)))
