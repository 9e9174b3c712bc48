;; One per cent more steps than before.
(module
  (memory (export "memory") 1)
  (func (export "_start") (local $i i32) (local $x i32)
    (local.set $x (i32.const 12345))
    (loop $step
      (local.set $x (i32.add (i32.mul (local.get $x) (i32.const 1103515245)) (i32.const 12345)))
      (i32.store (i32.and (local.get $x) (i32.const 0xfffc)) (local.get $x))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $step (i32.lt_u (local.get $i) (i32.const 1010000))))))
