"""The suite of web applications: each row is whole, and a made-up application is fetched, recorded and checked."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import pathlib
import re
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import build  # noqa: E402
import jobs  # noqa: E402
import suites  # noqa: E402
import toolchain  # noqa: E402
import web  # noqa: E402

# (func (export "add") (param i32 i32) (result i32)), and the host's function that it calls.
MODULE = bytes.fromhex("0061736d01000000010c0260017f017f60027f7f017f020b0103656e7603696e630000030201010707010361646400010a0b01"
                       "0900200020016a10000b")
DRIVER = """import { check, file } from './fixed.mjs';
const { instance } = await WebAssembly.instantiate(file('app/app.wasm'), { env: { inc: (x) => x + STEP } });
check(instance.exports.add(20, 21) === 41 + STEP, 'a sum');
console.log(Date.now(), Math.random(), process.argv.join(' '));
""".replace("STEP", "1")


def packed(folder: pathlib.Path) -> tuple[pathlib.Path, str]:
    """An archive as npm makes it, and its digest."""
    archive = folder / "app-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in (("package/package.json", b'{"name": "app", "version": "1.0.0"}'), ("package/app.wasm", MODULE)):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive, "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()


class Rows(unittest.TestCase):
    def setUp(self):
        self.suite = suites.load("web")

    def test_each_has_a_driver_a_pin_and_a_digest(self):
        self.assertGreaterEqual(len(self.suite.workloads), 16)
        for workload in self.suite.workloads:
            with self.subTest(workload.name):
                job = web.job_of(workload)
                self.assertIn("./fixed.mjs", job.driver.read_text())
                self.assertTrue(job.packages)
                for package in job.packages:
                    self.assertRegex(package.version, r"^\d+\.\d+\.\d+$")
                    algorithm, _, digest = package.digest.partition("-")
                    self.assertEqual((algorithm, len(base64.b64decode(digest, validate=True))), ("sha512", 64))
                    self.assertIn(f"{package.name} ", f"{page()} ")
                self.assertRegex(job.expected, r"^fathom replay: \d+ calls in, \d+ out, answer [0-9a-f]+\n$")
                self.assertTrue(workload.why and workload.category)

    def test_no_driver_is_without_a_row(self):
        drivers = {path.stem for path in web.FOLDER.glob("*.mjs")} - {"fixed"}
        self.assertEqual(drivers, {workload.name for workload in self.suite.workloads})

    def test_packages_are_the_same_wherever_they_are_used(self):
        pins = {}
        for workload in self.suite.workloads:
            for package in web.job_of(workload).packages:
                self.assertEqual(pins.setdefault((package.name, package.version), package.digest), package.digest)

    def test_what_lacks_something_is_named(self):
        workload = suites.Workload("app", "", "", {}, {"stdout": ""})
        with self.assertRaisesRegex(toolchain.ToolError, "app has no 'packages'"):
            web.job_of(workload)

    def test_nobody_builds_it_without_being_asked(self):
        self.assertNotIn("web", build.parse_arguments([]).suite)


def page() -> str:
    return re.sub(r"[|,`]", " ", (toolchain.ROOT / "docs" / "WEB.md").read_text())


class Fetching(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.archive, self.digest = packed(self.folder)
        patch = mock.patch.object(web, "PACKAGES", self.folder / "packages")
        patch.start()
        self.addCleanup(patch.stop)

    def fetched(self, digest: str) -> pathlib.Path:
        def pack(_, command, *rest, **options):
            into = pathlib.Path(command[command.index("--pack-destination") + 1])
            (into / self.archive.name).write_bytes(self.archive.read_bytes())
            return ""

        with mock.patch.object(web.step.Step, "run", pack), mock.patch.object(web.step.Step, "_needs"):
            return web.Package("app", "1.0.0", digest).fetched()

    def test_what_is_pinned_is_unpacked(self):
        self.assertEqual((self.fetched(self.digest) / "app.wasm").read_bytes(), MODULE)

    def test_another_digest_is_refused_and_nothing_stays(self):
        other = "sha512-" + base64.b64encode(bytes(64)).decode()
        with self.assertRaisesRegex(toolchain.ToolError, "cut short or changed"):
            self.fetched(other)
        self.assertFalse(web.Package("app", "1.0.0", other).home().exists())

    def job(self, driver: str, expected: str) -> web.Job:
        package = self.fetched(self.digest)
        self.assertTrue(package.is_dir())
        path = self.folder / "app.mjs"
        path.write_text(driver)
        return web.Job("app (wasm)", path, (web.Package("app", "1.0.0", self.digest),), (), expected,
                       self.folder / "build" / "app.wasm")

    def test_an_application_is_recorded_once_and_checked(self):
        if not web.NODE.is_file():
            self.skipTest("no node: fathom engines install node")
        try:
            web.program()
        except toolchain.ToolError as error:
            self.skipTest(str(error))
        job = self.job(DRIVER, "fathom replay: 1 calls in, 1 out, answer 0\n")
        with self.assertRaisesRegex(toolchain.ToolError, "would print `fathom replay: 1 calls in, 1 out, answer ") as raised:
            jobs.make(job)
        printed = str(raised.exception).partition("would print `")[2].partition("`")[0]
        right = dataclasses.replace(job, expected=printed + "\n")
        jobs.make(right)
        self.assertTrue(right.is_current())
        self.assertFalse(job.is_current())
        job.driver.write_text(DRIVER.replace("=== 41", "=== 40"))
        self.assertFalse(right.is_current())
        with self.assertRaisesRegex(toolchain.ToolError, "app .wasm.: fathom record: "):
            jobs.make(right)


if __name__ == "__main__":
    unittest.main()
