"""C++ with exceptions for WebAssembly: the parts of libc++, libc++abi and libunwind
that zig brings as sources, compiled with exceptions on.

zig's own C++ libraries for WebAssembly are compiled without exceptions. Their
sources know WebAssembly's exceptions, so the parts that a program with
exceptions needs are compiled here once, in the standard's instructions (not
the older ones that engines knew before), into `.tools/cxx`.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import threading

import toolchain

FOLDER = toolchain.TOOLS / "cxx"
FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off")
WASM = ("-target", "wasm32-wasi", "-mcpu=generic+exception_handling", "-fwasm-exceptions", "-mllvm",
        "-wasm-use-legacy-eh=false")

# What each library is compiled from: enough for exceptions, strings, containers,
# smart pointers and functions; no streams, locales, threads or file systems.
PARTS = {
    "libcxxabi": ("abort_message", "cxa_aux_runtime", "cxa_default_handlers", "cxa_exception", "cxa_exception_storage",
                  "cxa_guard", "cxa_handlers", "cxa_personality", "cxa_vector", "cxa_virtual", "fallback_malloc",
                  "private_typeinfo", "stdlib_exception", "stdlib_new_delete", "stdlib_stdexcept", "stdlib_typeinfo"),
    "libcxx": ("exception", "functional", "memory", "new", "new_handler", "new_helpers", "stdexcept", "string",
               "typeinfo", "vector", "verbose_abort"),
    "libunwind": ("Unwind-wasm",),
}
DEFINES = {
    "libcxxabi": ("-D_LIBCXXABI_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCXXABI_HAS_NO_THREADS",
                  "-DLIBCXXABI_NON_DEMANGLING_TERMINATE", "-D_LIBCPP_BUILDING_LIBRARY"),
    "libcxx": ("-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCPP_BUILDING_LIBRARY"),
    "libunwind": ("-D_LIBUNWIND_HAS_NO_THREADS", "-D_LIBUNWIND_HIDE_SYMBOLS"),
}

_lock = threading.Lock()


def stamp() -> str:
    """Changes whenever the runtime could."""
    return f"{toolchain.ZIG_VERSION} {hashlib.sha256(json.dumps([WASM, PARTS, DEFINES]).encode()).hexdigest()}"


def compile_one(source: pathlib.Path, output: pathlib.Path, flags, what: str) -> None:
    """Compiles a C++ file. Raises ToolError."""
    toolchain.run_zig([*WASM, *FLAGS, *flags, "-c", "-o", str(output), str(source)], what, driver="c++")


def runtime() -> list[str]:
    """The objects to link a program with, compiled if need be. Raises ToolError."""
    with _lock:
        marker = FOLDER / "stamp"
        if not marker.is_file() or marker.read_text() != stamp():
            _build()
    return sorted(str(path) for path in FOLDER.glob("*.o"))


def _build() -> None:
    print("c++: compiling the runtime with exceptions", flush=True)
    home = toolchain.ZIG_HOME / "ziglang" / "lib"
    includes = [f"-I{home / part}" for part in (
        "libcxxabi/include", "libcxxabi/src", "libcxx/include", "libcxx/src", "libunwind/include")]
    with tempfile.TemporaryDirectory(prefix=".cxx-", dir=toolchain.TOOLS) as scratch:
        partial = pathlib.Path(scratch, "cxx")
        partial.mkdir()
        for library, names in PARTS.items():
            for name in names:
                c = library == "libunwind"
                source = home / library / "src" / (name + (".c" if c else ".cpp"))
                language = ("-std=gnu17",) if c else ("-std=c++23",)
                toolchain.run_zig([*WASM, "-O2", "-w", *language, *DEFINES[library], *includes, "-c", "-o",
                                   str(partial / f"{library}-{name}.o"), str(source)], f"{name} (c++ runtime)",
                                  driver="cc" if c else "c++")
        (partial / "stamp").write_text(stamp())
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.rename(partial, FOLDER)
