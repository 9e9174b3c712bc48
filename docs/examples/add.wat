;; For --invoke.
(module
  (func (export "add") (param i32 i32) (result i32)
    (i32.add (local.get 0) (local.get 1)))
  (func (export "div") (param i64 i64) (result i64)
    (i64.div_s (local.get 0) (local.get 1))))
