"""Which workspaces were checked as they are now: a digest of all that their check reads.

    inputs(part)       its own files, the crates of ours that it depends on, what it includes
    own_inputs(part)   the files of its workspace alone
    digest(part, of)   of those, by name and content
    Checked            the digests of the last checks that went well, in checked.toml

A check of a workspace answers the same for the same files: its crates are pinned by a lock file,
and the compiler by rust-toolchain.toml. What takes minutes from nothing is therefore checked again
only when a file of it differs. The list is committed with the change that made it.

What must stay true: an input that is left out would let a mistake pass, so that a folder is taken
whole where a part of it would do.
"""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("checked.toml")
HEAD = "# Written by `make check-all` and `make test`: SHA-256 of all that the check of a workspace reads.\n"
# What says how a check is done.
COMMON = ("rust-toolchain.toml", ".cargo/config.toml", "Cargo.toml", "tests/compiles/run.py", "tests/compiles/checked.py")
DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")
# What a check is about.
Inputs = Callable[[str, pathlib.Path], list[pathlib.Path]]
# Files outside of a crate that its sources name, relative to the file that does.
NAMED = re.compile(r'(?:#\[path = |include(?:_str|_bytes)?!\(\s*)"([^"]+)"')


def tracked(*patterns: str, folder: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """Files of ours in a folder, all or those with these names."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
                            cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    files = (folder / name for name in sorted(set(listed.split("\0"))) if name)
    return [file for file in files if file.is_file()]


def inputs(part: str, root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """All files of ours that the check of a workspace reads."""
    found = {root / name for name in COMMON if (root / name).is_file()}
    folders, waiting = set(), [(root / part).resolve()]
    while waiting:
        folder = waiting.pop()
        if folder in folders:
            continue
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder.relative_to(root)} is no folder, and something of {part} depends on it")
        folders.add(folder)
        files = tracked(folder=folder)
        found.update(files)
        for manifest in (file for file in files if file.name == "Cargo.toml"):
            waiting.extend(crates(manifest, root))
            found.update(targets(manifest))
    for source in [file for file in found if file.suffix == ".rs"]:
        found.update(named(source))
    return sorted(found)


def own_inputs(part: str, root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """The files of a part's workspace, and what says how it is checked."""
    common = {root / name for name in COMMON if (root / name).is_file()}
    return sorted(common | set(tracked(folder=root / pathlib.Path(part).parts[0])))


def crates(manifest: pathlib.Path, root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Folders of the crates of ours that a manifest depends on."""
    read = tomllib.loads(manifest.read_text())
    shared = tomllib.loads((root / "Cargo.toml").read_text()).get("workspace", {}).get("dependencies", {})
    tables = [read, *read.get("target", {}).values(), read.get("workspace", {})]
    for table in (one.get(kind, {}) for one in tables for kind in DEPENDENCIES):
        for name, wanted in table.items():
            path = wanted.get("path") if isinstance(wanted, dict) else None
            if path:
                yield (manifest.parent / path).resolve()
            elif isinstance(wanted, dict) and wanted.get("workspace") and isinstance(shared.get(name), dict):
                path = shared[name].get("path")
                if path:
                    yield (root / path).resolve()


def targets(manifest: pathlib.Path) -> Iterator[pathlib.Path]:
    """Files of programs and tests that a manifest has elsewhere."""
    read = tomllib.loads(manifest.read_text())
    for kind in ("bin", "test", "bench", "example"):
        for target in read.get(kind, []):
            file = (manifest.parent / target.get("path", "")).resolve()
            if file.is_file():
                yield file


def named(source: pathlib.Path) -> Iterator[pathlib.Path]:
    """Files that a source of Rust names, those that they name included."""
    waiting, seen = [source], set()
    while waiting:
        file = waiting.pop()
        for path in NAMED.findall(file.read_text()):
            other = (file.parent / path).resolve()
            if other.is_file() and other not in seen:
                seen.add(other)
                yield other
                if other.suffix == ".rs":
                    waiting.append(other)


def digest(part: str, of: Inputs = inputs, root: pathlib.Path = ROOT) -> str:
    """Of all inputs, by their names and what they hold."""
    whole = hashlib.sha256()
    for file in of(part, root):
        content = file.read_bytes()
        whole.update(f"{file.relative_to(root)}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


class Checked:
    """What was checked, by part."""

    def __init__(self, file: pathlib.Path = LIST, root: pathlib.Path = ROOT) -> None:
        self.file, self.root = file, root

    def all(self) -> dict[str, str]:
        try:
            return tomllib.loads(self.file.read_text())
        except (FileNotFoundError, tomllib.TOMLDecodeError):
            return {}

    def has(self, part: str, of: Inputs = inputs) -> bool:
        """Whether a part is as it was when it was checked."""
        return self.all().get(part) == digest(part, of, self.root)

    def add(self, part: str, before: str, of: Inputs = inputs) -> None:
        """A part was checked, which had this digest before."""
        if before != digest(part, of, self.root):
            return  # changed meanwhile: nobody knows which of both was seen
        lines = sorted((self.all() | {part: before}).items())
        text = HEAD + "".join(f'"{name}" = "{value}"\n' for name, value in lines)
        self.file.write_text(text)
