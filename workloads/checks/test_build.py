"""The build is incremental, mends what is damaged and says what is wrong in a line."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import jobs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402
import wasm_file  # noqa: E402

SOURCE = "#include <unistd.h>\nint main(void) { return write(1, TEXT, sizeof TEXT - 1) < 0; }\n"


class Build(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.source = self.folder / "hello.c"
        self.source.write_text(SOURCE)
        self.job = build.Job("hello (native)", (self.source,), (), ('-DTEXT="hello"',), toolchain.VARIANTS["native"],
                             self.folder / "build" / "hello")

    def make(self) -> tuple[int, str]:
        """The number of failures and everything printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            failures = jobs.run([self.job], 1)
        return failures, out.getvalue()

    def test_builds_once(self):
        self.assertFalse(self.job.is_current())
        self.assertEqual(self.make()[0], 0)
        self.assertTrue(os.access(self.job.output, os.X_OK))
        made = self.job.output.stat().st_mtime_ns
        self.assertIn("1 up to date", self.make()[1])
        self.assertEqual(self.job.output.stat().st_mtime_ns, made)

    def test_source_flags_and_damage_are_seen(self):
        self.make()
        self.source.write_text(SOURCE + "/* changed */\n")
        self.assertFalse(self.job.is_current())
        self.make()
        self.assertTrue(self.job.is_current())
        self.assertFalse(dataclasses.replace(self.job, flags=('-DTEXT="bye"',)).is_current())
        self.job.output.write_bytes(b"damaged")
        self.assertFalse(self.job.is_current())
        self.make()
        self.assertTrue(self.job.is_current())

    def test_native_programs_are_linked_in_several_places(self):
        self.make()
        links = list(self.job.links().values())
        self.assertEqual(len(links), build.LINKS)
        programs = [self.job.output, *links]
        self.assertEqual({subprocess.run([path], capture_output=True, text=True, check=True).stdout for path in programs},
                         {"hello"})
        self.assertGreater(len({path.read_bytes() for path in programs}), build.LINKS - 2, "most lie elsewhere")
        links[2].unlink()
        self.assertFalse(self.job.is_current())
        self.make()
        self.assertTrue(links[2].is_file())
        wasm = dataclasses.replace(self.job, variant=toolchain.VARIANTS["wasm"])
        self.assertEqual(wasm.links(), {})

    def test_a_compile_error_is_one_line_and_leaves_nothing(self):
        self.source.write_text("int main(void) { return nonsense; }\n")
        failures, printed = self.make()
        self.assertEqual(failures, 1)
        errors = [line for line in printed.splitlines() if line.startswith("error:")]
        self.assertEqual(len(errors), 1)
        self.assertIn("hello (native)", errors[0])
        self.assertIn("nonsense", errors[0])
        self.assertEqual(list(self.job.output.parent.iterdir()), [])

    def test_unknown_names(self):
        with self.assertRaisesRegex(toolchain.ToolError, "no workload `gem`"):
            build.polybench_jobs(["wasm"], ["mini"], ["gem"])
        with self.assertRaisesRegex(toolchain.ToolError, "no suite `nope`"):
            suites.load("nope")

    def test_without_the_compiler_widths_are_skipped_and_said(self):
        out = io.StringIO()
        with mock.patch("wasm64.missing", return_value="clang-19 is missing"), contextlib.redirect_stdout(out):
            self.assertEqual(build.variants_of("pointers", None), ["native"])
            self.assertEqual(build.variants_of("wasi", ["wasm64", "wasm"]), ["wasm"])
        self.assertEqual(out.getvalue(), "SKIPPED pointers (wasm32, wasm64): clang-19 is missing\n")


    def test_what_a_suite_has_not_is_skipped_and_said(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(build.variants_of("libsodium", ["native-gcc", "native"]), ["native"])
        self.assertIn("SKIPPED libsodium (native-gcc)", out.getvalue())


class WasmFile(unittest.TestCase):
    def test_only_debug_sections_go(self):
        def custom(name: bytes, body: bytes) -> bytes:
            content = bytes([len(name)]) + name + body
            return bytes([0, len(content)]) + content
        types = bytes([1, 1, 0])
        module = wasm_file.MAGIC + types + custom(b".debug_info", b"x" * 20) + custom(b"name", b"y")
        self.assertEqual(wasm_file.without_debug_info(module), wasm_file.MAGIC + types + custom(b"name", b"y"))

    def test_not_a_module(self):
        with self.assertRaises(ValueError):
            wasm_file.without_debug_info(b"\x7fELF")


if __name__ == "__main__":
    unittest.main()
