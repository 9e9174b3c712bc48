#!/usr/bin/env python3
"""Installs the pinned C compiler into `.tools/zig`, and the Rust compiler's targets
for WebAssembly where rustup is. Does nothing when they are there.

Needs pip. Writes below `.tools` (and to rustup's folder) only; an interrupted
installation leaves nothing behind that a later one would mistake for a compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import toolchain

RUST_TARGETS = ("wasm32-wasip1", "wasm32-wasip1-threads")


def install_zig() -> None:
    with toolchain.replaced(toolchain.ZIG_HOME) as new:
        toolchain.pip_install(f"{toolchain.ZIG_PACKAGE}=={toolchain.ZIG_VERSION}", new)


def add_rust_targets() -> None:
    """Without them some programs are left out of a check, so a failure is a line and no more."""
    if shutil.which("rustup") is None:
        print("no rustup: its WebAssembly targets are not installed")
        return
    listed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True, check=False,
                            cwd=toolchain.ROOT)
    missing = [target for target in RUST_TARGETS if target not in listed.stdout.split()]
    if not missing:
        return
    print(f"installing the Rust targets {', '.join(missing)}", flush=True)
    done = subprocess.run(["rustup", "target", "add", *missing], capture_output=True, text=True, check=False,
                          cwd=toolchain.ROOT)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")] or ["no message"]
        print(f"rustup could not add {', '.join(missing)}: {lines[0]}", file=sys.stderr)


def main() -> int:
    found = toolchain.zig_version()
    if found != toolchain.ZIG_VERSION:
        if shutil.disk_usage(toolchain.ROOT).free < 1_000_000_000:
            raise toolchain.ToolError("less than 1 GB free: the C compiler and its cache need about 600 MB")
        print(f"installing {toolchain.ZIG_PACKAGE} {toolchain.ZIG_VERSION} into {toolchain.ZIG_HOME}", flush=True)
        install_zig()
    if toolchain.zig_version() != toolchain.ZIG_VERSION:
        raise toolchain.ToolError(f"{toolchain.ZIG_HOME} does not hold a working zig {toolchain.ZIG_VERSION}")
    print(f"zig {toolchain.ZIG_VERSION} ready")
    add_rust_targets()
    return 0


if __name__ == "__main__":
    toolchain.main_guard(main)
