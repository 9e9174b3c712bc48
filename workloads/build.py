#!/usr/bin/env python3
"""Compiles the suites' workloads into `workloads/SUITE/build/VARIANT/[SIZE/]NAME`
(`NAME.wasm` for the Wasm variants; PolyBench and `pointers` have sizes).

Incremental: an output is made again when its sources, its flags, the compiler
or (for native-tuned) the CPU changed (`jobs.py`). Two builds at once are safe:
the second waits.
"""

from __future__ import annotations

import argparse
import dataclasses
import fcntl
import hashlib
import os
import pathlib

import components
import fibers
import jobs
import libsodium
import managed
import oha
import packages
import programs
import suites
import toolchain
import wasm64
import wasm_file
import wasm_opt
import web
import widths

SUITES = ("polybench", "pointers", "wasi", "wasi-io", "large", "programs", "libsodium", "fibers", "http", "web",
          "managed", "components")
# Suites that are built in sizes, and what their headers are besides their own.
SIZED = {"polybench": (), "pointers": ("polybench",)}
# So many further links of each native program, moved by some bytes: a campaign takes them in
# turn, since where code lies may be worth more than what is compared.
LINKS = 7
# Code is moved within a page, by multiples of what functions are aligned to.
PAGE, ALIGNED = 4096, 16
# What is built of a suite unless variants are named.
VARIANTS = {"polybench": (*toolchain.DEFAULT_VARIANTS, *widths.BITS), "pointers": ("native", *widths.BITS),
            "libsodium": tuple(toolchain.VARIANTS), "fibers": tuple(fibers.VARIANTS),
            "http": tuple(name for name, one in fibers.VARIANTS.items() if one.library)}


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """A C program and a variant of the toolchain."""

    label: str
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    flags: tuple[str, ...]  # beyond those of the toolchain and the variant
    variant: toolchain.Variant
    output: pathlib.Path

    def recipe(self) -> list:
        tuned = toolchain.host_cpu() if "-mcpu=native" in self.variant.compile_flags else ""
        return [toolchain.ZIG_VERSION, [toolchain.FLAGS, self.flags, dataclasses.astuple(self.variant)], tuned]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        target = ["-target", self.variant.target]
        objects, linked = [], scratch / "linked"
        for index, source in enumerate(self.sources):
            objects.append(f"{scratch}/{index}.o")
            toolchain.run_zig([*target, *self.variant.compile_flags, *toolchain.FLAGS, *self.flags,
                               "-c", "-o", objects[-1], str(source)], self.label)
        link = [*target, *self.variant.link_flags, "-O3"]
        toolchain.run_zig([*link, "-o", str(linked), *objects, "-lm"], self.label)
        if self.variant.suffix == ".wasm":
            linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        for number, other in self.links().items():
            other.parent.mkdir(parents=True, exist_ok=True)
            moved = scratch / f"moved{number}.S"
            moved.write_text(_padding(self._moved_by(number)))
            # Assembled apart: what is compiled while linking comes after the objects.
            toolchain.run_zig([*target, "-c", "-o", f"{moved}.o", str(moved)], self.label)
            toolchain.run_zig([*link, "-o", str(scratch / f"link{number}"), f"{moved}.o", *objects, "-lm"], self.label)
            os.replace(scratch / f"link{number}", other)
        return linked

    def links(self) -> dict[int, pathlib.Path]:
        """Further links of the same objects, by their number."""
        folder = self.output.parent / ".layouts" / self.output.name
        return {number: folder / str(number) for number in range(1, LINKS + 1)} if self.variant.name == "native" else {}

    def _moved_by(self, number: int) -> int:
        drawn = int.from_bytes(hashlib.sha256(f"{self.label} {number}".encode()).digest()[:4])
        return drawn % (PAGE // ALIGNED) * ALIGNED

    def is_current(self) -> bool:
        return super().is_current() and all(link.is_file() for link in self.links().values())


def _padding(size: int) -> str:
    """Assembly for so many bytes before all other code, which no linker throws away."""
    return f"""
.section .text.moved,"axR",@progbits
.balign {ALIGNED}
.skip {size}, 0xcc
.section .note.GNU-stack,"",@progbits
"""


@dataclasses.dataclass(frozen=True)
class GccJob(Job):
    """The same by this machine's gcc: what a ratio to native code owes to its compiler."""

    def recipe(self) -> list:
        return [toolchain.gcc_version(), [toolchain.FLAGS, self.flags, dataclasses.astuple(self.variant)]]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        linked = scratch / "linked"
        sources = [str(source) for source in self.sources]
        toolchain.run(["gcc", *toolchain.FLAGS, *self.flags, *self.variant.link_flags, "-o", str(linked), *sources, "-lm"],
                      self.label)
        return linked


def _job(variant: str) -> tuple[type[Job], toolchain.Variant]:
    """What makes a variant."""
    return (GccJob, toolchain.GCC) if variant == toolchain.GCC.name else (Job, toolchain.VARIANTS[variant])


def sized_jobs(suite_name: str, variants: list[str], sizes: list[str], names: list[str] | None) -> list[jobs.Job]:
    """Workloads × variants × sizes of a suite whose programs are built in sizes."""
    suite = suites.load(suite_name)
    folders = [suite.folder, *(suites.HERE / other for other in SIZED[suite_name])]
    headers = tuple(sorted(header for folder in folders for header in folder.glob("*.h")))

    def job(workload: suites.Workload, variant: str, size: str) -> jobs.Job:
        common = (f"{workload.name} ({variant}, {size})", (suite.folder / f"{workload.name}.c",), headers,
                  (*toolchain.WARNINGS, f"-DFATHOM_SIZE={suites.SIZES.index(size)}"))
        folder = suite.folder / "build" / variant / size
        if variant in widths.BITS:
            return widths.Job(*common, variant, folder / f"{workload.name}.wasm")
        kind, described = _job(variant)
        return kind(*common, described, folder / (workload.name + described.suffix))

    return [job(workload, variant, size) for size in sizes for variant in variants for workload in suite.pick(names)]


def polybench_jobs(variants: list[str], sizes: list[str], names: list[str] | None) -> list[jobs.Job]:
    """Kernels × variants × sizes."""
    return sized_jobs("polybench", variants, sizes, names)


def program_jobs(suite_name: str, variants: list[str]) -> list[Job]:
    """Programs × variants, for the suites whose programs take their size as an argument."""
    suite = suites.load(suite_name)
    headers = tuple(sorted(suite.folder.glob("*.h")))
    wanted = []
    # Several workloads may be runs of one program.
    programs_of = {workload.table.get("program", workload.name): workload for workload in suite.workloads}
    for name, workload in programs_of.items():
        sources, flags = [suite.folder / f"{name}.c"], list(toolchain.WARNINGS)
        if "package" in workload.table:  # other people's code: its warnings are not ours to mend
            package = packages.folder(suite.folder, workload.table["package"])
            sources += [package / source for source in workload.table["sources"]]
            flags = ["-w", *workload.table["flags"], *(f"-I{folder}" for folder in {path.parent for path in sources[1:]})]
        for variant in variants:
            kind, described = _job(variant)
            wanted.append(kind(f"{name} ({variant})", tuple(sources), headers, tuple(flags), described,
                               suite.folder / "build" / variant / (name + described.suffix)))
    return wanted


def _core_module(label: str, source: pathlib.Path, output: pathlib.Path) -> Job:
    """A program of one file as a module of WASI preview 1."""
    return Job(label, (source,), (), toolchain.WARNINGS, toolchain.VARIANTS["wasm"], output)


def _choices(known, what: str):
    def parse(text: str) -> list[str]:
        names = list(known) if text == "all" else text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"unknown {what} `{name}`; known: {', '.join(known)}, all")
        return names
    return parse


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compile the workloads.")
    parser.add_argument("--suite", type=_choices(SUITES, "suite"), default=None,
                        help="suites, comma-separated, or all (default: polybench,pointers,wasi; large fetches its "
                             "sources)")
    parser.add_argument("--size", type=_choices(suites.SIZES, "size"), default=["medium"],
                        help="problem sizes, comma-separated, or all (default: medium)")
    known = (*toolchain.VARIANTS, toolchain.GCC.name, *widths.BITS, wasm_opt.NAME,
             *(name for name in fibers.VARIANTS if name not in toolchain.VARIANTS))
    parser.add_argument("--variant", type=_choices(known, "variant"), default=None,
                        help=f"variants, comma-separated, or all: {', '.join(known)} (default: what is measured of each "
                             "suite)")
    parser.add_argument("--kernel", type=lambda text: text.split(","), default=None,
                        help="workloads of one suite, PolyBench unless --suite says which, comma-separated, and no other "
                             "suite (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: one a core)")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if options.suite is None:
        options.suite = ["polybench"] if options.kernel else ["polybench", "pointers", "wasi"]
    return options


def variants_of(suite: str, asked: list[str] | None) -> list[str]:
    """What to build of a suite: what is asked for, or what of its own can be built here."""
    chosen = asked or VARIANTS.get(suite, toolchain.DEFAULT_VARIANTS)
    others = fibers.others(suite, chosen)
    if others:
        print(f"SKIPPED {suite} ({', '.join(others)}): fibers are made in other ways than other programs", flush=True)
        chosen = [variant for variant in chosen if variant not in others]
    if suite not in SIZED:  # nothing is compared between widths there
        chosen = [variant for variant in chosen if variant not in widths.BITS]
    if suite == "libsodium" and toolchain.GCC.name in chosen:
        print(f"SKIPPED {suite} ({toolchain.GCC.name}): the library is built by zig's clang alone", flush=True)
        chosen = [variant for variant in chosen if variant != toolchain.GCC.name]
    missing = wasm64.missing()
    if asked or missing is None:
        return list(chosen)
    print(f"SKIPPED {suite} ({', '.join(widths.BITS)}): {missing}", flush=True)
    return [variant for variant in chosen if variant not in widths.BITS]


def plan(options: argparse.Namespace) -> tuple[list[list[jobs.Job]], list]:
    """Stages of jobs, each of which needs the one before it: what programs are linked
    with, the programs, what is made of their modules. And the programs of the check."""
    first, wanted, last, listed = [], [], [], []
    for suite in options.suite:
        if suite == "programs":
            builds, listed = programs.plan(options.kernel)
            wanted += builds
            continue
        if suite == "web":  # made by others, of whatever they were made for
            wanted += web.stage(options.kernel)
            continue
        if suite == "managed":  # WebAssembly is all that it is compiled to
            wanted += managed.stage(options.kernel)
            continue
        if suite == "components":
            modules, made = components.stages(options.kernel, _core_module)
            wanted += modules
            last += made
            continue
        asked = variants_of(suite, options.variant)
        variants = wasm_opt.sources_of(asked)
        if suite == "libsodium":
            libraries, made = libsodium.stages(variants, options.kernel)
            first += libraries
        elif suite == "fibers":
            wasm_opt.install()
            made = fibers.stage(variants, options.kernel)
        elif suite == "http":
            wasm_opt.install()
            oha.install()
            made = fibers.servers(variants)
        elif suite in SIZED:
            made = sized_jobs(suite, variants, options.size, options.kernel)
        else:
            made = program_jobs(suite, variants)
        wanted += made
        if wasm_opt.NAME in asked:
            wasm_opt.install()
            last += wasm_opt.jobs_after(made, suites.HERE / suite / "build")
    return [first, wanted, last], listed


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    if toolchain.zig_version() != toolchain.ZIG_VERSION:
        toolchain.zig_path()
        raise toolchain.ToolError(f"{toolchain.ZIG_HOME} is not zig {toolchain.ZIG_VERSION}: run `make setup`")
    stages, listed = plan(options)
    with open(toolchain.TOOLS / "workloads.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        failures = 0
        for stage in stages:
            if stage:
                failures = failures or jobs.run(stage, options.jobs)
        if listed:
            programs.write_list(listed, stages[1])
        return 1 if failures else 0


if __name__ == "__main__":
    toolchain.main_guard(main)
