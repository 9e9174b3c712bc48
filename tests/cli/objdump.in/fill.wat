;; A loop of stores, and a function that touches no memory.
(module
  (memory (export "memory") 1)
  (func $fill (export "fill") (param $to i32) (param $len i32)
    (loop $next
      (i32.store8 offset=4 (local.get $to) (i32.const 7))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (br_if $next (local.tee $len (i32.sub (local.get $len) (i32.const 1))))))
  (func $add (param i32 i32) (result i32)
    (i32.add (local.get 0) (local.get 1))))
