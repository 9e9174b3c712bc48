;; What a function has in registers where an exception lands in it, and what those who called it
;; have there: frames that an exception leaves restore nothing.

(module
  (tag $e (param i32 f64 v128 i64))
  (tag $other)
  (memory 1)

  ;; As many locals as there are registers for them, changed in a loop, and then an exception.
  (func $throws (param $n i32) (param $deeper i32)
    (local $a i64) (local $b i64) (local $c i64) (local $d f64) (local $v v128)
    (loop $next
      (local.set $a (i64.add (local.get $a) (i64.const 0x1111)))
      (local.set $b (i64.sub (local.get $b) (i64.const 0x2222)))
      (local.set $c (i64.xor (local.get $c) (local.get $a)))
      (local.set $d (f64.add (local.get $d) (f64.const 1.5)))
      (local.set $v (i64x2.add (local.get $v) (v128.const i64x2 3 5)))
      (br_if $next (i32.lt_s (i32.wrap_i64 (local.get $a)) (i32.mul (local.get $n) (i32.const 0x1111)))))
    (if (local.get $deeper)
      (then (call $throws (i32.add (local.get $n) (i32.const 1)) (i32.sub (local.get $deeper) (i32.const 1)))
        (i64.store (i32.const 8) (i64.add (local.get $b) (local.get $c)))))
    (if (i32.eqz (local.get $n)) (then (throw $other)))
    (throw $e (local.get $n) (local.get $d) (local.get $v) (local.get $b)))

  ;; Locals of each kind live through each landing.
  (func $catches (export "catches") (param $turns i32) (param $deeper i32) (result i64)
    (local $i i32) (local $sum i64) (local $f f64) (local $v v128) (local $got i32)
    (local.set $v (v128.const i64x2 1 2))
    (loop $next
      (block $h (result i32 f64 v128 i64)
        (try_table (catch $e $h)
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (call $throws (local.get $i) (local.get $deeper)))
        (unreachable))
      (local.set $sum (i64.add (local.get $sum)))
      (local.set $v (i64x2.add (local.get $v)))
      (local.set $f (f64.add (local.get $f)))
      (local.set $got (i32.add (local.get $got)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $turns))))
    (i64.add (local.get $sum)
      (i64.add (i64.trunc_f64_s (local.get $f))
        (i64.add (i64.extend_i32_s (local.get $got))
          (i64.mul (i64x2.extract_lane 0 (local.get $v)) (i64x2.extract_lane 1 (local.get $v)))))))

  ;; The same in the older form; what is raised again lands in the one around.
  (func $catches-older (export "catches-older") (param $turns i32) (param $deeper i32) (result i64)
    (local $i i32) (local $sum i64) (local $f f64) (local $v v128) (local $got i32)
    (local.set $v (v128.const i64x2 1 2))
    (loop $next
      try
        try
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (call $throws (local.get $i) (local.get $deeper))
        catch $other
          (unreachable)
        catch $e
          (drop) (drop) (drop) (drop)
          (local.set $got (i32.add (local.get $got) (i32.const 0x10000)))
          (rethrow 0)
        end
      catch $e
        (local.set $sum (i64.add (local.get $sum)))
        (local.set $v (i64x2.add (local.get $v)))
        (local.set $f (f64.add (local.get $f)))
        (local.set $got (i32.add (local.get $got)))
      end
      (br_if $next (i32.lt_u (local.get $i) (local.get $turns))))
    (i64.add (local.get $sum)
      (i64.add (i64.trunc_f64_s (local.get $f))
        (i64.add (i64.extend_i32_s (local.get $got))
          (i64.mul (i64x2.extract_lane 0 (local.get $v)) (i64x2.extract_lane 1 (local.get $v)))))))

  ;; Without a local in a register.
  (func $catches-once (param $n i32) (result i32)
    (block $h (result i32 f64 v128 i64)
      (try_table (catch $e $h) (call $throws (local.get $n) (i32.const 1)))
      (unreachable))
    (drop) (drop) (drop))

  ;; A caller whose locals are in the registers that nobody restored.
  (func (export "around") (param $turns i32) (result i64)
    (local $a i64) (local $b i64) (local $c i32)
    (local.set $a (i64.const 7)) (local.set $b (i64.const 100))
    (loop $next
      (local.set $b (i64.add (local.get $b) (local.get $a)))
      (drop (call $catches (i32.const 2) (i32.const 2)))
      (local.set $b (i64.add (local.get $b) (local.get $a)))
      (drop (call $catches-older (i32.const 2) (i32.const 2)))
      (local.set $c (i32.add (local.get $c) (i32.const -1)))
      (local.set $c (i32.add (local.get $c) (call $catches-once (i32.const 1))))
      (br_if $next (i32.lt_u (local.get $c) (local.get $turns))))
    (i64.add (local.get $b) (i64.extend_i32_u (local.get $c))))

  ;; A trap in a clause comes out with what was stored before it.
  (func (export "traps") (param $by i32) (local $v v128)
    (block $h (result i32 f64 v128 i64)
      (try_table (catch $e $h) (call $throws (i32.const 1) (i32.const 0)))
      (unreachable))
    (drop) (local.set $v) (drop) (drop)
    (v128.store (i32.const 64) (local.get $v))
    (drop (i32.div_u (i32.const 1) (local.get $by))))
  (func (export "peek") (param $at i32) (result i64) (i64.load (local.get $at))))

(assert_return (invoke "catches" (i32.const 1) (i32.const 0)) (i64.const -8708))
(assert_return (invoke "catches" (i32.const 5) (i32.const 0)) (i64.const -127491))
(assert_return (invoke "catches" (i32.const 5) (i32.const 3)) (i64.const -248233))
(assert_return (invoke "catches-older" (i32.const 1) (i32.const 0)) (i64.const 56828))
(assert_return (invoke "catches-older" (i32.const 5) (i32.const 3)) (i64.const 79447))
(assert_return (invoke "around" (i32.const 1)) (i64.const 115))
(assert_return (invoke "around" (i32.const 40)) (i64.const 700))
(assert_trap (invoke "traps" (i32.const 0)) "integer divide by zero")
(assert_return (invoke "peek" (i32.const 64)) (i64.const 3))
(assert_return (invoke "peek" (i32.const 72)) (i64.const 5))
