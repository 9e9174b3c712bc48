"""Reads a suite's `suite.toml`: which workloads, why, with which answers."""

from __future__ import annotations

import dataclasses
import pathlib

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11
    tomllib = None

import toolchain

HERE = pathlib.Path(__file__).resolve().parent
SIZES = ("mini", "small", "medium", "large", "extralarge")


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    why: str
    category: str
    answers: dict[str, str]  # size -> what the program prints; a missing size is unknown
    table: dict  # everything the file says


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    folder: pathlib.Path
    workloads: tuple[Workload, ...]

    def pick(self, names: list[str] | None) -> list[Workload]:
        """The named workloads, all without names. Raises ToolError for an unknown one."""
        if names is None:
            return list(self.workloads)
        known = {workload.name: workload for workload in self.workloads}
        for name in names:
            if name not in known:
                raise toolchain.ToolError(f"suite {self.name} has no workload `{name}`; it has {', '.join(known)}")
        return [known[name] for name in names]


def load(name: str) -> Suite:
    """Raises ToolError when the file is missing or malformed."""
    if tomllib is None:
        raise toolchain.ToolError("Python 3.11 or newer is needed")
    path = HERE / name / "suite.toml"
    try:
        data = tomllib.loads(path.read_text())
        workloads = tuple(
            Workload(entry["name"], entry["why"], entry.get("category", ""), entry.get("answers", {}), entry)
            for entry in data["workload"])
    except FileNotFoundError:
        raise toolchain.ToolError(f"no suite `{name}`: {path} does not exist") from None
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise toolchain.ToolError(f"{path}: {error}") from None
    return Suite(name, HERE / name, workloads)
