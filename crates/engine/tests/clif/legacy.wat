;; bounds: guard
;; spectre: on
;; Exceptions of the older form: clauses are code behind the landing block.
(module
  (tag $int (param i32))
  (tag $none)
  (func $f)
  ;; clauses in order; the operand below and the parameter
  (func (param i32) (result i32)
    (local.get 0)
    (local.get 0)
    try (param i32) (result i32)
      (call $f)
    catch $int
    catch $none
      (i32.const 2)
    end
    (i32.add))
  ;; what is raised again is marked as referenced, and only that
  (func
    try
      (call $f)
    catch $int
      (drop)
      (rethrow 0)
    catch_all
    end)
  ;; past the inner handler, and past both
  (func
    try
      try
        try (call $f) delegate 1
        try (call $f) delegate 2
      catch_all
      end
    catch $none
    end)
  ;; nothing is raised: the clause is not translated
  (func (param i32) (result i32)
    try (result i32)
      (local.get 0)
    catch $int
      try (call $f) catch_all end
    end))
