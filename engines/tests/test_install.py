"""The installer: nothing half-installed counts, a second call does nothing, a
failure is one clear line, an interruption leaves nothing behind and nothing
running. Recipes here are made up, but for the one that must meet registries that
do not answer.

    python3 -m unittest discover engines/tests
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ENGINES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ENGINES))
import install  # noqa: E402
import step as steps  # noqa: E402

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
        for name, value in [
            ("ROOT", root), ("ENGINES", root / "engines"), ("INSTALLED", self.installed), ("DEFAULT", ("x", "gone")),
        ]:
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
        again = "x: 1.2 is installed\nnothing to do: everything asked for is installed\n"
        self.assertEqual(self.call("x"), (0, again, ""))
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
        status, out, err = self.call("all")
        self.assertEqual(status, 1)
        self.assertIn("no-such-program", err)
        self.assertIn("x: 1.2 is installed in", out)
        self.assertRegex(out, r"(?m)^a .* not installed$")
        self.assertRegex(out, r"(?m)^x +1\.2 +\d+\.\d s +\d+\.\d MB +installed$")

    def test_without_names_the_quick_ones_are_meant(self):
        self.describe("slow", GOOD)
        self.assertEqual(self.call()[0], 0)
        self.assertEqual([s["name"] for s in self.states() if s["installed"]], ["x"])

    def states(self) -> list[dict]:
        return json.loads(self.call("--list", "--json")[1])

    def test_tells_programs_what_there_is(self):
        self.assertEqual(self.states(), [
            {"name": "x", "version": "1.2", "installed": False, "outdated": False, "seconds": None, "bytes": None},
        ])
        self.call("x")
        (state,) = self.states()
        self.assertTrue(state["installed"] and not state["outdated"])
        self.assertGreater(state["bytes"], 0)
        self.assertGreaterEqual(state["seconds"], 0)
        (install.ENGINES / "x" / "runner.c").write_text("second")
        (state,) = self.states()
        self.assertTrue(state["outdated"] and not state["installed"])

    def test_a_recipe_that_is_wrong_does_not_hide_the_others(self):
        self.describe("a", "VERSION = ")
        self.assertEqual([s["name"] for s in self.states()], ["a", "x"])
        self.assertIn("recipe cannot be read", self.states()[0]["error"])
        status, _, err = self.call("all")
        self.assertEqual((status, err.count("\n")), (1, 1), err)

    def test_sources_of_another_folder_count_too(self):
        self.describe("x", GOOD + 'USES = ["common"]\n')
        common = install.ENGINES / "common"
        common.mkdir()
        (common / "json.c").write_text("first")
        self.call("x")
        self.assertTrue(install.is_installed("x"))
        (common / "json.c").write_text("second")
        self.assertFalse(install.is_installed("x"))

    def test_removes(self):
        self.call("x")
        shared, kept = self.installed / ".java25", self.installed / ".y.kept"
        shared.mkdir()
        kept.mkdir()
        self.assertEqual(self.call("--remove", "x"), (0, "x: removed\n", ""))
        self.assertFalse(shared.exists(), "nobody is left who shares it")
        self.assertTrue(kept.exists(), "another engine's installation goes on with it")
        self.assertFalse((self.installed / "x").exists())
        self.assertEqual(self.call("--remove", "all"), (0, "x: was not installed\n", ""))
        self.assertEqual(self.call("--remove")[0], 2)

    def test_keeps_what_takes_long_until_the_engine_is_there(self):
        kept = "    (step.kept() / 'object').write_text('half')\n"
        self.describe("x", GOOD + kept + "    raise step.Failed('no luck')\n")
        self.call("x")
        self.assertEqual((self.installed / ".x.kept" / "object").read_text(), "half")
        # Made from something else: it starts anew.
        self.describe("x", GOOD + "    assert not (step.kept() / 'object').exists()\n")
        self.assertEqual(self.call("x")[0], 0)
        self.assertFalse((self.installed / ".x.kept").exists())

    def test_an_unknown_name_is_a_wrong_command_line(self):
        self.assertEqual(self.call("y"), (2, "", "no recipe for y: there is x\n"))

    def start(self, name: str, recipe: str) -> subprocess.Popen:
        """The installer as a process of its own, installing one made-up engine."""
        self.describe(name, recipe)
        script = (
            "import sys, pathlib\n"
            f"sys.path.insert(0, {str(ENGINES)!r})\nimport install\n"
            f"install.ROOT = pathlib.Path({str(install.ROOT)!r})\n"
            "install.ENGINES = install.ROOT / 'engines'\ninstall.INSTALLED = install.ROOT / '.tools' / 'engines'\n"
            f"sys.exit(install.main([{name!r}]))\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.stdout.close)
        return child

    def test_an_interruption_leaves_nothing_behind_and_nothing_running(self):
        slow = GOOD + "    step.run(['sh', '-c', f'sleep 60 & echo $! > {into}/../pid; wait'], 'sleeping')\n"
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                child = self.start("slow", slow)
                pid = self._number_in(self.installed / "pid")
                self.assertTrue((self.installed / ".slow.partial").exists())
                child.send_signal(number)
                out, err = child.communicate(timeout=20)
                self.assertEqual(child.returncode, 128 + number, out + err)
                self.assertEqual(err, "slow: interrupted: nothing new of it counts as installed\n")
                self.assertFalse((self.installed / ".slow.partial").exists())
                self.assertFalse((self.installed / "slow").exists())
                self._assert_ends(pid)
                (self.installed / "pid").unlink()

    def test_an_interruption_while_a_command_starts_leaves_it_not_running(self):
        # The command runs before the installer knows of it, and interrupts it at once.
        slow = GOOD + "    step.run(['sh', '-c', f'kill -TERM $PPID; sleep 60 & echo $! > {into}/../pid; wait'], 'x')\n"
        for _ in range(5):
            child = self.start("slow", slow)
            out, err = child.communicate(timeout=20)
            self.assertEqual(child.returncode, 128 + signal.SIGTERM, out + err)
            pid = self.installed / "pid"
            if pid.exists() and pid.read_text().strip():
                self._assert_ends(int(pid.read_text()))
                pid.unlink()

    def _number_in(self, file: Path) -> int:
        for _ in range(200):
            if file.exists() and file.read_text().strip():
                return int(file.read_text())
            time.sleep(0.05)
        self.fail(f"{file.name} was not written")

    def _assert_ends(self, pid: int) -> None:
        for _ in range(100):
            stat = Path(f"/proc/{pid}/stat")
            if not stat.exists() or stat.read_text().split()[2] == "Z":
                return
            time.sleep(0.05)
        self.fail(f"process {pid} still runs")

    def test_others_are_installed_while_one_takes_long(self):
        slow = GOOD + "    step.run(['sh', '-c', f'echo $$ > {into}/../pid; sleep 60'], 'sleeping')\n"
        child = self.start("slow", slow)
        self._number_in(self.installed / "pid")
        self.assertEqual(self.call("x")[0], 0)
        second = self.start("slow", slow)
        self.assertEqual(second.stdout.readline(), "slow: waiting for another installation of it\n")
        for waiting in (second, child):
            waiting.send_signal(signal.SIGTERM)
            waiting.communicate(timeout=20)

    def test_says_that_a_long_command_still_runs(self):
        out = io.StringIO()
        with mock.patch.object(steps, "PROGRESS_S", 0.1), contextlib.redirect_stdout(out):
            steps.Step("x").run(["sh", "-c", "echo at file 3 >&2; sleep 0.5"], "cc")
        self.assertRegex(out.getvalue().splitlines()[0], r"^x: cc, \d+ s so far: at file 3$")

    def test_a_download_that_is_cut_is_refused(self):
        folder = self.installed
        folder.mkdir(parents=True)
        (folder / "x.tgz").write_bytes(b"\x1f\x8b\x08\0half")
        with self.assertRaisesRegex(steps.Failed, "npm pack x: the sha256 of what came is .* cut short"):
            steps.check_file(folder / "x.tgz", "sha256", "00" * 32, "npm pack x")
        with self.assertRaisesRegex(steps.Failed, "cannot unpack x.tgz"):
            steps.unpack(folder / "x.tgz", folder / "x", "npm pack x")

    # A recipe for each registry, and the settings with which nobody answers.
    NOBODY = {
        "npm": ("step.npm_package('wabt', '1.0.39', 'sha512-AA==', into / 'x')", {
            "npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0", "npm_config_cache": "{}/npm",
        }),
        "cargo": ("step.crate_source('wasm3-sys', '0.5.0', '00', into / 'x')", {
            "CARGO_HOME": "{}/cargo", "CARGO_NET_RETRY": "0", "CARGO_HTTP_PROXY": "http://127.0.0.1:9",
        }),
        "mvn": ("step.maven_artifacts({'a:b:1': '00'}, into / 'x')", {
            "MAVEN_OPTS": "-Dmaven.repo.local={}/m2 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9",
        }),
    }

    def test_says_when_a_registry_does_not_answer(self):
        for program, (call, settings) in self.NOBODY.items():
            with self.subTest(program):
                if shutil.which(program) is None:
                    self.skipTest(f"{program} is not on PATH")
                self.describe("x", f"VERSION = '1'\nNEEDS = []\ndef install(step, here, into):\n    {call}\n")
                settings = {name: value.replace("{}", str(self.installed.parent)) for name, value in settings.items()}
                with mock.patch.dict(os.environ, settings):
                    status, _, err = self.call("x")
                self.assertEqual((status, err.count("\n")), (1, 1), err)
                self.assertIn("cannot be reached", err)
                self.assertEqual([f.name for f in self.installed.glob("*x*") if f.suffix == ".partial" or f.name == "x"], [])

    def test_says_that_a_debian_package_is_not_to_be_had(self):
        import debian

        self.describe("x", "VERSION = '1'\nNEEDS = []\ndef install(step, here, into):\n"
                           "    step.debian_packages({'wabt': '1'}, into / 'x')\n")
        with mock.patch.object(debian, "_own_sources", side_effect=LookupError):
            self.assertIn("no Debian package source", self.call("x")[2])
        if shutil.which("apt-get") is None or not debian.KEYRING.is_file():
            self.skipTest("this is not a Debian")
        with mock.patch.object(debian, "_own_sources", return_value=("http://127.0.0.1:9/debian", "bookworm")):
            err = self.call("x")[2]
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("cannot be reached", err)

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
