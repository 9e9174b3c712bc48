;; Asks for a WASI function of another type.
(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i64))) (func (export "_start")))
