(module
  ;; a loop with a parameter and a branch out with a value
  (func (param i32) (result i32)
    (block $out (result i32)
      (i32.const 0)
      (loop $again (param i32) (result i32)
        (i32.add (local.get 0))
        (local.tee 0)
        (br_if $out (local.get 0) (i32.lt_s (local.get 0) (i32.const 10)))
        (drop)
        (br $again (local.get 0)))))
  ;; if without else, with and without parameters
  (func (param i32) (result i32)
    (if (local.get 0) (then (local.set 0 (i32.const 7))))
    (local.get 0)
    (if (param i32) (result i32) (i32.eqz (local.get 0))
      (then (i32.add (i32.const 1)))))
  ;; if with else; the conditions are comparisons, kept as i8
  (func (param i32 i32) (result i32)
    (if (result i32) (i32.eqz (i32.lt_u (local.get 0) (local.get 1)))
      (then (local.get 0))
      (else (i32.eq (local.get 0) (i32.const 3)))))
  ;; br_table, return, unreachable code
  (func (param i32) (result i32)
    (block $a (block $b (block $c
      (br_table $a $b $c $b (local.get 0)))
      (return (i32.const 1)))
      (return (i32.const 2)))
    (unreachable)
    (block (loop (if (i32.const 1) (then (nop)) (else (nop)))))
    (i32.const 3)))
