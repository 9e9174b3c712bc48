;; What atomic instructions compute, beside the official script: operands wider
;; than the place in memory, results that are not used, and waiting.

(module
  (memory 1 2 shared)
  (func (export "set") (param i64) (i64.store (i32.const 8) (local.get 0)))
  (func (export "get") (result i64) (i64.load (i32.const 8)))
  (func (export "get-atomic") (result i64) (i64.atomic.load (i32.const 8)))

  ;; Narrow operations see the low bits of their operands only.
  (func (export "add8") (param i32) (result i32)
    (i32.atomic.rmw8.add_u (i32.const 8) (local.get 0)))
  (func (export "sub16") (param i64) (result i64)
    (i64.atomic.rmw16.sub_u offset=2 (i32.const 8) (local.get 0)))
  (func (export "cmpxchg8") (param i32 i32) (result i32)
    (i32.atomic.rmw8.cmpxchg_u (i32.const 8) (local.get 0) (local.get 1)))
  (func (export "cmpxchg32") (param i64 i64) (result i64)
    (i64.atomic.rmw32.cmpxchg_u (i32.const 8) (local.get 0) (local.get 1)))

  ;; Results that nobody uses.
  (func (export "unused") (param i64)
    (drop (i64.atomic.rmw.or (i32.const 8) (local.get 0)))
    (drop (i64.atomic.rmw32.and_u (i32.const 8) (i64.const 0xffff)))
    (drop (i32.atomic.rmw8.xor_u (i32.const 8) (i32.const 0xff)))
    (atomic.fence))

  ;; The comparison's result as an operand.
  (func (export "store-comparison") (param i32)
    (i32.atomic.store8 (i32.const 8) (i32.eqz (local.get 0))))

  (func (export "grow") (result i32) (memory.grow (i32.const 1)))
  (func (export "size") (result i32) (memory.size))
  (func (export "at-end") (result i32) (i32.atomic.load (i32.const 131068)))

  (func (export "wait32") (param i32 i32 i64) (result i32)
    (memory.atomic.wait32 (local.get 0) (local.get 1) (local.get 2)))
  (func (export "wait64") (param i32 i64 i64) (result i32)
    (memory.atomic.wait64 offset=4 (local.get 0) (local.get 1) (local.get 2)))
  (func (export "notify") (param i32 i32) (result i32)
    (memory.atomic.notify offset=4 (local.get 0) (local.get 1))))

(invoke "set" (i64.const 0x1122334455667788))
(assert_return (invoke "add8" (i32.const 0xfffff079)) (i32.const 0x88))
(assert_return (invoke "get") (i64.const 0x1122334455667701))
(assert_return (invoke "sub16" (i64.const -1)) (i64.const 0x5566))
(assert_return (invoke "get-atomic") (i64.const 0x1122334455677701))
;; What is expected is wrapped before it is compared.
(assert_return (invoke "cmpxchg8" (i32.const 0x7f01) (i32.const 0x1ff)) (i32.const 1))
(assert_return (invoke "get") (i64.const 0x11223344556777ff))
(assert_return (invoke "cmpxchg32" (i64.const -1) (i64.const 0)) (i64.const 0x556777ff))
(assert_return (invoke "cmpxchg32" (i64.const 0x7fffffff556777ff) (i64.const -2)) (i64.const 0x556777ff))
(assert_return (invoke "get") (i64.const 0x11223344fffffffe))
(invoke "set" (i64.const 0))
(invoke "unused" (i64.const 0x0123456789abcdef))
(assert_return (invoke "get") (i64.const 0x012345670000cd10))
(invoke "store-comparison" (i32.const 0))
(assert_return (invoke "get") (i64.const 0x012345670000cd01))

;; A shared memory grows to its maximum.
(assert_trap (invoke "at-end") "out of bounds memory access")
(assert_return (invoke "grow") (i32.const 1))
(assert_return (invoke "size") (i32.const 2))
(assert_return (invoke "at-end") (i32.const 0))
(assert_return (invoke "grow") (i32.const -1))
(assert_return (invoke "size") (i32.const 2))

;; Waiting: not equal, timed out at once and later; nobody to notify.
(invoke "set" (i64.const 0x0000000700000005))
(assert_return (invoke "wait32" (i32.const 8) (i32.const 6) (i64.const -1)) (i32.const 1))
(assert_return (invoke "wait32" (i32.const 8) (i32.const 5) (i64.const 0)) (i32.const 2))
(assert_return (invoke "wait32" (i32.const 8) (i32.const 5) (i64.const 1000000)) (i32.const 2))
(assert_return (invoke "wait64" (i32.const 4) (i64.const 0x700000005) (i64.const 10)) (i32.const 2))
(assert_return (invoke "wait64" (i32.const 4) (i64.const 5) (i64.const -1)) (i32.const 1))
(assert_return (invoke "notify" (i32.const 4) (i32.const -1)) (i32.const 0))
;; These are checked under every strategy: the runtime makes them.
(assert_trap (invoke "wait32" (i32.const 2) (i32.const 0) (i64.const 0)) "unaligned atomic")
(assert_trap (invoke "wait64" (i32.const 8) (i64.const 0) (i64.const 0)) "unaligned atomic")
(assert_trap (invoke "wait32" (i32.const 131072) (i32.const 0) (i64.const 0)) "out of bounds memory access")
(assert_trap (invoke "wait32" (i32.const 131073) (i32.const 0) (i64.const 0)) "unaligned atomic")
(assert_trap (invoke "wait64" (i32.const -4) (i64.const 0) (i64.const 0)) "out of bounds memory access")
(assert_trap (invoke "notify" (i32.const 131068) (i32.const 1)) "out of bounds memory access")
(assert_trap (invoke "notify" (i32.const 1) (i32.const 1)) "unaligned atomic")

;; Waiting needs a shared memory, and says so after the address was checked;
;; notifying does not.
(module
  (memory 1)
  (func (export "wait32") (param i32) (result i32)
    (memory.atomic.wait32 (local.get 0) (i32.const 0) (i64.const 0)))
  (func (export "wait64") (param i32) (result i32)
    (memory.atomic.wait64 (local.get 0) (i64.const 0) (i64.const 0)))
  (func (export "notify") (param i32) (result i32)
    (memory.atomic.notify (local.get 0) (i32.const 1))))

(assert_trap (invoke "wait32" (i32.const 0)) "expected shared memory")
(assert_trap (invoke "wait64" (i32.const 0)) "expected shared memory")
(assert_trap (invoke "wait64" (i32.const 65536)) "out of bounds memory access")
(assert_trap (invoke "wait32" (i32.const 1)) "unaligned atomic")
(assert_return (invoke "notify" (i32.const 65532)) (i32.const 0))
(assert_trap (invoke "notify" (i32.const 65536)) "out of bounds memory access")

;; What is expected of 32 bits, in a register with whatever above them.
(module
  (memory 1 1 shared)
  (func (export "set") (param i64) (i64.store (i32.const 8) (local.get 0)))
  (func (export "get") (result i64) (i64.load (i32.const 8)))
  (func (export "wide") (param i64 i64) (result i64)
    (i64.atomic.rmw32.cmpxchg_u (i32.const 8) (local.get 0) (local.get 1)))
  (func (export "wrapped") (param i64 i64) (result i32)
    (i32.atomic.rmw.cmpxchg (i32.const 8)
      (i32.wrap_i64 (local.get 0)) (i32.wrap_i64 (local.get 1))))
  (func (export "added") (param i64 i64) (result i32)
    (i32.atomic.rmw.cmpxchg (i32.const 8)
      (i32.wrap_i64 (i64.add (local.get 0) (i64.const 1))) (i32.wrap_i64 (local.get 1))))
  (func (export "narrow") (param i64 i64) (result i64)
    (i64.atomic.rmw16.cmpxchg_u (i32.const 10) (local.get 0) (local.get 1))))

(invoke "set" (i64.const 0x7777777780000001))
(assert_return (invoke "wide" (i64.const 0x0000000080000001) (i64.const 2)) (i64.const 0x80000001))
(assert_return (invoke "wide" (i64.const 0x1234567800000002) (i64.const -3)) (i64.const 2))
(assert_return (invoke "wide" (i64.const 0x12345678fffffffd) (i64.const 4)) (i64.const 0xfffffffd))
(assert_return (invoke "wide" (i64.const 0x0000000100000003) (i64.const 5)) (i64.const 4))
(assert_return (invoke "get") (i64.const 0x7777777700000004))
(assert_return (invoke "wrapped" (i64.const 0x5555555500000004) (i64.const 0x66666666fffffff0)) (i32.const 4))
(assert_return (invoke "wrapped" (i64.const 0x55555555fffffff0) (i64.const 0x80000000)) (i32.const -16))
(assert_return (invoke "added" (i64.const 0x000000007fffffff) (i64.const -1)) (i32.const 0x80000000))
(assert_return (invoke "added" (i64.const 0x00000000fffffffe) (i64.const 0x8000abcd)) (i32.const -1))
(assert_return (invoke "narrow" (i64.const 0x123456789abc8000) (i64.const 0xffffffff0000ffff)) (i64.const 0x8000))
(assert_return (invoke "narrow" (i64.const -1) (i64.const 0x80000000)) (i64.const 0xffff))
(assert_return (invoke "get") (i64.const 0x777777770000abcd))
