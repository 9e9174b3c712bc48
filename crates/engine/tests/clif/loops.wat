;; A counter's step is compared as 64 bits, so that Cranelift does not turn
;; `i + 1 == n` into `i == n - 1` and keep both alive.
(module
  (func (param i32) (result i32)
    (loop $up
      (br_if $up (i32.ne (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 100))))
    (loop $down
      (br_if $down (i32.eqz (i32.eqz (local.tee 0 (i32.add (local.get 0) (i32.const -1)))))))
    (local.get 0)))
