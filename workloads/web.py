"""The suite of web applications: programs made for a JavaScript host, recorded here, as modules that need none.

    npm pack, SHA-512 ─▶ .tools/web/PACKAGE@VERSION ─┐
    web/NAME.mjs, web/fixed.mjs ─────────────────────┴▶ fathom record ─▶ fathom replay ─▶ build/wasm/NAME.wasm

Nothing of the applications is committed. `web/suite.toml` pins their packages, each by its
version and by the digest that npm's registry has of it; a driver of ours uses one of them,
and `web/fixed.mjs` answers what its host would answer otherwise each time.

What must stay true:
- A package whose digest is another is not unpacked, and nothing of a package runs before
  that: npm only fetches.
- What a replay prints is in `suite.toml`: a record that differs is no workload.
"""

from __future__ import annotations

import base64
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

import jobs
import suites
import toolchain

sys.path.append(str(toolchain.ROOT / "engines"))
import step  # noqa: E402

FOLDER = suites.HERE / "web"
PACKAGES = toolchain.TOOLS / "web"
VARIANT = "wasm"
NODE = toolchain.TOOLS / "engines" / "node" / "bin" / "node"
# No application here takes nearly as long.
LIMIT_S = 600


@dataclasses.dataclass(frozen=True)
class Package:
    """A package of npm's registry."""

    name: str
    version: str
    digest: str  # as the registry writes it: sha512-BASE64

    def home(self) -> pathlib.Path:
        """Where it is unpacked; the digest says which it is."""
        mark = base64.b64decode(self.digest.partition("-")[2]).hex()[:12]
        return PACKAGES / f"{self.name.replace('/', '+')}@{self.version}-{mark}"

    def fetched(self) -> pathlib.Path:
        """Its folder, fetched and unpacked if need be. Raises ToolError."""
        home = self.home()

        def fill(new: pathlib.Path) -> None:
            try:
                step.Step("web").npm_package(self.name, self.version, self.digest, new)
            except step.Failed as error:
                raise toolchain.ToolError(f"web: {error}") from None

        toolchain.install(home, f"{self.name} {self.version}", home.is_dir, fill)
        return home


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """One application: what it needs, and what its replay prints."""

    label: str
    driver: pathlib.Path
    packages: tuple[Package, ...]
    options: tuple[str, ...]  # of `fathom record`
    expected: str
    output: pathlib.Path

    @property
    def sources(self) -> tuple[pathlib.Path, ...]:
        return (self.driver, FOLDER / "fixed.mjs")

    @property
    def headers(self) -> tuple[pathlib.Path, ...]:
        """What records and replays; an installed Fathom has it inside."""
        return (*sorted((toolchain.ROOT / "src" / "record").glob("*.cjs")),
                *sorted((toolchain.ROOT / "crates" / "replay" / "src").rglob("*.rs")))

    def recipe(self) -> list:
        return [[dataclasses.astuple(package) for package in self.packages], self.options, self.expected]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        for package in self.packages:
            place = scratch / "node_modules" / package.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(package.fetched(), place)
        for source in self.sources:
            shutil.copy(source, scratch / source.name)
        fathom = program()
        record = ["record", "-o", "app.record", *self.options, "--", "node", self.driver.name]
        self._fathom(fathom, record, scratch)
        said = self._fathom(fathom, ["replay", "app.record"], scratch)
        printed = said.partition("it prints '")[2].partition("'")[0]
        if printed != self.expected.strip():
            raise toolchain.ToolError(f"{self.label}: its replay would print `{printed}`, and suite.toml has "
                                      f"`{self.expected.strip()}`: the application did something else here")
        return scratch / "app.replay.wasm"

    def _fathom(self, fathom: str, words: list[str], folder: pathlib.Path) -> str:
        """What it says. Raises ToolError with its last line."""
        try:
            done = subprocess.run([fathom, "--root", str(toolchain.ROOT), *words], cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
        except OSError as error:
            raise toolchain.ToolError(f"{fathom}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise toolchain.ToolError(f"{self.label}: fathom {words[0]} took more than {LIMIT_S} s") from None
        if done.returncode != 0 or "the program ended with" in done.stderr:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
            raise toolchain.ToolError(f"{self.label}: fathom {words[0]}: {lines[-1]}")
        return done.stderr


def program() -> str:
    """The Fathom that records: the one that asked for it, or the checkout's. Raises ToolError."""
    built = [toolchain.ROOT / "target" / kind / "fathom" for kind in ("release", "debug")]
    known = [os.environ.get("FATHOM"), *(str(path) for path in built if path.is_file()), shutil.which("fathom")]
    found = next(filter(None, known), None)
    if found is None:
        raise toolchain.ToolError("the suite web is recorded by fathom: build it with `cargo build --release --locked`")
    return found


def job_of(workload: suites.Workload) -> Job:
    """Raises ToolError for a row that lacks something."""
    try:
        packages = tuple(Package(one["name"], one["version"], one["digest"]) for one in workload.table["packages"])
        expected = workload.table["stdout"]
    except KeyError as missing:
        raise toolchain.ToolError(f"{FOLDER / 'suite.toml'}: {workload.name} has no {missing}") from None
    return Job(f"{workload.name} ({VARIANT})", FOLDER / f"{workload.name}.mjs", packages,
               tuple(workload.table.get("record", ())), expected, FOLDER / "build" / VARIANT / f"{workload.name}.wasm")


def stage(names: list[str] | None) -> list[jobs.Job]:
    """The applications, which are recorded in the node that is measured. Raises ToolError."""
    made = [job_of(workload) for workload in suites.load("web").pick(names)]
    if not NODE.is_file() and not all(job.is_current() for job in made):
        raise toolchain.ToolError("the suite web is recorded in the node that is pinned: install it with "
                                  "`fathom engines install node`")
    return made
