;; Elements of arrays by numbers of 32 bits, as C has them, on a 64-bit memory: beside an
;; access to the array itself they may need no check. Just inside and just outside of the
;; memory, the least and the greatest number, and what was stored before the trap.

(module $unbounded
  (memory (export "memory") i64 1)
  (func (export "peek") (param i64) (result i64) (i64.load (local.get 0)))
  (func (export "grow") (param i64) (result i64) (memory.grow (local.get 0)))
  (func (export "element") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))))
  (func (export "set") (param $a i64) (param $i i32)
    (i64.store (local.get $a) (i64.const 6))
    (i64.store (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))
      (i64.const 7)))
  (func (export "unsigned") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_u (local.get $i)) (i64.const 3)))))
  (func (export "with-offset") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load offset=16
      (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))))
  (func (export "before") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.sub
      (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))
      (i64.const 0x1000_0008))))
  (func (export "wide") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64x2.extract_lane 0 (v128.load
      (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 4))))))
  (func (export "two") (param $a i64) (param $i i32) (param $j i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.add
      (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3))))
      (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $j)) (i64.const 3))))))
  (func (export "of-two") (param $a i64) (param $i i32) (param $j i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add
      (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))
      (i64.shl (i64.extend_i32_s (local.get $j)) (i64.const 3)))))
  ;; The first access is of an element, not of the array.
  (func (export "elements") (param $a i64) (param $i i32) (param $j i32) (result i64)
    (i64.store (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))
      (i64.const 9))
    (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $j)) (i64.const 3)))))
  (func (export "below") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.sub (local.get $a) (i64.shl
      (i64.and (i64.extend_i32_u (local.get $i)) (i64.const 0x3fff_ffff)) (i64.const 3)))))
  ;; `n` elements, upwards from the one with number `i`.
  (func (export "sum") (param $a i64) (param $i i32) (param $n i32) (result i64)
    (local $sum i64) (local $at i64)
    (i64.store (local.get $a) (i64.const 5))
    (local.set $at
      (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3))))
    (loop $next
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))

(assert_return (invoke "element" (i64.const 64) (i32.const 0)) (i64.const 5))
(assert_return (invoke "element" (i64.const 64) (i32.const -8)) (i64.const 0))
(assert_trap (invoke "element" (i64.const 64) (i32.const -9)) "out of bounds memory access")
(assert_return (invoke "element" (i64.const 0) (i32.const 8191)) (i64.const 0))
(assert_trap (invoke "element" (i64.const 0) (i32.const 8192)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const -1)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 7) (i32.const -1)) "out of bounds memory access")
(assert_return (invoke "element" (i64.const 8) (i32.const -1)) (i64.const 0x0500_0000_0000_0005))
(assert_trap (invoke "element" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 65528) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 65528) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 65529) (i32.const 0)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const -8) (i32.const 1)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const -8) (i32.const 2)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0x10_0000_0000) (i32.const 0)) "out of bounds memory access")

;; What comes before the trap is done, and nothing else.
(assert_trap (invoke "set" (i64.const 128) (i32.const -17)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 128)) (i64.const 6))
(assert_trap (invoke "set" (i64.const 136) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_return (invoke "peek" (i64.const 136)) (i64.const 6))
(assert_return (invoke "set" (i64.const 144) (i32.const 1)))
(assert_return (invoke "peek" (i64.const 152)) (i64.const 7))

(assert_return (invoke "unsigned" (i64.const 0) (i32.const 2)) (i64.const 0))
(assert_trap (invoke "unsigned" (i64.const 0) (i32.const -1)) "out of bounds memory access")
(assert_trap (invoke "unsigned" (i64.const 65528) (i32.const 1)) "out of bounds memory access")

;; With an offset, an index below 0 is beyond every memory, wherever the sum is.
(assert_return (invoke "with-offset" (i64.const 256) (i32.const -2)) (i64.const 5))
(assert_trap (invoke "with-offset" (i64.const 0) (i32.const -1)) "out of bounds memory access")
(assert_trap (invoke "with-offset" (i64.const 0) (i32.const -2)) "out of bounds memory access")
(assert_trap (invoke "with-offset" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "with-offset" (i64.const 65512) (i32.const 1)) "out of bounds memory access")

;; Further than an element can be.
(assert_trap (invoke "before" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "before" (i64.const 65528) (i32.const 0)) "out of bounds memory access")
(assert_return (invoke "before" (i64.const 64) (i32.const 0x0200_0001)) (i64.const 5))
(assert_trap (invoke "wide" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "wide" (i64.const 0) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_return (invoke "wide" (i64.const 512) (i32.const 0)) (i64.const 5))

(assert_return (invoke "two" (i64.const 512) (i32.const 0) (i32.const 0)) (i64.const 10))
(assert_trap (invoke "two" (i64.const 512) (i32.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "two" (i64.const 512) (i32.const 0x7fff_ffff) (i32.const 0)) "out of bounds memory access")
(assert_return (invoke "of-two" (i64.const 512) (i32.const 0x7fff_ffff) (i32.const 0x8000_0001)) (i64.const 5))
(assert_trap (invoke "of-two" (i64.const 512) (i32.const 0x7fff_ffff) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_trap (invoke "of-two" (i64.const 512) (i32.const 0x8000_0000) (i32.const 0x8000_0000)) "out of bounds memory access")

;; An array that begins outside, with an element inside: 16 GiB below, and above.
(assert_return (invoke "elements" (i64.const -0x3_ffff_fff8) (i32.const 0x7fff_ffff) (i32.const 0x7fff_ffff)) (i64.const 9))
(assert_trap (invoke "elements" (i64.const -0x3_ffff_fff8) (i32.const 0x7fff_ffff) (i32.const 0)) "out of bounds memory access")
(assert_trap (invoke "elements" (i64.const -0x3_ffff_fff8) (i32.const 0x7fff_ffff) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_return (invoke "elements" (i64.const 0x4_0000_0000) (i32.const 0x8000_0000) (i32.const 0x8000_0001)) (i64.const 5))
(assert_trap (invoke "elements" (i64.const 0x4_0000_0000) (i32.const 0x8000_0000) (i32.const 0x7fff_ffff)) "out of bounds memory access")

(assert_return (invoke "below" (i64.const 512) (i32.const 0)) (i64.const 5))
(assert_trap (invoke "below" (i64.const 512) (i32.const 65)) "out of bounds memory access")
(assert_trap (invoke "below" (i64.const 0) (i32.const 0x3fff_ffff)) "out of bounds memory access")

(assert_return (invoke "sum" (i64.const 512) (i32.const 0) (i32.const 1)) (i64.const 5))
(assert_trap (invoke "sum" (i64.const 512) (i32.const 0x8000_0000) (i32.const 2)) "out of bounds memory access")
(assert_trap (invoke "sum" (i64.const 512) (i32.const -65) (i32.const 70)) "out of bounds memory access")
(assert_trap (invoke "sum" (i64.const 65528) (i32.const 0) (i32.const 2)) "out of bounds memory access")

;; The memory grows: what was outside is inside.
(assert_return (invoke "grow" (i64.const 1)) (i64.const 1))
(assert_return (invoke "element" (i64.const 0) (i32.const 8192)) (i64.const 0))
(assert_trap (invoke "element" (i64.const 0) (i32.const 16384)) "out of bounds memory access")

;; The same where little is reserved around the memory.
(module $bounded
  (memory i64 1 4)
  (func (export "element") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))))
  (func (export "near") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add (local.get $a) (i64.shl
      (i64.and (i64.extend_i32_s (local.get $i)) (i64.const 0x1fff_ffff)) (i64.const 3))))))

(assert_return (invoke "element" (i64.const 64) (i32.const 0)) (i64.const 5))
(assert_trap (invoke "element" (i64.const 64) (i32.const -9)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 65528) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const 8192)) "out of bounds memory access")
(assert_return (invoke "near" (i64.const 0) (i32.const 8191)) (i64.const 5))
(assert_trap (invoke "near" (i64.const 65528) (i32.const 0x1fff_ffff)) "out of bounds memory access")

;; An imported memory, which may have been made with a lesser maximum.
(module $owner (memory (export "m") i64 1 2))
(register "owner")
(module $imports
  (import "owner" "m" (memory i64 1))
  (func (export "element") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.add (local.get $a) (i64.shl (i64.extend_i32_s (local.get $i)) (i64.const 3)))))
  (func (export "below") (param $a i64) (param $i i32) (result i64)
    (i64.store (local.get $a) (i64.const 5))
    (i64.load (i64.sub (local.get $a) (i64.shl
      (i64.and (i64.extend_i32_u (local.get $i)) (i64.const 0x3fff_ffff)) (i64.const 3))))))

(assert_return (invoke "element" (i64.const 64) (i32.const 0)) (i64.const 5))
(assert_trap (invoke "element" (i64.const 64) (i32.const -9)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const 0x8000_0000)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 65528) (i32.const 0x7fff_ffff)) "out of bounds memory access")
(assert_trap (invoke "element" (i64.const 0) (i32.const 8192)) "out of bounds memory access")
(assert_return (invoke "below" (i64.const 512) (i32.const 0)) (i64.const 5))
(assert_trap (invoke "below" (i64.const 512) (i32.const 65)) "out of bounds memory access")
(assert_trap (invoke "below" (i64.const 0) (i32.const 0x3fff_ffff)) "out of bounds memory access")
