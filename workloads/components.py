"""The suite of components: programs as core modules of WASI preview 1 and as components of WASI 0.2.

    components/NAME.c ──zig──▶ build/wasm/NAME.wasm ──jco, adapter──▶ build/wasm-component/NAME.wasm
    components/call.core.wat ──jco──▶ build/wasm/NAME.wasm             a call of each kind, in a module
    components/call.wat ───────jco──▶ build/wasm-component/NAME.wasm   and between two components

A core module becomes a component by wit-component, which is in jco's package, and by the adapter of
the crate: the module is the same, so that what differs is the price of being a component.
"""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import sys
from collections.abc import Callable

import jobs
import suites
import toolchain

sys.path.append(str(toolchain.ROOT / "engines"))
import step  # noqa: E402

FOLDER = suites.HERE / "components"
CORE, COMPONENT = "wasm", "wasm-component"
JCO = toolchain.TOOLS / "engines" / "jco"
NODE = toolchain.TOOLS / "engines" / "node" / "bin" / "node"
ADAPTER = ("wasi-preview1-component-adapter-provider", "50.0.1",
           "08af31e188aec735fabb6370000e3c5954eae92d434a63ad22f665b55b01dda4")
HOME = toolchain.TOOLS / f"adapter-{ADAPTER[1]}"
ADAPTER_FILE = HOME / "artefacts" / "wasi_snapshot_preview1.command.wasm"
# Where the text for the callee is, of the letter a.
TEXT_AT, LETTER = 1024, "a"


@dataclasses.dataclass(frozen=True)
class Job(jobs.Job):
    """What jco makes of one file."""

    label: str
    source: pathlib.Path
    output: pathlib.Path
    call: dict = dataclasses.field(default_factory=dict)
    headers = (FOLDER / "make.mjs", FOLDER / "wasi.wat")

    @property
    def sources(self) -> tuple[pathlib.Path, ...]:
        return (self.source,)

    def recipe(self) -> list:
        return [ADAPTER, (JCO / "record.json").read_text() if JCO.is_dir() else "", self.call]

    def make(self, scratch: pathlib.Path) -> pathlib.Path:
        made = scratch / "made.wasm"
        if self.source.suffix == ".wasm":
            self._jco("new", self.source, ADAPTER_FILE, made)
        else:
            text = scratch / "text.wat"
            text.write_text(filled(self.source.read_text(), self.call))
            self._jco("parse", text, made)
        return made

    def _jco(self, *words) -> None:
        node = str(NODE) if NODE.is_file() else "node"
        toolchain.run([node, str(FOLDER / "make.mjs"), str(JCO), *map(str, words)], self.label)


def filled(text: str, call: dict) -> str:
    """A frame with one kind of call in it."""
    parts = dict.fromkeys(("types", "exports", "seen", "aliases", "imports", "given", "before", "data", "lift", "lower"), "") | call
    if "bytes" in call:
        length = call["bytes"]
        parts |= {
            "type": f'(param "x" {call["item"]})', "core": "(param i32 i32)",
            "callee": "(i32.add (i32.load8_u (local.get 0))"
                      " (i32.load8_u (i32.sub (i32.add (local.get 0) (local.get 1)) (i32.const 1))))",
            "arguments": f"(i32.const {TEXT_AT}) (i32.const {length})",
            "data": f'(data (i32.const {TEXT_AT}) "{LETTER * length}")',
            "lift": '(memory (core memory $callee "memory")) (realloc (core func $callee "realloc"))',
            "lower": '(memory (core memory $memory "memory"))',
            "each": 2 * ord(LETTER),
        }
    parts |= {"sum": parts["calls"] * parts["each"], "length": len(parts["line"])}
    parts["line"] = f'(data (i32.const 65472) "{parts["line"].strip()}\\n")'
    text = text.replace("@wasi@", (FOLDER / "wasi.wat").read_text())
    for name, part in parts.items():
        text = text.replace(f"@{name}@", str(part))
    return text


def install() -> None:
    """Fetches the adapter. Raises ToolError where that, or jco, is not to be had."""
    if not JCO.is_dir():
        raise toolchain.ToolError("the suite components is made by jco: python3 engines/install.py jco")
    if not NODE.is_file() and shutil.which("node") is None:
        raise toolchain.ToolError("the suite components is made by jco, which needs node: python3 engines/install.py node")

    def fill(new: pathlib.Path) -> None:
        try:
            step.Step("components").crate_source(*ADAPTER, new)
        except step.Failed as error:
            raise toolchain.ToolError(f"components: {error}") from None

    toolchain.install(HOME, f"adapter {ADAPTER[1]}", HOME.is_dir, fill)


def stages(names: list[str] | None, compiled: Callable) -> tuple[list[jobs.Job], list[jobs.Job]]:
    """Core modules of C, by `compiled(name, source, output)`; and what is made of these and of texts."""
    install()
    first, then = {}, []
    for workload in suites.load("components").pick(names):
        call = workload.table.get("call")
        name = workload.table.get("program", workload.name)
        core, component = (FOLDER / "build" / variant / f"{name}.wasm" for variant in (CORE, COMPONENT))
        if call is None and name not in first:
            first[name] = compiled(f"{name} ({CORE})", FOLDER / f"{name}.c", core)
            then.append(Job(f"{name} ({COMPONENT})", core, component))
        elif call is not None:
            call = call | {"line": workload.table["stdout"]}
            inside = call | {"arguments": call.get("inside", call.get("arguments"))}
            then += [Job(f"{name} ({CORE})", FOLDER / "call.core.wat", core, inside),
                     Job(f"{name} ({COMPONENT})", FOLDER / "call.wat", component, call)]
    return list(first.values()), then
