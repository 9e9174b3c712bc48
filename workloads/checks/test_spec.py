"""The recipes of SPEC CPU 2017, on a made-up copy in the layout that SPEC documents.

The programs here are ours and do nothing of what SPEC's do: what is tested is how a
copy is found, built, prepared and refused. The real sources were never built here.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import made_up_spec  # noqa: E402
import spec  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

CXX = "SKIPPED: the compiler makes its C++ library first, two CPU minutes; FATHOM_SPEC_CXX=1"


class Recipes(unittest.TestCase):
    def test_every_benchmark_has_each_size_and_a_reason_to_be_there(self):
        data = spec.recipes()
        for recipe in data["benchmark"]:
            self.assertEqual(set(recipe["run"]), set(data["sizes"]), recipe["name"])
            self.assertIn(recipe["language"], spec.STANDARD)
            self.assertTrue(recipe["why"])

    def test_what_is_not_run_is_refused_with_the_reason(self):
        for name, why in [("508.namd_r", "result is a file"), ("500.perlbench_r", "setjmp"), ("505.mcf", "there are 505")]:
            with self.assertRaisesRegex(toolchain.ToolError, why):
                spec.check_names([name])


@unittest.skipUnless(toolchain.zig_version(), "SKIPPED: no compiler; python3 workloads/setup.py")
class Copies(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "copy"
        made_up_spec.write(self.root)
        self.build = pathlib.Path(scratch.name) / "build"

    def run_it(self, *words: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = spec.main([str(self.root), "--into", str(self.build), *words])
        return code, out.getvalue()

    def suite(self, size: str) -> dict:
        return suites.tomllib.loads((self.build / size / "suite.toml").read_text())

    def left_out(self, size: str) -> dict[str, str]:
        return {one["name"]: one["why"] for one in self.suite(size)["absent"]}

    def test_what_can_be_built_is_and_the_rest_is_named(self):
        code, _ = self.run_it("--size", "train", "--benchmark", "505.mcf_r,519.lbm_r,544.nab_r,557.xz_r")
        self.assertEqual(code, 0)
        suite = self.suite("train")
        names = [one["name"] for one in suite["workload"]]
        self.assertEqual(names, ["505.mcf_r", "519.lbm_r", "544.nab_r.1", "544.nab_r.2"])
        self.assertEqual(suite["workload"][2]["program"], "544.nab_r")
        self.assertEqual(suite["workload"][1]["output"], {"file": "expected/519.lbm_r/lbm.out", "absolute": 1e-7})
        left = self.left_out("train")
        self.assertRegex(left["557.xz_r"], "not in .*/benchspec/CPU")
        self.assertIn("525.lbm_r", left["525.x264_r"])
        for variant, suffix in (("wasm", ".wasm"), ("native", "")):
            self.assertTrue((self.build / "train" / "build" / variant / f"519.lbm_r{suffix}").is_file())
        # What all sizes share and what is of this one.
        self.assertEqual(sorted(path.name for path in (self.build / "train" / "run" / "519.lbm_r").iterdir()),
                         ["100_100_130_cf_b.of", "shared.txt"])

    @unittest.skipUnless(os.environ.get("FATHOM_SPEC_CXX"), CXX)
    def test_a_program_in_cxx_is_built(self):
        self.assertEqual(self.run_it("--size", "test", "--benchmark", "531.deepsjeng_r")[0], 0)
        self.assertEqual([one["name"] for one in self.suite("test")["workload"]], ["531.deepsjeng_r"])

    def test_a_program_that_does_not_compile_is_left_out_with_the_compilers_line(self):
        broken = self.root / "benchspec" / "CPU" / "519.lbm_r" / "src" / "lbm.c"
        broken.write_text("int lbm(void) { return nonsense; }\n")
        code, printed = self.run_it("--size", "test", "--benchmark", "505.mcf_r,519.lbm_r")
        self.assertEqual(code, 0)
        why = self.left_out("test")["519.lbm_r"]
        self.assertRegex(why, r"519\.lbm_r \(wasm\): .*src/lbm\.c:1:.*nonsense")
        self.assertIn(f"left out: 519.lbm_r: {why}", printed)
        self.assertEqual([one["name"] for one in self.suite("test")["workload"]], ["505.mcf_r"])

    def test_what_is_missing_is_named(self):
        home = self.root / "benchspec" / "CPU"
        (home / "505.mcf_r" / "data" / "train" / "output" / "inp.out").unlink()
        shutil.rmtree(home / "519.lbm_r" / "data")
        (home / "544.nab_r" / "Spec" / "object.pm").write_text("1;\n")
        shutil.rmtree(home / "531.deepsjeng_r" / "src")
        # Nothing of it is built: the one in C++ has no source.
        with self.assertRaisesRegex(toolchain.ToolError, "none of the benchmarks"):
            self.run_it()
        left = self.left_out("train")
        self.assertRegex(left["505.mcf_r"], "no .*train/output/inp.out")
        self.assertRegex(left["519.lbm_r"], "no .*train/input")
        self.assertRegex(left["544.nab_r"], "object.pm lists no @sources")
        self.assertRegex(left["531.deepsjeng_r"], "no .*/src")

    def test_what_is_no_copy_is_refused(self):
        shutil.rmtree(self.root / "benchspec")
        with self.assertRaisesRegex(toolchain.ToolError, "no installed copy"):
            self.run_it()


if __name__ == "__main__":
    unittest.main()
