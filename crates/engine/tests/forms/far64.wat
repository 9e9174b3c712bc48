;; spectre: off on
;; A memory that can have more than 4 GiB, so that the bits that its indices do not have are
;; the memory's: the forms of `access64` that load a mask.
(module
  (memory i64 1 100000)
  (func (export "load64_near") (param i64) (result i64)
    (i64.load offset=8 (local.get 0)))
  (func (export "twice") (param i64) (result i64)
    (i64.add
      (i64.load (local.get 0))
      (i64.load (i64.load offset=64 (local.get 0))))))
