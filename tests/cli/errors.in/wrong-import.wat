;; Asks for what no host has.
(module (import "moon" "phase" (func)) (func (export "_start")))
