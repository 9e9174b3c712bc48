(module
  (func (param f64) (result f64) (f64.mul (local.get 0) (f64.const 1)))
  (func (param f64) (result f64) (f64.mul (local.get 0) (f64.const 3)))
  (func (param f32 f32) (result f32) (f32.min (local.get 0) (local.get 1)))
  (func (param f64) (result i32) (i32.trunc_f64_s (local.get 0)))
  (func (param f32) (result f32) (f32.demote_f64 (f64.promote_f32 (local.get 0)))))
