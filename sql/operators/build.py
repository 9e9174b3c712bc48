#!/usr/bin/env python3
"""Compiles the example operators: each NAME.c beside this to target/operators/NAME.wasm, and
to NAME.64.wasm for memories of 64 bits where there is a compiler for them (workloads/wasm64.py),
which those whose name ends with _shared, and whose memories are shared, need for both.

What must stay true: a module is written whole or not at all, and made again when its source,
a header or this file is newer.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "workloads"))

import toolchain  # noqa: E402  (its folder has to be found first)
import wasm64  # noqa: E402

OUT = HERE.parent / "target" / "operators"
COMMON = (*toolchain.FLAGS, *toolchain.WARNINGS)
FLAGS = ("--target=wasm32-wasi", "-mcpu=generic+simd128", "-mexec-model=reactor", *COMMON)


# Most that a shared memory can have, by its bits: it says so itself, and a function's option is less.
SHARED_BYTES_MAX = {32: 4 << 30, 64: 16 << 30}


def narrow(source: pathlib.Path, output: pathlib.Path) -> None:
    toolchain.run_zig([*FLAGS, "-o", str(output), str(source)], source.name)


def wide(source: pathlib.Path, output: pathlib.Path) -> None:
    """A module without a main, whose exports its source names."""
    thing = output.with_suffix(".o")
    toolchain.run([wasm64.CLANG, *wasm64.compile_flags(), "-msimd128", *COMMON, "-c", "-o", str(thing), str(source)],
                  source.name)
    lib = wasm64.sysroot(64) / "lib"
    toolchain.run([wasm64.LINKER, "-mwasm64", "--no-entry", "--stack-first", "-z", f"stack-size={wasm64.STACK_BYTES}",
                   "-o", str(output), str(thing), str(lib / "libc.a"), str(lib / "librt.a")], source.name)
    thing.unlink()


def shared(bits: int):
    """Compiles a module without a libc, whose memory is imported."""

    def compile_to(source: pathlib.Path, output: pathlib.Path) -> None:
        thing = output.with_suffix(".o")
        toolchain.run([wasm64.CLANG, f"--target=wasm{bits}-unknown-unknown", "-pthread", "-mbulk-memory", "-msimd128",
                       "-ffreestanding", "-nostdlibinc", *COMMON, "-c", "-o", str(thing), str(source)], source.name)
        toolchain.run([wasm64.LINKER, f"-mwasm{bits}", "--no-entry", "--import-memory", "--export-memory",
                       "--shared-memory", f"--max-memory={SHARED_BYTES_MAX[bits]}", "--stack-first", "-z",
                       "stack-size=262144", "-o", str(output), str(thing)], source.name)
        thing.unlink()

    return compile_to


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    common = max(path.stat().st_mtime for path in (*HERE.glob("*.h"), HERE / "build.py"))
    ways, ways_shared = [("wasm", narrow)], []
    missing = wasm64.missing()
    if missing is None:
        wasm64.build()
        ways.append(("64.wasm", wide))
        ways_shared = [("wasm", shared(32)), ("64.wasm", shared(64))]
    else:
        print(f"operators: none for 64-bit memories, and none for shared ones: {missing}", flush=True)
    for source in sorted(HERE.glob("*.c")):
        for suffix, compile_to in ways_shared if source.stem.endswith("_shared") else ways:
            module = OUT / f"{source.stem}.{suffix}"
            if module.exists() and module.stat().st_mtime > max(common, source.stat().st_mtime):
                continue
            half = module.with_suffix(".half")
            compile_to(source, half)
            os.replace(half, module)
            print(f"operators: {module.name}", flush=True)


if __name__ == "__main__":
    toolchain.main_guard(main)
