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
  ;; nor what grows it itself
  (func (param $p i32) (param $n i32)
    (loop $again
      (i32.store (local.get $p) (i32.const 0))
      (local.set $p (i32.add (local.get $p) (memory.grow (i32.const 1))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))
