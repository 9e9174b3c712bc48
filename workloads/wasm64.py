#!/usr/bin/env python3
"""C for 64-bit memories: a libc, and a compiler that uses it.

    python3 workloads/wasm64.py -O2 -o app.wasm app.c more.c     compiles and links
    python3 workloads/wasm64.py                                  makes the libc only

The same can be made for 32-bit memories (`bits=32`), from the same sources by
the same compiler with the same flags: what the two widths are compared with.

No package brings a libc for wasm64. The last zig whose wasi-libc is complete in
C brings its sources; Debian's clang compiles them for wasm64; zig's own runtime
library gives the helpers that the compiler calls; and `wasm64/preview1.c`
stands between the libc and hosts, which speak WASI with 32-bit pointers only.
Everything lands in `.tools/wasm64` (`.tools/wasm32`), complete or not at all.

Limits: buffers handed to WASI must lie below 4 GiB. There is no C++ library and
no setjmp.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile

import toolchain

# The libc's sources: the last release before zig began to rewrite it in zig.
SOURCES_VERSION = "0.14.1"
# Of the wheel for this platform; another platform's holds the same sources.
SOURCES_WHEEL = "ziglang-0.14.1-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl"
SOURCES_SHA256 = "6eb9d4d759b292c83810dbee2e9e8e3fbfbf01d864e6e9811bae711fd74e1c2f"

CLANG, LINKER = "clang-19", "wasm-ld-19"
SHIM = pathlib.Path(__file__).resolve().parent / "wasm64" / "preview1.c"
_lock = threading.Lock()
# Bump when the result changes for a reason that the stamp does not see.
FORMAT = 2
# As much as zig gives programs with 32-bit memories.
STACK_BYTES = 16 << 20

FEATURES = ("-mbulk-memory", "-mnontrapping-fptoint", "-msign-ext", "-mmultivalue", "-mmutable-globals")

# musl's folders, and what is left out of each: what needs processes, signals or
# locks, and what the compiler has instructions for. A file that wasi-libc has
# a version of its own of is always left out.
MUSL = {
    "complex": {"cimag", "cimagf", "cimagl", "creal", "crealf", "creall"},
    "conf": set(), "crypt": set(), "ctype": set(), "multibyte": set(), "prng": set(), "regex": set(),
    "search": set(), "stdlib": set(),
    "fenv": {"__flt_rounds"},
    "locale": {"bind_textdomain_codeset", "dcngettext", "textdomain"},
    "math": {"__fpclassify", "__fpclassifyf", "__fpclassifyl", "__signbit", "__signbitf", "__signbitl",
             *(name + suffix for suffix in ("", "f") for name in (
                 "ceil", "copysign", "fabs", "floor", "fmax", "fmin", "nearbyint", "rint", "sqrt", "trunc"))},
    "stdio": {"__lockfile", "flockfile", "ftrylockfile", "funlockfile", "gets", "pclose", "popen", "remove", "rename",
              "tempnam", "tmpfile", "tmpnam"},
    "string": {"strsignal"},
}
# Folders of which only these are taken.
MUSL_ONLY = {
    "env": {"setenv"},
    "exit": {"assert", "quick_exit"},
    "legacy": {"getpagesize"},
    "misc": {"a64l", "basename", "dirname", "ffs", "ffsl", "ffsll", "getdomainname", "gethostid", "getopt",
             "getopt_long", "getsubopt", "realpath"},
    "network": {"htonl", "htons", "in6addr_any", "in6addr_loopback", "inet_aton", "inet_ntop", "inet_pton", "ntohl",
                "ntohs"},
    "thread": {"thrd_sleep"},
    "time": {"__month_to_secs", "__year_to_secs", "asctime", "asctime_r", "ctime", "ctime_r", "difftime", "ftime",
             "strptime", "timespec_get"},
    "unistd": {"posix_close"},
}
# What wasi-libc has beside its core: emulations that are libraries of their own,
# the entry of a reactor, and the imports that preview1.c replaces.
WASI_LEFT_OUT = {"clock.c", "getrusage.c", "times.c", "crt1-command.c", "crt1-reactor.c", "getpid.c", "mman.c",
                 "signal.c", "dl.c", "__wasilibc_real.c"}


def target(bits: int) -> tuple[str, ...]:
    """What both the libc and programs are compiled for."""
    return (f"--target=wasm{bits}-unknown-wasi", *FEATURES)


def sysroot(bits: int) -> pathlib.Path:
    return toolchain.TOOLS / f"wasm{bits}"


def left_out(bits: int) -> set[str]:
    """Files of wasi-libc that are not compiled. With 32 bits its own imports are what hosts speak."""
    return WASI_LEFT_OUT if bits == 64 else WASI_LEFT_OUT - {"__wasilibc_real.c"}


def missing() -> str | None:
    """Why programs cannot be compiled here; None when they can."""
    for tool, package in ((CLANG, "clang-19"), (LINKER, "lld-19")):
        if shutil.which(tool) is None:
            return f"{tool} is missing (Debian: apt-get install {package})"
    return None


def stamp(bits: int = 64) -> str:
    """Changes whenever the sysroot could."""
    choice = [target(bits), sorted((name, sorted(but)) for name, but in MUSL.items()),
              sorted((name, sorted(only)) for name, only in MUSL_ONLY.items()), sorted(left_out(bits))]
    digest = hashlib.sha256(json.dumps(choice).encode() + SHIM.read_bytes())
    return f"{FORMAT} {toolchain.ZIG_VERSION} {SOURCES_SHA256} {digest.hexdigest()}\n"


def is_ready(bits: int = 64) -> bool:
    try:
        return (sysroot(bits) / "stamp").read_text() == stamp(bits)
    except OSError:
        return False


def fetch_sources(scratch: pathlib.Path) -> pathlib.Path:
    """Unpacks the libc's part of the wheel; returns its `libc` folder."""
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{toolchain.ZIG_PACKAGE}=={SOURCES_VERSION} --hash=sha256:{SOURCES_SHA256}\n")
    platform = SOURCES_WHEEL.removesuffix(".whl").split("-")[-1]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
               "--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", str(scratch),
               *(f"--platform={tag}" for tag in platform.split(".")), "--requirement", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise toolchain.ToolError(f"pip could not fetch {toolchain.ZIG_PACKAGE} {SOURCES_VERSION}: {lines[-1]}")
    wanted = tuple(f"ziglang/lib/libc/{part}/" for part in (
        "wasi", "musl/src", "musl/include", "musl/arch/generic", "include/wasm-wasi-musl", "include/generic-musl"))
    with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
        for name in wheel.namelist():
            if name.startswith(wanted) and not name.endswith("/"):
                wheel.extract(name, scratch)
    return scratch / "ziglang" / "lib" / "libc"


def install_headers(libc: pathlib.Path, include: pathlib.Path, bits: int) -> None:
    """musl's headers, wasi-libc's over them; for 64 bits without what they say of pointers of 32."""
    for layer in ("generic-musl", "wasm-wasi-musl"):
        shutil.copytree(libc / "include" / layer, include, dirs_exist_ok=True)
    if bits == 64:
        widen_headers(include)


def widen_headers(include: pathlib.Path) -> None:
    limits = include / "bits" / "stdint.h"
    lines = limits.read_text().splitlines(keepends=True)
    of_pointers = ("INTPTR_", "UINTPTR_", "PTRDIFF_", "SIZE_")
    limits.write_text("".join(line.replace("INT32_", "INT64_") if line.startswith(tuple(
        f"#define {name}" for name in of_pointers)) else line for line in lines))
    api = include / "wasi" / "api.h"
    lines = api.read_text().replace("#ifndef __wasm32__", "#ifndef __wasm__").splitlines(keepends=True)
    api.write_text("".join(line for line in lines if not line.startswith("_Static_assert(")))


def libc_files(libc: pathlib.Path, bits: int) -> list[pathlib.Path]:
    own = [path for path in sorted((libc / "wasi").rglob("*.c")) if path.name not in left_out(bits)]
    replaced = {path.as_posix().split("/musl/src/")[1] for path in own if "/musl/src/" in path.as_posix()}
    files = own
    for folder in sorted({*MUSL, *MUSL_ONLY}):
        for path in sorted((libc / "musl" / "src" / folder).glob("*.c")):
            taken = path.stem in MUSL_ONLY[folder] if folder in MUSL_ONLY else path.stem not in MUSL[folder]
            if taken and f"{folder}/{path.name}" not in replaced:
                files.append(path)
    return files


def internal_headers(libc: pathlib.Path, source: pathlib.Path) -> list[pathlib.Path]:
    """The folders of a libc file's private headers: each half of wasi-libc has its own, the allocator none."""
    top, bottom = libc / "wasi" / "libc-top-half", libc / "wasi" / "libc-bottom-half"
    own = [top / "musl/src/include", libc / "musl/src/include", top / "musl/src/internal", libc / "musl/src/internal"]
    if source.is_relative_to(bottom):
        return [bottom / "headers/private", bottom / "cloudlibc/src/include", bottom / "cloudlibc/src", *own]
    if source.is_relative_to(top) or source.is_relative_to(libc / "musl"):
        return [*own, top / "musl/arch/wasm32", libc / "musl/arch/generic", top / "headers/private"]
    return []


def compile_libc(libc: pathlib.Path, root: pathlib.Path, workers: int, bits: int) -> None:
    """Fills `lib` below the sysroot with libc.a and crt1.o."""
    bottom = libc / "wasi" / "libc-bottom-half"
    flags = [*target(bits), "-nostdlibinc", "-std=gnu17", "-O2", "-w", "-DNDEBUG", "-DBULK_MEMORY_THRESHOLD=32",
             "-fno-trapping-math", "-fno-strict-aliasing", "-fno-stack-protector", "-mthread-model", "single",
             # musl's own exchange of pointers is for 32 bits; nothing here uses it.
             "-Da_cas_p=a_cas_p", "-idirafter", str(root / "include")]
    objects = root / "objects"
    objects.mkdir()

    def compile_one(numbered: tuple[int, pathlib.Path]) -> str:
        number, source = numbered
        output = objects / f"{number:04}-{source.stem}.o"
        includes = [f"-I{folder}" for folder in internal_headers(libc, source)]
        toolchain.run([CLANG, *flags, *includes, "-c", "-o", str(output), str(source)], f"{source.name} (wasm{bits} libc)")
        return str(output)

    sources = [*libc_files(libc, bits), *([SHIM] if bits == 64 else [])]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        compiled = list(pool.map(compile_one, enumerate(sources)))
    (root / "lib").mkdir()
    os.rename(compile_one((len(sources), bottom / "crt/crt1-command.c")), root / "lib/crt1.o")
    listing = root / "objects" / "list"
    listing.write_text("\n".join(compiled))
    toolchain.run([str(toolchain.zig_path()), "ar", "rcs", str(root / "lib/libc.a"), f"@{listing}"], "libc.a",
                  toolchain.zig_environment())
    shutil.rmtree(objects)


def build(workers: int | None = None, bits: int = 64) -> None:
    """Makes the sysroot unless it is there; one caller at a time. Raises ToolError."""
    with _lock:
        if not is_ready(bits):
            _build(workers or os.cpu_count() or 1, bits)


def _build(workers: int, bits: int) -> None:
    reason = missing()
    if reason is not None:
        raise toolchain.ToolError(f"no C for {bits}-bit memories: {reason}")
    toolchain.TOOLS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".wasm{bits}-", dir=toolchain.TOOLS) as name:
        scratch = pathlib.Path(name)
        print(f"wasm{bits}: fetching libc sources ({toolchain.ZIG_PACKAGE} {SOURCES_VERSION})", flush=True)
        libc = fetch_sources(scratch)
        root = scratch / "sysroot"
        install_headers(libc, root / "include", bits)
        print(f"wasm{bits}: compiling libc (about a minute)", flush=True)
        compile_libc(libc, root, workers, bits)
        toolchain.run([str(toolchain.zig_path()), "build-lib", "-target", f"wasm{bits}-freestanding", "-mcpu=generic",
                       "-OReleaseFast", "-fstrip", "-fcompiler-rt", "--name", "rt",
                       f"-femit-bin={root / 'lib/librt.a'}", str(toolchain.ZIG_HOME / "ziglang/lib/compiler_rt.zig")],
                      f"runtime library (wasm{bits})", toolchain.zig_environment())
        (root / "stamp").write_text(stamp(bits))
        shutil.rmtree(sysroot(bits), ignore_errors=True)
        os.rename(root, sysroot(bits))
    print(f"wasm{bits}: ready", flush=True)


def compile_flags(bits: int = 64) -> list[str]:
    """For compiling one file with `clang-19 -c`."""
    return [*target(bits), "-nostdlibinc", "-idirafter", str(sysroot(bits) / "include")]


def link(objects: list[str], output: str, what: str, bits: int = 64) -> None:
    """Links objects and the libc to a command. Raises ToolError naming `what`."""
    lib = sysroot(bits) / "lib"
    # The stack comes first, so that an overflow traps instead of reaching data.
    toolchain.run([LINKER, f"-mwasm{bits}", "--stack-first", "-z", f"stack-size={STACK_BYTES}", "-o", output,
                   str(lib / "crt1.o"), *objects, str(lib / "libc.a"), str(lib / "librt.a")], what)


def main() -> int:
    build()
    arguments = sys.argv[1:]
    if not arguments:
        return 0
    sources = [word for word in arguments if word.endswith(".c")]
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments[:-1] else "a.wasm"
    flags = [word for at, word in enumerate(arguments)
             if word not in sources and word != "-o" and (at == 0 or arguments[at - 1] != "-o")]
    if not sources:
        raise toolchain.ToolError("no .c file among the arguments")
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for number, source in enumerate(sources):
            objects.append(f"{scratch}/{number}.o")
            done = subprocess.run([CLANG, *compile_flags(), *flags, "-c", "-o", objects[-1], source], check=False)
            if done.returncode != 0:
                return done.returncode
        link(objects, output, output)
    return 0


if __name__ == "__main__":
    toolchain.main_guard(main)
