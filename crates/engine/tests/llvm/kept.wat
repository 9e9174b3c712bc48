(module
  (tag $e)
  (func $callee (param i32) (result i32) (local.get 0))
  (func (param i32) (result i32) (return_call $callee (local.get 0)))
  (func (param i32 i32 i32 i32 i32) (result i32) (local.get 4))
  (func (result i32) (block (try_table (catch_all 0) (drop (call $callee (i32.const 1))))) (i32.const 2)))
