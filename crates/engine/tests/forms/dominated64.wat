;; elide: dominated
;; spectre: on
;; Fields of one record in a 64-bit memory: the first check is enough where others fault
;; near by.
(module
  (memory i64 1 16)
  (func (export "record") (param $at i64) (result i64)
    (i64.store offset=16 (local.get $at) (i64.load (local.get $at)))
    (i64.add (i64.load offset=8 (local.get $at)) (i64.load32_s offset=24 (local.get $at))))
  (func (export "masked") (param $at i64) (result i32)
    (i32.load8_u (i64.and (local.get $at) (i64.const 0xfff)))))
