#!/usr/bin/env python3
"""Installs the engines that fathom compares itself with, at pinned versions.

    python3 engines/install.py            every engine that can be installed
    python3 engines/install.py NAME...    these
    python3 engines/install.py --list     what there is, and whether it is installed

Each goes to `.tools/engines/NAME`, from package registries by package name. It is
built in a folder beside and renamed when it is complete, so an engine that is
there is whole. A second call does nothing; one after an interruption starts again
with what the package managers have kept.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

ENGINES = Path(__file__).resolve().parent
ROOT = ENGINES.parent
INSTALLED = ROOT / ".tools" / "engines"
# Written last, holds the fingerprint of what the engine was made from.
STAMP = "installed"


class Failed(Exception):
    """Why an engine could not be installed, in one line."""


# How package managers say that nobody answers; they go on to complain that there
# is no such package, which misleads.
UNREACHABLE = ("connection", "could not connect", "resolve", "timed out", "unreachable", "ssl")


def complaint_of(stderr: str) -> str:
    """One line of what a command complained about."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    for line in lines:
        if any(word in line.lower() for word in UNREACHABLE):
            return f"the package registry cannot be reached: {line[:300]}"
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines[-1:] or ["failed without a word"])[0]


class Step:
    """What a recipe may use: progress, commands and downloads with clear errors."""

    Failed = Failed

    def __init__(self, name: str):
        self.name = name

    def say(self, what: str) -> None:
        print(f"{self.name}: {what}", flush=True)

    def run(self, command: list, what: str) -> str:
        """Runs a command, returns what it printed; the most telling complaint is the error."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{what}: {complaint_of(done.stderr)}")
        return done.stdout

    def pip_download(self, requirements: Path, into: Path) -> None:
        """Downloads what `requirements` pins, with its checksums, and unpacks nothing."""
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
            raise Failed("pip is missing for this Python (Debian: apt-get install python3-pip)")
        into.mkdir(parents=True)
        options = ["--quiet", "--retries=2", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        self.run([*pip, "download", *options, "-d", into, "-r", requirements], "pip download")


def engine_names() -> list[str]:
    """The engines that have a recipe."""
    return sorted(recipe.parent.name for recipe in ENGINES.glob("*/recipe.py"))


def recipe_of(name: str):
    spec = importlib.util.spec_from_file_location(f"recipe_{name}", ENGINES / name / "recipe.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint(name: str) -> str:
    """A hash of everything in the engine's folder that its installation depends on."""
    digest = hashlib.sha256(sys.platform.encode())
    for file in sorted((ENGINES / name).iterdir()):
        if file.name == "Cargo.toml" or file.suffix in {".c", ".h", ".py", ".txt", ".lock"}:
            digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def is_installed(name: str) -> bool:
    stamp = INSTALLED / name / STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint(name)


def install(name: str) -> None:
    """Installs one engine unless it is there already."""
    step = Step(name)
    recipe = recipe_of(name)
    if is_installed(name):
        step.say(f"{recipe.VERSION} is installed")
        return
    for tool in recipe.NEEDS:
        if shutil.which(tool) is None:
            raise Failed(f"needs the program {tool}, which is not on PATH")
    partial, old = INSTALLED / f".{name}.partial", INSTALLED / f".{name}.old"
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir(parents=True)
    recipe.install(step, ENGINES / name, partial)
    (partial / STAMP).write_text(fingerprint(name))
    target = INSTALLED / name
    if target.exists():
        target.rename(old)
    partial.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    step.say(f"{recipe.VERSION} is installed in {target.relative_to(ROOT)}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Installs the engines that fathom compares itself with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="engines to install (default: all)")
    parser.add_argument("--list", action="store_true", help="show the engines and leave")
    asked = parser.parse_args(arguments)
    known = engine_names()
    if asked.list:
        for name in known:
            print(f"{name}: {'installed' if is_installed(name) else 'not installed'}")
        return 0
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        print(f"no recipe for {unknown[0]}: there is {', '.join(known)}", file=sys.stderr)
        return 2
    INSTALLED.mkdir(parents=True, exist_ok=True)
    failures = 0
    # Two installations at once would share the partial folder.
    with open(INSTALLED / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in asked.names or known:
            try:
                install(name)
            except (Failed, OSError) as error:
                print(f"{name}: not installed: {error}", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
