;; Two components side by side: the caller calls the callee so often, checks what comes back, and
;; prints a line. What stands between @ is of one kind of call (suite.toml), or wasi.wat.
(component
  @wasi@
  (component $callee
    @types@
    (core module $callee
      (memory (export "memory") 1)
      ;; One call's argument at a time.
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 32768))
      (func (export "call") @core@ (result i32) @callee@))
    (core instance $callee (instantiate $callee))
    (func $call @type@ (result u32) (canon lift (core func $callee "call") @lift@))
    (export "call" (func $call))
    @exports@)
  (instance $callee (instantiate $callee))

  (component $caller
    @wasi@
    (import "callee" (instance $callee @seen@ (export "call" (func @type@ (result u32)))))
    (core module $memory (memory (export "memory") 1) @data@ @line@)
    (core instance $memory (instantiate $memory))
    (core func $get (canon lower (func $stdout "get-stdout")))
    (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
      (memory (core memory $memory "memory"))))
    (core func $call (canon lower (func $callee "call") @lower@))
    @aliases@
    (core module $main
      (import "host" "get" (func $get (result i32)))
      (import "host" "write" (func $write (param i32 i32 i32 i32)))
      (import "host" "call" (func $call @core@ (result i32)))
      @imports@
      (func (export "run") (result i32) (local $i i32) (local $sum i32) (local $handle i32)
        @before@
        (loop $more
          (local.set $sum (i32.add (local.get $sum) (call $call @arguments@)))
          (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const @calls@))))
        (if (i32.ne (local.get $sum) (i32.const @sum@)) (then unreachable))
        (call $write (call $get) (i32.const 65472) (i32.const @length@) (i32.const 0))
        (i32.const 0)))
    (core instance $main (instantiate $main
      (with "host" (instance
        (export "get" (func $get)) (export "write" (func $write)) (export "call" (func $call)) @given@))))
    (func $run (result (result)) (canon lift (core func $main "run")))
    (export "run" (func $run)))
  (instance $caller (instantiate $caller
    (with "wasi:io/error@0.2.0" (instance $error))
    (with "wasi:io/streams@0.2.0" (instance $streams))
    (with "wasi:cli/stdout@0.2.0" (instance $stdout))
    (with "callee" (instance $callee))))
  (export "wasi:cli/run@0.2.0" (instance $caller)))
