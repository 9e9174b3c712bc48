;; Exceptions that something refers to are kept, whatever is thrown meanwhile:
;; in a table, a global, a local, a value of another exception.

(module
  (tag $int (param i32))
  (tag $pair (param i32 exnref))
  (table $kept 100 exnref)
  (global $kept (mut exnref) (ref.null exn))

  (func $new (param $value i32) (result exnref)
    (block $ref (result exnref)
      (try_table (catch_all_ref $ref) (throw $int (local.get $value)))
      unreachable))
  (func $cons (param $value i32) (param $next exnref) (result exnref)
    (block $ref (result exnref)
      (try_table (catch_all_ref $ref)
        (throw $pair (local.get $value) (local.get $next)))
      unreachable))
  (func $value (param exnref) (result i32)
    (block $int (result i32)
      (try_table (catch $int $int) (throw_ref (local.get 0)))
      unreachable))

  ;; Thrown and caught by reference, $n times, and nobody keeps them.
  (func $litter (export "litter") (param $n i32)
    (loop $next
      (drop (call $new (local.get $n)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))))

  (func (export "table") (result i32) (local $i i32) (local $sum i32)
    (loop $next
      (table.set $kept (local.get $i) (call $new (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 100))))
    (call $litter (i32.const 20000))
    (loop $next
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (local.set $sum (i32.add (local.get $sum)
        (call $value (table.get $kept (local.get $i)))))
      (br_if $next (local.get $i)))
    (local.get $sum))

  (func (export "global") (result i32)
    (global.set $kept (call $new (i32.const 42)))
    (call $litter (i32.const 20000))
    (call $value (global.get $kept)))

  (func (export "local") (result i32) (local $a exnref) (local $b exnref)
    (local.set $a (call $new (i32.const 1)))
    (local.set $b (call $new (i32.const 20)))
    ;; One on the operand stack, too.
    (call $new (i32.const 300))
    (call $litter (i32.const 20000))
    (call $value)
    (i32.add (call $value (local.get $a)))
    (i32.add (call $value (local.get $b))))

  ;; A list of a thousand, walked to its end.
  (func (export "list") (result i32)
    (local $i i32) (local $list exnref) (local $sum i32)
    (local.set $i (i32.const 1000))
    (loop $next
      (local.set $list (call $cons (local.get $i) (local.get $list)))
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br_if $next (local.get $i)))
    (call $litter (i32.const 20000))
    (loop $next
      (block $pair (result i32 exnref)
        (try_table (catch $pair $pair) (throw_ref (local.get $list)))
        unreachable)
      (local.set $list)
      (local.set $sum (i32.add (local.get $sum)))
      (br_if $next (i32.eqz (ref.is_null (local.get $list)))))
    (local.get $sum))
)

(assert_return (invoke "litter" (i32.const 20000)))
(assert_return (invoke "table") (i32.const 4950))
(assert_return (invoke "global") (i32.const 42))
(assert_return (invoke "local") (i32.const 321))
(assert_return (invoke "list") (i32.const 500500))
