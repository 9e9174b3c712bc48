;; Growth while code runs: what a compiled loop knows of the memory's length and
;; place must be known anew after each way in which it can grow.

(module
  (memory (export "memory") 1 8)
  (table funcref (elem $grow))
  (type $growing (func))
  (func $grow (type $growing) (drop (memory.grow (i32.const 1))))

  ;; Stores in the last word of each page, growing by a page before each store.
  (func (export "inside") (result i32)
    (local $page i32)
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $page) (i32.const 3)))
        (drop (memory.grow (i32.const 1)))
        (local.set $page (i32.add (local.get $page) (i32.const 1)))
        (i32.store offset=65532
          (i32.mul (local.get $page) (i32.const 65536)) (local.get $page))
        (br $next)))
    (i32.load offset=65532 (i32.const 196608)))

  ;; The same when a function that is called grows it, directly or not.
  (func (export "called") (param $indirect i32) (result i32)
    (local $page i32)
    (local.set $page (memory.size))
    (if (local.get $indirect)
      (then (call_indirect (type $growing) (i32.const 0)))
      (else (call $grow)))
    (i32.store (i32.mul (local.get $page) (i32.const 65536)) (local.get $page))
    (i32.load (i32.mul (local.get $page) (i32.const 65536))))

  (func (export "size") (result i32) (memory.size))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "load") (param i32) (result i32) (i32.load (local.get 0))))

(assert_return (invoke "inside") (i32.const 3))
(assert_return (invoke "size") (i32.const 4))
(assert_return (invoke "called" (i32.const 0)) (i32.const 4))
(assert_return (invoke "called" (i32.const 1)) (i32.const 5))
;; What was stored before the growth is still there.
(assert_return (invoke "load" (i32.const 131068)) (i32.const 1))
(assert_return (invoke "load" (i32.const 196604)) (i32.const 2))
;; New pages are zero, and end where they should.
(assert_return (invoke "load" (i32.const 393212)) (i32.const 0))
(assert_trap (invoke "load" (i32.const 393213)) "out of bounds memory access")
;; Up to the maximum and not beyond it; a refusal changes nothing.
(assert_return (invoke "grow" (i32.const 3)) (i32.const -1))
(assert_return (invoke "grow" (i32.const -1)) (i32.const -1))
(assert_return (invoke "grow" (i32.const 2)) (i32.const 6))
(assert_return (invoke "size") (i32.const 8))
(assert_return (invoke "load" (i32.const 524284)) (i32.const 0))
(assert_trap (invoke "load" (i32.const 524285)) "out of bounds memory access")
(assert_return (invoke "grow" (i32.const 1)) (i32.const -1))

;; A memory of no pages at first: nothing in it, then something.
(module
  (memory 0 1)
  (func (export "load8") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "grow") (result i32) (memory.grow (i32.const 1))))

(assert_trap (invoke "load8" (i32.const 0)) "out of bounds memory access")
(assert_return (invoke "grow") (i32.const 0))
(assert_return (invoke "load8" (i32.const 65535)) (i32.const 0))
(assert_trap (invoke "load8" (i32.const 65536)) "out of bounds memory access")
