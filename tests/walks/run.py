#!/usr/bin/env python3
"""Does what CONTRIBUTING.md says, in a copy of the checkout.

    tests/walks/run.py [NAME…] [--timed]

A walk is a section of the page whose heading begins with "Walk: ". Its blocks are done
in their order:

    ```toml engines/x/engine.toml    a block that names a file is that file
    ```diff                          a change, as `git apply` takes it
    ```console                       commands after `$ `, and what they print

Commands run in the copy by bash and must end with 0. A line below a command must be one
that it prints, those before it having come before; `…` in it stands for anything.

All files and changes are made first, so that one build serves all walks; with --timed
each walk is done alone, behind those before it, and the time of each is told. What must
stay true: the checkout is not changed. The copy is in target/walks, where it stays for the
next call: only what differs is written, so cargo builds only that again.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "CONTRIBUTING.md"
COPY = ROOT / "target" / "walks"
# What the copy has and the checkout has not: it is made by commands, and kept.
MADE = {"target", ".tools", "results", "build", "__pycache__"}
# Seconds that a command may take: the first has to compile everything of ours.
TIMEOUT_S = 1200


class Broken(Exception):
    """A walk that does not work as it stands on the page."""


@dataclasses.dataclass(frozen=True)
class Block:
    line: int
    kind: str
    path: str
    text: str


@dataclasses.dataclass(frozen=True)
class Walk:
    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclasses.dataclass(frozen=True)
class Command:
    line: int
    text: str
    expected: tuple[str, ...]


def walks(page: str) -> list[Walk]:
    """The walks of a page, by the last word of their headings."""
    found: list[tuple[str, list[Block]]] = []
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("## "):
            found.append((line[3:], []))
        elif line.startswith("```"):
            kind, _, path = line[3:].partition(" ")
            end = next((i for i in range(at + 1, len(lines)) if lines[i] == "```"), None)
            if end is None:
                raise Broken(f"{PAGE}:{at + 1}: a block without an end")
            if found:
                text = "".join(f"{one}\n" for one in lines[at + 1:end])
                found[-1][1].append(Block(at + 1, kind, path.strip(), text))
            at = end
        at += 1
    return [Walk(title.split()[-1], title, tuple(blocks)) for title, blocks in found if title.startswith("Walk: ")]


def commands(block: Block) -> list[Command]:
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif not found:
            raise Broken(f"{PAGE}:{number}: output without a command")
        elif line.strip():
            found[-1][2].append(line)
    return [Command(number, text, tuple(expected)) for number, text, expected in found]


def missing(expected: tuple[str, ...], printed: str) -> str | None:
    """The first expected line that is not printed behind those before it."""
    lines = iter(printed.splitlines())
    for wanted in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.strip().split("…")))
        if not any(pattern.fullmatch(line.strip()) for line in lines):
            return wanted
    return None


def tracked(root: pathlib.Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def copy(root: pathlib.Path, to: pathlib.Path) -> None:
    """Makes `to` what the checkout is, writing only what differs, with its time."""
    names = set(tracked(root))
    for name in sorted(names):
        source, target = root / name, to / name
        if target.is_file() and not target.is_symlink() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        # Its time is that of now, so that cargo sees a file that a walk had changed.
        shutil.copy(source, target, follow_symlinks=False)
    for folder, folders, files in os.walk(to):
        folders[:] = [name for name in folders if name not in MADE and not pathlib.Path(folder, name).is_symlink()]
        for name in files:
            file = pathlib.Path(folder, name)
            if str(file.relative_to(to)) not in names:
                file.unlink()
    # What the last call measured: a campaign is not written over.
    shutil.rmtree(to / "results", ignore_errors=True)
    tools = to / ".tools"
    if (root / ".tools").is_dir() and not tools.exists():
        tools.symlink_to(root / ".tools")


def seed(root: pathlib.Path, to: pathlib.Path) -> None:
    """Lends the copy what cargo has compiled of others' crates, which is not changed."""
    there, here = root / "target" / "debug", to / "target" / "debug"
    if here.exists() or not (there / "deps").is_dir():
        return
    here.mkdir(parents=True)
    for name in ("deps", "build", ".fingerprint"):
        if (there / name).is_dir():
            # Links: cargo puts a new file in the place of one that it makes again.
            shutil.copytree(there / name, here / name, symlinks=True, copy_function=link, dirs_exist_ok=True)


def link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:  # made and gone meanwhile: somebody compiles
        pass


def change(block: Block, to: pathlib.Path) -> bool:
    """Makes the file or the change of a block; false for one that has none."""
    if block.path:
        target = to / block.path
        if to not in target.resolve().parents:
            raise Broken(f"{PAGE}:{block.line}: {block.path} is outside the checkout")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text)
    elif block.kind == "diff":
        # As if there were no repository: else paths would be those of the checkout.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(to.parent)}
        done = subprocess.run(["git", "apply", "-"], cwd=to, input=block.text, text=True, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise Broken(f"{PAGE}:{block.line}: the change does not fit: {done.stdout.strip()}")
    else:
        return False
    return True


def perform(command: Command, to: pathlib.Path) -> None:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(to / "target"), "COLUMNS": "100"}
    for name in [name for name in environment if name.startswith(("FATHOM_", "CARGO_PKG_", "CARGO_MANIFEST_"))]:
        del environment[name]
    try:
        done = subprocess.run(["bash", "-c", command.text], cwd=to, env=environment, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise Broken(f"{PAGE}:{command.line}: `{command.text}` did not end in {TIMEOUT_S} s") from error
    absent = missing(command.expected, done.stdout)
    if done.returncode != 0 or absent is not None:
        what = f"ends with {done.returncode}" if done.returncode != 0 else f"does not print {absent.strip()!r}"
        printed = "\n".join(done.stdout.splitlines()[-30:])
        raise Broken(f"{PAGE}:{command.line}: `{command.text}` {what}. It printed\n{printed}")


def do(walk: Walk, to: pathlib.Path) -> float:
    """Runs the commands of a walk whose changes are made; seconds."""
    started = time.monotonic()
    for block in walk.blocks:
        if block.kind == "console":
            for command in commands(block):
                perform(command, to)
    return time.monotonic() - started


def run(chosen: list[Walk], is_timed: bool, to: pathlib.Path) -> int:
    failed = 0
    todo = [[walk] for walk in chosen] if is_timed else [chosen]
    for together in todo:
        for walk in together:
            try:
                if not any([change(block, to) for block in walk.blocks]):
                    raise Broken(f"{PAGE}: '{walk.title}' makes nothing")
            except Broken as error:
                print(f"{walk.name}: FAILED: {error}", flush=True)
                return 1
        for walk in together:
            try:
                print(f"{walk.name}: done [{do(walk, to):.0f} s]", flush=True)
            except Broken as error:
                failed += 1
                print(f"{walk.name}: FAILED: {error}", flush=True)
    print(f"{len(chosen) - failed} walks done, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Do the walks of CONTRIBUTING.md in a copy of the checkout.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="walks to do (all when none is named)")
    parser.add_argument("--timed", action="store_true", help="one after the other, and say how long each takes")
    options = parser.parse_args()
    known = walks((ROOT / PAGE).read_text())
    unknown = [name for name in options.names if name not in [walk.name for walk in known]]
    if unknown or not known:
        parser.error(f"no walk named {', '.join(unknown)}; there are {', '.join(w.name for w in known) or 'none'}")
    chosen = [walk for walk in known if not options.names or walk.name in options.names]
    if not (ROOT / ".tools" / "zig").is_dir() and any(walk.name == "workload" for walk in chosen):
        print("SKIPPED workload: no compiler for workloads in .tools (python3 workloads/setup.py)")
        chosen = [walk for walk in chosen if walk.name != "workload"]
    started = time.monotonic()
    COPY.mkdir(parents=True, exist_ok=True)
    copy(ROOT, COPY)
    seed(ROOT, COPY)
    print(f"copied to {COPY} [{time.monotonic() - started:.0f} s]", flush=True)
    return run(chosen, options.timed, COPY)


if __name__ == "__main__":
    sys.exit(main())
