;; bounds: guard trap
(module
  (memory 1)
  (memory $shared 1 2 shared)
  ;; c[i] = a[i] + b[i], upwards to an end
  (func (param $a i32) (param $b i32) (param $c i32) (param $n i32) (local $i i32)
    (loop $again
      (f64.store offset=8 (i32.add (local.get $c) (i32.shl (local.get $i) (i32.const 3)))
        (f64.add
          (f64.load (i32.add (local.get $a) (i32.shl (local.get $i) (i32.const 3))))
          (f64.load (i32.add (local.get $b) (i32.shl (local.get $i) (i32.const 3))))))
      (br_if $again
        (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))))
  ;; a sum of what is read, of a pointer that meets its end
  (func (param $p i32) (param $end i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $p))))
      (br_if $again
        (i32.ne (local.tee $p (i32.add (local.get $p) (i32.const 4))) (local.get $end))))
    (local.get $sum))
  ;; an index that is loaded: it stays as it is
  (func (param $p i32) (param $n i32)
    (loop $again
      (i32.store8 (i32.load (local.get $p)) (i32.const 0))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  ;; another thread may grow it: it stays as it is
  (func (param $p i32) (param $n i32)
    (loop $again
      (i32.store $shared (local.get $p) (i32.const 0))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  ;; an index from around the loop, which a local brings in; and two turns of one loop
  (func (param $a i32) (param $b i32) (param $c i32) (local $i i32) (local $k i32) (local $row i32)
    (loop $outer
      (local.set $row (i32.add (local.get $b) (i32.shl (local.get $k) (i32.const 3))))
      (local.set $i (i32.const 0))
      (loop $inner
        (i64.store (i32.add (local.get $a) (local.get $i))
          (i64.xor (i64.load (local.get $row))
            (i64.load (i32.add (local.get $c) (local.get $i)))))
        (i64.store offset=8 (i32.add (local.get $a) (local.get $i))
          (i64.xor (i64.load (local.get $row))
            (i64.load offset=8 (i32.add (local.get $c) (local.get $i)))))
        (br_if $inner
          (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 16))) (i32.const 1600))))
      (br_if $outer
        (i32.ne (local.tee $k (i32.add (local.get $k) (i32.const 1))) (i32.const 10)))))
  ;; the second turn loads before the first one stores there: two they stay
  (func (param $a i32) (param $i i32) (local $x i64) (local $y i64)
    (loop $again
      (local.set $x (i64.load (i32.add (local.get $a) (local.get $i))))
      (local.set $y (i64.load offset=8 (i32.add (local.get $a) (local.get $i))))
      (i64.store offset=8 (i32.add (local.get $a) (local.get $i)) (local.get $x))
      (i64.store offset=16 (i32.add (local.get $a) (local.get $i)) (local.get $y))
      (br_if $again
        (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 16))) (i32.const 1600)))))
  ;; nor what grows it itself
  (func (param $p i32) (param $n i32)
    (loop $again
      (i32.store (local.get $p) (i32.const 0))
      (local.set $p (i32.add (local.get $p) (memory.grow (i32.const 1))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  ;; a search for the least, and for its place: single where it has no check, since its
  ;; iterations have to wait for one another
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $best i32)
    (local $least f64) (local $x f64) (local $is_less i32)
    (loop $again
      (local.set $x (f64.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 3)))))
      (local.set $is_less (f64.lt (local.get $x) (local.get $least)))
      (local.set $least (select (local.get $x) (local.get $least) (local.get $is_less)))
      (local.set $best (select (local.get $i) (local.get $best) (local.get $is_less)))
      (br_if $again
        (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $best))
  ;; the same of integers, by a branch
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $best i32)
    (local $least i32) (local $x i32)
    (loop $again
      (local.set $x (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2)))))
      (if (i32.lt_s (local.tee $x (i32.add (local.get $x) (local.get $least))) (i32.const 9))
        (then
          (local.set $least (local.get $x))
          (local.set $best (i32.xor (local.get $x) (local.get $best)))))
      (br_if $again
        (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $best))
  ;; the least alone, of integers: several at once
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $least i32) (local $x i32)
    (loop $again
      (local.set $x (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2)))))
      (local.set $least (select (local.get $x) (local.get $least)
        (i32.lt_s (local.get $x) (local.get $least))))
      (br_if $again
        (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $least))
  ;; a sum of floats that is stored each time: a register has it in the second version
  (func (param $p i32) (param $n i32) (param $to i32) (local $i i32) (local $sum f64)
    (loop $again
      (local.set $sum (f64.add (local.get $sum)
        (f64.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 3))))))
      (f64.store (local.get $to) (local.get $sum))
      (br_if $again
        (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))))
