;; Threads with a store each that share a memory: what one publishes with an
;; atomic store the other sees, waits end by a notification, additions of both
;; are counted, bits that both flip are lost by none, and growth by one is seen
;; by the other.

(module $Mem
  (memory (export "shared") 1 4 shared))

(thread $reader (shared (module $Mem))
  (register "mem" $Mem)
  (module
    (memory (import "mem" "shared") 1 4 shared)
    ;; Wait until byte 0 holds 1, however often it wakes up, then read what was
    ;; written before.
    (func (export "read") (result i64)
      (block $ready
        (loop $again
          (br_if $ready (i32.eq (i32.atomic.load (i32.const 0)) (i32.const 1)))
          (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))
          (br $again)))
      (i64.load (i32.const 8)))
    ;; The same for the growth: the size that the flag at 16 announces.
    (func (export "grown") (result i32)
      (loop $again
        (br_if $again (i32.ne (i32.atomic.load (i32.const 16)) (i32.const 1))))
      (i32.load (i32.const 196604))
      (memory.size)
      (i32.add))
    (func (export "add") (param $times i32)
      (loop $again
        (drop (i64.atomic.rmw.add (i32.const 24) (i64.const 3)))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
    ;; How often its own bits were not as it had left them.
    (func (export "flip") (param $times i32) (result i32) (local $own i32) (local $lost i32)
      (loop $again
        (i32.and (i32.atomic.rmw16.xor_u (i32.const 32) (i32.const 0x55)) (i32.const 0x55))
        (i32.ne (local.get $own))
        (local.set $lost (i32.add (local.get $lost)))
        (local.set $own (i32.xor (local.get $own) (i32.const 0x55)))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (local.get $lost))
    (func (export "beyond") (result i32)
      (i32.load (i32.const 262144))))
  (assert_return (invoke "read") (i64.const 0x0123456789abcdef))
  (assert_return (invoke "add" (i32.const 10000)))
  (assert_return (invoke "flip" (i32.const 1000001)) (i32.const 0))
  (assert_return (invoke "grown") (i32.const 10))
  (assert_trap (invoke "beyond") "out of bounds memory access"))

(thread $writer (shared (module $Mem))
  (register "mem" $Mem)
  (module
    (memory (import "mem" "shared") 1 4 shared)
    (func (export "write")
      (i64.store (i32.const 8) (i64.const 0x0123456789abcdef))
      (i32.atomic.store (i32.const 0) (i32.const 1))
      (drop (memory.atomic.notify (i32.const 0) (i32.const -1))))
    (func (export "add") (param $times i32)
      (loop $again
        (drop (i64.atomic.rmw.add (i32.const 24) (i64.const 4)))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
    (func (export "flip") (param $times i32) (result i32) (local $own i32) (local $lost i32)
      (loop $again
        (i32.and (i32.atomic.rmw16.xor_u (i32.const 32) (i32.const 0xaa00)) (i32.const 0xaa00))
        (i32.ne (local.get $own))
        (local.set $lost (i32.add (local.get $lost)))
        (local.set $own (i32.xor (local.get $own) (i32.const 0xaa00)))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (local.get $lost))
    (func (export "grow") (result i32)
      (memory.grow (i32.const 2))
      (i32.store (i32.const 196604) (i32.const 7))
      (i32.atomic.store (i32.const 16) (i32.const 1))))
  (invoke "write")
  (assert_return (invoke "add" (i32.const 10000)))
  (assert_return (invoke "flip" (i32.const 1000001)) (i32.const 0))
  (assert_return (invoke "grow") (i32.const 1)))

(wait $writer)
(wait $reader)

(register "mem" $Mem)
(module
  (memory (import "mem" "shared") 1 4 shared)
  (func (export "sum") (result i64) (i64.atomic.load (i32.const 24)))
  (func (export "flipped") (result i32) (i32.load (i32.const 32)))
  (func (export "size") (result i32) (memory.size)))
(assert_return (invoke "sum") (i64.const 70000))
(assert_return (invoke "flipped") (i32.const 0xaa55))
(assert_return (invoke "size") (i32.const 3))
