"""Which releases of an engine the registries offer, asked by the registries' own clients.

An engine that can be had in versions says where in its `engine.toml`:

    versions = "pypi:wasmtime"        # REGISTRY:PACKAGE; {npm} is npm's word for the processor

A registry is a row of `REGISTRIES`: the command that lists what it has, and how its answer
is read. Nobody else asks which registry it is.
"""

import json
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

import tomllib

from step import Failed, Step

# How long a registry may take to answer.
LIMIT_S = 30.0
# A release: 50.0.1, 1.0.0-rc.2. What is no such word is never part of a path.
RELEASE = re.compile(r"[0-9]+(\.[0-9A-Za-z]+)*([-+][0-9A-Za-z.+-]+)?")
PLAIN = re.compile(r"[0-9]+(\.[0-9]+)*")
# Named where there is no such release.
NAMED_MAX = 6


def _pypi(answer: str) -> list[str]:
    (line,) = re.findall(r"(?m)^Available versions: (.*)$", answer)
    return [word.strip() for word in line.split(",")]


def _npm(answer: str) -> list[str]:
    found = json.loads(answer)
    # One that has but one says it without a list.
    return [found] if isinstance(found, str) else list(found)


def _go(answer: str) -> list[str]:
    return [word.removeprefix("v") for word in json.loads(answer).get("Versions", [])]


REGISTRIES = {
    "pypi": (lambda package: [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", package], _pypi),
    "npm": (lambda package: ["npm", "view", package, "versions", "--json"], _npm),
    "go": (lambda package: ["go", "list", "-m", "-versions", "-json", package], _go),
}


def source_of(folder: Path) -> str | None:
    """Where an engine's releases are, as its description says; none where it is had in one
    version only."""
    description = folder / "engine.toml"
    if not description.is_file():
        return None
    try:
        source = tomllib.loads(description.read_text()).get("versions")
    except tomllib.TOMLDecodeError as error:
        raise Failed(f"{description}: {error}") from error
    npm = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return source and source.replace("{npm}", npm)


def key(version: str) -> list:
    """Orders releases: numbers as numbers, and what is not final before what is."""
    numbers = PLAIN.match(version)
    rest = version[numbers.end():] if numbers else version
    return [[int(part) for part in numbers[0].split(".")] if numbers else [], not rest, rest]


def offered(name: str, source: str) -> list[str]:
    """What a registry has, the newest first."""
    registry, _, package = source.partition(":")
    if registry not in REGISTRIES:
        raise Failed(f"its description names no registry: {source}")
    command, read = REGISTRIES[registry]
    words = command(package)
    if shutil.which(words[0]) is None:
        raise Failed(f"needs the program {words[0]}, which is not on PATH")
    # Some look for settings of a project around them.
    with tempfile.TemporaryDirectory() as empty:
        answer = Step(name).run(words, f"what {registry} has of {package}", cwd=Path(empty), limit=LIMIT_S)
    try:
        found = read(answer)
    except (ValueError, AttributeError) as error:
        raise Failed(f"what {registry} has of {package}: its answer cannot be read: {answer[:100]!r}") from error
    versions = [version for version in found if RELEASE.fullmatch(version)]
    if not versions:
        raise Failed(f"{registry} has no release of {package}")
    return sorted(versions, key=key, reverse=True)


def newest(asked: str, versions: list[str]) -> str | None:
    """The newest release that `asked` names, which may be the first numbers of it. What is
    not final is only meant where it is named in full."""
    if asked in versions:
        return asked
    begun = [version for version in versions if version.startswith(asked + ".") and PLAIN.fullmatch(version)]
    return max(begun, key=key, default=None)


def one(name: str, asked: str, source: str) -> str:
    """The release of an engine that `asked` names.

    Raises `Failed` where the registry has none.
    """
    if not RELEASE.fullmatch(asked):
        raise Failed(f"{asked!r} is no version: it is like 48.0.0, or 48 for the newest of these")
    versions = offered(name, source)
    found = newest(asked, versions)
    if found is None:
        final = [version for version in versions if PLAIN.fullmatch(version)]
        among = ", ".join(final[:NAMED_MAX])
        raise Failed(f"{source.partition(':')[0]} has no release {asked} of it; the newest are {among}")
    return found


def of_each_line(versions: list[str]) -> list[str]:
    """The newest final release of each first number, the newest first."""
    lines = {}
    for version in versions:
        if PLAIN.fullmatch(version):
            lines.setdefault(version.split(".")[0], version)
    return list(lines.values())
