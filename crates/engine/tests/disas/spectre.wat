;; bounds: trap guard64 guard64:shift uffd clamp shadow shadow-compressed debug
;; spectre: off on
;; What an access of a 64-bit memory has for the processor that goes ahead of its
;; check: a mask, or a conditional move; and none without `spectre`.
(module
  (memory i64 1)
  (func (export "load") (param i64) (result i32)
    (i32.load offset=8 (local.get 0))))
