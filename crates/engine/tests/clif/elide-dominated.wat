;; bounds: guard64 trap
;; elide: dominated
;; Rule "dominated": an access on every way here went well.
(module
  (memory i64 1)
  ;; Further on, and back where the offset is 0: one check.
  (func (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 1))
    (i64.store offset=8 (i64.add (local.get 0) (i64.const 4096)) (i64.const 2))
    (i64.load (i64.sub (local.get 0) (i64.const 4096))))
  ;; Back with an offset: it could lead into the memory again. Two checks.
  (func (param i64) (result i64)
    (i64.store (local.get 0) (i64.const 1))
    (i64.load offset=8 (i64.sub (local.get 0) (i64.const 8))))
  ;; On one way only: both checks stay.
  (func (param i64 i32) (result i64)
    (if (local.get 1) (then (i64.store (local.get 0) (i64.const 1))))
    (i64.load (local.get 0)))
  ;; A sum of the same terms, and one with a byte more: one check.
  (func (param i64 i64) (result i64)
    (i64.store (i64.add (local.get 0) (i64.shl (local.get 1) (i64.const 3))) (i64.const 1))
    (i64.add
      (i64.load (i64.add (i64.mul (local.get 1) (i64.const 8)) (local.get 0)))
      (i64.load
        (i64.add
          (i64.add (local.get 0) (i64.shl (local.get 1) (i64.const 3)))
          (i64.load8_u (i64.const 0)))))))
