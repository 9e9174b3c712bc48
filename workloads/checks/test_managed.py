"""The suite of programs whose objects are collected: each row is whole, and what is made of a module is a program."""

from __future__ import annotations

import pathlib
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import managed  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402
import wasm_file  # noqa: E402


class Rows(unittest.TestCase):
    def setUp(self):
        self.suite = suites.load("managed")

    def test_each_has_a_source_and_a_reason(self):
        sources = {path.stem for path in managed.FOLDER.glob("*.kt")}
        self.assertEqual(sources, {workload.name for workload in self.suite.workloads})
        for workload in self.suite.workloads:
            with self.subTest(workload.name):
                self.assertTrue(workload.why and workload.category)
                self.assertTrue(workload.table["stdout"].startswith(f"{workload.name}: "))

    def test_what_is_fetched_is_pinned(self):
        for coordinate, sha256 in managed.ARTIFACTS.items():
            self.assertRegex(coordinate, r"^[a-z.]+:[a-z-]+:[\d.]+(:klib)?$")
            self.assertRegex(sha256, r"^[0-9a-f]{64}$")

    def test_nobody_builds_it_without_being_asked(self):
        self.assertNotIn("managed", build.parse_arguments([]).suite)

    def test_without_java_it_says_so(self):
        with mock.patch.object(managed.shutil, "which", return_value=None):
            with self.assertRaisesRegex(toolchain.ToolError, "needs java"):
                managed.install()

    def test_another_source_is_another_module(self):
        trees, other = (managed.Job(name, managed.FOLDER / f"{name}.kt", managed.FOLDER / name) for name in ("trees", "list"))
        self.assertNotEqual(trees.key(), other.key())


class Exports(unittest.TestCase):
    # (func (export "_initialize")) (func (export "other"))
    MODULE = bytes.fromhex("0061736d0100000001040160000003030200000717020b5f696e697469616c697a650000056f7468657200010a070202000b0200"
                           "0b")

    def test_the_initialiser_is_the_start_and_others_are_dropped(self):
        made = wasm_file.with_exports(self.MODULE, managed.EXPORTS)
        # One export, "_start": function 0.
        self.assertIn(bytes.fromhex("070a01065f73746172740000"), made)
        self.assertNotIn(b"other", made)
        self.assertEqual(made[-9:], self.MODULE[-9:])


if __name__ == "__main__":
    unittest.main()
