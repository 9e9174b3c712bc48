;; Functions of the tests.
;;
;; `quick` is its argument and one, and `slow` the same after a while; `fail` is `quick`, but traps
;; where its argument is 777. `total` adds up. `last` keeps the largest of its rows and how many
;; there were.
(module
  (memory (export "memory") 4)
  (func (export "fathom_reserve") (param i32) (result i32) (i32.const 4096))

  ;; Where the values of the first column of a batch are.
  (func $column (param i32) (result i32) (i32.load offset=8 (i32.load offset=8 (local.get 0))))

  (func $each (param $in i32) (param $out i32) (param $turns i32) (param $trap i64) (result i32)
    (local $rows i32) (local $from i32) (local $to i32) (local $i i32)
    (local.set $rows (i32.load (local.get $in)))
    (local.set $from (call $column (local.get $in)))
    (local.set $to (call $column (local.get $out)))
    (block (loop
      (br_if 1 (i32.eqz (local.get $rows)))
      (if (i64.eq (i64.load (local.get $from)) (local.get $trap)) (then unreachable))
      (local.set $i (local.get $turns))
      (loop (br_if 0 (i32.ne (local.tee $i (i32.sub (local.get $i) (i32.const 1))) (i32.const 0))))
      (i64.store (local.get $to) (i64.add (i64.load (local.get $from)) (i64.const 1)))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $to (i32.add (local.get $to) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br 0)))
    (i32.const 1))
  (func (export "slow") (param i32 i32) (result i32)
    (call $each (local.get 0) (local.get 1) (i32.const 3000000) (i64.const -1)))
  (func (export "quick") (param i32 i32) (result i32)
    (call $each (local.get 0) (local.get 1) (i32.const 1) (i64.const -1)))
  (func (export "fail") (param i32 i32) (result i32)
    (call $each (local.get 0) (local.get 1) (i32.const 1) (i64.const 777)))

  ;; A state is a sum; those of up to 256 groups begin at 2048.
  (func (export "total_columns") (result i32) (i32.const 160))
  (data (i32.const 160) "sum bigint\00")
  (func (export "total_open") (result i32)
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 2048))
    (i32.const 2048))
  (func (export "total_close") (param i32))
  ;; Values and states are added alike; the second column says to which group.
  (func $add (param $groups i32) (param $count i32) (param $in i32) (result i32)
    (local $rows i32) (local $from i32) (local $group i32) (local $at i32)
    (local.set $rows (i32.load (local.get $in)))
    (local.set $from (call $column (local.get $in)))
    (local.set $group (i32.load offset=24 (i32.load offset=8 (local.get $in))))
    (block (loop
      (br_if 1 (i32.eqz (local.get $rows)))
      (local.set $at
        (i32.add (local.get $groups) (i32.shl (i32.load (local.get $group)) (i32.const 3))))
      (i64.store (local.get $at) (i64.add (i64.load (local.get $at)) (i64.load (local.get $from))))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $group (i32.add (local.get $group) (i32.const 4)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br 0)))
    (i32.const 1))
  (func $copy (param $groups i32) (param $first i32) (param $out i32) (result i32)
    (memory.copy
      (call $column (local.get $out))
      (i32.add (local.get $groups) (i32.shl (local.get $first) (i32.const 3)))
      (i32.shl (i32.load (local.get $out)) (i32.const 3)))
    (i32.const 1))
  (export "total_update" (func $add))
  (export "total_merge" (func $add))
  (export "total_state" (func $copy))
  (export "total_finish" (func $copy))

  ;; A state has the largest, the rows and whether they were returned; two calls, one in the
  ;; other, have one each.
  (global $free (mut i32) (i32.const 1024))
  (func (export "last_open") (result i32)
    (global.set $free (i32.add (global.get $free) (i32.const 32)))
    (global.get $free))
  (func (export "last_columns") (result i32) (i32.const 128))
  (data (i32.const 128) "largest bigint, rows bigint\00")
  (func (export "last_consume") (param $state i32) (param $in i32) (result i32)
    (local $rows i32) (local $from i32)
    (local.set $rows (i32.load (local.get $in)))
    (local.set $from (call $column (local.get $in)))
    (block (loop
      (br_if 1 (i32.eqz (local.get $rows)))
      (i64.store offset=8 (local.get $state)
        (i64.add (i64.load offset=8 (local.get $state)) (i64.const 1)))
      (if (i64.gt_s (i64.load (local.get $from)) (i64.load (local.get $state)))
        (then (i64.store (local.get $state) (i64.load (local.get $from)))))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br 0)))
    (i32.const 1))
  (func (export "last_produce") (param $state i32) (param $out i32) (result i32)
    (if (i32.load offset=16 (local.get $state)) (then (return (i32.const 0))))
    (i32.store offset=16 (local.get $state) (i32.const 1))
    (i32.store (local.get $out) (i32.const 1))
    (i32.store offset=8 (i32.load offset=8 (local.get $out)) (local.get $state))
    (i32.store offset=24 (i32.load offset=8 (local.get $out))
      (i32.add (local.get $state) (i32.const 8)))
    (i32.const 1)))
