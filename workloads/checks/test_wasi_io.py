"""The programs of the wasi-io suite run right, natively and under Node, and clean up."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

VARIANTS = ["wasm", "native"] if runs.node_path() else ["native"]
TIMEOUT_S = 60


class WasiIo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if build.main(["--suite", "wasi-io", "--variant", ",".join(VARIANTS)]) != 0:
            raise AssertionError("the programs do not build")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)

    def test_each_run_answers_and_leaves_nothing(self):
        for workload in suites.load("wasi-io").workloads:
            table = workload.table
            words = [*table["args"], str(table["passes"]["mini"])]
            for variant in VARIANTS:
                with self.subTest(workload.name, variant=variant):
                    name = table.get("program", workload.name) + (".wasm" if variant == "wasm" else "")
                    outcome = runs.run(HERE.parent / "wasi-io" / "build" / variant / name, TIMEOUT_S, words)
                    self.assertEqual(outcome.answer, table["answer"])
                    self.assertEqual(os.listdir("."), [])

    def test_an_argument_that_is_no_number_is_refused(self):
        program = HERE.parent / "wasi-io" / "build" / "native" / "fwrites"
        for word in ("", "x", "-1", "6x"):
            with self.assertRaises(toolchain.ToolError):
                runs.run(program, TIMEOUT_S, [word])


if __name__ == "__main__":
    unittest.main()
