#!/usr/bin/env python3
"""The price list of components, of a campaign's samples, as docs/measured/components.md has it.

    python3 workloads/build.py --suite components
    fathom bench components --engines wasmtime48,node --rounds 7 --iterations 1 --no-probe --out RESULTS
    python3 workloads/components/prices.py RESULTS > docs/measured/components.md

Each figure is the median over rounds, which are fresh processes, with the least and the greatest.
"""

from __future__ import annotations

import collections
import json
import pathlib
import statistics
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
BLOCKS = 2000
CORE, COMPONENT = "wasm", "wasm-component"
PHASES = ("compile", "translate", "instantiate", "run")


def collected(records) -> dict:
    """(engine, workload, variant) → figure → nanoseconds, one for each round; controls and failures have none."""
    found: dict = collections.defaultdict(lambda: collections.defaultdict(list))
    for record in records:
        if record["record"] not in ("sample", "process") or record["cell"].endswith("/control"):
            continue
        engine, *_, workload, variant, _size, _threads = record["cell"].split("/")
        figures = found[engine, workload.partition(":")[2], variant]
        for phase, spent in record["phases"].items():
            figures[phase].append(spent["wall_ns"])
        if "translate_ns" in record.get("metrics", {}):
            figures["translate"].append(record["metrics"]["translate_ns"])
    return found


def shown(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def price(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{shown(statistics.median(values))} ({shown(min(values))} to {shown(max(values))})"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def page(header: dict, found: dict, workloads: list[dict]) -> str:
    engines = sorted({engine for engine, _, _ in found}, reverse=True)
    columns = [(engine, variant) for engine in engines for variant in (CORE, COMPONENT)]
    head = [f"{engine}, {'component' if variant == COMPONENT else 'core module'}" for engine, variant in columns]

    def runs(workload: str, each: int) -> list[str]:
        return [price([ns / each for ns in found[engine, workload, variant]["run"]]) for engine, variant in columns]

    calls = [[f"`{one['name']}`", *runs(one["name"], one["call"]["calls"])] for one in workloads if "call" in one]
    streams = [["4 KiB written", *runs("write", BLOCKS)], ["4 KiB written and read again", *runs("read", BLOCKS)]]
    programs = [[f"`{workload}`, {phase}", *(price(found[engine, workload, variant][phase]) for engine, variant in columns)]
                for workload in ("hello", "sort") for phase in PHASES]
    host, command = header["host"], " ".join(header["command"])
    machine = f"{host['cpus_logical']} × {host['cpu_model']}, {host['kernel']}, load {host['load_average'][0]} at the start"
    return f"""# What components cost: figures

<!-- Written by `workloads/components/prices.py`; edit that. -->
From the samples of

```sh
python3 workloads/build.py --suite components
fathom {command.partition(" --out ")[0]} --out RESULTS
python3 workloads/components/prices.py RESULTS > docs/measured/components.md
```

on {machine}, {header["date"]}.
What the programs are: [the suite](../COMPONENTS.md#the-suite). Each figure is the median over rounds, which are fresh
processes, with the least and the greatest.

## A call, by its type and size

Beside it the same work by a call inside of a core module, which passes an address where a component copies.

{table(["call", *head], calls)}
## A transfer of 4 KiB to or from a file

{table(["transfer", *head], streams)}
## Programs

{table(["program and phase", *head], programs)}"""


def main(folder: str) -> None:
    records = [json.loads(line) for line in (pathlib.Path(folder) / "samples.jsonl").read_text().splitlines()]
    workloads = tomllib.loads((HERE / "suite.toml").read_text())["workload"]
    print(page(records[0], collected(records), workloads), end="")


if __name__ == "__main__":
    main(sys.argv[1])
