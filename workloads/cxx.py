"""C++ with exceptions for WebAssembly: the parts of libc++, libc++abi and libunwind
that zig brings as sources, compiled with exceptions on.

zig's own C++ libraries for WebAssembly are compiled without exceptions. Their
sources know WebAssembly's exceptions, so the parts that a program with
exceptions needs are compiled here once: into `.tools/cxx` in the standard's
instructions, and into `.tools/cxx-legacy` in those of before, which clang still
makes unless it is told otherwise.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import threading

import toolchain

FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off")
WASM = ("-target", "wasm32-wasi", "-mcpu=generic+exception_handling", "-fwasm-exceptions", "-mllvm")
# The instructions of each form, and where its runtime is.
FORMS = {"standard": "-wasm-use-legacy-eh=false", "legacy": "-wasm-use-legacy-eh=true"}
FOLDERS = {"standard": toolchain.TOOLS / "cxx", "legacy": toolchain.TOOLS / "cxx-legacy"}

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


def _target(form: str) -> tuple[str, ...]:
    return (*WASM, FORMS[form])


def stamp(form: str = "standard") -> str:
    """Changes whenever the runtime could."""
    made_of = json.dumps([_target(form), PARTS, DEFINES])
    return f"{toolchain.ZIG_VERSION} {hashlib.sha256(made_of.encode()).hexdigest()}"


def compile_one(source: pathlib.Path, output: pathlib.Path, flags, what: str, form: str = "standard") -> None:
    """Compiles a C++ file. Raises ToolError."""
    toolchain.run_zig([*_target(form), *FLAGS, *flags, "-c", "-o", str(output), str(source)], what, driver="c++")


def runtime(form: str = "standard") -> list[str]:
    """The objects to link a program with, compiled if need be. Raises ToolError."""
    folder = FOLDERS[form]
    with _lock:
        marker = folder / "stamp"
        if not marker.is_file() or marker.read_text() != stamp(form):
            _build(form)
    return sorted(str(path) for path in folder.glob("*.o"))


def _build(form: str) -> None:
    print(f"c++: compiling the runtime with exceptions ({form})", flush=True)
    home = toolchain.ZIG_HOME / "ziglang" / "lib"
    includes = [f"-I{home / part}" for part in (
        "libcxxabi/include", "libcxxabi/src", "libcxx/include", "libcxx/src", "libunwind/include")]
    with toolchain.replaced(FOLDERS[form]) as partial:
        partial.mkdir()
        for library, names in PARTS.items():
            for name in names:
                c = library == "libunwind"
                source = home / library / "src" / (name + (".c" if c else ".cpp"))
                language = ("-std=gnu17",) if c else ("-std=c++23",)
                toolchain.run_zig([*_target(form), "-O2", "-w", *language, *DEFINES[library], *includes, "-c", "-o",
                                   str(partial / f"{library}-{name}.o"), str(source)], f"{name} (c++ runtime)",
                                  driver="cc" if c else "c++")
        (partial / "stamp").write_text(stamp(form))
