;; bounds: guard64
;; elide: dominated
;; Rule "joins": what is kept was accessed on each way.
(module
  (memory i64 1)
  ;; A list reversed in place would keep its last node so: two checks, of the
  ;; first node and of the one that is loaded.
  (func (param $at i64) (local $last i64)
    (local.set $last (local.get $at))
    (i64.store offset=8 (local.get $at) (i64.const 0))
    (loop $next
      (local.set $at (i64.load (local.get $at)))
      (i64.store offset=8 (local.get $at) (i64.const 1))
      (i64.store offset=16 (local.get $last) (local.get $at))
      (local.set $last (local.get $at))
      (br_if $next (i32.wrap_i64 (local.get $at)))))
  ;; The first one was not accessed: three.
  (func (param $at i64) (param $last i64)
    (loop $next
      (local.set $at (i64.load (local.get $at)))
      (i64.store offset=8 (local.get $at) (i64.const 1))
      (i64.store offset=16 (local.get $last) (local.get $at))
      (local.set $last (local.get $at))
      (br_if $next (i32.wrap_i64 (local.get $at))))))
