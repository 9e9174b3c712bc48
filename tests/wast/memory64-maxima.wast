;; A 64-bit memory may declare any maximum up to 2^48 pages. It is a promise not to
;; grow further, not that there is room: growth fails where the implementation ends.

(module $owner
  (memory (export "memory") i64 1 0x1000000000000)
  (func (export "size") (result i64) (memory.size))
  (func (export "grow") (param i64) (result i64) (memory.grow (local.get 0)))
  (func (export "load") (param i64) (result i64) (i64.load (local.get 0)))
  (func (export "store") (param i64 i64) (i64.store (local.get 0) (local.get 1)))
)
(register "owner" $owner)

(assert_return (invoke "grow" (i64.const 1)) (i64.const 1))
(assert_return (invoke "store" (i64.const 0x1fff8) (i64.const 42)))
(assert_return (invoke "load" (i64.const 0x1fff8)) (i64.const 42))
(assert_trap (invoke "load" (i64.const 0x1fff9)) "out of bounds memory access")
(assert_trap (invoke "load" (i64.const 0x10000000000)) "out of bounds memory access")
(assert_trap (invoke "load" (i64.const -8)) "out of bounds memory access")
;; Within the declared maximum, and beyond what any address space holds.
(assert_return (invoke "grow" (i64.const 0xfffffffffffe)) (i64.const -1))
(assert_return (invoke "grow" (i64.const 0x1000000)) (i64.const -1))
;; Beyond the declared maximum.
(assert_return (invoke "grow" (i64.const 0xffffffffffff)) (i64.const -1))
(assert_return (invoke "grow" (i64.const -1)) (i64.const -1))
(assert_return (invoke "size") (i64.const 2))

;; The type of an import is held against what was declared.
(module
  (import "owner" "memory" (memory i64 1 0x1000000000000))
  (func (export "load") (param i64) (result i64) (i64.load (local.get 0)))
)
(assert_return (invoke "load" (i64.const 0x1fff8)) (i64.const 42))
(assert_trap (invoke "load" (i64.const 0x1fff9)) "out of bounds memory access")
(assert_unlinkable
  (module (import "owner" "memory" (memory i64 1 0xffffffffffff)))
  "incompatible import type")

(assert_invalid (module (memory i64 0 0x1000000000001)) "memory size")
(assert_invalid (module (memory i64 0x1000000000001)) "memory size")
(assert_invalid (module (memory i64 0 0xffffffffffffffff)) "memory size")
