"""The suite of programs whose objects the engine collects: Kotlin, compiled to WebAssembly with structures and arrays.

    Maven Central, SHA-256 ─▶ .tools/kotlin-VERSION/jars ─┐
    managed/NAME.kt ──────────────────────────────────────┴▶ a library ─▶ a module ─▶ build/wasm/NAME.wasm

The compiler makes a module that runs `main` in `_initialize`, as a library of WASI would be set
up; that export is called `_start` here, so that the module is a program.
"""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import sys

import jobs
import suites
import toolchain
import wasm_file

sys.path.append(str(toolchain.ROOT / "engines"))
import step  # noqa: E402

FOLDER = suites.HERE / "managed"
VARIANT = "wasm"
VERSION = "2.3.0"
HOME = toolchain.TOOLS / f"kotlin-{VERSION}"
# The library that programs are compiled against, the compiler, and what it needs.
LIBRARY = f"kotlin-stdlib-wasm-wasi-{VERSION}.klib"
ARTIFACTS = {
    f"org.jetbrains.kotlin:kotlin-stdlib-wasm-wasi:{VERSION}:klib":
        "de0582ccbf35c21e802a06c1b30eda169a220a41730eff5e53fd36157cad294e",
    f"org.jetbrains.kotlin:kotlin-compiler-embeddable:{VERSION}":
        "8dbd882fa58c3d17e683a27390288315f8b490f8e3e3b1be4dc3e280d37e285a",
    f"org.jetbrains.kotlin:kotlin-stdlib:{VERSION}":
        "887587c91713250ad52fe14ad9166d042c33835049890e9437f355ffc5a195b1",
    f"org.jetbrains.kotlin:kotlin-script-runtime:{VERSION}":
        "db826961371d6605318d9c4e4bfcdbfac94c3a0892cdcabd55224870fead57f1",
    f"org.jetbrains.kotlin:kotlin-daemon-embeddable:{VERSION}":
        "39bcb02d8c293aa678554c8b49d7ff84657021709283c6186e3a40806af9bd10",
    "org.jetbrains.kotlin:kotlin-reflect:1.6.10":
        "3277ac102ae17aad10a55abec75ff5696c8d109790396434b496e75087854203",
    "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.0":
        "9860906a1937490bf5f3b06d2f0e10ef451e65b95b269f22daf68a3d1f5065c5",
    "org.jetbrains:annotations:13.0":
        "ace2a10dc8e2d5fd34925ecac03e4988b2c0f851650c94b8cef49ba1bd111478",
}
TARGET = ("-Xwasm", "-Xwasm-target=wasm-wasi")
# Exceptions as WebAssembly 3.0 has them.
MODULE = ("-Xir-produce-js", "-Xir-dce", "-Xwasm-use-new-exception-proposal")
EXPORTS = {"memory": "memory", "_initialize": "_start"}


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """One program."""

    label: str
    source: pathlib.Path
    output: pathlib.Path
    headers = ()

    @property
    def sources(self) -> tuple[pathlib.Path, ...]:
        return (self.source,)

    def recipe(self) -> list:
        return [ARTIFACTS, TARGET, MODULE, EXPORTS]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        # The compiler does not find a library by a relative path.
        scratch = scratch.resolve()
        name = self.source.stem
        into = ["-ir-output-dir", str(scratch), "-ir-output-name", name]
        self._kotlin(["-Xir-produce-klib-file", *into, str(self.source)])
        self._kotlin([f"-Xinclude={scratch / name}.klib", *MODULE, *into])
        made = scratch / f"{name}.wasm"
        made.write_bytes(wasm_file.with_exports(made.read_bytes(), EXPORTS))
        return made

    def _kotlin(self, words: list[str]) -> None:
        jars = ":".join(str(path) for path in sorted((HOME / "jars").glob("*.jar")))
        compiler = ["java", "-cp", jars, "org.jetbrains.kotlin.cli.js.K2JSCompiler"]
        toolchain.run([*compiler, *TARGET, "-libraries", str(HOME / "jars" / LIBRARY), *words], self.label)


def install() -> None:
    """Fetches the compiler with Maven. Raises ToolError."""
    if shutil.which("java") is None:
        raise toolchain.ToolError("the suite managed is compiled by Kotlin, which needs java: install a JRE of 17 or newer")

    def fill(new: pathlib.Path) -> None:
        try:
            step.Step("kotlin").maven_artifacts(ARTIFACTS, new / "jars")
        except step.Failed as error:
            raise toolchain.ToolError(f"kotlin: {error}") from None

    toolchain.install(HOME, f"Kotlin {VERSION}", HOME.is_dir, fill)


def stage(names: list[str] | None) -> list[jobs.Job]:
    """The programs. Raises ToolError where one has to be made and the compiler cannot be had."""
    made = [Job(f"{workload.name} ({VARIANT})", FOLDER / f"{workload.name}.kt",
                FOLDER / "build" / VARIANT / f"{workload.name}.wasm") for workload in suites.load("managed").pick(names)]
    if not all(job.is_current() for job in made):
        install()
    return made
