"""The load generator: the crate `oha`, pinned, built by cargo into `.tools/oha`.

It sends at a constant rate and counts latencies from when a request was due, so that a server
that stalls cannot hide it. (wrk2, the talk's, is in no registry.)
"""

from __future__ import annotations

import fcntl
import os
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
    if is_there():
        return
    if shutil.which("cargo") is None:
        raise toolchain.ToolError(f"{PACKAGE} {VERSION} is built by cargo, which is not installed")
    toolchain.TOOLS.mkdir(exist_ok=True)
    with open(toolchain.TOOLS / "oha.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_there():
            return
        print(f"installing {PACKAGE} {VERSION} into {HOME}, which takes minutes", flush=True)
        with tempfile.TemporaryDirectory(prefix=".oha-", dir=toolchain.TOOLS) as scratch:
            toolchain.run(["cargo", "install", PACKAGE, "--version", VERSION, "--locked", "--quiet", "--root",
                           f"{scratch}/made"], f"{PACKAGE} {VERSION}", {**os.environ, "CARGO_TARGET_DIR": f"{scratch}/target"})
            shutil.rmtree(HOME, ignore_errors=True)
            os.rename(f"{scratch}/made", HOME)
