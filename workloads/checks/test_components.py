"""The suite of components: each row is whole, frames are filled, and prices are of samples alone."""

from __future__ import annotations

import pathlib
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "components")]

import build  # noqa: E402
import components  # noqa: E402
import prices  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402


def row(cell: str, run: int, **more) -> dict:
    return {"record": "sample", "cell": cell, "phases": {"run": {"wall_ns": run}}} | more


class Rows(unittest.TestCase):
    def setUp(self):
        self.workloads = suites.load("components").workloads

    def test_each_has_a_reason_and_a_source_or_a_call(self):
        for workload in self.workloads:
            with self.subTest(workload.name):
                self.assertTrue(workload.why and workload.category and workload.table["stdout"])
                source = components.FOLDER / f"{workload.table.get('program', workload.name)}.c"
                self.assertNotEqual("call" in workload.table, source.is_file())

    def test_frames_are_filled(self):
        for workload in (one for one in self.workloads if "call" in one.table):
            for frame in ("call.wat", "call.core.wat"):
                with self.subTest(workload.name, frame=frame):
                    text = components.filled((components.FOLDER / frame).read_text(),
                                             workload.table["call"] | {"line": workload.table["stdout"]})
                    code = [line for line in text.splitlines() if not line.startswith(";;")]
                    self.assertNotRegex("\n".join(code), r"@[a-z]+@")
                    self.assertEqual(text.count("("), text.count(")"))

    def test_nobody_builds_it_without_being_asked(self):
        self.assertNotIn("components", build.parse_arguments([]).suite)

    def test_without_jco_it_says_so(self):
        with mock.patch.object(components, "JCO", pathlib.Path("/nowhere")):
            with self.assertRaisesRegex(toolchain.ToolError, "install.py jco"):
                components.install()


class Prices(unittest.TestCase):
    def test_rounds_of_a_cell_are_together_and_controls_are_not(self):
        cell = "node/guard/speed:turbofan/components:u32/wasm-component//t1"
        found = prices.collected([
            row(cell, 3), row(cell, 5), row(f"{cell}/control", 7), {"record": "failure", "cell": cell},
            {"record": "process", "cell": cell, "phases": {"compile": {"wall_ns": 9}}, "metrics": {"translate_ns": 8}}])
        self.assertEqual({key: dict(value) for key, value in found.items()},
                         {("node", "u32", "wasm-component"): {"run": [3, 5], "compile": [9], "translate": [8]}})

    def test_a_price_has_its_spread_and_what_was_not_measured_none(self):
        self.assertEqual(prices.price([2000.0, 1.5, 3e6]), "2 µs (1.5 ns to 3 ms)")
        self.assertEqual(prices.price([]), "–")


if __name__ == "__main__":
    unittest.main()
