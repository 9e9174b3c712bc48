;; bounds: shadow shadow:test shadow-compressed
;; The same for a 32-bit memory, whose shadow is in front of it.
(module
  (memory 1)
  (func (export "both") (param i32 i32) (result i32)
    local.get 0
    i32.load
    local.get 0
    local.get 1
    i32.store offset=8))
