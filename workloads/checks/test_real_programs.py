"""The list of real programs is sound, and what cannot be built says why."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import programs  # noqa: E402
import toolchain  # noqa: E402
import wasm64  # noqa: E402

SUFFIXES = {"c": ".c", "c-threads": ".c", "c++": ".cpp", "rust": ".rs", "go": ".go"}


class List(unittest.TestCase):
    def test_every_entry_is_whole(self):
        tables = programs.load()
        self.assertEqual(len({table["name"] for table in tables}), len(tables))
        for table in tables:
            with self.subTest(table["name"]):
                self.assertTrue(table["why"] and table["version"])
                self.assertLessEqual(set(table["widths"]), {32, 64})
                for name in [table["name"] + SUFFIXES[table.get("language", "c")], *table.get("files", [])]:
                    self.assertTrue((programs.FOLDER / name).is_file(), name)

    def test_braces(self):
        self.assertEqual(programs._expand("a/{b,c}.d"), ["a/b.d", "a/c.d"])
        self.assertEqual(programs._expand("a/*.d"), ["a/*.d"])

    def test_unknown_names(self):
        with self.assertRaisesRegex(toolchain.ToolError, "no program `nope`; there are sqlite,"):
            programs.plan(["nope"])

    def test_what_is_missing_is_said(self):
        out = io.StringIO()
        with mock.patch("shutil.which", return_value=None), contextlib.redirect_stdout(out):
            wanted, listed = programs.plan(["exceptions"])
        self.assertEqual(wanted, [])
        self.assertIn("SKIPPED exceptions (wasm32): c++ is missing (Debian: apt-get install g++)", out.getvalue())
        self.assertEqual(set(listed[0]["variants"]["wasm32"]), {"skipped"})
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(wasm64.missing(), "clang-19 is missing (Debian: apt-get install clang-19)")

    def written(self, *lists: tuple[list[dict], list]) -> list[dict]:
        with tempfile.TemporaryDirectory() as scratch, mock.patch.object(programs, "BUILD", pathlib.Path(scratch)):
            for listed, wanted in lists:
                programs.write_list(listed, wanted)
            return json.loads((programs.BUILD / "built.json").read_text())

    def test_the_list_keeps_what_was_not_asked_for(self):
        zstd, lua = {"name": "zstd", "variants": {}}, {"name": "lua", "variants": {}}
        self.assertEqual(self.written(([zstd, lua], []), ([{**zstd, "version": "new"}], [])),
                         [{**zstd, "version": "new"}, lua])

    def test_a_build_that_failed_is_listed_as_failed(self):
        built, failed = mock.Mock(spec=programs.Build), mock.Mock(spec=programs.Build)
        built.output, failed.output = programs.FOLDER / "build/native/lua", programs.FOLDER / "build/wasm32/lua.wasm"
        built.is_current.return_value, failed.is_current.return_value = True, False
        lua = {"name": "lua", "variants": {"native": {"path": "build/native/lua"},
                                           "wasm32": {"path": "build/wasm32/lua.wasm"}}}
        variants = self.written(([lua], [built, failed]))[0]["variants"]
        self.assertEqual(variants["native"], {"path": "build/native/lua"})
        self.assertEqual(set(variants["wasm32"]), {"failed"})


if __name__ == "__main__":
    unittest.main()
