;; bounds: shadow trap
;; spectre: on
;; A shared memory may have grown since its length was read, and the byte there be
;; accessible: an index that is not below it traps, and is not only replaced by it.
(module
  (memory i64 1 16 shared)
  (func (param i64) (result i64)
    (i64.load (local.get 0))))
