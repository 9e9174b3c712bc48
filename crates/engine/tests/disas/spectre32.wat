;; bounds: guard uffd trap clamp shadow shadow-compressed debug
;; spectre: on
;; The reservation of a 32-bit memory has room for every index and the offset 8, not
;; for every index and one of 128 MiB: only there is a guard, and under `guard` and
;; `uffd` never.
(module
  (memory 1 1)
  (func (export "near") (param i32) (result i32)
    (i32.load offset=8 (local.get 0)))
  (func (export "far") (param i32) (result i32)
    (i32.load offset=0x8000000 (local.get 0))))
