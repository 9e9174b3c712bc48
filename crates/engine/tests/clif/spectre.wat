;; bounds: none pkeys trap guard64 uffd clamp shadow shadow-compressed debug
;; spectre: on
;; Guards of a 64-bit memory under every strategy that is for one.
(module
  (memory i64 1)
  (func (param i64) (result i64)
    (i64.load offset=8 (local.get 0)))
  (func (param i64 i64)
    (i64.store offset=0x100000000 (local.get 0) (local.get 1))))
