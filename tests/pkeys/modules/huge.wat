;; 64 GiB at first, which only a machine that promises more than it has gives.
(module
  (memory (export "memory") i64 0x100000 0x1000000)
  (func (export "_start") (i64.store (i64.const 8) (i64.const 7))))
