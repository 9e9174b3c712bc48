;; bounds: shadow shadow:mov shadow:test shadow-compressed shadow-compressed:segfault:test guard64 guard64:shift debug
;; What is emitted in front of a load and a store with one index, for a 64-bit
;; memory.
(module
  (memory i64 1)
  (func (export "both") (param i64 i32) (result i32)
    local.get 0
    i32.load
    local.get 0
    local.get 1
    i32.store offset=8))
