;; bounds: guard64 trap
;; elide: dominated
;; Rule "range": what an index can be by the instructions that compute it.
(module
  (memory i64 1)
  ;; A byte, scaled, behind a constant: no check.
  (func (param i64) (result i64)
    (i64.load offset=1024
      (i64.shl (i64.and (local.get 0) (i64.const 255)) (i64.const 3))))
  ;; 32 bits fit the pages behind the memory.
  (func (param i32) (result i64)
    (i64.load (i64.extend_i32_u (local.get 0))))
  ;; With a sign they fit those in front under guard64 only.
  (func (param i32) (result i64)
    (i64.load (i64.extend_i32_s (local.get 0)))))
