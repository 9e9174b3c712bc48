"""The installer: nothing half-installed counts, a second call does nothing, and a
failure is one clear line. Recipes here are made up, but for the two that must meet
a registry that does not answer.

    python3 -m unittest discover engines/tests
"""

import contextlib
import importlib.util
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ENGINES = Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("install", ENGINES / "install.py")
install = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(install)

GOOD = """
VERSION = "1.2"
NEEDS = ["sh"]
def install(step, here, into):
    step.say("working")
    (into / "runner").write_text((here / "runner.c").read_text())
"""


class InstallCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        self.installed = root / ".tools" / "engines"
        for name, value in [("ROOT", root), ("ENGINES", root / "engines"), ("INSTALLED", self.installed)]:
            patch = mock.patch.object(install, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.describe("x", GOOD)

    def describe(self, name: str, recipe: str) -> Path:
        folder = install.ENGINES / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "runner.c").write_text("first")
        (folder / "recipe.py").write_text(recipe)
        return folder

    def call(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = install.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def test_installs_once(self):
        status, out, _ = self.call("x")
        self.assertEqual((status, out), (0, "x: working\nx: 1.2 is installed in .tools/engines/x\n"))
        self.assertEqual(self.call("x"), (0, "x: 1.2 is installed\n", ""))
        self.assertEqual(self.call("--list"), (0, "x: installed\n", ""))

    def test_installs_again_when_its_source_changes(self):
        self.call("x")
        (install.ENGINES / "x" / "runner.c").write_text("second")
        self.assertEqual(self.call("--list")[1], "x: not installed\n")
        self.assertEqual(self.call()[0], 0)
        self.assertEqual((self.installed / "x" / "runner").read_text(), "second")

    def test_a_failure_leaves_nothing_new_and_takes_nothing_old(self):
        self.call("x")
        bad = GOOD + "    raise step.Failed('the disk is full')\n"
        self.describe("x", bad)
        status, _, err = self.call("x")
        self.assertEqual((status, err), (1, "x: not installed: the disk is full\n"))
        self.assertEqual((self.installed / "x" / "runner").read_text(), "first")
        self.assertFalse(install.is_installed("x"))

    def test_what_an_interruption_left_behind_is_swept_away(self):
        partial = self.installed / ".x.partial"
        partial.mkdir(parents=True)
        (partial / "runner").write_text("half")
        (partial / "installed").write_text("no fingerprint")
        self.assertEqual(self.call("x")[0], 0)
        self.assertEqual((self.installed / "x" / "runner").read_text(), "first")
        self.assertFalse(partial.exists())

    def test_one_that_fails_does_not_keep_the_others_away(self):
        self.describe("a", "VERSION = '1'\nNEEDS = ['no-such-program']\n")
        status, out, err = self.call()
        self.assertEqual(status, 1)
        self.assertIn("no-such-program", err)
        self.assertIn("x: 1.2 is installed in", out)

    def test_an_unknown_name_is_a_wrong_command_line(self):
        self.assertEqual(self.call("y"), (2, "", "no recipe for y: there is x\n"))

    def wasmtime_without(self, **environment: str) -> str:
        shutil.copytree(ENGINES / "wasmtime", install.ENGINES / "wasmtime")
        with mock.patch.dict(os.environ, environment):
            status, _, err = self.call("wasmtime")
        self.assertEqual((status, err.count("\n")), (1, 1), err)
        self.assertIn("the package registry cannot be reached", err)
        self.assertFalse((self.installed / "wasmtime").exists())
        return err

    def test_says_when_the_python_registry_does_not_answer(self):
        # Port 9 of this machine: nobody listens there.
        err = self.wasmtime_without(PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_NO_CACHE_DIR="1")
        self.assertIn("pip download", err)

    def test_says_when_the_crate_registry_does_not_answer(self):
        home = self.installed.parent / "cargo"
        home.mkdir(parents=True)
        (home / "config.toml").write_text(
            '[source.crates-io]\nreplace-with = "nowhere"\n'
            '[source.nowhere]\nregistry = "sparse+http://127.0.0.1:9/"\n[net]\nretry = 0\n'
        )
        with mock.patch.object(install.Step, "pip_download", _a_wheel):
            err = self.wasmtime_without(CARGO_HOME=str(home))
        self.assertIn("cargo fetch", err)


def _a_wheel(_step, _requirements: Path, into: Path) -> None:
    """A wheel that looks right from outside."""
    library = into / "made" / "wasmtime" / "linux-x86_64" / "_libwasmtime.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"")
    shutil.make_archive(str(into / "wasmtime-0"), "zip", into / "made")
    (into / "wasmtime-0.zip").rename(into / "wasmtime-0.whl")
    shutil.rmtree(into / "made")


if __name__ == "__main__":
    unittest.main()
