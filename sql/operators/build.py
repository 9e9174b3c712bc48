#!/usr/bin/env python3
"""Compiles the example operators: each NAME.c beside this to target/operators/NAME.wasm, and
to NAME.64.wasm for memories of 64 bits where there is a compiler for them (workloads/wasm64.py).

What must stay true: a module is written whole or not at all, and made again when its source,
the header or this file is newer.
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


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    shared = max((HERE / name).stat().st_mtime for name in ("fathom_sql.h", "build.py"))
    ways = [("wasm", narrow)]
    missing = wasm64.missing()
    if missing is None:
        wasm64.build()
        ways.append(("64.wasm", wide))
    else:
        print(f"operators: none for 64-bit memories: {missing}", flush=True)
    for source in sorted(HERE.glob("*.c")):
        for suffix, compile_to in ways:
            module = OUT / f"{source.stem}.{suffix}"
            if module.exists() and module.stat().st_mtime > max(shared, source.stat().st_mtime):
                continue
            half = module.with_suffix(".half")
            compile_to(source, half)
            os.replace(half, module)
            print(f"operators: {module.name}", flush=True)


if __name__ == "__main__":
    toolchain.main_guard(main)
