"""The pinned C compiler: where it is, how it is called, what a variant means.

One compiler, `zig cc` from the PyPI package `ziglang`, makes every variant of
every workload, so that a ratio between Wasm and native code compares code
generators and engines, not two releases of clang. It lives in `.tools/zig`
under the repository root and is never installed into the system.

What must stay true:
- A variant differs from the others in target and CPU features only. The
  optimisation flags (`FLAGS`) are the same for all.
- Feature flags are given when compiling, not when linking: zig builds a libc
  for every feature set that it meets at link time (20 s each), and the time
  is spent in our code, not in libc's.
- `ZIG_*_CACHE_DIR` points below `.tools`: nothing is written to the user's home.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

ZIG_PACKAGE = "ziglang"
ZIG_VERSION = "0.15.2"

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
ZIG_HOME = TOOLS / "zig"

# -ffp-contract=off: no fused multiply-add, whose rounding differs from that of
# a multiplication and an addition; with it, answers differ between CPUs.
FLAGS = ("-std=gnu11", "-O3", "-ffp-contract=off")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


class ToolError(Exception):
    """Something outside our code is missing or failed; one line for the user."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to compile every workload of a suite."""

    name: str
    target: str  # zig's target triple
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    suffix: str  # of the output file
    help: str


def _native_target() -> str:
    return f"{platform.machine()}-linux-musl"


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("wasm", "wasm32-wasi", ("-mcpu=generic",), ("-mcpu=generic",), ".wasm",
                "WebAssembly 2.0 without SIMD, WASI preview 1"),
        Variant("wasm-simd", "wasm32-wasi", ("-mcpu=generic+simd128",), ("-mcpu=generic",), ".wasm",
                "the same with 128-bit SIMD"),
        Variant("wasm-mvp", "wasm32-wasi", ("-mcpu=mvp",), ("-mcpu=mvp",), ".wasm",
                "WebAssembly 1.0, for engines that know nothing newer"),
        Variant("native", _native_target(), ("-mcpu=baseline",), ("-mcpu=baseline",), "",
                "this machine's instruction set at its baseline, static"),
        Variant("native-tuned", _native_target(), ("-mcpu=native",), ("-mcpu=baseline",), "",
                "every feature of this machine's CPU: the limit, for information"),
    )
}
# Not zig's: this machine's gcc and C library, for those who ask for it.
GCC = Variant("native-gcc", "", (), ("-static",), "", "the same by this machine's gcc, static")
DEFAULT_VARIANTS = ("wasm", "wasm-simd", "native", "native-tuned")


def zig_path() -> pathlib.Path:
    """The compiler. Raises ToolError when `make setup` has not been run."""
    zig = ZIG_HOME / "ziglang" / "zig"
    if not zig.is_file():
        raise ToolError(f"no C compiler in {ZIG_HOME}: run `make setup` (installs {ZIG_PACKAGE} {ZIG_VERSION} there)")
    return zig


def zig_environment() -> dict[str, str]:
    cache = str(TOOLS / "zig-cache")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}


def zig_version() -> str | None:
    """The version of the compiler in `.tools`, None when there is none."""
    zig = ZIG_HOME / "ziglang" / "zig"
    try:
        out = subprocess.run([zig, "version"], env=zig_environment(), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return out.stdout.strip()


def gcc_version() -> str:
    """What the machine's gcc says it is. Raises ToolError where there is none."""
    try:
        done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise ToolError("variant native-gcc needs gcc (Debian: apt-get install gcc libc6-dev)") from None
    return done.stdout.partition("\n")[0]


def host_cpu() -> str:
    """What `-mcpu=native` depends on: model and feature flags of the CPU."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags", "CPU part", "Features")
    return "\n".join(sorted({line for line in lines if line.startswith(wanted)}))


def run_zig(arguments: list[str], what: str, driver: str = "cc") -> None:
    """Runs `zig cc` (or `c++`) with the arguments; a failure becomes one line naming `what`."""
    run([str(zig_path()), driver, *arguments], what, zig_environment())


def run(command: list[str], what: str, environment: dict[str, str] | None = None) -> None:
    """Runs a compiler; a failure becomes one line naming `what`."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"{what}: {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise ToolError(f"{what}: {_first_error(done.stderr) or f'compiler ended with status {done.returncode}'}")


def _first_error(stderr: str) -> str | None:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return (errors or lines or [None])[0]


def pip_install(package: str, folder: pathlib.Path) -> None:
    """Unpacks a package, `NAME==VERSION`, into a folder. Raises ToolError."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
               "--only-binary=:all:", "--root-user-action=ignore", "--target", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise ToolError(f"pip could not install {package}: {lines[-1]}")


def install(home: pathlib.Path, what: str, is_there: Callable[[], bool], fill: Callable[[pathlib.Path], None]) -> None:
    """Makes a folder unless what it is for is there; one process at a time."""
    if is_there():
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.with_name(f"{home.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_there():
            return
        print(f"installing {what} into {home}", flush=True)
        with replaced(home) as new:
            fill(new)


@contextlib.contextmanager
def replaced(home: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder to make, which is in the place of `home` then: whole, or as it was before."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=home.parent) as scratch:
        new = pathlib.Path(scratch, "new")
        yield new
        if home.exists():
            os.rename(home, f"{scratch}/old")
        os.rename(new, home)


def main_guard(main) -> None:
    """Runs a command's main; turns ToolError and Ctrl-C into a line and a status.

    A polite kill unwinds too, so that no compiler or workload outlives the command.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted; what was finished is kept", file=sys.stderr)
        sys.exit(130)
