;; The host writes where nobody wrote before, far from everything, after a while.
(module
  (memory (export "memory") 64)
  (func (export "get") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "put") (param i32) (i32.store8 (local.get 0) (i32.const 1)))
  (func (export "far") (result i32) (i32.load8_u (i32.const 3000000))))
