;; The continuations of fiber_switch.c, by number: C cannot hold them.
;;
;; What must stay true: a place in the table has the continuation of a fiber that is
;; suspended; of others it has one that is used up or none, and nobody resumes it.
(module
  (type $run (func (param i32) (result i32)))
  (type $fiber (cont $run))
  (import "main" "__indirect_function_table" (table $entries 0 funcref))
  (table $fibers 0 (ref null $fiber))
  (tag $yield (param i32) (result i32))
  (tag $cancel)

  ;; Makes so many more places; 0 where there is no memory for them.
  (func (export "grow") (param $count i32) (result i32)
    (i32.ne (table.grow $fibers (ref.null $fiber) (local.get $count)) (i32.const -1)))

  ;; What comes out of a fiber that begins with a function of C's, with 1 in the upper half where
  ;; that was yielded.
  (func (export "begin") (param $arg i32) (param $number i32) (param $entry i32) (result i64)
    (local $rest (ref null $fiber))
    (block $yielded (result i32 (ref $fiber))
      (return
        (i64.extend_i32_u
          (resume $fiber (on $yield $yielded)
            (local.get $arg)
            (cont.new $fiber (ref.cast (ref $run) (table.get $entries (local.get $entry))))))))
    (local.set $rest)
    (table.set $fibers (local.get $number) (local.get $rest))
    (i64.or (i64.extend_i32_u) (i64.const 0x1_0000_0000)))

  ;; The same of one that was suspended.
  (func (export "resume") (param $arg i32) (param $number i32) (result i64)
    (local $rest (ref null $fiber))
    (block $yielded (result i32 (ref $fiber))
      (return
        (i64.extend_i32_u
          (resume $fiber (on $yield $yielded)
            (local.get $arg) (table.get $fibers (local.get $number))))))
    (local.set $rest)
    (table.set $fibers (local.get $number) (local.get $rest))
    (i64.or (i64.extend_i32_u) (i64.const 0x1_0000_0000)))

  (func (export "suspend") (param $arg i32) (result i32)
    (suspend $yield (local.get $arg)))

  ;; Unwinds the stack where it stands, so that it is free at once. C catches nothing.
  (func (export "cancel") (param $number i32)
    (block $ended
      (try_table (catch $cancel $ended)
        (drop (resume_throw $fiber $cancel (table.get $fibers (local.get $number))))))))
