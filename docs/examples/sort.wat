;; Sorts 200,000 numbers by a heap, whose accesses no loop foretells, and prints a number made of them.
(module $sort
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 14)
  (global $count i32 (i32.const 200000))

  ;; Numbers are from 1024 on, four bytes each.
  (func $get (param $at i32) (result i32)
    (i32.load offset=1024 (i32.shl (local.get $at) (i32.const 2))))
  (func $set (param $at i32) (param $number i32)
    (i32.store offset=1024 (i32.shl (local.get $at) (i32.const 2)) (local.get $number)))

  (func $fill (local $at i32) (local $seed i32)
    (loop $more
      (local.set $seed
        (i32.add (i32.mul (local.get $seed) (i32.const 1664525)) (i32.const 1013904223)))
      (call $set (local.get $at) (local.get $seed))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $at) (global.get $count)))))

  ;; Sinks the number at `$at` below those that are greater, in a heap of `$end` numbers.
  (func $sink (param $at i32) (param $end i32) (local $child i32) (local $number i32)
    (local.set $number (call $get (local.get $at)))
    (block $done
      (loop $down
        (local.set $child (i32.add (i32.shl (local.get $at) (i32.const 1)) (i32.const 1)))
        (br_if $done (i32.ge_u (local.get $child) (local.get $end)))
        (if (i32.lt_u (i32.add (local.get $child) (i32.const 1)) (local.get $end))
          (then
            (local.set $child
              (i32.add
                (local.get $child)
                (i32.lt_u
                  (call $get (local.get $child))
                  (call $get (i32.add (local.get $child) (i32.const 1))))))))
        (br_if $done (i32.ge_u (local.get $number) (call $get (local.get $child))))
        (call $set (local.get $at) (call $get (local.get $child)))
        (local.set $at (local.get $child))
        (br $down)))
    (call $set (local.get $at) (local.get $number)))

  (func $sort (local $at i32) (local $number i32)
    (local.set $at (i32.shr_u (global.get $count) (i32.const 1)))
    (loop $heap
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (call $sink (local.get $at) (global.get $count))
      (br_if $heap (local.get $at)))
    (local.set $at (i32.sub (global.get $count) (i32.const 1)))
    (loop $take
      (local.set $number (call $get (local.get $at)))
      (call $set (local.get $at) (call $get (i32.const 0)))
      (call $set (i32.const 0) (local.get $number))
      (call $sink (i32.const 0) (local.get $at))
      (br_if $take (local.tee $at (i32.sub (local.get $at) (i32.const 1))))))

  ;; Eight digits that depend on every number and on its place.
  (func $digits (local $at i32) (local $sum i32)
    (loop $more
      (local.set $sum
        (i32.add (i32.mul (local.get $sum) (i32.const 31)) (call $get (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $at) (global.get $count))))
    (local.set $at (i32.const 8))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 offset=16 (local.get $at)
        (i32.load8_u offset=32 (i32.and (local.get $sum) (i32.const 15))))
      (local.set $sum (i32.shr_u (local.get $sum) (i32.const 4)))
      (br_if $digit (local.get $at))))

  (data (i32.const 0) "\10\00\00\00\09\00\00\00")
  (data (i32.const 16) "        \n")
  (data (i32.const 32) "0123456789abcdef")
  (func (export "_start")
    (call $fill)
    (call $sort)
    (call $digits)
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
