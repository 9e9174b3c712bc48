;; Four hundred million elements of tables.
(module
  (table 10000000 (ref null func) (ref.null func))
  (table 10000000 (ref null func) (ref.null func))
  (func (export "_start")))
