"""Small modules for the runner tests, as text, and the way to binaries.

The text is compiled by the library of the installed wasmtime, so these tests need
no assembler of their own.
"""

import ctypes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / ".tools" / "engines" / "wasmtime" / "_libwasmtime.so"

WASI = "wasi_snapshot_preview1"


def program(body: str, more: str = "") -> str:
    """A WASI program whose `_start` is `body`; the text of `more` comes before it."""
    return f"""(module
      (import "{WASI}" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
      (import "{WASI}" "proc_exit" (func $proc_exit (param i32)))
      (import "{WASI}" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
      (import "{WASI}" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
      (import "{WASI}" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
      (memory (export "memory") 1)
      {more}
      (func $print (param $at i32) (param $length i32)
        (i32.store (i32.const 0) (local.get $at))
        (i32.store (i32.const 4) (local.get $length))
        (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
      (func (export "_start") {body}))"""


ANSWER = program(
    "(call $print (i32.const 16) (i32.const 34))",
    r'(data (i32.const 16) "fathom: answer=2a kernel_ns=12345\n")',
)
# 60 MB of arrays, each of which is let go.
ARRAYS = """(module (type $bytes (array (mut i8)))
  (memory (export "memory") 1)
  (func (export "_start") (local $left i32)
    (local.set $left (i32.const 20000))
    (loop $again
      (drop (array.len (array.new_default $bytes (i32.const 3000))))
      (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))"""
# A type behind functions with parameters of named types, which is what looks like one.
LATE_STRUCTURE = """(module (type $f (func (param (ref null func)) (result i32)))
  (type $g (func (param (ref null $f) i64))) (type $s (struct (field (mut i32))))
  (memory (export "memory") 1)
  (func (export "_start") (drop (struct.new_default $s))))"""
EXIT_7 = program("(call $proc_exit (i32.const 7))")
OUT_OF_BOUNDS = program("(drop (i32.load (i32.const 65533)))")
UNREACHABLE = program("unreachable")
DIVIDE = program("(drop (i32.div_s (i32.const 1) (i32.load (i32.const 100))))")
DEEP = program("call $deep", "(func $deep call $deep call $deep)")
# Prints the number of arguments and variables as digits, and one for folder 3.
WORLD = program("""
    (drop (call $args_sizes_get (i32.const 100) (i32.const 104)))
    (drop (call $environ_sizes_get (i32.const 108) (i32.const 112)))
    (i32.store8 (i32.const 200) (i32.add (i32.const 48) (i32.load (i32.const 100))))
    (i32.store8 (i32.const 201) (i32.add (i32.const 48) (i32.load (i32.const 108))))
    (i32.store8 (i32.const 202)
      (i32.add (i32.const 48) (i32.eqz (call $fd_prestat_get (i32.const 3) (i32.const 120)))))
    (call $print (i32.const 200) (i32.const 3))""")
# Writes a file into folder 3, reads it back, prints it, and whether a path out of the
# folder and an absolute one are refused (1 each).
FILES = f"""(module
  (import "{WASI}" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "{WASI}" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "{WASI}" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "{WASI}" "fd_seek" (func $fd_seek (param i32 i64 i32 i32) (result i32)))
  (import "{WASI}" "fd_filestat_get" (func $fd_filestat_get (param i32 i32) (result i32)))
  (import "{WASI}" "fd_close" (func $fd_close (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "kept in a file")
  (data (i32.const 32) "note")
  (data (i32.const 48) "../secret")
  (data (i32.const 64) "/etc/passwd")
  (func $must (param i32) (if (local.get 0) (then unreachable)))
  (func $list (param $at i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length)))
  (func $refused (param $at i32) (param $length i32) (result i32)
    (i32.ne (i32.const 0) (call $path_open (i32.const 3) (i32.const 1) (local.get $at) (local.get $length)
      (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 100))))
  (func (export "_start")
    (call $must (call $path_open (i32.const 3) (i32.const 1) (i32.const 32) (i32.const 4)
      (i32.const 9) (i64.const 0x200066) (i64.const 0) (i32.const 0) (i32.const 96)))
    (call $list (i32.const 16) (i32.const 14))
    (call $must (call $fd_write (i32.load (i32.const 96)) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $must (call $fd_seek (i32.load (i32.const 96)) (i64.const 5) (i32.const 0) (i32.const 104)))
    (call $list (i32.const 256) (i32.const 64))
    (call $must (call $fd_read (i32.load (i32.const 96)) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $must (call $fd_filestat_get (i32.load (i32.const 96)) (i32.const 512)))
    (call $must (call $fd_close (i32.load (i32.const 96))))
    ;; What was read, then the file's size as a letter, then the refusals.
    (i32.store8 (i32.const 265) (i32.add (i32.const 65) (i32.load (i32.const 544))))
    (i32.store8 (i32.const 266) (i32.add (i32.const 48) (call $refused (i32.const 48) (i32.const 9))))
    (i32.store8 (i32.const 267) (i32.add (i32.const 48) (call $refused (i32.const 64) (i32.const 11))))
    (call $list (i32.const 256) (i32.add (i32.load (i32.const 8)) (i32.const 3)))
    (call $must (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"""
STRANGE_IMPORT = '(module (import "sea" "depth" (func)) (memory (export "memory") 1) (func (export "_start")))'
NO_START = '(module (memory (export "memory") 1))'
PROBED = """(module
  (memory 1 2)
  (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "load64") (param i32) (result i64) (i64.load offset=65536 (local.get 0)))
  (func (export "store") (param i32 i64) (i64.store (local.get 0) (local.get 1)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))"""
# As compilers for 64-bit memories make them: the table is one, too.
PROBED_64 = """(module
  (memory i64 1 2)
  (table i64 1 funcref)
  (func (export "load") (param i64) (result i32) (i32.load offset=4 (local.get 0)))
  (func (export "store") (param i64 i32) (i32.store (local.get 0) (local.get 1))))"""


PROBED_IMPORT = PROBED.replace("(memory 1 2)", '(import "probe" "1-2" (memory 1 2))')


class _Bytes(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.POINTER(ctypes.c_char))]


def assemble(text: str) -> bytes:
    """The binary of a module's text."""
    library = ctypes.CDLL(str(LIBRARY))
    library.wasmtime_wat2wasm.restype = ctypes.c_void_p
    binary = _Bytes()
    error = library.wasmtime_wat2wasm(text.encode(), ctypes.c_size_t(len(text.encode())), ctypes.byref(binary))
    if error:
        raise ValueError(f"not a module: {text}")
    try:
        return ctypes.string_at(binary.data, binary.size)
    finally:
        library.wasm_byte_vec_delete(ctypes.byref(binary))
# How the core function of the component below ends.
COMPONENT_ENDS = "(i32.const 0)))\n  (core instance $main"
# A component that prints "hello" by streams of WASI 0.2.
COMPONENT = r"""(component
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
  (core module $memory (memory (export "memory") 1) (data (i32.const 16) "hello\n"))
  (core instance $memory (instantiate $memory))
  (core func $get (canon lower (func $stdout "get-stdout")))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory (core memory $memory "memory"))))
  (core module $main
    (import "host" "get" (func $get (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (func (export "run") (result i32)
      (call $write (call $get) (i32.const 16) (i32.const 6) (i32.const 0))
      (i32.const 0)))
  (core instance $main (instantiate $main
    (with "host" (instance (export "get" (func $get)) (export "write" (func $write))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (component $command (import "f" (func $f (result (result)))) (export "run" (func $f)))
  (instance $command (instantiate $command (with "f" (func $run))))
  (export "wasi:cli/run@0.2.0" (instance $command)))"""
