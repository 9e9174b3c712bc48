(module
  (memory 1)
  ;; shapes are only relabelled where they differ
  (func (param i32 v128 v128) (result v128)
    (f32x4.mul
      (f32x4.add (local.get 1) (local.get 2))
      (v128.bitselect
        (f32x4.sqrt (local.get 1))
        (local.get 2)
        (f32x4.lt (local.get 1) (local.get 2)))))
  (func (param i32 v128) (result i32)
    (v128.store (local.get 0) (i32x4.dot_i16x8_s (local.get 1) (local.get 1)))
    (v128.store16_lane 3 (local.get 0) (local.get 1))
    (i32.add
      (i8x16.bitmask (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get 1) (v128.load32_splat (local.get 0))))
      (v128.any_true (f64x2.pmin (local.get 1) (v128.load32x2_u (local.get 0))))))
  (func (param v128) (result v128)
    (i32x4.trunc_sat_f64x2_u_zero (f64x2.convert_low_i32x4_s (local.get 0)))))
