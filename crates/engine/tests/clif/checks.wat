;; bounds: guard trap clamp
;; What a loop's checks compare with is loaded in front of it.
(module
  (memory 1)
  (func (param i32)
    (loop $again
      (i32.store (local.get 0) (i32.load offset=4 (local.get 0)))
      (br_if $again (local.tee 0 (i32.add (local.get 0) (i32.const -8)))))))
