;; The same calls inside of one module, through a table, so that no compiler makes one of the two.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1) @data@ @line@
  (type $call (func @core@ (result i32)))
  (table funcref (elem $callee))
  (func $callee @core@ (result i32) @callee@)
  (func (export "_start") (local $i i32) (local $sum i32) (local $handle i32)
    (loop $more
      (local.set $sum (i32.add (local.get $sum) (call_indirect (type $call) @arguments@ (i32.const 0))))
      (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const @calls@))))
    (if (i32.ne (local.get $sum) (i32.const @sum@)) (then unreachable))
    (i32.store (i32.const 0) (i32.const 65472))
    (i32.store (i32.const 4) (i32.const @length@))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
