#!/usr/bin/env python3
"""Builds the part of SPEC CPU 2017 that the seeds ran, of a user's own copy.

    COPY/benchspec/CPU/NNN.name_r ─┬─ src, Spec/object.pm ──▶ INTO/SIZE/build/VARIANT/NAME[.wasm]
                                   ├─ data/{all,SIZE}/input ─▶ INTO/SIZE/run/NAME
                                   └─ data/{all,SIZE}/output ▶ INTO/SIZE/expected/NAME
    recipes.toml ───────────────────────────────────────────▶ INTO/SIZE/suite.toml

SPEC CPU cannot be shipped, and nothing of it is: what is made of a copy goes where the
user says, by default to a folder that git ignores. `fathom reproduce leaps-and-bounds
--spec COPY` calls this with a folder in its results. The
recipes follow what is published of its layout. They were never tried on the real
sources; the tests try them on a made-up copy.

What must stay true:
- A benchmark that cannot be built is left out with its reason, in suite.toml and in a
  line here, and the others are built.
- What is compared is what the copy says the output must be.
"""

from __future__ import annotations

import argparse
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shutil
import sys

import jobs
import suites
import toolchain
import wasm_file

FOLDER = suites.HERE / "spec"
BUILD = FOLDER / "build"
VARIANTS = ("wasm", "native")
# The stack that Linux gives a program, and what WASI's libc can stand in for.
WASM_LINK = ("-Wl,-z,stack-size=8388608", "-lwasi-emulated-signal", "-lwasi-emulated-process-clocks",
             "-lwasi-emulated-mman", "-lwasi-emulated-getpid")
WASM_DEFINES = ("SPEC_ILP32", "_WASI_EMULATED_SIGNAL", "_WASI_EMULATED_PROCESS_CLOCKS", "_WASI_EMULATED_MMAN",
                "_WASI_EMULATED_GETPID")
NATIVE_DEFINES = ("SPEC_LP64", "SPEC_LINUX")
# The suite's C++ is older than the compiler's default.
# There is no runtime for its exceptions, which none of these throws.
STANDARD = {"c": ("-std=gnu11",), "c++": ("-std=gnu++14", "-fno-exceptions")}
SOURCES = re.compile(r"@sources\s*=\s*\(?\s*qw\s*\(([^)]*)\)")


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """One benchmark and a variant."""

    label: str
    root: pathlib.Path  # its src
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    language: str
    flags: tuple[str, ...]
    variant: toolchain.Variant
    output: pathlib.Path

    def recipe(self) -> list:
        return [toolchain.ZIG_VERSION, STANDARD[self.language], self.flags, WASM_LINK, dataclasses.astuple(self.variant),
                [str(source.relative_to(self.root)) for source in self.sources]]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        is_wasm = self.variant.suffix == ".wasm"
        driver = "c++" if self.language == "c++" else "cc"
        target = ["-target", self.variant.target]
        objects, linked = [], scratch / "linked"
        for index, source in enumerate(self.sources):
            objects.append(f"{scratch}/{index}.o")
            toolchain.run_zig([*target, *self.variant.compile_flags, *STANDARD[self.language], *toolchain.FLAGS[1:],
                               *self.flags, "-w", "-c", "-o", objects[-1], str(source)],
                              self.label, driver)
        toolchain.run_zig([*target, *self.variant.link_flags, "-O3", "-o", str(linked), *objects,
                           *(WASM_LINK if is_wasm else ()), "-lm"], self.label, driver)
        if is_wasm:
            linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        return linked


class Absent(Exception):
    """Why one benchmark is not measured, in one line."""


@dataclasses.dataclass(frozen=True)
class Copy:
    """A user's copy at one size."""

    root: pathlib.Path
    size: str  # test, train, ref
    data: str  # its folder's name in the copy
    into: pathlib.Path  # what is made of it

    def benchmark(self, name: str) -> pathlib.Path:
        return self.root / "benchspec" / "CPU" / name

    def folders(self, name: str, kind: str) -> list[pathlib.Path]:
        """`data/all/KIND` and `data/SIZE/KIND`, as far as they are there."""
        data = self.benchmark(name) / "data"
        return [folder for folder in (data / "all" / kind, data / self.data / kind) if folder.is_dir()]


def recipes() -> dict:
    return suites.tomllib.loads((FOLDER / "recipes.toml").read_text())


def sources_of(recipe: dict, home: pathlib.Path) -> list[pathlib.Path]:
    """The files to compile. Raises Absent."""
    root = home / "src"
    if not root.is_dir():
        raise Absent(f"no {root}")
    if "sources" in recipe:
        found = sorted({path for pattern in recipe["sources"] for path in root.glob(pattern)})
        if not found:
            raise Absent(f"nothing like {' '.join(recipe['sources'])} in {root}")
        return found
    listing = home / "Spec" / "object.pm"
    try:
        names = SOURCES.search(listing.read_text(errors="replace"))
    except OSError as error:
        raise Absent(f"{listing}: {error.strerror}") from None
    if names is None or not names[1].split():
        raise Absent(f"{listing} lists no @sources = qw(…)")
    found = [root / name for name in names[1].split()]
    missing = [path for path in found if not path.is_file()]
    if missing:
        raise Absent(f"{listing} lists {missing[0].relative_to(root)}, which is not in {root}")
    return [path for path in found if path.suffix in (".c", ".cc", ".cpp", ".C")]


def jobs_of(recipe: dict, copy: Copy, common: list[str]) -> list[Job]:
    """One for each variant. Raises Absent."""
    home = copy.benchmark(recipe["name"])
    if not home.is_dir():
        raise Absent(f"not in {home.parent}")
    root, sources = home / "src", sources_of(recipe, home)
    headers = sorted(path for pattern in ("*.h", "*.hpp", "*.inc") for path in root.rglob(pattern))
    made = []
    for name in VARIANTS:
        variant = toolchain.VARIANTS[name]
        own = WASM_DEFINES if variant.suffix == ".wasm" else NATIVE_DEFINES
        flags = [f"-D{define}" for define in (*common, *own, *recipe.get("defines", []))]
        flags += [f"-I{root / folder}" for folder in recipe.get("includes", [])] + recipe.get("flags", [])
        made.append(Job(f"{recipe['name']} ({name})", root, tuple(sources), tuple(headers), recipe["language"],
                        tuple(flags), variant, copy.into / "build" / name / (recipe["name"] + variant.suffix)))
    return made


def prepare(recipe: dict, copy: Copy) -> None:
    """Its folder to run in and what its runs must print. Raises Absent."""
    name, home = recipe["name"], copy.into
    inputs, outputs = copy.folders(name, "input"), copy.folders(name, "output")
    if not inputs:
        raise Absent(f"no {copy.benchmark(name)}/data/{copy.data}/input")
    run, expected = home / "run" / name, home / "expected" / name
    for made, parts in ((run, inputs), (expected, outputs)):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for part in parts:
            shutil.copytree(part, made, dirs_exist_ok=True)
    for one in recipe["run"][copy.size]:
        if not (expected / one["stdout"]).is_file():
            raise Absent(f"no {copy.benchmark(name)}/data/{copy.data}/output/{one['stdout']}")


def entries(recipe: dict, size: str) -> str:
    """Its runs as workloads; several are numbered."""
    name, runs = recipe["name"], recipe["run"][size]
    text = ""
    for number, run in enumerate(runs, 1):
        output = {"file": f"expected/{name}/{run['stdout']}", **recipe.get("tolerance", {})}
        text += "\n[[workload]]\n" + "".join(f"{key} = {value}\n" for key, value in {
            "name": json.dumps(f"{name}.{number}" if len(runs) > 1 else name),
            "program": json.dumps(name),
            "why": json.dumps(recipe["why"]),
            "args": json.dumps(run["args"]),
            "inputs": json.dumps(f"run/{name}"),
            "output": "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in output.items()) + " }",
        }.items())
    return text


def build(copy: Copy, names: list[str], workers: int) -> int:
    """Builds what can be, and writes suite.toml. Returns how many benchmarks there are."""
    data = recipes()
    absent = {one["name"]: one["why"] for one in data["left_out"]}
    chosen, wanted = [], []
    for recipe in data["benchmark"]:
        if names and recipe["name"] not in names:
            continue
        try:
            made = jobs_of(recipe, copy, data["defines"])
            prepare(recipe, copy)
        except Absent as why:
            absent[recipe["name"]] = str(why)
            continue
        chosen.append(recipe)
        wanted += made
    failures = {job.output: str(error) for job, error in attempt(wanted, workers)}
    for recipe in list(chosen):
        failed = [failures[job.output] for job in wanted
                  if job.output in failures and job.output.name.removesuffix(".wasm") == recipe["name"]]
        if failed:
            absent[recipe["name"]] = failed[0]
            chosen.remove(recipe)
    text = "# Written by workloads/spec.py of a user's copy of SPEC CPU 2017.\nname = \"spec2017\"\n"
    for name, why in sorted(absent.items()):
        print(f"left out: {name}: {why}", file=sys.stderr)
        text += f"\n[[absent]]\nname = {json.dumps(name)}\nwhy = {json.dumps(why)}\n"
    text += "".join(entries(recipe, copy.size) for recipe in chosen)
    partial = copy.into / ".suite.toml"
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(text)
    os.replace(partial, partial.with_name("suite.toml"))
    return len(chosen)


def attempt(wanted: list[Job], workers: int) -> list[tuple[Job, Exception]]:
    """Makes what is not current; those that could not be made."""
    failed = []
    for job in wanted:
        try:
            if not job.is_current():
                print(f"compiling {job.label}", file=sys.stderr, flush=True)
                jobs.make(job)
        except (toolchain.ToolError, OSError, ValueError) as error:
            failed.append((job, error))
    return failed


def check_names(names: list[str]) -> None:
    """Raises ToolError for a benchmark that there is no recipe for, with the reason."""
    data = recipes()
    known = [recipe["name"] for recipe in data["benchmark"]]
    reasons = {one["name"]: one["why"] for one in data["left_out"]}
    reasons |= {name: one["why"] for one in data["impossible"] for name in one["names"]}
    for name in names:
        if name in reasons:
            raise toolchain.ToolError(f"{name} is not run here: {reasons[name]}")
        if name not in known:
            raise toolchain.ToolError(f"no benchmark `{name}`; there are {', '.join(known)}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the seeds' part of SPEC CPU 2017, of your own copy.")
    parser.add_argument("copy", type=pathlib.Path, help="the folder that SPEC CPU 2017 was installed to")
    parser.add_argument("--size", choices=("test", "train", "ref"), default="train",
                        help="SPEC's sizes (default: train, as the paper)")
    parser.add_argument("--into", type=pathlib.Path, default=BUILD,
                        help=f"folder for what is built; a folder of the size's name in it (default: {BUILD})")
    parser.add_argument("--benchmark", type=lambda text: text.split(","), default=[],
                        help="benchmarks such as 505.mcf_r, comma-separated (default: all)")
    options = parser.parse_args(arguments)
    if suites.tomllib is None:
        raise toolchain.ToolError("Python 3.11 or newer is needed")
    toolchain.zig_path()
    check_names(options.benchmark)
    root = options.copy.absolute()
    if not (root / "benchspec" / "CPU").is_dir():
        raise toolchain.ToolError("no benchspec/CPU in it, so it is no installed copy of SPEC CPU 2017")
    copy = Copy(root, options.size, recipes()["sizes"][options.size],
                options.into.absolute() / options.size)
    with open(toolchain.TOOLS / "workloads.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if build(copy, options.benchmark, 1) == 0:
            raise toolchain.ToolError("none of the benchmarks can be built")
    print(copy.into / "suite.toml")
    return 0


if __name__ == "__main__":
    toolchain.main_guard(main)
