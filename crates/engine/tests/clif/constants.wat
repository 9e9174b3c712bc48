;; A float constant in a loop is taken from a vector, which is loaded once; not
;; in straight code, and not the fifth one.
(module
  (func (param f64 f32 i32) (result f64)
    (local.set 0 (f64.mul (local.get 0) (f64.const 1.5)))
    (loop $again
      (local.set 0 (f64.mul (f64.const 1.5) (local.get 0)))
      (local.set 1 (f32.add (f32.const 2.5) (local.get 1)))
      (local.set 0 (f64.add (f64.const 0) (local.get 0)))
      (local.set 0 (f64.add (f64.const 3.5) (local.get 0)))
      (local.set 0 (f64.add (f64.const 4.5) (local.get 0)))
      (local.set 0 (f64.add (f64.const 5.5) (local.get 0)))
      (br_if $again (local.tee 2 (i32.sub (local.get 2) (i32.const 1)))))
    (f64.add (local.get 0) (f64.promote_f32 (local.get 1)))))
