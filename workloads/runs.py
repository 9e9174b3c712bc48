"""Runs a built workload, natively or under Node's WASI, and reads its answer."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import subprocess

import toolchain

LINE = re.compile(r"fathom: answer=([0-9a-f]{16}) kernel_ns=(\d+)")
MARGIN = re.compile(r"margin_millionths=(\d+)")

# Gives the module stdio, its arguments and the current folder as ".".
NODE_RUNNER = """
import { WASI } from 'node:wasi';
import { readFileSync } from 'node:fs';
const args = process.argv.slice(1);
const wasi = new WASI({ version: 'preview1', args, preopens: { '.': '.' }, env: process.env, returnOnExit: true });
const module = new WebAssembly.Module(readFileSync(args[0]));
process.exitCode = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    answer: str
    kernel_ns: int
    margin_millionths: int | None  # only from programs built with -DFATHOM_MARGIN


# The engine that `engines/install.py` fetches, which knows 64-bit memories.
NODE_NEW = toolchain.TOOLS / "engines" / "node" / "bin" / "node"
# (module (memory i64 1) (table i64 1 funcref)), as the compiler for 64-bit memories makes them.
WASM64 = "0061736d01000000" "040401700401" "0503010401"


def node_path() -> str | None:
    return str(NODE_NEW) if NODE_NEW.is_file() else shutil.which("node")


def lacks_64_bit() -> str | None:
    """Why programs with 64-bit memories cannot be run here; None when they can."""
    node = node_path()
    if node is None:
        return "node is not installed"
    script = f"process.exit(WebAssembly.validate(Buffer.from('{WASM64}', 'hex')) ? 0 : 1)"
    done = subprocess.run([node, "-e", script], capture_output=True, check=False)
    return None if done.returncode == 0 else f"{node} does not know 64-bit memories and tables"


def command_for(program: pathlib.Path) -> list[str]:
    """How to start the program. Raises ToolError when it is Wasm and node is missing."""
    if program.suffix != ".wasm":
        return [str(program)]
    node = node_path()
    if node is None:
        raise toolchain.ToolError("node is needed to run Wasm here")
    return [node, "--no-warnings", "--input-type=module", "-e", NODE_RUNNER, str(program)]


def run(program: pathlib.Path, timeout_s: float | None = None, words: list[str] | None = None) -> Outcome:
    """Runs it with the words as its arguments. Raises ToolError when the program fails, hangs or prints no answer."""
    try:
        done = subprocess.run([*command_for(program), *(words or [])], capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise toolchain.ToolError(f"{program}: no answer within {timeout_s:.0f} s") from None
    except OSError as error:
        raise toolchain.ToolError(f"{program}: {error.strerror}") from None
    lines = done.stdout.splitlines()
    found = LINE.fullmatch(lines[-1]) if lines else None
    if done.returncode != 0 or found is None:
        why = (done.stderr.splitlines() or lines or ["no output"])[-1]
        raise toolchain.ToolError(f"{program}: status {done.returncode}, {why}")
    margin = MARGIN.search(done.stdout)
    return Outcome(found[1], int(found[2]), int(margin[1]) if margin else None)
