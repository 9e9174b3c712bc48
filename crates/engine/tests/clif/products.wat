;; bounds: guard
(module
  ;; The product of two 64-bit integers in full, as compilers' libraries write it.
  (func (export "full") (param $x i64) (param $y i64) (result i64 i64)
    (local $p i64) (local $t i64) (local $m i64)
    (local.set $p (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.and (local.get $y) (i64.const 0xffffffff))))
    (local.set $t (i64.add (i64.shr_u (local.get $p) (i64.const 32))
      (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.shr_u (local.get $y) (i64.const 32)))))
    (local.set $m (i64.add (i64.and (local.get $t) (i64.const 0xffffffff))
      (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.and (local.get $y) (i64.const 0xffffffff)))))
    (i64.add (i64.add (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.shr_u (local.get $y) (i64.const 32)))
      (i64.shr_u (local.get $t) (i64.const 32))) (i64.shr_u (local.get $m) (i64.const 32)))
    (i64.or (i64.shl (local.get $m) (i64.const 32)) (i64.and (local.get $p) (i64.const 0xffffffff))))
  ;; Its carries alone are not: the highest term is another one's.
  (func (export "none") (param $x i64) (param $y i64) (result i64)
    (local $p i64) (local $t i64) (local $m i64)
    (local.set $p (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.and (local.get $y) (i64.const 0xffffffff))))
    (local.set $t (i64.add (i64.shr_u (local.get $p) (i64.const 32))
      (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.shr_u (local.get $y) (i64.const 32)))))
    (local.set $m (i64.add (i64.and (local.get $t) (i64.const 0xffffffff))
      (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.and (local.get $y) (i64.const 0xffffffff)))))
    (i64.add (i64.add (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.shr_u (local.get $x) (i64.const 32)))
      (i64.shr_u (local.get $t) (i64.const 32))) (i64.shr_u (local.get $m) (i64.const 32)))))
