"""The load generator: the crate `oha`, pinned, built by cargo into `.tools/oha`.

It sends at a constant rate and counts latencies from when a request was due, so that a server
that stalls cannot hide it. (wrk2, the talk's, is in no registry.)
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import toolchain

PACKAGE = "oha"
VERSION = "1.16.0"
HOME = toolchain.TOOLS / "oha"


def is_there() -> bool:
    """Whether the pinned version is installed."""
    try:
        said = subprocess.run([HOME / "bin" / PACKAGE, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return said.stdout.split()[1:2] == [VERSION]


def install() -> None:
    """Builds it unless it is there: three minutes of processor time. Raises ToolError with one line."""
    toolchain.install(HOME, f"{PACKAGE} {VERSION}, which takes minutes,", is_there, _build)


def _build(folder: pathlib.Path) -> None:
    if shutil.which("cargo") is None:
        raise toolchain.ToolError(f"{PACKAGE} {VERSION} is built by cargo, which is not installed")
    with tempfile.TemporaryDirectory(prefix=".oha-target-", dir=toolchain.TOOLS) as target:
        toolchain.run(["cargo", "install", PACKAGE, "--version", VERSION, "--locked", "--quiet", "--root", str(folder)],
                      f"{PACKAGE} {VERSION}", {**os.environ, "CARGO_TARGET_DIR": target})
