#!/usr/bin/env python3
"""Runs every long target for some minutes, one after another, and ends with a table.

    fuzz/run.py [NAME…] [--minutes N] [--from SEED] [--jobs N]

A target is a file of `fuzz/src/bin/`; what it understands and prints is said in
`fuzz/src/target.rs`. Without `--from` the seeds begin at the time of day, so that each
run sees others; the table names them. Ends with status 1 where a target found
a difference, died, or did not say how it ended.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ARTIFACTS = HERE / "artifacts"
CLANG = HERE.parent / ".tools" / "zig" / "ziglang" / "zig"
# Seconds beyond its own that a target may take to start and to finish its last case.
GRACE_S = 600
CLOSING = re.compile(r"^(?P<name>[a-z_]+): (?P<count>\d+) (?P<unit>.+?), (?P<configurations>\d+) configurations, "
                     r"(?P<differences>\d+) differences, from seed (?P<seed>\d+)(?: \[(?P<more>.*)\])?$")


@dataclasses.dataclass(frozen=True)
class Ended:
    """How one target ended: its closing line, and what is wrong if something is."""

    name: str
    seconds: float
    closing: dict[str, str] | None
    wrong: str


def targets() -> list[str]:
    return sorted(path.stem for path in (HERE / "src" / "bin").glob("*.rs"))


def build(names: list[str]) -> None:
    bins = [word for name in names for word in ("--bin", name)]
    cargo = os.environ.get("CARGO", "cargo")
    subprocess.run([cargo, "build", "--release", "--locked", "--manifest-path", HERE / "Cargo.toml", *bins], check=True)


def closing(output: str) -> dict[str, str] | None:
    found = [match for line in output.splitlines() if (match := CLOSING.match(line))]
    return found[-1].groupdict(default="") if found else None


def judge(name: str, status: int | None, output: str) -> str:
    """What is wrong with how a target ended; nothing where all is well."""
    said = closing(output)
    if status is None:
        return "does not end" + in_hand(name)
    if status < 0:
        return f"died of {signal.Signals(-status).name}" + in_hand(name)
    if said is None:
        last = output.strip().splitlines()[-1:] or ["nothing"]
        return f"has no closing line, status {status}: {last[0]}"
    if said["count"] == "0":
        return "ran nothing"
    if said["differences"] != "0" or status != 0:
        return f"{said['differences']} differences, status {status}: see fuzz/artifacts/{name}-*"
    return ""


def in_hand(name: str) -> str:
    """The seeds that a dead process left in its list."""
    path = ARTIFACTS / f"{name}.running"
    seeds = [line.strip() for line in path.read_text().splitlines() if line.strip()] if path.is_file() else []
    return f" with seeds {', '.join(seeds)} in hand" if seeds else ""


def environment() -> dict[str, str]:
    """Ours, with the checkout's clang for the target that needs one, unless another is named."""
    given = dict(os.environ)
    if CLANG.is_file():
        given.setdefault("FATHOM_CLANG", str(CLANG))
    return given


def run(name: str, minutes: float, seed: int, threads: int) -> Ended:
    began = time.monotonic()
    command = [HERE / "target" / "release" / name, "--minutes", str(minutes), "--from", str(seed)]
    if threads:
        command += ["--threads", str(threads)]
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                             errors="replace")
    try:
        output, _ = child.communicate(timeout=60 * minutes + GRACE_S)
        status = child.returncode
    except subprocess.TimeoutExpired:
        child.kill()
        output, _ = child.communicate()
        status = None
    finally:
        if child.poll() is None:
            child.kill()
    for line in output.splitlines():
        print(line, flush=True)
    return Ended(name, time.monotonic() - began, closing(output), judge(name, status, output))


def table(results: list[Ended]) -> str:
    head = ("target", "minutes", "cases", "configurations", "differences", "from seed")
    cells = [head]
    for ended in results:
        said = ended.closing or {"count": "?", "unit": "", "configurations": "?", "differences": "?", "seed": "?"}
        cells.append((ended.name, f"{ended.seconds / 60:.1f}", f"{said['count']} {said['unit']}".strip(),
                      said["configurations"], said["differences"], said["seed"]))
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    left = (0, 2)
    align = [str.ljust if column in left else str.rjust for column in range(len(head))]
    return "\n".join("  ".join(align[column](cell, widths[column]) for column, cell in enumerate(row)).rstrip()
                     for row in cells)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the long targets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="targets (all when none is named)")
    parser.add_argument("--minutes", type=float, default=1, help="for each target (default: %(default)s)")
    parser.add_argument("--from", type=int, dest="seed", default=int(time.time()) * 1000,
                        help="the first seed (default: of the time of day)")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time (default: %(default)s)")
    options = parser.parse_args()
    known = targets()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no target named {', '.join(unknown)}; there are {', '.join(known)}")
    names = options.names or known
    build(names)
    threads = max(1, (os.cpu_count() or 1) // options.jobs) if options.jobs > 1 else 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: run(name, options.minutes, options.seed, threads), names))
    print(f"\n{table(results)}\n")
    for ended in results:
        if ended.wrong:
            print(f"{ended.name}: {ended.wrong}")
    failed = sum(1 for ended in results if ended.wrong)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
