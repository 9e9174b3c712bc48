#!/usr/bin/env python3
"""Breaks the sources in known ways, one at a time, and sees a named test, or the compiler,
refuse each.

    tests/mutations/run.py [NAME…] [--timeout SECONDS] [--no-baseline]

Without names every row is run. A row is caught when its test passes on the sources as
they are and fails with the row's change; a row with `refused` when the compiler says just
that of the change. What must stay true: the sources are as they
were when this ends, whatever ends it. An interrupted run restores on its way out, a
killed one is made good by the next; a file that somebody else changed meanwhile is
kept, less the mutation.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEYS = {"why", "file", "from", "to", "test"}
OPTIONAL = {"refused"}
# Seconds that a compilation or a test may take.
TIMEOUT_S = 900


class Broken(Exception):
    """A row that says nothing about its test: it cannot be applied, or does not compile."""


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    why: str
    file: pathlib.Path
    before: str
    after: str
    test: tuple[str, ...]
    # Words of the compiler, where the mistake is one of types.
    refused: str | None = None

    def mutate(self, text: str) -> str:
        """The text with this row's mistake in it."""
        times = text.count(self.before)
        if times != 1:
            raise Broken(f"`from` stands {times} times in {self.file}, not once")
        return text.replace(self.before, self.after)


def read(path: pathlib.Path) -> Row:
    try:
        row = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise Broken(f"not TOML: {error}") from error
    if set(row) - OPTIONAL != KEYS:
        raise Broken(f"has the keys {', '.join(sorted(row))}, not {', '.join(sorted(KEYS))}")
    words = isinstance(row["test"], list) and row["test"] and all(isinstance(word, str) for word in row["test"])
    texts = set(row) - {"test", "to"}
    if not words or not all(isinstance(row[key], str) and row[key] for key in texts):
        raise Broken("has a value that is empty or of a wrong type")
    if row["from"] == row["to"]:
        raise Broken("`to` is what `from` is")
    check_selection(row["test"])
    return Row(path.stem, row["why"], pathlib.Path(row["file"]), row["from"], row["to"], tuple(row["test"]),
               row.get("refused"))


def check_selection(test: list[str], root: pathlib.Path = ROOT) -> None:
    """Cargo refuses all of a selection that has a target behind a feature that is not asked for."""
    words = test[:test.index("--")] if "--" in test else test
    if "--workspace" not in words or "--features" in words:
        return
    asked = set(zip(words, words[1:]))
    for package, target in behind_features(root):
        if ("--test", target) in asked and ("--exclude", package) not in asked:
            raise Broken(f"cargo refuses its `test`: {package} has a target {target} behind a feature: "
                         f'add "--exclude", "{package}"')


def behind_features(root: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Tests of the workspace that are built with a feature only, each with its package."""
    members = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["members"]
    for path in (path for member in members for path in root.glob(f"{member}/Cargo.toml")):
        manifest = tomllib.loads(path.read_text())
        for target in manifest.get("test", []):
            if target.get("required-features"):
                yield manifest["package"]["name"], target["name"]


def rows(folder: pathlib.Path = HERE) -> dict[str, pathlib.Path]:
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


class Mutated:
    """A file with a mistake in it, for as long as the `with` lasts."""

    def __init__(self, row: Row, root: pathlib.Path = ROOT) -> None:
        self.path = root / row.file
        if not self.path.is_file():
            raise Broken(f"there is no {row.file}")
        self.original = self.path.read_text()
        self.mutated = row.mutate(self.original)
        self.journal = root / "target" / "mutations" / f"{row.name}.json"
        self.row = row

    def __enter__(self) -> Mutated:
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        self.journal.write_text(json.dumps({"file": str(self.path), "original": self.original,
                                            "mutated": self.mutated}))
        write(self.path, self.mutated)
        return self

    def __exit__(self, *_: object) -> None:
        restore(self.path, self.original, self.mutated, self.row)
        self.journal.unlink()


def write(path: pathlib.Path, text: str) -> None:
    """Whole or not at all, and newer than before, so that cargo sees it."""
    scratch = path.with_name(f".{path.name}.mutating")
    scratch.write_text(text)
    scratch.chmod(path.stat().st_mode & 0o777)
    os.replace(scratch, path)


def restore(path: pathlib.Path, original: str, mutated: str, row: Row | None = None) -> None:
    found = path.read_text()
    if found == mutated:
        write(path, original)
    elif found == original:
        pass
    elif row is not None and row.after and found.count(row.after) == 1:
        write(path, found.replace(row.after, row.before))
        print(f"{path} was changed meanwhile: only the mutation was taken out", file=sys.stderr)
    else:
        raise SystemExit(f"{path} was changed meanwhile and may still hold a mutation: compare it with git")


def make_good(root: pathlib.Path = ROOT) -> None:
    """What a killed run left behind."""
    for journal in sorted((root / "target" / "mutations").glob("*.json")):
        left = json.loads(journal.read_text())
        print(f"restoring {left['file']}: an earlier run was killed", file=sys.stderr)
        restore(pathlib.Path(left["file"]), left["original"], left["mutated"])
        journal.unlink()


def cargo(arguments: tuple[str, ...], timeout_s: float, compile_only: bool = False) -> tuple[int | None, str]:
    """Status (none: no answer in time) and output of `cargo test`."""
    if compile_only:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        arguments = (*arguments[:end], "--no-run")
    command = [os.environ.get("CARGO", "cargo"), "test", "--locked", *arguments]
    # A process group of its own: a test that hangs is ended with its children.
    child = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL, start_new_session=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    try:
        output, _ = child.communicate(timeout=timeout_s)
        return child.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def check_passes(test: tuple[str, ...], timeout_s: float) -> None:
    """A test that fails anyway, or that does not exist, catches nothing."""
    status, output = cargo(test, timeout_s)
    if status != 0:
        raise Broken(f"its test fails without the mutation: {last_line(output)}")
    if not ran_a_test(output):
        raise Broken("its `test` names no test")


def ran_a_test(output: str) -> bool:
    return re.search(r"\b[1-9][0-9]* passed", output) is not None


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith(("error", "test result: FAILED"))]
    return lines[0] if lines else "no answer in time"


def check_fails(row: Row, timeout_s: float) -> str:
    """How the test fails with the mutation; raises where it does not."""
    with Mutated(row):
        status, output = cargo(row.test, timeout_s, compile_only=True)
        if row.refused is not None:
            return refusal(row.refused, status, output)
        if status != 0:
            raise Broken(f"does not compile: {last_line(output)}")
        status, output = cargo(row.test, timeout_s)
    if status is None:
        raise AssertionError(f"not caught: the test did not end in {timeout_s:.0f} s")
    if status == 0:
        raise AssertionError("not caught: the test passes with the mutation")
    failed = [line.split()[1] for line in output.splitlines() if line.startswith("test ") and line.endswith(" FAILED")]
    return ", ".join(failed[:3]) if failed else last_line(output)


def refusal(words: str, status: int | None, output: str) -> str:
    """How the compiler refuses a mutation; raises where it does not, or for another reason."""
    if status == 0:
        raise AssertionError("not caught: it compiles with the mutation")
    if words not in output:
        raise Broken(f"the compiler does not say {words!r}: {last_line(output)}")
    return f"the compiler: {words}"


def run(names: list[str], timeout_s: float, baseline: bool) -> int:
    known = rows()
    passing: dict[tuple[str, ...], Broken | None] = {}
    passed = 0
    for name in names:
        started = time.monotonic()
        try:
            row = read(known[name])
            if baseline and row.test not in passing:
                try:
                    check_passes(row.test, timeout_s)
                    passing[row.test] = None
                except Broken as error:
                    passing[row.test] = error
            if passing.get(row.test) is not None:
                raise passing[row.test]
            verdict, good = f"caught by {check_fails(row, timeout_s)}", True
        except Broken as error:
            verdict, good = f"BROKEN ROW: {error}", False
        except AssertionError as error:
            verdict, good = f"FAILED: {error} ({row.why})", False
        passed += good
        print(f"{name}: {verdict} [{time.monotonic() - started:.0f} s]", flush=True)
    print(f"{passed} passed, {len(names) - passed} failed")
    return 0 if passed == len(names) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="See each known mistake fail its test.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to run (all when none is named)")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, metavar="SECONDS",
                        help="for one compilation or one test (default: %(default)s)")
    parser.add_argument("--no-baseline", action="store_true",
                        help="do not run each test on the unchanged sources first")
    options = parser.parse_args()
    known = rows()
    names = [pathlib.Path(name).stem for name in options.names] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no row named {', '.join(unknown)}; there are {', '.join(known) or 'none'}")
    # Ended by a signal, the `with` of a mutation is left as by Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    make_good()
    try:
        return run(names, options.timeout, not options.no_baseline)
    except KeyboardInterrupt:
        print("interrupted; the sources are as they were", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
