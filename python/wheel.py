#!/usr/bin/env python3
"""Builds the wheel `fathom-wasm` into `target/wheels`, by the maturin that pyproject.toml names.

    python/wheel.py

What must stay true: there is one wheel in that folder, and it is of these sources.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from pinned import Failure, Pinned, main_guard

OUT = ROOT / "target" / "wheels"


def main() -> int:
    (required,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    name, version = required.split("==")
    maturin = Pinned(name, name, version).installed()
    for old in OUT.glob("fathom_wasm-*.whl"):
        old.unlink()
    done = subprocess.run([maturin, "build", "--release", "--locked", "--out", OUT], cwd=ROOT, check=False)
    if done.returncode != 0:
        raise Failure(f"maturin ended with status {done.returncode}")
    (wheel,) = OUT.glob("fathom_wasm-*.whl")
    print(wheel)
    return 0


if __name__ == "__main__":
    main_guard(main)
