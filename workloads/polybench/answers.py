#!/usr/bin/env python3
"""Computes the expected answers and keeps them in suite.toml.

An answer is recorded only when independent builds agree on it: clang -O3 at
the CPU's baseline (the `native` variant), or tuned to this CPU, and, unless
--quick is given, gcc -O3 and gcc -O0 as an unrelated compiler. An existing
answer is never replaced by a different one without --replace.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import build  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

# A margin this small (in millionths of a cell) would make an answer depend on
# the last bits; change the answer's precision rather than record it. Tiny
# margins of well-conditioned kernels are harmless: see harness.h.
MARGIN_MIN = 20


def compile_with_margin(job: build.Job, output: pathlib.Path) -> None:
    """The job's program, built so that it prints its margin too."""
    toolchain.run_zig(["-target", job.variant.target, *job.variant.compile_flags, *toolchain.FLAGS, *job.flags,
                       "-DFATHOM_MARGIN", "-o", str(output), str(job.sources[0]), "-lm"], job.label)


def compile_with_gcc(job: build.Job, level: str, output: pathlib.Path) -> None:
    command = ["gcc", "-std=gnu11", level, "-ffp-contract=off", *job.flags, "-o", str(output), str(job.sources[0]), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise toolchain.ToolError(f"gcc: {done.stderr.splitlines()[0]}")


def agreed_answer(job: build.Job, quick: bool, timeout_s: float) -> str:
    """The answer all builds print. Raises ToolError when they differ or the margin is too small."""
    seen: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        builds = [("clang", lambda path: compile_with_margin(job, path))]
        if not quick:
            builds += [(f"gcc {level}", lambda path, level=level: compile_with_gcc(job, level, path))
                       for level in ("-O3", "-O0")]
        for index, (name, compile_to) in enumerate(builds):
            program = pathlib.Path(scratch, str(index))
            compile_to(program)
            outcome = runs.run(program, timeout_s)
            seen[name] = outcome.answer
            if outcome.margin_millionths is not None and outcome.margin_millionths < MARGIN_MIN:
                raise toolchain.ToolError(f"{job.label}: margin of only {outcome.margin_millionths} millionths")
    if len(set(seen.values())) != 1:
        raise toolchain.ToolError(f"{job.label}: builds disagree: {seen}")
    return next(iter(seen.values()))


def write_suite(suite: suites.Suite, answers: dict[str, dict[str, str]]) -> None:
    """Rewrites suite.toml with the answers; the head comment stays."""
    path = suite.folder / "suite.toml"
    head = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        head.append(line)
    lines = [*head, f'name = "{suite.name}"']
    for workload in suite.workloads:
        lines += ["", "[[workload]]", f'name = "{workload.name}"', f'category = "{workload.category}"',
                  f'why = "{workload.why}"', "[workload.answers]"]
        known = answers[workload.name]
        lines += [f'{size} = "{known[size]}"' for size in suites.SIZES if size in known]
    scratch = path.with_suffix(".toml.new")
    scratch.write_text("\n".join(lines) + "\n")
    scratch.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compute the expected answers of a suite.")
    parser.add_argument("--suite", default="polybench", choices=tuple(build.SIZED), help="default: polybench")
    parser.add_argument("--size", default="mini,small,medium", help="comma-separated (default: mini,small,medium)")
    parser.add_argument("--kernel", type=lambda text: text.split(","), default=None, help="default: all")
    parser.add_argument("--variant", default="native", choices=("native", "native-tuned"), help="clang's target CPU")
    parser.add_argument("--quick", action="store_true", help="one build instead of three (for the large sizes)")
    parser.add_argument("--replace", action="store_true", help="replace answers that differ")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds for a program (default: 3600)")
    options = parser.parse_args()
    if not options.quick and shutil.which("gcc") is None:
        raise toolchain.ToolError("gcc is needed as the second compiler (or --quick)")
    failures = 0
    for job in build.sized_jobs(options.suite, [options.variant], options.size.split(","), options.kernel):
        name, size = job.output.stem, job.output.parent.name
        start = time.monotonic()
        try:
            answer = agreed_answer(job, options.quick, options.timeout)
        except toolchain.ToolError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
            failures += 1
            continue
        suite = suites.load(options.suite)  # again each time: another run may have added to it
        answers = {workload.name: dict(workload.answers) for workload in suite.workloads}
        old = answers[name].get(size)
        print(f"{name} {size} {answer} in {time.monotonic() - start:.1f} s", flush=True)
        if old not in (None, answer) and not options.replace:
            print(f"error: {job.label}: {answer} instead of {old}", file=sys.stderr, flush=True)
            failures += 1
            continue
        answers[name][size] = answer
        write_suite(suite, answers)
    return 1 if failures else 0


if __name__ == "__main__":
    toolchain.main_guard(main)
