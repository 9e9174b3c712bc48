"""Every variant of every workload with sizes prints the recorded answer, natively and under Node."""

from __future__ import annotations

import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402
import wasm64  # noqa: E402
import widths  # noqa: E402

SIZES = ["mini", "small"]
TIMEOUT_S = 60


class Answers(unittest.TestCase):
    def test_every_workload_has_answers_up_to_large(self):
        for suite in build.SIZED:
            for workload in suites.load(suite).workloads:
                self.assertLessEqual(set(suites.SIZES[:4]), set(workload.answers), f"{suite}: {workload.name}")

    def test_native(self):
        self.check("polybench", ["native", "native-tuned"])
        self.check("pointers", ["native"])

    @unittest.skipIf(shutil.which("gcc") is None, "SKIPPED: gcc is not installed")
    def test_native_by_gcc(self):
        self.check("polybench", ["native-gcc"])

    @unittest.skipIf(runs.node_path() is None, "SKIPPED: node is not installed")
    def test_node(self):
        self.check("polybench", ["wasm", "wasm-simd"])

    @unittest.skipIf(runs.node_path() is None, "SKIPPED: node is not installed")
    @unittest.skipIf(wasm64.missing(), f"SKIPPED: {wasm64.missing()}")
    def test_32_bits(self):
        self.check_width("wasm32")

    @unittest.skipIf(runs.lacks_64_bit(), f"SKIPPED: {runs.lacks_64_bit()}")
    @unittest.skipIf(wasm64.missing(), f"SKIPPED: {wasm64.missing()}")
    def test_64_bits(self):
        self.check_width("wasm64")

    def check_width(self, variant: str) -> None:
        for suite in build.SIZED:
            self.check(suite, [variant])

    def check(self, suite: str, variants: list[str]) -> None:
        expected = {workload.name: workload.answers for workload in suites.load(suite).workloads}
        self.assertEqual(build.main(["--suite", suite, "--variant", ",".join(variants), "--size", ",".join(SIZES)]), 0)
        for job in build.sized_jobs(suite, variants, SIZES, None):
            with self.subTest(job.label):
                size = job.output.parent.name
                self.assertEqual(runs.run(job.output, TIMEOUT_S).answer, expected[job.output.stem][size])


@unittest.skipIf(wasm64.missing(), f"SKIPPED: {wasm64.missing()}")
class Widths(unittest.TestCase):
    def test_only_the_target_differs(self):
        jobs = [build.sized_jobs("pointers", [variant], ["mini"], ["graph"])[0] for variant in widths.BITS]
        recipes = [[part for part in job.recipe() if isinstance(part, list)][0][:-1] for job in jobs]
        self.assertEqual(recipes[0], recipes[1])
        features = [wasm64.target(bits)[1:] for bits in widths.BITS.values()]
        self.assertEqual(features[0], features[1])

    def test_no_build_has_vectors(self):
        # wasm-ld lists the features that were used, and leaves the section in.
        for variant in widths.BITS:
            self.assertEqual(build.main(["--variant", variant, "--size", "mini", "--kernel", "gemm"]), 0)
            module = build.polybench_jobs([variant], ["mini"], ["gemm"])[0].output.read_bytes()
            self.assertTrue(b"bulk-memory" in module, variant)
            self.assertFalse(b"simd128" in module, variant)


class SimdIsReal(unittest.TestCase):
    def test_the_two_wasm_variants_differ(self):
        variants = ["wasm", "wasm-simd"]
        self.assertEqual(build.main(["--variant", ",".join(variants), "--size", "mini", "--kernel", "gemm"]), 0)
        plain, simd = (job.output.read_bytes() for job in build.polybench_jobs(variants, ["mini"], ["gemm"]))
        self.assertNotEqual(plain, simd)
        self.assertIn(b"kernel_gemm", simd, "the name section is kept")
        self.assertLess(len(simd), 20_000, "debug sections are dropped")


if __name__ == "__main__":
    toolchain.zig_path()
    unittest.main()
