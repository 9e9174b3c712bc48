"""The variant `wasm-opt`: modules of the variant `wasm` after Binaryen's `wasm-opt -O4`.

    build/wasm/[SIZE/]NAME.wasm ─▶ wasm-opt -O4 ─▶ build/wasm-opt/[SIZE/]NAME.wasm

It is made where it is asked for. Binaryen is fetched then: the npm package, pinned
and held against its hash, into `.tools/binaryen`. Its program is JavaScript, so any
Node.js runs it, and the same module comes out.

What must stay true:
- Nothing but this pass differs from `wasm`: the module says itself which features it
  has, and keeps its names.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys

import jobs
import runs
import toolchain

sys.path.insert(0, str(toolchain.ROOT / "engines"))

import step  # noqa: E402

NAME = "wasm-opt"
MADE_OF = "wasm"
HELP = "the modules of `wasm` after Binaryen's wasm-opt -O4"
PACKAGE = "binaryen"
VERSION = "132.0.0"
INTEGRITY = "sha512-4Usg7yEvwO3FMso3Oov6qkOOHSod1IEv+boKkh77kTljM+eNBouqCTbqWswGzbG+vDNO/b/v2C4gfEh1WgB9Lg=="
HOME = toolchain.TOOLS / "binaryen"
# What is kept of it: the optimiser, and what merges modules and reads text (fibers.py).
PROGRAMS = ("wasm-opt", "wasm-merge", "wasm-as")
# -g keeps the name section, which traps and profiles need, as in the other variants.
FLAGS = ("-O4", "-g")


def install() -> None:
    """Fetches Binaryen unless it is there. Raises ToolError with one line."""
    toolchain.install(HOME, f"{PACKAGE} {VERSION}", _is_there, _fetch)


def _fetch(folder: pathlib.Path) -> None:
    try:
        step.Step(PACKAGE).npm_package(PACKAGE, VERSION, INTEGRITY, folder)
    except step.Failed as failed:
        raise toolchain.ToolError(f"{PACKAGE} {VERSION}: {failed}") from None
    for path in folder.iterdir():  # its library is not used
        if path.is_file() and path.name not in ("package.json", "LICENSE"):
            path.unlink()
    for path in (folder / "bin").iterdir():
        if path.name not in ("package.json", *PROGRAMS):
            path.unlink()
    (folder / "version").write_text(VERSION)


def _is_there() -> bool:
    stamp = HOME / "version"
    has_all = all((HOME / "bin" / name).is_file() for name in PROGRAMS)
    return has_all and stamp.is_file() and stamp.read_text() == VERSION


def binaryen(program: str, arguments: list[str], label: str) -> None:
    """Runs one of its programs; a failure becomes one line naming `label`."""
    node = runs.node_path()
    if node is None:
        raise toolchain.ToolError(f"{label}: {program} needs node (python3 engines/install.py node)")
    toolchain.run([node, str(HOME / "bin" / program), *arguments], label)


def sources_of(variants: list[str]) -> list[str]:
    """What must be built of a suite for these variants: `wasm` for `wasm-opt`."""
    return list(dict.fromkeys(MADE_OF if variant == NAME else variant for variant in variants))


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """One module after the pass."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    output: pathlib.Path

    def recipe(self) -> list:
        return [PACKAGE, VERSION, FLAGS]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        made = scratch / "optimised"
        binaryen("wasm-opt", [*FLAGS, str(self.sources[0]), "-o", str(made)], self.label)
        return made


def jobs_after(made: list[jobs.Job], folder: pathlib.Path) -> list[jobs.Job]:
    """The pass for each module of `wasm` among these, which are built below `folder`."""
    plain = toolchain.VARIANTS[MADE_OF]
    return [Job(job.label.replace(f"({MADE_OF}", f"({NAME}"), (job.output,), (),
                folder / NAME / job.output.relative_to(folder / MADE_OF))
            for job in made if getattr(job, "variant", None) == plain]
