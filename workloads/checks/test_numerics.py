"""Every kernel computes what it is named after, and the answer is what harness.h says."""

from __future__ import annotations

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import answer  # noqa: E402
import build  # noqa: E402
import reference  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402

INTEGER = {"floyd-warshall", "nussinov"}
FLOAT = {"deriche"}
# Relative to the array's largest value. durbin's input is ill-conditioned; deriche is in single precision.
TOLERANCE = {"durbin": 1e-9, "deriche": 2e-5}
ANSWER_BITS = {"durbin": 16, "deriche": 12}


def dumped(name: str, scratch: str) -> tuple[list, str]:
    """The live-out words of the kernel at MINI as numbers, and the answer it printed."""
    job = build.polybench_jobs(["native"], ["mini"], [name])[0]
    program = pathlib.Path(scratch, name)
    toolchain.run_zig(["-target", job.variant.target, *job.variant.compile_flags, *toolchain.FLAGS, *job.flags,
                       "-DFATHOM_DUMP", "-o", str(program), str(job.sources[0]), "-lm"], job.label)
    *words, last = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    form = "<q" if name in INTEGER else "<d"
    values = [struct.unpack(form, int(word, 16).to_bytes(8, "little"))[0] for word in words]
    return values, runs.LINE.fullmatch(last)[1]


class Numerics(unittest.TestCase):
    def test_the_reference_covers_the_suite(self):
        self.assertEqual(set(reference.KERNELS), {workload.name for workload in suites.load("polybench").workloads})

    def test_kernels_against_their_definitions(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name, compute in reference.KERNELS.items():
                with self.subTest(kernel=name):
                    values, printed = dumped(name, scratch)
                    expected = compute()
                    self.assert_close(name, values, expected)
                    self.assertEqual(self.recomputed(name, values, expected), printed)

    def assert_close(self, name: str, values: list, arrays: list[list]) -> None:
        expected = [x for array in arrays for x in array]
        self.assertEqual(len(values), len(expected))
        largest = max(abs(x) for x in expected)
        worst = max(abs(x - y) for x, y in zip(values, expected)) / largest
        self.assertLessEqual(worst, 0 if name in INTEGER else TOLERANCE.get(name, 1e-11))

    def recomputed(self, name: str, values: list, arrays: list[list]) -> str:
        result, at = answer.Answer(), 0
        for array in arrays:
            part = values[at:at + len(array)]
            at += len(array)
            if name in INTEGER:
                result.ints(part)
            else:
                result.floats(part, ANSWER_BITS.get(name, 30))
        return result.text()


if __name__ == "__main__":
    unittest.main()
