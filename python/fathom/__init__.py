"""Fathom from Python: run and measure WebAssembly programs, and have the results as tables.

    run(module, *args, **options)        ─▶ Result: status, stdout, stderr
    bench(module, *args, out=, **options) ─▶ the campaign's folder
    report(folder, **options)            ─▶ text, as the command prints it
    load(folder), summary(folder)        ─▶ pandas frames: every sample, every figure

Each function is one command of the program `fathom`, which the wheel carries; an option is that of
the command with `_` for `-`: `wait_idle="0s"` is `--wait-idle=0s`, `probe_again=True` is
`--probe-again`, a list is an option that is repeated, and `None` and `False` leave it out.

What must stay true: nothing is measured, estimated or rendered here. No child is left behind, and
what the command says of an error is not said again in other words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Iterator, List, Union

if TYPE_CHECKING:
    import pandas

__all__ = ["FathomError", "Result", "bench", "load", "program", "report", "run", "summary"]

Value = Union[str, int, float, "os.PathLike[str]"]
Option = Union[Value, bool, None, Iterable[Value]]
# How long a command has to end its own children once it is told to stop.
STOP_SECONDS = 10
# What pandas is to make of columns: numbers that may be missing, the rest as it stands.
COUNTS = ("threads", "round", "rounds", "thread", "index")
FIGURES = ("median", "low_95", "high_95", "min", "max", "mad", "slow_half",
           "ratio_to_baseline", "ratio_low_95", "ratio_high_95")


@dataclass(frozen=True)
class Result:
    """What a command came to. The status is the command's; of one that a signal ended, minus its number."""

    status: int
    stdout_bytes: bytes
    stderr_bytes: bytes

    @property
    def stdout(self) -> str:
        """What it printed; bytes that are not UTF-8 as `\\xNN`."""
        return self.stdout_bytes.decode(errors="backslashreplace")

    @property
    def stderr(self) -> str:
        """What it printed as errors; bytes that are not UTF-8 as `\\xNN`."""
        return self.stderr_bytes.decode(errors="backslashreplace")


class FathomError(Exception):
    """A command failed: its own line, and with `result` all that it printed."""

    def __init__(self, result: Result) -> None:
        lines = [line for line in result.stderr.splitlines() if line.strip() and not line[0].isspace()]
        lines = lines or [f"fathom: status {result.status}, and no message"]
        # Why a command line is wrong comes before how it should be; any other reason comes last.
        super().__init__(lines[0] if result.status == 2 else lines[-1])
        self.result = result


def program() -> Path:
    """The program `fathom`: that of `FATHOM_PROGRAM`, or of this installation, or in `PATH`."""
    named = os.environ.get("FATHOM_PROGRAM")
    if named:
        return Path(named)
    installed = [Path(folder, "fathom") for folder in _script_folders()]
    found = next((path for path in installed if path.is_file()), None) or shutil.which("fathom")
    if found is None:
        raise FileNotFoundError(f"no program fathom in {installed[0].parent} or in PATH: install the wheel fathom-wasm")
    return Path(found)


def run(module: Value, *args: Value, input: bytes = b"", **options: Option) -> Result:
    """Runs a WASI program to its end: `fathom run`. `input` is what it reads as standard input.

    Whatever comes of it is a result: 134 is the status of a program that trapped, 1 that of a
    module that cannot be run, with a line in `stderr`.
    """
    return _command("run", options, [module, *args], input)


def bench(module: Value, *args: Value, out: Value, **options: Option) -> Path:
    """Measures a program, or a suite of that name, into a folder: `fathom bench`.

    Raises FathomError where the command fails. Where only a part of it could not be measured,
    the folder has the rest.
    """
    _succeeded(_command("bench", {**options, "out": out}, [module, *args]))
    return Path(out)


def report(folder: Value, **options: Option) -> str:
    """The results in a folder, as `fathom report` prints them. Raises FathomError."""
    return _succeeded(_command("report", options, [folder])).stdout


def load(folder: Value) -> pandas.DataFrame:
    """Every sample in a folder, a row each. Raises FathomError, and ImportError without pandas.

    Times are in the columns that end in `_ns`; `fathom report --columns` explains all of them. A cell
    whose id ends in `/control` is one that is measured twice, to know the campaign's noise.
    """
    return _frame("load", folder, samples="csv")


def summary(folder: Value) -> pandas.DataFrame:
    """Every figure of every cell in a folder, a row each, with its interval; the column `unit` has its unit.

    Raises FathomError, and ImportError without pandas.
    """
    return _frame("summary", folder, format="csv")


def _frame(name: str, folder: Value, **options: Option) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"fathom.{name} makes a frame of pandas, which is not here: pip install pandas") from error
    text = report(folder, **options)
    kinds = {column: _kind(column) for column in text.partition("\n")[0].strip().split(",")}
    missing = {column: [""] for column, kind in kinds.items() if kind != "str"}
    return pandas.read_csv(StringIO(text), dtype=kinds, keep_default_na=False, na_values=missing)


def _kind(column: str) -> str:
    if column in COUNTS or column.endswith("_ns"):
        return "Int64"
    return "float64" if column in FIGURES else "str"


def _command(name: str, options: dict[str, Option], operands: list[Value], input: bytes = b"") -> Result:
    """Runs a command to its end; an exception here, such as Ctrl-C, ends it first."""
    words = [str(program()), name, *_options(options), "--", *map(_text, operands)]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        stdout, stderr = child.communicate(input)
    except BaseException:
        _stop(child)
        raise
    return Result(child.returncode, stdout, stderr)


def _succeeded(result: Result) -> Result:
    if result.status != 0:
        raise FathomError(result)
    return result


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def _options(options: dict[str, Option]) -> Iterator[str]:
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in _values(value):
            yield option if each is True else f"{option}={_text(each)}"


def _values(value: Option) -> List[Union[Value, bool]]:
    if value is None or value is False:
        return []
    if isinstance(value, (str, int, float, os.PathLike)):
        return [value]
    return list(value)


def _text(value: Union[Value, bool]) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _script_folders() -> Iterator[str]:
    """Where installers put programs: of this Python, of its user, beside packages in a folder of their own."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", f"{os.name}_user")
    yield str(Path(__file__).resolve().parent.parent / "bin")
    yield str(Path(sys.executable).parent)
