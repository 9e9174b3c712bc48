#!/usr/bin/env python3
"""Traces the wasi-io suite on every engine and natively, and writes tables as the eWAPA study has
them: calls, ratios, mean times, and what `fathom explain` finds.

    python3 workloads/build.py --suite wasi-io --variant wasm,native-gcc
    python3 workloads/wasi-io/study.py --size small --out results/wasi-io > tables.md

A run each, traced by eBPF (root, or CAP_BPF and CAP_PERFMON): counts are exact, times are of one
run and longer by what looking costs, which each trace says of itself. Native code is gcc's, with
this machine's C library: zig's is musl, whose buffers are as small as wasi-libc's.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOVES = ("fd_read", "fd_pread", "fd_write", "fd_pwrite")
TRANSFERS = ("read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev")
LINE = re.compile(r"answer=([0-9a-f]{16}) kernel_ns=(\d+)")


class Failed(Exception):
    """A program that an engine does not run to its end, or wrongly; the message says how."""


def engines(fathom: str) -> list[str]:
    listed = subprocess.run([fathom, "engines", "list", "--json"], capture_output=True, text=True, check=True, cwd=ROOT)
    rows = json.loads(listed.stdout)["engines"]
    return ["native", "fathom", *(row["name"] for row in rows if row.get("state", {}).get("installed"))]


def traced(options: argparse.Namespace, engine: str, workload: dict, scratch: str) -> dict:
    """The trace of one run, with the time that the program took itself."""
    program = workload.get("program", workload["name"])
    variant, suffix = ("native-gcc", "") if engine == "native" else ("wasm", ".wasm")
    words = [*workload["args"], str(workload["passes"][options.size])]
    out = options.out / f"{workload['name']}-{engine}.json"
    folder = scratch if engine == "native" else f"{scratch}::."
    command = [options.fathom, "trace", "--engine", engine, "--out", str(out), "--dir", folder,
               str(HERE / "build" / variant / (program + suffix)), "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    found = LINE.search(done.stdout)
    if done.returncode != 0 or found is None or found[1] != workload["answer"]:
        out.unlink(missing_ok=True)
        said = (done.stderr + done.stdout).strip().splitlines()
        raise Failed(said[0] if said else f"ended with {done.returncode}")
    trace = json.loads(out.read_text())
    if trace["kernel"] is None:
        raise SystemExit(trace["missing"][0])
    return trace | {"kernel_ns": int(found[2])}


def all_traced(options: argparse.Namespace, names: list[str], workload: dict, scratch: str) -> tuple[dict, dict]:
    """The traces by engine, and why the others have none; native code must have one."""
    traces, failures = {}, {}
    for engine in names:
        try:
            traces[engine] = traced(options, engine, workload, scratch)
        except Failed as failure:
            if engine == "native":
                raise SystemExit(f"{workload['name']}, native: {failure}") from failure
            print(f"{workload['name']} on {engine}: {failure}", file=sys.stderr, flush=True)
            failures[engine] = str(failure)
    return traces, failures


def sums(trace: dict) -> dict:
    """Calls that move bytes, of both kinds, and the waiting."""
    wasi = (trace.get("wasi") or {"functions": {}})["functions"]
    asked = sum(sum(wasi[name]["results"]) for name in MOVES if name in wasi)
    moves = [call for call in trace["kernel"]["calls"] if call["name"] in TRANSFERS]
    count, total_ns = sum(call["count"] for call in moves), sum(call["total_ns"] for call in moves)
    futexes = sum(call["count"] for call in trace["kernel"]["calls"] if call["name"] == "futex")
    switches = sum(thread["in_calls"]["count"] for thread in trace["kernel"]["threads"])
    every = sum(call["count"] for call in trace["kernel"]["calls"])
    return {"asked": asked, "moves": count, "mean_ns": total_ns / max(count, 1), "futexes": futexes, "switches": switches,
            "calls": every, "calls_ns": sum(call["total_ns"] for call in trace["kernel"]["calls"])}


def table(workload: dict, traces: dict[str, dict], failures: dict[str, str]) -> str:
    size = workload["args"] + [str(traces["native"]["args"][-1])]
    lines = [f"### {workload['name']} ({' '.join(size)})", "", f"{workload['why'][0].upper()}{workload['why'][1:]}.", "",
             "| engine | time, ms | × native | WASI transfers | transferring system calls | of these, mean | for each WASI transfer | "
             "futex calls | waits | all system calls |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    native_ns = traces["native"]["kernel_ns"]
    for engine, trace in traces.items():
        row = sums(trace)
        ratio = f"{row['moves'] / row['asked']:.2f}" if row["asked"] else "–"
        lines.append(f"| {engine} | {trace['kernel_ns'] / 1e6:.2f} | {trace['kernel_ns'] / native_ns:.2f} | {row['asked'] or '–'} | "
                     f"{row['moves']} | {row['mean_ns']:.0f} ns | {ratio} | {row['futexes']} | {row['switches']} | {row['calls']} |")
    lines += [f"\nNot on {engine}: {why}" for engine, why in failures.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Trace the wasi-io suite on every engine.")
    parser.add_argument("--size", default="small", choices=("mini", "small", "medium", "large", "extralarge"))
    parser.add_argument("--workloads", type=lambda text: text.split(","), default=None)
    parser.add_argument("--engines", type=lambda text: ["native", *text.split(",")], default=None)
    parser.add_argument("--fathom", default=str(ROOT / "target" / "release" / "fathom"))
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out = options.out.absolute()
    options.out.mkdir(parents=True, exist_ok=True)
    names = options.engines or engines(options.fathom)
    for workload in tomllib.loads((HERE / "suite.toml").read_text())["workload"]:
        if options.workloads and workload["name"] not in options.workloads:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            print(table(workload, *all_traced(options, names, workload, scratch)), flush=True)
    explained = subprocess.run([options.fathom, "explain", str(options.out)], capture_output=True, text=True, check=True)
    print("```text\n" + explained.stdout + "```")


if __name__ == "__main__":
    sys.exit(main())
