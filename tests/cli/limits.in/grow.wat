;; Says how far its memory and its table grow, and how many threads it gets.
(module $grow
  (memory 1)
  (table 1 funcref)
  (func (export "memory") (result i32)
    (loop $more (br_if $more (i32.ge_s (memory.grow (i32.const 1)) (i32.const 0))))
    (memory.size))
  (func (export "table") (result i32)
    (loop $more
      (br_if $more (i32.ge_s (table.grow (ref.null func) (i32.const 1000)) (i32.const 0))))
    (table.size)))
