#!/usr/bin/env python3
"""What each way of looking costs: a module that makes many small writes, untraced, counted by
rewriting, counted and timed in the engine, traced by eBPF, and under strace; interleaved, in
another order each round.

    python3 workloads/build.py --suite wasi-io --variant wasm,native
    python3 workloads/wasi-io/overhead.py --rounds 9
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EACH = 60
TIME = re.compile(r"kernel_ns=(\d+)")


def ways(fathom: str, folder: str, calls: int) -> dict[str, list[str]]:
    """Commands by the way of looking."""
    module, counting = str(HERE / "build" / "wasm" / "writes.wasm"), f"{folder}/writes.wasm"
    subprocess.run([fathom, "trace", "--rewrite", counting, module], check=True)
    words = ["--dir", f"{folder}::."]
    args = ["--", str(EACH), str(EACH * calls)]
    plain = [fathom, "run", *words, module, *args]
    return {
        "untraced": plain,
        "untraced again": plain,
        "rewriting": [fathom, "run", *words, counting, *args],
        "process": [fathom, "trace", "--by", "process", "--out", f"{folder}/p.json", *words, module, *args],
        "kernel": [fathom, "trace", "--by", "kernel", "--out", f"{folder}/k.json", *words, module, *args],
        "process and kernel": [fathom, "trace", "--out", f"{folder}/b.json", *words, module, *args],
        "strace -c -f": ["strace", "-c", "-f", "-o", f"{folder}/strace", *plain],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What looking costs.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--fathom", default=str(HERE.parent.parent / "target" / "release" / "fathom"))
    options = parser.parse_args()
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        commands = ways(options.fathom, folder, options.calls)
        if shutil.which("strace") is None:
            del commands["strace -c -f"]
        took: dict[str, list[float]] = {way: [] for way in commands}
        for number in range(options.rounds):
            order = list(commands)
            random.Random(number).shuffle(order)
            for way in order:
                # One takes longer than all others together.
                if way.startswith("strace") and number % 3:
                    continue
                done = subprocess.run(commands[way], capture_output=True, text=True, check=False)
                found = TIME.search(done.stdout)
                if done.returncode != 0 or found is None:
                    raise SystemExit(f"{way}: {done.stdout}{done.stderr}")
                took[way].append(int(found[1]) / options.calls)
    print("| way | a call, median | least | most | more than untraced, median of the rounds |\n|---|--:|--:|--:|--:|")
    for way, times in took.items():
        base = took["untraced"] if len(times) == options.rounds else took["untraced"][::3]
        more = statistics.median(time - plain for time, plain in zip(times, base))
        print(f"| {way} | {statistics.median(times):.0f} ns | {min(times):.0f} | {max(times):.0f} | {more:+.0f} ns |")


if __name__ == "__main__":
    sys.exit(main())
