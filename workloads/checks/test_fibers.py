"""Fibers: each implementation keeps what fiber.h promises, and every program gives the answer of
`suite.toml` by each of them and as state machines; what `trips` says is counted again."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fibers
import jobs
import runs
import suites
import toolchain
import wasm_opt

CONTRACT = pathlib.Path(__file__).resolve().parent / "fiber_contract.c"
# V8 as it came with stack switching; the engine `node26` of ../engines.
NODE_SWITCHING = toolchain.TOOLS / "engines" / "node26" / "bin" / "node"
SIZE = "mini"
# A million stacks are not needed to know whether an answer is right.
LIVE_MAX = 10_000


def can_build() -> str | None:
    """Why nothing can be built here."""
    try:
        toolchain.zig_path()
    except toolchain.ToolError as error:
        return str(error)
    return "node is not installed" if runs.node_path() is None else None


def command(program: pathlib.Path, variant: str) -> list[str] | None:
    """How to run a build; None where no engine here can."""
    if variant != "wasm-switch":
        return runs.command_for(program)
    if not NODE_SWITCHING.is_file():
        return None
    flags = ["--no-warnings", "--experimental-wasm-wasmfx", "--input-type=module"]
    return [str(NODE_SWITCHING), *flags, "-e", runs.NODE_RUNNER, str(program)]


def run(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


@unittest.skipIf(can_build(), can_build() or "")
class Fibers(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        wasm_opt.install()
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)

    def made(self, source: pathlib.Path, variant: str) -> pathlib.Path:
        suffix = toolchain.VARIANTS[fibers.VARIANTS[variant].target].suffix
        output = pathlib.Path(self.scratch.name) / variant / (source.stem + suffix)
        jobs.make(fibers.Job(f"{source.stem} ({variant})", (source,), (), variant, output))
        return output

    def test_every_implementation_keeps_the_contract(self) -> None:
        for variant, implementation in fibers.VARIANTS.items():
            if implementation.library is None or fibers.lacks(variant):
                continue
            with self.subTest(variant):
                words = command(self.made(CONTRACT, variant), variant)
                if words is None:
                    self.skipTest("node26 is not installed: fathom engines install node26")
                self.assertEqual(run(words), "kept\n")

    def test_programs_give_the_answers_by_every_implementation(self) -> None:
        variants = [variant for variant in fibers.VARIANTS if fibers.lacks(variant) is None]
        suite = suites.load("fibers")
        self.assertEqual(jobs.run(fibers.stage(variants, None), 2), 0)
        for workload in suite.workloads:
            parameters = workload.table.get("args", [])
            if workload.category == "live" and int(parameters[0]) > LIVE_MAX:
                continue
            words = [*parameters, str(workload.table["passes"][SIZE])]
            for variant in variants:
                name = workload.table.get("program", workload.name)
                suffix = toolchain.VARIANTS[fibers.VARIANTS[variant].target].suffix
                start = command(fibers.FOLDER / "build" / variant / (name + suffix), variant)
                if start is None:
                    continue
                with self.subTest(workload.name, variant=variant):
                    last = run([*start, *words]).splitlines()[-1]
                    self.assertEqual(runs.LINE.fullmatch(last)[1], workload.answers[SIZE])

    @unittest.skipIf(fibers.lacks("native"), "needs native fibers")
    def test_resumptions_are_as_many_as_the_suite_says(self) -> None:
        for workload in suites.load("fibers").workloads:
            if workload.category in ("depth", "live"):
                continue  # their loops alone are timed, and counted
            with self.subTest(workload.name):
                counted = pathlib.Path(self.scratch.name) / workload.name
                toolchain.run_zig(["-target", toolchain.VARIANTS["native"].target, *toolchain.FLAGS, "-DFATHOM_TRIPS",
                                   "-DFATHOM_STATE", "-o", str(counted), str(fibers.FOLDER / "state" / f"{workload.name}.c"),
                                   "-lm"], workload.name)
                said = run([str(counted), str(workload.table["passes"][SIZE])])
                self.assertEqual(int(re.search(r"trips=(\d+)", said)[1]), workload.table["trips"][SIZE])

    def test_a_module_exports_no_more_than_it_must(self) -> None:
        for variant in ("wasm-asyncify", "wasm-switch", "wasm-state"):
            module = self.made(CONTRACT if variant != "wasm-state" else fibers.FOLDER / "state" / "create.c", variant)
            script = "console.log(WebAssembly.Module.exports(new WebAssembly.Module(fs.readFileSync(process.argv[1])))" \
                     ".map(one => one.name).sort().join())"
            node = str(NODE_SWITCHING) if variant == "wasm-switch" else runs.node_path()
            flags = ["--experimental-wasm-wasmfx"] if variant == "wasm-switch" else []
            if not pathlib.Path(node).is_file():
                continue
            with self.subTest(variant):
                self.assertEqual(run([node, *flags, "-e", script, str(module)]).strip(), "_start,memory")


if __name__ == "__main__":
    unittest.main()
