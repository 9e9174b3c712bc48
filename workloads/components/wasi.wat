(import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
(alias export $error "error" (type $error-type))
(import "wasi:io/streams@0.2.0" (instance $streams
  (export "output-stream" (type $out (sub resource)))
  (alias outer 1 $error-type (type $outer))
  (export "error" (type $e (eq $outer)))
  (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
  (export "stream-error" (type $stream-error (eq $failure)))
  (export "[method]output-stream.blocking-write-and-flush" (func
    (param "self" (borrow $out)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
(alias export $streams "output-stream" (type $out-type))
(import "wasi:cli/stdout@0.2.0" (instance $stdout
  (alias outer 1 $out-type (type $o))
  (export "output-stream" (type $out (eq $o)))
  (export "get-stdout" (func (result (own $out))))))
