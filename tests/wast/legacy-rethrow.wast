;; `rethrow` and `delegate`: which exception, and to whom. What a clause may raise again is
;; kept, whatever is thrown meanwhile; a label may be that of a `try`, of its clause, of
;; another block or of the function; and both forms of exceptions in one module.

(module $m
  (tag $int (export "int") (param i32))
  (tag $long (param i64))
  (tag $none)
  (tag $pair (param i32 i64))

  (func $throw (param i32) (throw $int (local.get 0)))
  ;; Thrown, caught and thrown again, $n times: each is marked as referenced.
  (func $litter (export "litter") (param $n i32)
    (loop $next
      try
        try
          (throw $int (local.get $n))
        catch $int
          (drop)
          (rethrow 0)
        end
      catch $int
        (drop)
      end
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  ;; Another exception in between, which nobody refers to, must not take its place.
  (func (export "kept") (param i32) (result i32)
    try (result i32)
      try
        (call $throw (local.get 0))
      catch $int
        (drop)
        try
          (throw $int (i32.const 999))
        catch $int
          (drop)
        end
        try
          (throw $long (i64.const -1))
        catch_all
        end
        (rethrow 0)
      end
      (unreachable)
    catch $int
    end)
  (func (export "kept-by-catch-all") (param i32) (result i32)
    try (result i32)
      try
        (call $throw (local.get 0))
      catch_all
        (call $litter (i32.const 5000))
        (rethrow 0)
      end
      (unreachable)
    catch $int
    end)
  ;; The one clause raises it again, and not the others.
  (func (export "one-of-three") (param i32 i32) (result i32)
    try (result i32)
      try (result i32)
        (block $1 (block $0 (br_table $0 $1 (local.get 1))) (throw $long (i64.const 3)))
        (call $throw (local.get 0))
        (i32.const 0)
      catch $long
        (i32.wrap_i64)
      catch $int
        (drop)
        (call $litter (i32.const 3000))
        (if (i32.eqz (local.get 0)) (then (rethrow 1)))
        (i32.const 5)
      catch_all
        (i32.const 6)
      end
    catch $int
      (i32.add (i32.const 100))
    end)
  ;; A thousand at once are kept, one in each call.
  (func $deep (param $n i32)
    (if (i32.eqz (local.get $n)) (then (throw $none)))
    try
      (call $throw (local.get $n))
    catch $int
      (drop)
      try
        (call $deep (i32.sub (local.get $n) (i32.const 1)))
      catch_all
        try
          (rethrow 2)
        catch $int
          (global.set $sum (i32.add (global.get $sum)))
        end
        (rethrow 0)
      end
    end)
  (global $sum (mut i32) (i32.const 0))
  (func (export "deep") (param i32) (result i32)
    (global.set $sum (i32.const 0))
    try
      (call $deep (local.get 0))
    catch $none
    end
    (global.get $sum))

  ;; Of nested clauses each has its own: which of them is told by the depth.
  (func $nested (export "nested") (param i32) (result i32)
    try (result i32)
      (throw $int (i32.const 1))
    catch $int
      (drop)
      try (result i32)
        (throw $long (i64.const 2))
      catch $long
        (drop)
        try (result i32)
          (throw $pair (i32.const 3) (i64.const 30))
        catch $pair
          (drop) (drop)
          (block $3 (block $2 (block $1 (block $0
            (br_table $0 $1 $2 $3 (local.get 0)))
            (rethrow 3))
            (rethrow 3))
            (rethrow 3))
          (i32.const 0)
        end
      end
    end)
  (func (export "which") (param i32) (result i32)
    try (result i32)
      (call $nested (local.get 0))
    catch $pair
      (drop)
    catch $long
      (i32.wrap_i64)
    catch $int
    end)
  ;; A clause of a `try` in a clause: the inner one's body can raise the outer one's.
  (func (export "from-a-body") (result i32)
    try (result i32)
      (throw $int (i32.const 1))
    catch $int
      (drop)
      try (result i32)
        (rethrow 1)
      catch $int
        (i32.add (i32.const 10))
      catch_all
        (i32.const -1)
      end
    end)
  ;; Again and again: a loop between them.
  (func (export "in-a-loop") (param $n i32) (result i32) (local $sum i32)
    try
      (throw $int (i32.const 7))
    catch $int
      (drop)
      (loop $next
        try
          (call $litter (i32.const 10))
          (rethrow 2)
        catch $int
          (local.set $sum (i32.add (local.get $sum)))
        end
        (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    end
    (local.get $sum))

  ;; `delegate`, by depth. At 0, 1 and 2 there is a `try`, at 3 a block, at 4 a `try`, at
  ;; 5 the function. Each clause adds what it is.
  (func $d0 (export "delegate-0") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (call $throw (i32.const 0)) (i32.const -1) delegate 0
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func (export "delegate-1") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (call $throw (i32.const 0)) (i32.const -1) delegate 1
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func (export "delegate-2") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (call $throw (i32.const 0)) (i32.const -1) delegate 2
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func (export "delegate-3") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (call $throw (i32.const 0)) (i32.const -1) delegate 3
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func (export "delegate-4") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (call $throw (i32.const 0)) (i32.const -1) delegate 4
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func $d5 (export "delegate-5") (result i32)
    try (result i32) (block (result i32) try (result i32) try (result i32) try (result i32)
      try (result i32) (throw $int (i32.const 0)) delegate 5
    catch $int (i32.add (i32.const 1)) end
    catch $int (i32.add (i32.const 2)) end
    catch $int (i32.add (i32.const 3)) end)
    catch $int (i32.add (i32.const 5)) end)
  (func (export "delegate-to-the-caller") (result i32)
    try (result i32) (call $d5) catch $int (i32.add (i32.const 70)) catch_all (i32.const 0) end)

  ;; From a body that another `delegate` has; and values and operands below.
  (func (export "chain") (param i32) (result i64 i32)
    (i64.const 8)
    try (result i32)
      try (result i32)
        (f64.const 1)
        (local.get 0)
        try (param i32) (result i32)
          try (param i32) (result i32)
            (if (param i32) (result i32) (local.get 0)
              (then (call $throw) (i32.const -1))
              (else (i32.add (i32.const 3))))
          delegate 0
        delegate 1
        (local.set 0) (drop) (local.get 0)
      catch_all
        (i32.const -2)
      end
    catch $int
      (i32.add (i32.const 60))
    end)
  ;; In a clause its own `try` catches nothing any more.
  (func (export "to-a-clause") (result i32)
    try (result i32)
      try (result i32)
        (throw $none)
      catch $none
        try (result i32)
          (call $throw (i32.const 1))
          (unreachable)
        delegate 0
      catch $int
        (i32.add (i32.const 10))
      end
    catch $int
      (i32.add (i32.const 20))
    end)
  (func (export "to-a-loop") (result i32) (local $n i32)
    try (result i32)
      (loop $again (result i32)
        try (result i32)
          try (result i32)
            (call $throw (i32.const 4))
            (unreachable)
          delegate 1
        catch_all
          (i32.const -1)
        end)
    catch $int
      (i32.add (i32.const 30))
    end)
  ;; A rethrow in a body that is delegated.
  (func (export "rethrown-and-delegated") (result i32)
    try (result i32)
      try (result i32)
        (throw $int (i32.const 9))
      catch $int
        (drop)
        try (result i32)
          try (result i32)
            (rethrow 2)
          delegate 1
        catch $int
          (i32.add (i32.const 100))
        end
      end
    catch $int
      (i32.add (i32.const 200))
    end)
  (func (export "nobody") (result i32)
    try (result i32)
      try (result i32) (call $throw (i32.const 4)) (i32.const 1) delegate 1
    catch_all
      (i32.const -1)
    end)

  ;; Both forms. The newer one's handler around the older one, and the other way.
  (func (export "new-around-old") (param i32) (result i32)
    (block $caught (result i32)
      (try_table (result i32) (catch $int $caught)
        try (result i32)
          (call $throw (local.get 0))
          (unreachable)
        catch $long
          (i32.wrap_i64)
        catch $int
          (drop)
          (call $litter (i32.const 2000))
          (rethrow 0)
        end)))
  (func (export "old-around-new") (param i32) (result i32)
    try (result i32)
      (block $again (result exnref)
        (try_table (catch_all_ref $again) (call $throw (local.get 0)))
        (unreachable))
      (call $litter (i32.const 2000))
      (throw_ref)
    catch $int
      (i32.add (i32.const 1))
    end)
  ;; To a label of the newer form, whose clauses are its handler.
  (func (export "old-into-new") (param i32) (result i32)
    (block $caught (result i32)
      (try_table $here (result i32) (catch $int $caught)
        try (result i32)
          try (result i32)
            (call $throw (local.get 0))
            (unreachable)
          delegate $here
        catch_all
          (i32.const -1)
        end)
      (i32.add (i32.const 1000))))
  ;; A reference that outlives the clause whose exception it is.
  (func (export "held") (param i32) (result i32) (local $held exnref)
    (block $ref (result i32 exnref)
      (try_table (catch_ref $int $ref)
        try
          (call $throw (local.get 0))
        catch_all
          (rethrow 0)
        end)
      (unreachable))
    (local.set $held)
    (drop)
    (call $litter (i32.const 3000))
    try (result i32)
      (throw_ref (local.get $held))
    catch $int
    end)
  (func (export "null")
    try (throw_ref (ref.null exn)) catch_all end))

(register "m" $m)

(assert_return (invoke "kept" (i32.const 5)) (i32.const 5))
(assert_return (invoke "kept-by-catch-all" (i32.const 6)) (i32.const 6))
(assert_return (invoke "one-of-three" (i32.const 0) (i32.const 0)) (i32.const 3))
(assert_return (invoke "one-of-three" (i32.const 0) (i32.const 1)) (i32.const 100))
(assert_return (invoke "one-of-three" (i32.const 2) (i32.const 1)) (i32.const 5))
(assert_return (invoke "deep" (i32.const 1)) (i32.const 1))
(assert_return (invoke "deep" (i32.const 1500)) (i32.const 1125750))
(assert_return (invoke "which" (i32.const 0)) (i32.const 3))
(assert_return (invoke "which" (i32.const 1)) (i32.const 2))
(assert_return (invoke "which" (i32.const 2)) (i32.const 1))
(assert_return (invoke "which" (i32.const 3)) (i32.const 0))
(assert_return (invoke "from-a-body") (i32.const 11))
(assert_return (invoke "in-a-loop" (i32.const 300)) (i32.const 2100))
(assert_return (invoke "delegate-0") (i32.const 1))
(assert_return (invoke "delegate-1") (i32.const 2))
(assert_return (invoke "delegate-2") (i32.const 3))
(assert_return (invoke "delegate-3") (i32.const 5))
(assert_return (invoke "delegate-4") (i32.const 5))
(assert_exception (invoke "delegate-5"))
(assert_return (invoke "delegate-to-the-caller") (i32.const 70))
(assert_return (invoke "chain" (i32.const 0)) (i64.const 8) (i32.const 3))
(assert_return (invoke "chain" (i32.const 4)) (i64.const 8) (i32.const 64))
(assert_return (invoke "to-a-clause") (i32.const 21))
(assert_return (invoke "to-a-loop") (i32.const 34))
(assert_return (invoke "rethrown-and-delegated") (i32.const 209))
(assert_exception (invoke "nobody"))
(assert_return (invoke "new-around-old" (i32.const 5)) (i32.const 5))
(assert_return (invoke "old-around-new" (i32.const 5)) (i32.const 6))
(assert_return (invoke "old-into-new" (i32.const 5)) (i32.const 5))
(assert_return (invoke "held" (i32.const 5)) (i32.const 5))
(assert_trap (invoke "null") "null reference")
(assert_return (invoke "litter" (i32.const 20000)))

;; Across modules: what one form throws the other catches, by the tag's identity.
(module
  (import "m" "int" (tag $int (param i32)))
  (import "m" "delegate-5" (func $throws (result i32)))
  (tag $mine (param i32))
  (func (export "old") (result i32)
    try (result i32) (call $throws)
    catch $mine (drop) (i32.const -1)
    catch $int (i32.add (i32.const 1)) end)
  (func (export "new") (result i32)
    (block $mine (result i32)
      (block $int (result i32)
        (try_table (result i32) (catch $mine $mine) (catch $int $int) (call $throws)))
      (i32.add (i32.const 2)))))
(assert_return (invoke "old") (i32.const 1))
(assert_return (invoke "new") (i32.const 2))
