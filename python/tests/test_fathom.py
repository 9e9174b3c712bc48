"""The module `fathom` with a program that is built, by default the debug one; FATHOM_PROGRAM names another."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "workloads"), str(ROOT / "tests")]
import fathom
import notebook
import toolchain

EXAMPLES = ROOT / "docs" / "examples"
PANDAS = "2.3.3"
# It, and what it imports.
FRAMES = (f"pandas=={PANDAS}", "numpy==2.2.6", "python-dateutil==2.9.0.post0", "pytz==2025.2", "tzdata==2025.2",
          "six==1.17.0")
# The least that measures anything.
LEAST = {"engines": "fathom", "bounds": "guard", "rounds": 1, "iterations": 2, "no_probe": True, "wait_idle": "0s"}


def setUpModule() -> None:
    os.environ.setdefault("FATHOM_PROGRAM", str(ROOT / "target" / "debug" / "fathom"))
    if not fathom.program().is_file():
        raise unittest.SkipTest(f"no program {fathom.program()}: cargo build")


def frames() -> pathlib.Path:
    """A folder with pandas, installed if need be; the test is skipped where it cannot be."""
    home = ROOT / ".tools" / "pandas"

    def fill(folder: pathlib.Path) -> None:
        for package in FRAMES:
            toolchain.pip_install(package, folder)

    try:
        toolchain.install(home, f"pandas {PANDAS}", lambda: has_pandas(home), fill)
    except toolchain.ToolError as error:
        raise unittest.SkipTest(f"pandas is absent: {error}") from None
    return home


def has_pandas(home: pathlib.Path) -> bool:
    """Whether this Python can use the pandas in a folder."""
    command = [sys.executable, "-c", "import pandas; print(pandas.__version__)"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(home)}, capture_output=True, text=True, check=False)
    return done.stdout.strip() == PANDAS


def eventually(holds) -> bool:
    """Whether something comes to hold within a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def restore_interrupts() -> None:
    """Ctrl-C ends this process again: what a shell runs in the background is started with it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


class Places(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)


class Run(Places):
    def test_a_program_has_its_arguments_its_input_and_its_options(self):
        self.assertEqual(fathom.run(EXAMPLES / "hello.wat"), fathom.Result(0, b"hello, deep water\n", b""))
        self.assertEqual(fathom.run(EXAMPLES / "add.wat", -2, 40, invoke="add").stdout, "38\n")
        both = fathom.run(EXAMPLES / "hello.wat", count="json", elide="off", perf_map=False, cache=None)
        self.assertEqual(json.loads(both.stderr)["host_calls"], 1)

    def test_a_program_reads_what_it_is_given(self):
        echo = self.place / "echo.wat"
        echo.write_text("""(module
          (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (data (i32.const 0) "\\10\\00\\00\\00\\40\\00\\00\\00")
          (func (export "_start")
            (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
            (i32.store (i32.const 4) (i32.load (i32.const 8)))
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))""")
        answer = fathom.run(echo, input=b"deep \xff")
        self.assertEqual((answer.stdout_bytes, answer.stdout), (b"deep \xff", "deep \\xff"))
        self.assertEqual(fathom.run(echo).stdout, "")

    def test_a_module_that_is_missing_or_traps_is_a_result(self):
        missing = fathom.run(self.place / "missing.wasm")
        self.assertEqual(missing.status, 1)
        self.assertRegex(missing.stderr, r"\Afathom: .*missing\.wasm: No such file[^\n]*\n\Z")
        trapped = fathom.run(EXAMPLES / "beyond.wat")
        self.assertEqual(trapped.status, 134)
        self.assertIn("trap: out of bounds memory access", trapped.stderr)

    def test_a_program_that_is_not_there_is_named(self):
        with mock.patch.dict(os.environ, {"FATHOM_PROGRAM": str(self.place / "none")}):
            with self.assertRaisesRegex(FileNotFoundError, "none"):
                fathom.run("hello.wat")
        with mock.patch.dict(os.environ, {"PATH": str(self.place)}), mock.patch.object(fathom, "_script_folders",
                                                                                    lambda: iter([str(self.place)])):
            del os.environ["FATHOM_PROGRAM"]
            with self.assertRaisesRegex(FileNotFoundError, "install the wheel fathom-wasm"):
                fathom.run("hello.wat")


class Bench(Places):
    def test_what_fails_is_said_in_the_commands_own_line(self):
        out = self.place / "results"
        for module, options, line in [
            (self.place / "missing.wasm", {}, "fathom: no module to measure: .*missing.wasm: No such file"),
            (EXAMPLES / "beyond.wat", {}, "fathom: trial run failed: fathom: trap: out of bounds memory access"),
            (EXAMPLES / "hello.wat", {"engines": "nosuch"}, "fathom: no engine `nosuch`"),
            (EXAMPLES / "hello.wat", {"nosuch": 1}, "error: unexpected argument '--nosuch'"),
        ]:
            with self.subTest(line), self.assertRaisesRegex(fathom.FathomError, line) as raised:
                fathom.bench(module, out=out, **{**LEAST, **options})
            self.assertNotIn("\n", str(raised.exception))
            self.assertNotEqual(raised.exception.result.status, 0)

    def test_the_line_is_the_reason_not_what_was_told_on_the_way(self):
        for status, told, line in [
            (1, b"fathom: unpacked into x\nround 1\nrequested but not measured: y\n", "requested but not measured: y"),
            (1, b"fathom: trap: z\n    0: f (function 0)\n", "fathom: trap: z"),
            (2, b"error: no --x\n\nUsage: fathom bench\n", "error: no --x"),
            (-9, b"", "fathom: status -9, and no message"),
        ]:
            self.assertEqual(str(fathom.FathomError(fathom.Result(status, b"", told))), line)

    def test_a_campaign_is_in_its_folder_and_none_is_overwritten(self):
        out = self.place / "results"
        self.assertEqual(fathom.bench(EXAMPLES / "hello.wat", out=out, **LEAST), out)
        report = json.loads(fathom.report(out, json=True))
        self.assertEqual([row["strategy"] for group in report["groups"] for row in group["rows"]], ["guard"])
        with self.assertRaisesRegex(fathom.FathomError, "holds a campaign already"):
            fathom.bench(EXAMPLES / "hello.wat", out=out, **LEAST)

    def test_an_interrupt_ends_the_command_and_keeps_its_samples(self):
        out = self.place / "results"
        script = (f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import fathom\n"
                  f"fathom.bench({str(EXAMPLES / 'sort.wat')!r}, out={str(out)!r}, **{ {**LEAST, 'rounds': 100000}!r})")
        # A session of its own, of which only Python gets the signal, as in a notebook.
        child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True,
                                 preexec_fn=restore_interrupts)
        samples = out / "samples.jsonl"
        self.assertTrue(eventually(lambda: samples.exists() and '"record":"sample"' in samples.read_text()), "no sample")
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", stderr)
        self.assertTrue(eventually(lambda: not group_lives(child.pid)), "a process was left behind")
        self.assertIn("sort.wat", fathom.report(out))


class Frames(Places):
    def test_without_pandas_one_line_says_so(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            for table in (fathom.load, fathom.summary):
                with self.assertRaisesRegex(ImportError, r"\Afathom\.\w+ makes a frame of pandas.*: pip install pandas\Z"):
                    table(self.place)

    def test_frames_have_units_and_numbers(self):
        with mock.patch.object(sys, "path", [*sys.path, str(frames())]):
            out = fathom.bench(EXAMPLES / "hello.wat", out=self.place / "results", **LEAST)
            samples, figures = fathom.load(out), fathom.summary(out)
            self.assertTrue((samples["run_wall_ns"] > 0).all())
            self.assertTrue(samples["kernel_ns"].isna().all())
            self.assertEqual({str(kind) for kind in samples.filter(like="_ns").dtypes}, {"Int64"})
            self.assertEqual(set(samples["backend"]), {""})
            run = figures[figures["figure"] == "run_ns"].iloc[0]
            self.assertEqual((run["unit"], run["rounds"], run["verdict"]), ("ns", 1, "too few rounds"))
            self.assertEqual(str(figures["median"].dtype), "float64")
            with self.assertRaisesRegex(fathom.FathomError, "no samples.jsonl in this folder"):
                fathom.load(self.place)


class Notebook(Places):
    def test_the_example_runs(self):
        for name in ("first.ipynb", "sort.wat"):
            (self.place / name).write_bytes((EXAMPLES / name).read_bytes())
        found = os.pathsep.join([str(ROOT / "python"), str(frames())])
        done = subprocess.run([sys.executable, notebook.__file__, self.place / "first.ipynb"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": found, "TMPDIR": str(self.place)}, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ("On sort.wat, fathom ", "fathom/guard/speed/module:sort.wat", "missing.wasm: No such file"):
            self.assertIn(line, done.stdout)

    def test_the_cell_that_raises_is_named(self):
        book = self.place / "a.ipynb"
        book.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}))
        done = subprocess.run([sys.executable, notebook.__file__, book], capture_output=True, text=True, check=False)
        self.assertIn("a.ipynb, cell 1", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
