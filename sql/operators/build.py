#!/usr/bin/env python3
"""Compiles the example operators: each NAME.c beside this to target/operators/NAME.wasm.

What must stay true: a module is written whole or not at all, and made again when its source,
the header or this file is newer.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "workloads"))

import toolchain  # noqa: E402  (its folder has to be found first)

OUT = HERE.parent / "target" / "operators"
FLAGS = ("--target=wasm32-wasi", "-mcpu=generic+simd128", "-mexec-model=reactor", *toolchain.FLAGS, *toolchain.WARNINGS)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    shared = max((HERE / name).stat().st_mtime for name in ("fathom_sql.h", "build.py"))
    for source in sorted(HERE.glob("*.c")):
        module = OUT / f"{source.stem}.wasm"
        if module.exists() and module.stat().st_mtime > max(shared, source.stat().st_mtime):
            continue
        half = module.with_suffix(".half")
        toolchain.run_zig([*FLAGS, "-o", str(half), str(source)], f"{source.name}")
        os.replace(half, module)
        print(f"operators: {source.stem}", flush=True)


if __name__ == "__main__":
    toolchain.main_guard(main)
