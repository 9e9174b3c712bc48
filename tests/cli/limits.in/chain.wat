;; Nests exceptions, each with a reference to the one before.
(module $chain
  (tag $n (param exnref v128 v128 v128 v128))
  (func $nest (param $e exnref) (result exnref)
    (block $h (result exnref)
      (try_table (catch_all_ref $h)
        (throw $n (local.get $e) (v128.const i64x2 1 2) (v128.const i64x2 1 2)
          (v128.const i64x2 1 2) (v128.const i64x2 1 2)))
      (unreachable)))
  (func (export "go") (param $n i32) (local $b exnref)
    (loop $l
      (local.set $b (call $nest (local.get $b)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n)))))
