"""How wasmtime is installed: the library from PyPI, its C headers from a crate.

The wheel holds an unstripped shared library and no headers; the crate holds the
headers. Both are pinned to one version, with checksums, and `runner` is compiled
against them. Another release is the wheel of that version and the crate of the same.
"""

import json
import shutil
from pathlib import Path

VERSION = "50.0.1"
NEEDS = ["cc", "cargo"]
USES = ["common"]
SOURCES = ["engine.c", "evidence.c"]
# What headers of older releases lack: the runner is told by these words what is there.
NEWER = {
    "-DHAS_WINCH": ("wasmtime/config.h", "WASMTIME_STRATEGY_WINCH"),
    "-DHAS_FS_MUTABLE": ("wasi.h", "fs_mutable"),
}


def _library(step, here: Path, into: Path) -> None:
    wheels = into / "wheel"
    if step.version is None:
        step.pip_download(here / "requirements.txt", wheels)
    else:
        step.pip_release("wasmtime", step.version, wheels)
    (wheel,) = wheels.glob("wasmtime-*.whl")
    shutil.unpack_archive(wheel, wheels / "unpacked", "zip")
    libraries = list(wheels.glob("unpacked/wasmtime/linux-*/_libwasmtime.so"))
    if len(libraries) != 1:
        raise step.Failed("the wheel of wasmtime holds no Linux library for this machine")
    shutil.move(libraries[0], into / "_libwasmtime.so")
    shutil.rmtree(wheels)


def _headers(step, here: Path, into: Path) -> None:
    if step.version is None:
        _pinned_headers(step, here, into)
    else:
        crate = into / "crate"
        step.crate_source("wasmtime-c-api-impl", step.version, None, crate)
        shutil.move(crate / "include", into / "include")
        shutil.rmtree(crate)
    shutil.copy(here / "conf.h", into / "include" / "wasmtime" / "conf.h")


def _pinned_headers(step, here: Path, into: Path) -> None:
    manifest = here / "Cargo.toml"
    step.run(["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest], "cargo fetch")
    listing = step.run(
        ["cargo", "metadata", "--offline", "--locked", "--format-version", "1", "--manifest-path", manifest],
        "cargo metadata",
    )
    (crate,) = [p for p in json.loads(listing)["packages"] if p["name"] == "wasmtime-c-api-impl"]
    shutil.copytree(Path(crate["manifest_path"]).parent / "include", into / "include")


def defines(include: Path) -> list[str]:
    """What the runner is told of these headers."""
    return [define for define, (header, word) in NEWER.items() if word in (include / header).read_text()]


def install(step, here: Path, into: Path) -> None:
    """Fills the folder `into` with the library, its headers and the runner."""
    step.say("the library (PyPI, about 9 MB)")
    _library(step, here, into)
    step.say("its C headers (a crate, about 20 MB with what the crate asks for)")
    _headers(step, here, into)
    step.say("the runner (cc)")
    step.c_runner(
        here, SOURCES, into / "runner",
        [*defines(into / "include"), f"-I{into / 'include'}", f"-L{into}", "-l:_libwasmtime.so", "-Wl,-rpath,$ORIGIN"],
    )
    step.say(step.run([into / "runner", "--check"], "the runner does not run").strip())
