#!/usr/bin/env python3
"""Compiles the suites' workloads into `workloads/SUITE/build/VARIANT/[SIZE/]NAME`
(`NAME.wasm` for the Wasm variants; only PolyBench has sizes).

Incremental: an output is made again when its sources, its flags, the compiler
or (for native-tuned) the CPU changed; the key is kept in a hidden file beside
it, with a hash of the output so that a damaged file is made again too.
An output appears complete or not at all, and two builds at once are safe: the
second waits.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import time

import packages
import suites
import toolchain
import wasm_file

# Bump when an output changes for a reason that its key does not see.
BUILD_FORMAT = 1

SUITES = ("polybench", "wasi", "large")

# A broken header fails every workload alike.
FAILURES_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Job:
    """One output file: what it is made from and how."""

    label: str  # for messages: "gemm (wasm, medium)"
    sources: tuple[pathlib.Path, ...]
    headers: tuple[pathlib.Path, ...]
    flags: tuple[str, ...]  # beyond those of the toolchain and the variant
    variant: toolchain.Variant
    output: pathlib.Path

    def key(self) -> str:
        """Changes whenever the output could."""
        digest = hashlib.sha256()
        tuned = toolchain.host_cpu() if "-mcpu=native" in self.variant.compile_flags else ""
        flags = [toolchain.FLAGS, self.flags, dataclasses.astuple(self.variant)]
        digest.update(json.dumps([BUILD_FORMAT, toolchain.ZIG_VERSION, flags, tuned]).encode())
        for path in (*self.sources, *self.headers):
            content = path.read_bytes()
            digest.update(f"\0{path.name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    def key_file(self) -> pathlib.Path:
        return self.output.with_name(f".{self.output.name}.key")

    def is_current(self) -> bool:
        try:
            key, digest = self.key_file().read_text().split()
            return key == self.key() and digest == _sha256(self.output)
        except (OSError, ValueError):
            return False


def _sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compile_job(job: Job) -> None:
    """Makes the output. Raises ToolError with one line when the compiler fails."""
    target = ["-target", job.variant.target]
    job.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=job.output.parent) as scratch:
        objects, linked = [], pathlib.Path(scratch, "linked")
        for index, source in enumerate(job.sources):
            objects.append(f"{scratch}/{index}.o")
            toolchain.run_zig([*target, *job.variant.compile_flags, *toolchain.FLAGS, *job.flags,
                               "-c", "-o", objects[-1], str(source)], job.label)
        toolchain.run_zig([*target, *job.variant.link_flags, "-O3", "-o", str(linked), *objects, "-lm"], job.label)
        if job.variant.suffix == ".wasm":
            linked.write_bytes(wasm_file.without_debug_info(linked.read_bytes()))
        key = f"{job.key()} {_sha256(linked)}\n"
        job.key_file().unlink(missing_ok=True)
        os.replace(linked, job.output)
    with tempfile.NamedTemporaryFile("w", dir=job.output.parent, prefix=".key-", delete=False) as file:
        file.write(key)
    os.replace(file.name, job.key_file())


def polybench_jobs(variants: list[str], sizes: list[str], names: list[str] | None) -> list[Job]:
    """Kernels × variants × sizes."""
    suite = suites.load("polybench")
    headers = tuple(sorted(suite.folder.glob("*.h")))
    return [
        Job(f"{workload.name} ({variant}, {size})", (suite.folder / f"{workload.name}.c",), headers,
            (*toolchain.WARNINGS, f"-DFATHOM_SIZE={suites.SIZES.index(size)}"), toolchain.VARIANTS[variant],
            suite.folder / "build" / variant / size / (workload.name + toolchain.VARIANTS[variant].suffix))
        for size in sizes for variant in variants for workload in suite.pick(names)
    ]


def program_jobs(suite_name: str, variants: list[str]) -> list[Job]:
    """Programs × variants, for the suites whose programs take their size as an argument."""
    suite = suites.load(suite_name)
    jobs = []
    for workload in suite.workloads:
        sources, flags = [suite.folder / f"{workload.name}.c"], list(toolchain.WARNINGS)
        if "package" in workload.table:  # other people's code: its warnings are not ours to mend
            package = packages.folder(suite.folder, workload.table["package"])
            sources += [package / source for source in workload.table["sources"]]
            flags = ["-w", *workload.table["flags"], *(f"-I{folder}" for folder in {path.parent for path in sources[1:]})]
        jobs += [
            Job(f"{workload.name} ({variant})", tuple(sources), (), tuple(flags), toolchain.VARIANTS[variant],
                suite.folder / "build" / variant / (workload.name + toolchain.VARIANTS[variant].suffix))
            for variant in variants]
    return jobs


class Progress:
    """One line that is rewritten on a terminal; one line a tenth elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.live = sys.stderr.isatty()

    def step(self, label: str) -> None:
        self.done += 1
        elapsed = time.monotonic() - self.start
        left = elapsed / self.done * (self.total - self.done)
        line = f"[{self.done}/{self.total}] {label} · {elapsed:.0f} s, {left:.0f} s left"
        if self.live:
            print(f"\r\x1b[K{line}", end="\n" if self.done == self.total else "", file=sys.stderr, flush=True)
        elif self.done * 10 // self.total != (self.done - 1) * 10 // self.total:
            print(line, file=sys.stderr, flush=True)


def run_jobs(jobs: list[Job], workers: int) -> int:
    """Makes what is not current. Returns the number of failures, each printed."""
    start = time.monotonic()
    stale = [job for job in jobs if not job.is_current()]
    failures: list[str] = []
    progress = Progress(len(stale))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(compile_job, job): job for job in stale}
        try:
            for future in concurrent.futures.as_completed(running):
                try:
                    future.result()
                except (toolchain.ToolError, OSError, ValueError) as error:
                    failures.append(str(error))
                progress.step(running[future].label)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    for failure in failures[:FAILURES_SHOWN]:
        print(f"error: {failure}", file=sys.stderr)
    if len(failures) > FAILURES_SHOWN:
        print(f"error: and {len(failures) - FAILURES_SHOWN} more", file=sys.stderr)
    print(f"workloads: {len(stale) - len(failures)} built, {len(jobs) - len(stale)} up to date, "
          f"{len(failures)} failed in {time.monotonic() - start:.1f} s")
    return len(failures)


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
                        help="suites, comma-separated, or all (default: polybench,wasi; large fetches its sources)")
    parser.add_argument("--size", type=_choices(suites.SIZES, "size"), default=["medium"],
                        help="problem sizes, comma-separated, or all (default: medium)")
    parser.add_argument("--variant", type=_choices(toolchain.VARIANTS, "variant"),
                        default=list(toolchain.DEFAULT_VARIANTS),
                        help=f"variants, comma-separated, or all (default: {','.join(toolchain.DEFAULT_VARIANTS)})")
    parser.add_argument("--kernel", type=lambda text: text.split(","), default=None,
                        help="PolyBench kernels, comma-separated, and no other suite (default: all 30)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: one a core)")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if options.suite is None:
        options.suite = ["polybench"] if options.kernel else ["polybench", "wasi"]
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    if toolchain.zig_version() != toolchain.ZIG_VERSION:
        toolchain.zig_path()
        raise toolchain.ToolError(f"{toolchain.ZIG_HOME} is not zig {toolchain.ZIG_VERSION}: run `make setup`")
    jobs = []
    for suite in options.suite:
        if suite == "polybench":
            jobs += polybench_jobs(options.variant, options.size, options.kernel)
        else:
            jobs += program_jobs(suite, options.variant)
    with open(toolchain.TOOLS / "workloads.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return 1 if run_jobs(jobs, options.jobs) else 0


if __name__ == "__main__":
    toolchain.main_guard(main)
