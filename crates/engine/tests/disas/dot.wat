;; bounds: guard trap clamp
;; A dot product: one jump a round, the length compared with in a register,
;; offsets in the addressing mode, the constant loaded in front of the loop.
(module
  (memory 1)
  (func (param $x i32) (param $y i32) (param $end i32) (result f64)
    (local $sum f64)
    (loop $again
      (local.set $sum
        (f64.add (local.get $sum)
          (f64.mul (f64.const 1.5)
            (f64.mul (f64.load offset=8 (local.get $x)) (f64.load offset=16 (local.get $y))))))
      (local.set $y (i32.add (local.get $y) (i32.const 8)))
      (br_if $again
        (i32.ne (local.tee $x (i32.add (local.get $x) (i32.const 8))) (local.get $end))))
    (local.get $sum)))
