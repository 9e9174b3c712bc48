;; A function without checks, then one with, whose name Rust mangled.
(module
  (memory 1)
  (func $add (param i32 i32) (result i32)
    (i32.add (local.get 0) (local.get 1)))
  (func $_ZN4core3fmt5Write9write_str17h0123456789abcdefE (param i32)
    (i32.store (local.get 0) (i32.const 7))))
