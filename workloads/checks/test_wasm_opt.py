"""The variant `wasm-opt`: made of `wasm` where it is asked for, by a tool that is pinned."""

from __future__ import annotations

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import jobs  # noqa: E402
import runs  # noqa: E402
import toolchain  # noqa: E402
import wasm_file  # noqa: E402
import wasm_opt  # noqa: E402

HAS_TOOL = (wasm_opt.HOME / "bin" / "wasm-opt").is_file() and runs.node_path() is not None
GET_IT = "SKIPPED: no binaryen or no node; python3 workloads/build.py --suite wasi --variant wasm-opt"


class WasmOpt(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, module: bytes) -> wasm_opt.Job:
        source = self.folder / "in.wasm"
        source.write_bytes(module)
        return wasm_opt.Job("hello (wasm-opt)", (source,), (), self.folder / "build" / "hello.wasm")

    def make(self, job: wasm_opt.Job) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            failures = jobs.run([job], 1)
        return failures, out.getvalue()

    def test_it_is_made_of_wasm_and_only_where_it_is_asked_for(self):
        self.assertEqual(wasm_opt.sources_of(["wasm", "wasm-opt", "native"]), ["wasm", "native"])
        for suite in build.SUITES:
            self.assertNotIn(wasm_opt.NAME, build.VARIANTS.get(suite, toolchain.DEFAULT_VARIANTS))
        plain = build.polybench_jobs(["wasm", "native"], ["mini"], ["gemm"])
        made = wasm_opt.jobs_after(plain, build.suites.HERE / "polybench" / "build")
        self.assertEqual([job.label for job in made], ["gemm (wasm-opt, mini)"])
        self.assertEqual(made[0].sources, (plain[0].output,))
        self.assertEqual(made[0].output.parts[-4:], ("build", "wasm-opt", "mini", "gemm.wasm"))

    def test_what_is_not_the_pinned_release_is_refused(self):
        with mock.patch.object(wasm_opt, "HOME", self.folder / "binaryen"), \
                mock.patch.object(toolchain, "TOOLS", self.folder), \
                mock.patch.object(wasm_opt.step.Step, "npm_package", side_effect=wasm_opt.step.Failed("changed")), \
                contextlib.redirect_stdout(io.StringIO()), \
                self.assertRaisesRegex(toolchain.ToolError, "binaryen 132.0.0: changed"):
            wasm_opt.install()
        self.assertFalse((self.folder / "binaryen").exists())

    @unittest.skipUnless(HAS_TOOL, GET_IT)
    def test_a_module_comes_out_and_nothing_else_counts_as_one(self):
        failures, printed = self.make(self.job(wasm_file.MAGIC))
        self.assertEqual((failures, printed.count("error:")), (0, 0), printed)
        failures, printed = self.make(self.job(wasm_file.MAGIC + b"\x01\x05\x01"))
        errors = [line for line in printed.splitlines() if line.startswith("error:")]
        self.assertEqual((failures, len(errors)), (1, 1), printed)
        self.assertIn("hello (wasm-opt): ", errors[0])


if __name__ == "__main__":
    unittest.main()
