"""Debian packages into a folder, from any suite, without touching the machine's own.

apt gets lists, state and cache of its own under `.tools/engines/.apt`. Where to
fetch from is what the machine's own sources say; only the suite is another. The
lists are fetched again when they are a day old, or lack what is asked for.
"""

import fcntl
import re
import time
from pathlib import Path

LISTS_AGE_S_MAX = 24 * 3600
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def _own_sources() -> tuple[str, str]:
    """Where this machine gets Debian from, and its suite."""
    folder = Path("/etc/apt")
    for file in [*folder.glob("sources.list.d/*.sources"), folder / "sources.list", *folder.glob("sources.list.d/*.list")]:
        text = file.read_text() if file.is_file() else ""
        for stanza in re.split(r"\n\s*\n", text) if file.suffix == ".sources" else []:
            place = re.search(r"^URIs:\s*(\S+/debian)/?\s*$", stanza, re.MULTILINE)
            suite = re.search(r"^Suites:\s*(\S+)", stanza, re.MULTILINE)
            if place and suite:
                return place[1], suite[1]
        line = re.search(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+/debian)/?\s+(\S+)", text, re.MULTILINE)
        if line:
            return line[1], line[2]
    raise LookupError


def fetch(step, packages: dict[str, str], into: Path, suite: str | None, whole: bool) -> None:
    """See `Step.debian_packages` and `Step.debian_prefix`."""
    try:
        place, own = _own_sources()
    except (LookupError, OSError):
        raise step.Failed("this machine has no Debian package source: its packages cannot be had") from None
    if not KEYRING.is_file():
        raise step.Failed(f"{KEYRING} is missing: Debian's packages cannot be checked")
    suite = suite or own
    if suite.endswith("-security"):
        place += "-security"
    state = step.shared("apt") / suite
    options = _prepare(state, f"deb [signed-by={KEYRING}] {place} {suite} main\n")
    # Two engines may want packages at the same time.
    with open(state / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _update(step, options, state, suite)
        wanted = [f"{name}={_version(step, options, name, version, suite)}" for name, version in packages.items()]
        debs = _with_dependencies(step, options, state, wanted) if whole else _alone(step, options, state, wanted)
        for deb in debs:
            into.mkdir(parents=True, exist_ok=True)
            try:
                step.run(["dpkg-deb", "--extract", deb, into], f"dpkg-deb {deb.name}")
            except step.Failed:
                # Cut short: the next try must not find it.
                deb.unlink(missing_ok=True)
                raise


def _version(step, options: list[str], name: str, version: str, suite: str) -> str:
    """The version asked for; a suite keeps only its newest, so where that one is gone
    the newest, and a line that says so."""
    told = step.run(["apt-cache", *options, "show", "--no-all-versions", name], f"apt-cache show {name}")
    there = re.findall(r"^Version: (\S+)", told, re.MULTILINE)
    if not there:
        raise step.Failed(f"Debian's suite {suite} has no package {name}")
    if version not in there:
        step.say(f"{name} {version} has left Debian's suite {suite}: {there[0]} it is")
    return version if version in there else there[0]


def _alone(step, options: list[str], state: Path, wanted: list[str]) -> list[Path]:
    for package in wanted:
        step.say(f"the Debian package {package}")
        step.run(["apt-get", *options, "download", package], f"apt-get download {package}", cwd=state / "debs")
    # A colon of a version's epoch is written %3a in a file's name.
    names = [package.replace("=", "_").replace(":", "%3a") for package in wanted]
    return [deb for name in names for deb in (state / "debs").glob(f"{name}_*.deb")]


def _with_dependencies(step, options: list[str], state: Path, wanted: list[str]) -> list[Path]:
    """Fetches packages and all that they need, down to the C library."""
    command = ["apt-get", *options, "--yes", "--no-install-recommends"]
    step.run([*command, "--download-only", "install", *wanted], "apt-get")
    # A line each, of the address, the file's name, its size and its checksum; the
    # files that are there already have none, so all are asked for anew.
    elsewhere = ["-o", f"Dir::Cache::archives={state / 'parts'}"]
    (state / "parts" / "partial").mkdir(exist_ok=True)
    told = step.run([*command, *elsewhere, "--print-uris", "install", *wanted], "apt-get")
    return [state / "archives" / name for name in re.findall(r"^'[^']+' (\S+\.deb) ", told, re.MULTILINE)]


def _prepare(state: Path, sources: str) -> list[str]:
    """Folders for apt, and the options that make it use nothing else."""
    for folder in ("lists/partial", "archives/partial", "debs", "parts"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text(sources)
    (state / "status").touch()
    settings = {
        "Dir::State": state, "Dir::State::lists": state / "lists", "Dir::State::status": state / "status",
        "Dir::Cache": state, "Dir::Cache::archives": state / "archives", "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": state / "parts", "Acquire::Languages": "none", "Acquire::Retries": "2",
        "APT::Sandbox::User": "root", "Debug::NoLocking": "true",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _update(step, options: list[str], state: Path, suite: str) -> None:
    fresh = state / "updated"
    if fresh.is_file() and time.time() - fresh.stat().st_mtime < LISTS_AGE_S_MAX:
        return
    step.say(f"Debian's list of packages ({suite}, about 10 MB)")
    # Without this option apt calls it a success when nobody answers.
    step.run(["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "-qq", "update"], "apt-get update")
    fresh.touch()
