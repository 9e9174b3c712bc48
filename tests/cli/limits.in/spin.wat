;; Ends by nothing of its own: in a loop, before it starts, waiting, in all its threads.
(module $spin
  (func $f (export "_start") (loop $for_ever (br $for_ever))))
