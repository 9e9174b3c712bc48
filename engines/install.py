#!/usr/bin/env python3
"""Installs the engines that fathom compares itself with, at pinned versions.

    python3 engines/install.py            the default set, which installs quickly
    python3 engines/install.py all        every engine that can be installed
    python3 engines/install.py NAME...    these, each pinned or as NAME@VERSION
    python3 engines/install.py --remove all|NAME...
    python3 engines/install.py --list     what there is, and whether it is installed
    python3 engines/install.py --releases what registries offer, of engines in versions

Each goes to `.tools/engines/NAME`, a release that is not the pinned one to
`.tools/engines/NAME@VERSION` beside it, from package registries by package name. It is
built in a folder beside and renamed when it is complete, so an engine that is
there is whole. A second call does nothing; one after an interruption starts again
with what the package managers, and builds that take minutes, have kept. Each
engine has a lock of its own: different ones can be installed at the same time.
"""

import argparse
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit("installing engines needs Python 3.11 or newer, this is " + sys.version.split()[0])

ENGINES = Path(__file__).resolve().parent
sys.path.insert(0, str(ENGINES))

import releases  # noqa: E402
from step import INTERRUPTING, Failed, Step, unhurried  # noqa: E402  (recipes and tests reach it from here, too)

ROOT = ENGINES.parent
INSTALLED = ROOT / ".tools" / "engines"
# What a call without names installs, as far as there is a recipe: together they
# take seconds, and there is a compiler, an interpreter and C among them.
DEFAULT = ("node", "wasmtime", "wazero", "wasmi", "wasm2c")
# Written last, holds the fingerprint of what the engine was made from.
STAMP = "installed"
# Beside it: the version, and what the installation cost.
RECORD = "record.json"
# What an installation is made from. What a runner reads when it runs is not.
SOURCES = {".c", ".cc", ".cpp", ".go", ".h", ".java", ".lock", ".mod", ".py", ".rs", ".sum", ".txt", ".xml"}
NOT_SOURCES = {"target", "build", "node_modules", "__pycache__"}


class Interrupted(BaseException):
    """A signal asked for the end; its number is the argument."""


def engine_names() -> list[str]:
    """The engines that have a recipe."""
    return sorted(recipe.parent.name for recipe in ENGINES.glob("*/recipe.py"))


def engine_of(name: str) -> str:
    """The engine that NAME or NAME@VERSION is of."""
    return name.partition("@")[0]


def recipe_of(name: str):
    """The engine's recipe: VERSION, NEEDS (programs), install(step, here, into) and,
    where its runner is made from sources of another folder too, USES. What another
    release needs beside that is in NEEDS_RELEASE, and `step.version` names it."""
    engine = engine_of(name)
    spec = importlib.util.spec_from_file_location(f"recipe_{engine}", ENGINES / engine / "recipe.py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Failed(f"its recipe cannot be read: {error}") from error
    return module


def _sources(folder: Path):
    for file in sorted(folder.rglob("*")):
        inner = file.relative_to(folder)
        if not NOT_SOURCES.intersection(inner.parts) and (file.name == "Cargo.toml" or file.suffix in SOURCES):
            yield inner, file


def fingerprint(name: str) -> str:
    """A hash of everything that the engine's installation depends on."""
    digest = hashlib.sha256(sys.platform.encode())
    for folder in [ENGINES / engine_of(name), *(ENGINES / used for used in getattr(recipe_of(name), "USES", []))]:
        for inner, file in _sources(folder):
            digest.update(f"{inner}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def beside() -> list[str]:
    """The releases that stand beside the pinned ones, as NAME@VERSION."""
    there = [folder.name for folder in INSTALLED.glob("[!.]*@*") if (folder / STAMP).is_file()]
    known = set(engine_names())
    return sorted((n for n in there if engine_of(n) in known), key=lambda n: (engine_of(n), releases.key(n.partition("@")[2])))


def is_installed(name: str) -> bool:
    stamp = INSTALLED / name / STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint(name)


def record_of(name: str) -> dict:
    """What is written down of an installed engine; empty where nothing is."""
    try:
        return json.loads((INSTALLED / name / RECORD).read_text())
    except (OSError, ValueError):
        return {}


def disk_bytes(folder: Path) -> int:
    """What a folder takes on the disk."""
    return sum(os.lstat(os.path.join(place, name)).st_blocks * 512
               for place, folders, files in os.walk(folder) for name in folders + files)


@contextlib.contextmanager
def alone(name: str):
    """Holds an engine's lock: two installations of it would share a folder."""
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with open(INSTALLED / f".{name}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{name}: waiting for another installation of it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class EngineStep(Step):
    """A recipe's step, which also knows the folder that engines share."""

    def shared(self, name: str) -> Path:
        """A folder of what several recipes fetch, kept."""
        return INSTALLED / f".{name}"


@dataclass
class Outcome:
    """What became of one engine, for the table at the end."""

    name: str
    version: str
    what: str
    seconds: float | None
    disk: int | None


def _kept_folder(name: str, mark: str) -> Path:
    """The folder for what is long in the making, empty if made from something else."""
    kept = INSTALLED / f".{name}.kept"
    if not (kept / STAMP).is_file() or (kept / STAMP).read_text() != mark:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        (kept / STAMP).write_text(mark)
    return kept


def _make(name: str, recipe, partial: Path) -> None:
    """Fills the folder `partial` with a whole engine, its stamp last."""
    mark, started = fingerprint(name), time.monotonic()
    partial.mkdir(parents=True)
    step = EngineStep(name, _kept_folder(name, mark), name.partition("@")[2] or None)
    recipe.install(step, ENGINES / engine_of(name), partial)
    record = {"version": version_of(name, recipe), "seconds": round(time.monotonic() - started, 1), "bytes": disk_bytes(partial)}
    (partial / RECORD).write_text(json.dumps(record) + "\n")
    (partial / STAMP).write_text(mark)


def version_of(name: str, recipe) -> str:
    """The release that is installed under a name: the pinned one, or the one it names."""
    return name.partition("@")[2] or recipe.VERSION


def resolved(word: str) -> str:
    """What NAME@VERSION is installed as: NAME alone for the pinned release, and NAME@ with
    the whole version for another. Asks the registry unless that is installed already."""
    engine, at, asked = word.partition("@")
    if not at:
        return word
    pinned, source = recipe_of(engine).VERSION, releases.source_of(ENGINES / engine)
    if source is None:
        raise Failed(f"{engine} is had in one version, {pinned}")
    if asked == pinned:
        return engine
    if releases.RELEASE.fullmatch(asked) and is_installed(word):
        return word
    found = releases.one(word, asked, source)
    if found != asked:
        Step(word).say(f"the newest such release is {found}")
    return engine if found == pinned else f"{engine}@{found}"


def install(word: str) -> Outcome:
    """Installs one engine unless it is there already."""
    name = resolved(word)
    step, recipe = Step(name), recipe_of(name)
    version = version_of(name, recipe)
    with alone(name):
        if is_installed(name):
            step.say(f"{version} is installed")
            record = record_of(name)
            return Outcome(name, version, "was there", record.get("seconds"), record.get("bytes"))
        for tool in recipe.NEEDS + (getattr(recipe, "NEEDS_RELEASE", []) if "@" in name else []):
            if shutil.which(tool) is None:
                raise Failed(f"needs the program {tool}, which is not on PATH")
        partial, old = INSTALLED / f".{name}.partial", INSTALLED / f".{name}.old"
        for leftover in (partial, old):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            _make(name, recipe, partial)
        except BaseException:
            with unhurried():
                shutil.rmtree(partial, ignore_errors=True)
            raise
        target = INSTALLED / name
        with unhurried():
            if target.exists():
                target.rename(old)
            partial.rename(target)
            for leftover in (old, INSTALLED / f".{name}.kept"):
                shutil.rmtree(leftover, ignore_errors=True)
    step.say(f"{version} is installed in {target.relative_to(ROOT)}")
    record = record_of(name)
    return Outcome(name, version, "installed", record["seconds"], record["bytes"])


def remove(name: str) -> bool:
    """Removes what is installed of an engine; false where nothing was."""
    if "@" in name and name not in beside():
        return False
    with alone(name):
        target, old = INSTALLED / name, INSTALLED / f".{name}.old"
        there = target.exists()
        with unhurried():
            shutil.rmtree(old, ignore_errors=True)
            if there:
                target.rename(old)
            for leftover in (old, INSTALLED / f".{name}.kept", INSTALLED / f".{name}.partial"):
                shutil.rmtree(leftover, ignore_errors=True)
    return there


@contextlib.contextmanager
def interruptible():
    """Turns the signals that interrupt into `Interrupted`."""

    def interrupt(number, _frame):
        raise Interrupted(number)

    before = {number: signal.signal(number, interrupt) for number in INTERRUPTING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _seconds(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.1f} s" if value < 60 else f"{value // 60:.0f} min {value % 60:.0f} s"


def _megabytes(value: int | None) -> str:
    return "unknown" if value is None else f"{value / 1e6:.1f} MB"


def table_of(outcomes: list[Outcome]) -> str:
    """What became of each engine: its time and its disk."""
    rows = [("engine", "version", "time", "disk", "")]
    rows += [(o.name, o.version, _seconds(o.seconds), _megabytes(o.disk), o.what) for o in outcomes]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]), row[3].rjust(widths[3])]
        lines.append("  ".join([*cells, row[4]]).rstrip())
    return "\n".join(lines)


def install_all(names: list[str]) -> int:
    outcomes = []
    for name in names:
        try:
            outcomes.append(install(name))
        except (Failed, OSError) as error:
            print(f"{name}: not installed: {error}", file=sys.stderr)
            outcomes.append(Outcome(name, "", "not installed", None, None))
        except Interrupted:
            print(f"{name}: interrupted: nothing new of it counts as installed", file=sys.stderr)
            if len(outcomes) > 1:
                print(table_of(outcomes), flush=True)
            raise
    if len(outcomes) > 1:
        print(table_of(outcomes))
    if all(outcome.what == "was there" for outcome in outcomes):
        print("nothing to do: everything asked for is installed")
    return 1 if any(outcome.what == "not installed" for outcome in outcomes) else 0


def remove_all(names: list[str]) -> int:
    for name in names:
        print(f"{name}: {'removed' if remove(name) else 'was not installed'}", flush=True)
    if not any((INSTALLED / name).exists() for name in [*engine_names(), *beside()]):
        remove_shared()
    return 0


def remove_shared() -> None:
    """Removes what recipes fetched for several engines, when there are none and none
    is being installed."""
    if any(INSTALLED.glob(".*.partial")):
        return
    for folder in INSTALLED.glob(".*/"):
        # Those with a second point are of one engine's installation.
        if "." not in folder.name[1:]:
            with unhurried():
                shutil.rmtree(folder, ignore_errors=True)


def state_of(name: str) -> dict:
    """What `--json` tells of an engine."""
    try:
        state = {"name": name, "version": version_of(name, recipe_of(name)), "installed": is_installed(name)}
    except Failed as error:
        return {"name": name, "version": "unknown", "installed": False, "outdated": False, "error": str(error)}
    outdated = not state["installed"] and (INSTALLED / name / STAMP).is_file()
    record = record_of(name) if state["installed"] or outdated else {}
    return state | {"outdated": outdated, "seconds": record.get("seconds"), "bytes": record.get("bytes")}


def show_list(known: list[str], as_json: bool) -> int:
    states = [state_of(name) for name in known]
    if as_json:
        print(json.dumps(states))
        return 0
    for state in states:
        word = "installed" if state["installed"] else "not installed"
        print(f"{state['name']}: {word}")
    return 0


def offers_of(known: list[str]) -> list[dict]:
    """What registries offer, of each engine that is had in versions. Where one of them does
    not answer, the others do."""
    offers = []
    for name in known:
        try:
            source = releases.source_of(ENGINES / name)
            if source is None:
                continue
            offers.append({"name": name, "pinned": recipe_of(name).VERSION, "source": source,
                           "versions": releases.offered(name, source)})
        except Failed as error:
            offers.append({"name": name, "versions": [], "error": str(error)})
    return offers


def show_offers(known: list[str], as_json: bool) -> int:
    offers = offers_of(known)
    if as_json:
        print(json.dumps({"format": 1, "engines": offers}, indent=2))
    for offer in [] if as_json else offers:
        if "error" in offer:
            print(f"{offer['name']}: {offer['error']}", file=sys.stderr)
            continue
        lines = ", ".join(releases.of_each_line(offer["versions"]))
        print(f"{offer['name']} (pinned {offer['pinned']}), {len(offer['versions'])} of {offer['source']}: {lines}")
    return 1 if any("error" in offer for offer in offers) else 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Installs the engines that fathom compares itself with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="engines, or all (default: those that install quickly)")
    parser.add_argument("--remove", action="store_true", help="remove them instead")
    parser.add_argument("--list", action="store_true", help="show the engines and leave")
    parser.add_argument("--releases", action="store_true", help="ask registries for the releases they offer, and leave")
    parser.add_argument("--json", action="store_true", help="with --list and --releases: for programs")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    asked, known = parse(arguments), engine_names()
    if asked.list:
        return show_list([*known, *beside()], asked.json)
    unknown = [name for name in asked.names if engine_of(name) not in known and name != "all"]
    if unknown:
        print(f"no recipe for {unknown[0]}: there is {', '.join(known)}", file=sys.stderr)
        return 2
    if asked.remove and not asked.names:
        print("--remove needs the names of engines, or all", file=sys.stderr)
        return 2
    names = [name for name in DEFAULT if name in known] if not asked.names else asked.names
    if "all" in names:
        names = [*known, *(beside() if asked.remove else [])]
    names = list(dict.fromkeys(names))
    try:
        with interruptible():
            if asked.releases:
                return show_offers(asked.names or known, asked.json)
            return remove_all(names) if asked.remove else install_all(names)
    except Interrupted as signalled:
        return 128 + signalled.args[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
