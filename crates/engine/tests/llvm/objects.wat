;; What addresses of objects are made of is in the frame before a call behind which it is used.
(module
  (type $pair (struct (field (mut i64)) (field (mut (ref null $pair)))))
  (type $ints (array (mut i32)))
  (import "" "" (func $call))

  ;; The first is used behind the call, the second is not, the number is no reference.
  (func $behind (param $one (ref $pair)) (param $other (ref $pair)) (param $number i64)
    (struct.set $pair 0 (local.get $other) (local.get $number))
    (call $call)
    (struct.set $pair 0 (local.get $one) (local.get $number)))

  ;; Of an object that a loop goes on with: where it comes from, and what comes next.
  (func $next (param $pair (ref null $pair))
    (local $it (ref null $pair))
    (local.set $it (local.get $pair))
    (call $call)
    (loop $again
      (local.set $it (struct.get $pair 1 (local.get $it)))
      (call $call)
      (br_if $again (i32.eqz (ref.is_null (local.get $it))))))

  ;; Both of which one is chosen, since they are made an address of only behind it.
  (func $chosen (param $one (ref $pair)) (param $other (ref $pair)) (param $which i32) (result i64)
    (call $call)
    (struct.get $pair 0
      (select (result (ref $pair)) (local.get $one) (local.get $other) (local.get $which))))

  ;; One that was chosen in front, and one of those it was chosen of: neither is made of the other.
  (func $before (param $one (ref $pair)) (param $other (ref $pair)) (param $which i32) (result i64)
    (local $it (ref null $pair))
    (local.set $it
      (select (result (ref $pair)) (local.get $one) (local.get $other) (local.get $which)))
    (call $call)
    (i64.add (struct.get $pair 0 (local.get $it)) (struct.get $pair 0 (local.get $one))))

  ;; An array, its elements, and an object that is made meanwhile.
  (func $filled (param $ints (ref $ints)) (param $i i32) (result (ref $pair))
    (loop $again
      (array.set $ints (local.get $ints) (local.get $i) (local.get $i))
      (call $call)
      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    (struct.new $pair (i64.const 1) (ref.null $pair)))

  ;; Used in another turn, where it is used at all.
  (func $sometimes (param $pair (ref $pair)) (param $i i32)
    (loop $again
      (if (i32.and (local.get $i) (i32.const 8))
        (then (struct.set $pair 0 (local.get $pair) (i64.const 7))))
      (call $call)
      (if (i32.and (local.get $i) (i32.const 1)) (then (call $call)))
      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1))))))

  ;; Handed on and no more: kept as it is.
  (func $kept (param $pair (ref $pair)) (result (ref $pair))
    (call $call)
    (local.get $pair)))
