#!/usr/bin/env python3
"""What a fiber in C adds to a round trip between continuations: one loop over ten of them that are
suspended, in a table, with one more of the things that lib/fiber_switch.c does in each row.
Interleaved, in another order each round; a time is the difference between a long and a short run.

    python3 workloads/fibers/parts.py --rounds 9
"""

from __future__ import annotations

import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIVE = 10
SHORT, LONG = 5_000_000, 30_000_000

# What a row does besides, by what it is called.
ROWS = {
    "a continuation from a table": set(),
    "a number each way": {"value"},
    "... C's stack pointer, of who resumes": {"value", "resumer"},
    "... of the fiber": {"value", "fiber"},
    "... of both": {"value", "resumer", "fiber"},
    "a number, and the fiber's state and place": {"value", "state"},
    "all of it": {"value", "resumer", "fiber", "state"},
}

FRAME = """(module
  (memory 1)
  (global $sp (mut i32) (i32.const 4096))
  (type $p (func {param}))
  (type $c (cont $p))
  (tag $t {param} {result})
  (table $all 0 100 (ref null $c))
  (elem declare func $forever)
  (func $forever {named}
    (local $own i32)
    (loop $again {suspend} (br $again)))
  (func (export "go") (param $times i32)
    (local $at i32) (local $saved i32) (local $fiber i32) (local $place i32) (local $rest (ref null $c))
    (loop $more
      (i32.store offset=4 (i32.mul (local.get $at) (i32.const 24)) (local.get $at))
      (block $yielded (result {value} (ref $c))
        (return (resume $c (on $t $yielded) {in} (cont.new $c (ref.func $forever)))))
      (local.set $rest) {drop}
      (drop (table.grow $all (local.get $rest) (i32.const 1)))
      (br_if $more (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const {live}))))
    (loop $more
      (local.set $at (i32.rem_u (local.get $at) (i32.const {live})))
      (local.set $place (local.get $at))
      {before}
      (block $yielded (result {value} (ref $c))
        (return (resume $c (on $t $yielded) {in} (table.get $all (local.get $place)))))
      (local.set $rest) {drop}
      {behind}
      (table.set $all (local.get $place) (local.get $rest))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $more (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))))
"""


def module(does: set[str]) -> str:
    """The loop with what a row does."""
    value = "value" in does
    suspend = "(local.set $x (suspend $t (local.get $x)))" if value else "(suspend $t)"
    before, behind = [], []
    if "fiber" in does:
        suspend = f"(local.set $own (global.get $sp)) {suspend} (global.set $sp (local.get $own))"
    if "resumer" in does:
        before.append("(local.set $saved (global.get $sp))")
        behind.append("(global.set $sp (local.get $saved))")
    if "state" in does:
        before += [
            "(local.set $fiber (i32.mul (local.get $at) (i32.const 24)))",
            "(if (i32.and (i32.load (local.get $fiber)) (i32.const 1)) (then (unreachable)))",
            "(i32.store (local.get $fiber) (i32.const 1))",
            "(local.set $place (i32.load offset=4 (local.get $fiber)))",
        ]
        behind.append("(i32.store (local.get $fiber) (i32.const 2))")
    words = {
        "{param}": "(param i32)" if value else "",
        "{result}": "(result i32)" if value else "",
        "{named}": "(param $x i32)" if value else "",
        "{value}": "i32" if value else "",
        "{in}": "(local.get $times)" if value else "",
        "{drop}": "(drop)" if value else "",
        "{live}": str(LIVE),
        "{suspend}": suspend,
        "{before}": " ".join(before),
        "{behind}": " ".join(behind),
    }
    text = FRAME
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


def seconds(fathom: str, path: pathlib.Path, times: int) -> float:
    """How long a process takes."""
    start = time.perf_counter()
    done = subprocess.run([fathom, "run", "--invoke", "go", str(path), str(times)], capture_output=True, text=True, check=False)
    took = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{path.name}: {done.stderr}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description="What a fiber in C adds to a round trip.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--fathom", default=str(HERE.parent.parent / "target" / "release" / "fathom"))
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("quartiles take two rounds")
    took: dict[str, list[float]] = {row: [] for row in ROWS}
    with tempfile.TemporaryDirectory() as folder:
        paths = {row: pathlib.Path(folder, f"{number}.wat") for number, row in enumerate(ROWS)}
        for row, path in paths.items():
            path.write_text(module(ROWS[row]))
        for number in range(options.rounds):
            order = list(ROWS)
            random.Random(number).shuffle(order)
            for row in order:
                both = seconds(options.fathom, paths[row], LONG) - seconds(options.fathom, paths[row], SHORT)
                took[row].append(both / (LONG - SHORT) * 1e9)
    print("| a round trip with | median | quartiles | least |\n|---|--:|--:|--:|")
    for row, times in took.items():
        low, _, high = statistics.quantiles(times, n=4)
        print(f"| {row} | {statistics.median(times):.1f} ns | {low:.1f}–{high:.1f} | {min(times):.1f} |")


if __name__ == "__main__":
    sys.exit(main())
