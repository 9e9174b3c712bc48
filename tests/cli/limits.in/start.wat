;; Never gets beyond its start function.
(module $start
  (func $f (loop $for_ever (br $for_ever)))
  (start $f)
  (func (export "_start")))
