;; Accesses whose checks can be left out, at the edges of each rule: just inside
;; and just outside the memory, below 0, around 2^63 and 2^64, and what was
;; stored before the trap.

(module $wide
  (memory (export "memory") i64 1 4)
  (func (export "peek") (param i64) (result i64)
    (i64.load (local.get 0)))
  (func (export "grow") (param i64) (result i64)
    (memory.grow (local.get 0)))

  ;; Range: a byte of an index.
  (func (export "byte") (param i64) (result i64)
    (i64.load offset=65280 (i64.and (local.get 0) (i64.const 255))))

  ;; Dominated: behind and before what was accessed.
  (func (export "behind") (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 5))
    (i64.load (i64.add (local.get 0) (i64.const 16))))
  (func (export "before") (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 6))
    (i64.load (i64.sub (local.get 0) (i64.const 8))))
  (func (export "before-with-offset") (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 7))
    (i64.load offset=16 (i64.sub (local.get 0) (i64.const 16))))
  (func (export "far-before") (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 8))
    (i64.load (i64.sub (local.get 0) (i64.const 0x4000_0000))))

  ;; Loops: `n` stores of 1, 2, ... from `at` on.
  (func (export "up") (param $at i64) (param $n i64) (local $k i64)
    (loop $next
      (i64.store (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n)))))
  (func (export "down") (param $at i64) (param $n i64) (local $k i64)
    (loop $next
      (i64.store (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (local.set $at (i64.sub (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n)))))
  (func (export "down-with-offset") (param $at i64) (param $n i64) (local $k i64)
    (loop $next
      (i64.store offset=16 (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (local.set $at (i64.sub (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n)))))
  (func (export "far-up") (param $at i64) (param $n i64) (result i64) (local $k i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 0x1000_0000)))
      (br_if $next
        (i64.lt_u (local.tee $k (i64.add (local.get $k) (i64.const 1))) (local.get $n))))
    (local.get $sum))
  (func (export "far-down") (param $at i64) (param $n i64) (result i64) (local $k i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i64.sub (local.get $at) (i64.const 0x1000_0008)))
      (br_if $next
        (i64.lt_u (local.tee $k (i64.add (local.get $k) (i64.const 1))) (local.get $n))))
    (local.get $sum))

  ;; What is done in front of the access, in the iteration that traps too.
  (func (export "noted") (param $at i64) (param $n i64) (local $k i64)
    (loop $next
      (i64.store (i64.const 0) (local.get $at))
      (i64.store (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (i64.store (i64.const 8) (local.get $at))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n)))))

  ;; A row and a counter; the counter need not begin at 0.
  (func (export "row") (param $row i64) (param $i i64) (param $end i64) (local $k i64)
    (loop $next
      (i64.store (i64.add (local.get $row) (i64.shl (local.get $i) (i64.const 3)))
        (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.ne (local.get $i) (local.get $end)))))

  ;; The step is one of two.
  (func (export "steps") (param $at i64) (param $n i64) (result i64) (local $k i64)
    (loop $next
      (i64.store (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (if (i64.eqz (i64.and (local.get $k) (i64.const 1)))
        (then (local.set $at (i64.add (local.get $at) (i64.const 24))))
        (else (local.set $at (i64.sub (local.get $at) (i64.const 8)))))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n))))
    (local.get $at))

  ;; The length grows in front of the first access.
  (func (export "grown") (param $at i64) (param $n i64) (local $k i64)
    (loop $next
      (drop (memory.grow (i64.const 1)))
      (i64.store (local.get $at) (local.tee $k (i64.add (local.get $k) (i64.const 1))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $k) (local.get $n))))))

(assert_return (invoke "byte" (i64.const -8)) (i64.const 0))
(assert_trap (invoke "byte" (i64.const 249)) "out of bounds memory access")

(assert_return (invoke "behind" (i64.const 0xffe8)) (i64.const 0))
(assert_trap (invoke "behind" (i64.const 0xffe9)) "out of bounds memory access")
(assert_trap (invoke "behind" (i64.const -16)) "out of bounds memory access")
(assert_return (invoke "before" (i64.const 8)) (i64.const 0))
(assert_trap (invoke "before" (i64.const 7)) "out of bounds memory access")
(assert_trap (invoke "before" (i64.const 0)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0)) (i64.const 6))
(assert_return (invoke "before-with-offset" (i64.const 16)) (i64.const 7))
(assert_trap (invoke "before-with-offset" (i64.const 15)) "out of bounds memory access")
(assert_trap (invoke "before-with-offset" (i64.const 0)) "out of bounds memory access")
(assert_trap (invoke "far-before" (i64.const 0x100)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0x100)) (i64.const 8))

;; Four stores, then the end.
(assert_trap (invoke "up" (i64.const 0xffe0) (i64.const 8)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0xffe0)) (i64.const 1))
(assert_return (invoke "peek" (i64.const 0xfff8)) (i64.const 4))
(assert_return (invoke "up" (i64.const 0xffe0) (i64.const 4)))
;; The last one straddles the end: no byte of it.
(assert_trap (invoke "up" (i64.const 0xffe1) (i64.const 4)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0xfff8)) (i64.const 0))
(assert_trap (invoke "up" (i64.const 0x10000) (i64.const 1)) "out of bounds memory access")
(assert_trap (invoke "up" (i64.const 0x40000) (i64.const 1)) "out of bounds memory access")
;; Not below 0, wherever the next one would be.
(assert_return (invoke "up" (i64.const 0) (i64.const 1)))
(assert_trap (invoke "up" (i64.const -8) (i64.const 3)) "out of bounds memory access")
(assert_trap (invoke "up" (i64.const -1) (i64.const 3)) "out of bounds memory access")
(assert_trap (invoke "up" (i64.const 0x8000_0000_0000_0000) (i64.const 3)) "out of bounds memory access")
(assert_trap (invoke "up" (i64.const 0x7fff_ffff_ffff_fff8) (i64.const 3)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0)) (i64.const 1))
(assert_return (invoke "peek" (i64.const 8)) (i64.const 0x0700_0000_0000_0000))

(assert_trap (invoke "down" (i64.const 0x28) (i64.const 8)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0x28)) (i64.const 1))
(assert_return (invoke "peek" (i64.const 0)) (i64.const 6))
(assert_trap (invoke "down" (i64.const 0x27) (i64.const 6)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 7)) (i64.const 5))
(assert_trap (invoke "down" (i64.const 0xfff9) (i64.const 2)) "out of bounds memory access")
(assert_trap (invoke "down" (i64.const -8) (i64.const 2)) "out of bounds memory access")
(assert_trap (invoke "down-with-offset" (i64.const 16) (i64.const 8)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 32)) (i64.const 1))
(assert_return (invoke "peek" (i64.const 16)) (i64.const 3))
(assert_return (invoke "peek" (i64.const 8)) (i64.const 0x0400_0000_0000_0000))

(assert_return (invoke "far-up" (i64.const 0x100) (i64.const 1)) (i64.const 8))
(assert_trap (invoke "far-up" (i64.const 0x100) (i64.const 2)) "out of bounds memory access")
(assert_trap (invoke "far-up" (i64.const -0x1000_0000) (i64.const 2)) "out of bounds memory access")
(assert_return (invoke "far-down" (i64.const 0x100) (i64.const 1)) (i64.const 8))
(assert_trap (invoke "far-down" (i64.const 0x100) (i64.const 2)) "out of bounds memory access")
(assert_trap (invoke "far-down" (i64.const 0xfff8) (i64.const 5)) "out of bounds memory access")

(assert_trap (invoke "noted" (i64.const 0xfff0) (i64.const 4)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0)) (i64.const 0x10000))
(assert_return (invoke "peek" (i64.const 8)) (i64.const 0xfff8))
(assert_trap (invoke "noted" (i64.const 0x10008) (i64.const 4)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0)) (i64.const 0x10008))
(assert_return (invoke "peek" (i64.const 8)) (i64.const 0xfff8))

;; Its parts may be anything, as long as the sum is inside.
(assert_return (invoke "row" (i64.const -0x40) (i64.const 8) (i64.const 11)))
(assert_return (invoke "peek" (i64.const 0)) (i64.const 1))
(assert_return (invoke "peek" (i64.const 16)) (i64.const 3))
(assert_trap (invoke "row" (i64.const -0x40) (i64.const 7) (i64.const 11)) "out of bounds memory access")
(assert_return (invoke "row" (i64.const 0x200) (i64.const 0x2000_0000_0000_0000) (i64.const 0x2000_0000_0000_0002)))
(assert_return (invoke "peek" (i64.const 0x208)) (i64.const 2))
(assert_trap (invoke "row" (i64.const 0) (i64.const 8190) (i64.const 9000)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0xfff8)) (i64.const 2))
(assert_trap (invoke "row" (i64.const 0x8000_0000_0000_0000) (i64.const 0) (i64.const 2)) "out of bounds memory access")

(assert_return (invoke "steps" (i64.const 8) (i64.const 4)) (i64.const 40))
(assert_trap (invoke "steps" (i64.const 0) (i64.const 4)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0)) (i64.const 1))
(assert_trap (invoke "steps" (i64.const 0xfff8) (i64.const 4)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0xfff0)) (i64.const 2))

(assert_trap (invoke "grown" (i64.const 0x40000) (i64.const 1)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 0x1fff8)) (i64.const 0))
(assert_return (invoke "grown" (i64.const 0x1fff8) (i64.const 2)))
(assert_return (invoke "peek" (i64.const 0x20000)) (i64.const 2))

;; The same with 32 bits: an index wraps before it is extended.
(module $narrow
  (memory (export "memory") 1 2)
  (func (export "peek") (param i32) (result i32)
    (i32.load (local.get 0)))
  (func (export "up") (param $at i32) (param $n i32) (local $k i32)
    (loop $next
      (i32.store (local.get $at) (local.tee $k (i32.add (local.get $k) (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $k) (local.get $n)))))
  (func (export "down") (param $at i32) (param $n i32) (local $k i32)
    (loop $next
      (i32.store (local.get $at) (local.tee $k (i32.add (local.get $k) (i32.const 1))))
      (local.set $at (i32.sub (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $k) (local.get $n)))))
  (func (export "row") (param $row i32) (param $i i32) (param $end i32) (local $k i32)
    (loop $next
      (i32.store (i32.add (local.get $row) (i32.shl (local.get $i) (i32.const 2)))
        (local.tee $k (i32.add (local.get $k) (i32.const 1))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.ne (local.get $i) (local.get $end)))))
  (func (export "before") (param i32) (result i32)
    (i32.store (local.get 0) (i32.const 6))
    (i32.load offset=4 (i32.sub (local.get 0) (i32.const 4))))
  (func (export "grown") (param $at i32) (param $n i32) (local $k i32)
    (loop $next
      (drop (memory.grow (i32.const 1)))
      (i32.store (local.get $at) (local.tee $k (i32.add (local.get $k) (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $k) (local.get $n))))))

(assert_trap (invoke "up" (i32.const 0xfff0) (i32.const 8)) "out of bounds memory access")
(assert_return (invoke "peek" (i32.const 0xfffc)) (i32.const 4))
(assert_trap (invoke "up" (i32.const -4) (i32.const 3)) "out of bounds memory access")
(assert_trap (invoke "up" (i32.const 0x10000) (i32.const 1)) "out of bounds memory access")
(assert_trap (invoke "up" (i32.const 0x8000_0000) (i32.const 1)) "out of bounds memory access")
(assert_return (invoke "peek" (i32.const 0)) (i32.const 0))
(assert_trap (invoke "down" (i32.const 8) (i32.const 5)) "out of bounds memory access")
(assert_return (invoke "peek" (i32.const 0)) (i32.const 3))
(assert_trap (invoke "down" (i32.const 0xfffd) (i32.const 5)) "out of bounds memory access")
(assert_return (invoke "row" (i32.const -0x20) (i32.const 8) (i32.const 10)))
(assert_return (invoke "peek" (i32.const 4)) (i32.const 2))
(assert_return (invoke "row" (i32.const 0x40) (i32.const 0x4000_0000) (i32.const 0x4000_0002)))
(assert_return (invoke "peek" (i32.const 0x44)) (i32.const 2))
(assert_trap (invoke "row" (i32.const -0x20) (i32.const 7) (i32.const 10)) "out of bounds memory access")
(assert_trap (invoke "row" (i32.const 0) (i32.const 0x3ffe) (i32.const 0x4002)) "out of bounds memory access")
(assert_return (invoke "peek" (i32.const 0xfffc)) (i32.const 2))
(assert_return (invoke "before" (i32.const 4)) (i32.const 6))
(assert_trap (invoke "before" (i32.const 0)) "out of bounds memory access")
(assert_trap (invoke "before" (i32.const 3)) "out of bounds memory access")
(assert_return (invoke "grown" (i32.const 0xfffc) (i32.const 3)))
(assert_return (invoke "peek" (i32.const 0x10004)) (i32.const 3))
(assert_trap (invoke "grown" (i32.const 0x20000) (i32.const 1)) "out of bounds memory access")
