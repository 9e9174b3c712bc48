;; What `fathom probe` found other engines to get wrong, each in few lines: which
;; engine and what it does instead is in docs/SOUNDNESS.md.

;; wasm3: a negative count of pages is a very large one, and must be refused.
(module
  (memory 1)
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "size") (result i32) (memory.size)))

(assert_return (invoke "grow" (i32.const -1)) (i32.const -1))
(assert_return (invoke "size") (i32.const 1))

;; WAMR: a place in a segment has no sign either.
(module
  (memory 1)
  (data $bytes "abcdefgh")
  (func (export "init") (param i32 i32 i32)
    (memory.init $bytes (local.get 0) (local.get 1) (local.get 2)))
  (func (export "load") (param i32) (result i64) (i64.load (local.get 0))))

(assert_trap (invoke "init" (i32.const 0) (i32.const -8) (i32.const 8)) "out of bounds memory access")
(assert_return (invoke "load" (i32.const 0)) (i64.const 0))
(assert_trap (invoke "init" (i32.const 0) (i32.const 8) (i32.const -8)) "out of bounds memory access")

;; Wasmer, JavaScriptCore: the last byte of 4 GiB is inside.
(module
  (memory 65536)
  (func (export "fill") (param i32 i32 i32)
    (memory.fill (local.get 0) (local.get 1) (local.get 2)))
  (func (export "load") (param i32) (result i32)
    (i32.load8_u offset=4294967295 (local.get 0))))

(assert_return (invoke "load" (i32.const 0)) (i32.const 0))
(assert_return (invoke "fill" (i32.const -1) (i32.const 7) (i32.const 1)))
(assert_return (invoke "load" (i32.const 0)) (i32.const 7))

;; Chicory: atomic instructions are for memories that are not shared, too; and the sum
;; of address and offset does not wrap.
(module
  (memory 1)
  (func (export "atomic") (param i32) (result i32) (i32.atomic.load (local.get 0)))
  (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "store") (param i32) (i32.store8 offset=1 (local.get 0) (i32.const 7)))
  ;; Wasmer's Singlepass: its alignment is 4, as that of any atomic access is its width.
  (func (export "store32") (param i32) (i64.atomic.store32 (local.get 0) (i64.const 7))))

(assert_return (invoke "atomic" (i32.const 4)) (i32.const 0))
(assert_trap (invoke "store" (i32.const -1)) "out of bounds memory access")
(assert_return (invoke "load" (i32.const 0)) (i32.const 0))
(assert_trap (invoke "store32" (i32.const 2)) "unaligned atomic")

;; GraalWasm: the sum does not wrap in atomic instructions either.
(module
  (memory 1)
  (func (export "load") (param i32) (result i32)
    (i32.atomic.load offset=1 (local.get 0))))

(assert_trap (invoke "load" (i32.const -1)) "out of bounds memory access")
