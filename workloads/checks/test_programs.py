"""The programs of the wasi and large suites do what they say, natively and under Node."""

from __future__ import annotations

import hashlib
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import runs  # noqa: E402
import suites  # noqa: E402

VARIANTS = ["wasm", "native"] if runs.node_path() else ["native"]
TIMEOUT_S = 60


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if build.main(["--suite", "wasi", "--variant", ",".join(VARIANTS)]) != 0:
            raise AssertionError("the programs do not build")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_all(self, name: str, args: list[str], stdin: bytes = b"", status: int = 0) -> bytes:
        """Runs every variant in the scratch folder; all must agree on status and output."""
        outputs = set()
        for variant in VARIANTS:
            program = HERE.parent / "wasi" / "build" / variant / (name + (".wasm" if variant == "wasm" else ""))
            done = subprocess.run(runs.command_for(program) + args, input=stdin, capture_output=True,
                                  cwd=self.folder, timeout=TIMEOUT_S, check=False, env={"A": "1"})
            self.assertEqual(done.returncode, status, (variant, done.stderr))
            outputs.add(done.stdout)
        self.assertEqual(len(outputs), 1, outputs)
        return outputs.pop()

    def some_text(self) -> bytes:
        numbers = random.Random(7)
        words = ["fathom", "lead", "line", "deep", "mark", "sounding", "\tof", "water "]
        lines = [" ".join(numbers.choices(words, k=numbers.randrange(9))) for _ in range(5000)]
        return "\n".join(lines).encode()

    def test_documented_runs(self):
        for workload in suites.load("wasi").workloads:
            table = workload.table
            if "stdout" not in table and "stdout_pattern" not in table:
                continue
            with self.subTest(workload.name):
                if workload.name == "grow":  # prints a time, so its variants cannot agree
                    continue
                printed = self.run_all(workload.name, table["args"]).decode()
                self.assertEqual(printed, table["stdout"])

    def test_grow_prints_the_suite_line(self):
        table = next(w.table for w in suites.load("wasi").workloads if w.name == "grow")
        for variant in VARIANTS:
            program = HERE.parent / "wasi" / "build" / variant / ("grow.wasm" if variant == "wasm" else "grow")
            done = subprocess.run(runs.command_for(program) + table["args"], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, re.compile(f"^{table['stdout_pattern']}$"))

    def test_wordcount(self):
        text = self.some_text()
        (self.folder / "text").write_bytes(text)
        lines = text.count(b"\n")
        counts = f"{lines} {len(text.split())} {len(text)}"
        self.assertEqual(self.run_all("wordcount", [], text).decode(), counts + "\n")
        self.assertEqual(self.run_all("wordcount", ["text"]).decode(), counts + " text\n")
        self.run_all("wordcount", ["missing"], status=1)

    def test_sha256(self):
        for length in (0, 1, 55, 56, 63, 64, 65, 119, 120, 100_000):
            data = self.some_text()[:length]
            digest = hashlib.sha256(data).hexdigest()
            self.assertEqual(self.run_all("sha256", [], data).decode(), f"{digest}  -\n")

    def test_squeeze(self):
        for data in (b"", b"a", b"abc" * 1000, self.some_text(), random.Random(3).randbytes(70_000)):
            squeezed = self.run_all("squeeze", ["-c"], data)
            self.assertEqual(self.run_all("squeeze", ["-d"], squeezed), data)
        self.assertLess(len(self.run_all("squeeze", ["-c"], self.some_text())), len(self.some_text()) // 2)
        (self.folder / "in").write_bytes(self.some_text())
        self.run_all("squeeze", ["-c", "in", "out"])
        self.run_all("squeeze", ["-d", "out", "back"])
        self.assertEqual((self.folder / "back").read_bytes(), self.some_text())

    def test_squeeze_refuses_damaged_input(self):
        good = self.run_all("squeeze", ["-c"], self.some_text())
        for bad in (b"", b"SQZ1", good[:-1], good[:12] + b"\x80\x00\x00", b"X" + good[1:], good + b"\x00a"):
            self.run_all("squeeze", ["-d"], bad, status=1)
        self.run_all("squeeze", [], status=2)

    def test_sortlines(self):
        text = self.some_text()
        self.assertEqual(self.run_all("sortlines", [], text), b"\n".join(sorted(text.split(b"\n"))) + b"\n")
        self.assertEqual(self.run_all("sortlines", [], b""), b"")

    def test_show(self):
        printed = self.run_all("show", ["--exit", "7", "a b"], b"12345", status=7).decode().splitlines()
        self.assertIn("arg 3 a b", printed)
        self.assertIn("input 5 bytes", printed)
        self.assertIn("clock moves", printed)
        self.assertIn("random varies", printed)

    def test_usage_errors(self):
        for name, args in (("mandelbrot", ["0"]), ("trees", ["99"]), ("interpreter", ["0"]), ("files", []),
                           ("grow", ["4", "8"])):
            with self.subTest(name):
                self.assertEqual(self.run_all(name, args, status=2), b"")


class Large(unittest.TestCase):
    """Only what has been built: fetching and compiling it takes minutes."""

    def test_documented_runs(self):
        ran = 0
        for workload in suites.load("large").workloads:
            for variant in [*VARIANTS, "wasm-simd"] if "wasm" in VARIANTS else VARIANTS:
                suffix = ".wasm" if variant.startswith("wasm") else ""
                program = HERE.parent / "large" / "build" / variant / (workload.name + suffix)
                if not program.is_file():
                    continue
                with self.subTest(f"{workload.name} ({variant})"):
                    command = runs.command_for(program) + workload.table["args"]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
                    self.assertEqual(done.stdout, workload.table["stdout"])
                ran += 1
        if ran == 0:
            self.skipTest("not built: python3 workloads/build.py --suite large")


if __name__ == "__main__":
    unittest.main()
