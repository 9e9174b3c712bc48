(module
  (type $f (func (param i32) (result i32)))
  (type $k (cont $f))
  (tag $yield (param i32) (result i32))
  (elem declare func $twice)
  (func $twice (type $f)
    (suspend $yield (local.get 0)))
  (func (export "run") (param i32) (result i32)
    (resume $k (local.get 0) (cont.new $k (ref.func $twice)))))
