"""Every variant of every kernel prints the recorded answer, natively and under Node."""

from __future__ import annotations

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

SIZES = ["mini", "small"]
TIMEOUT_S = 60


class Answers(unittest.TestCase):
    def test_every_workload_has_answers_up_to_large(self):
        for workload in suites.load("polybench").workloads:
            self.assertLessEqual(set(suites.SIZES[:4]), set(workload.answers), workload.name)

    def test_native(self):
        self.check(["native", "native-tuned"])

    @unittest.skipIf(runs.node_path() is None, "node is not installed")
    def test_node(self):
        self.check(["wasm", "wasm-simd"])

    def check(self, variants: list[str]) -> None:
        expected = {workload.name: workload.answers for workload in suites.load("polybench").workloads}
        self.assertEqual(build.main(["--variant", ",".join(variants), "--size", ",".join(SIZES)]), 0)
        for job in build.polybench_jobs(variants, SIZES, None):
            with self.subTest(job.label):
                size = job.output.parent.name
                self.assertEqual(runs.run(job.output, TIMEOUT_S).answer, expected[job.output.stem][size])


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
