"""Installed is what is whole: once, and nothing is left of what failed."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import toolchain


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name, "tools", "thing")
        self.times = 0

    def install(self, version: str, fails: bool = False) -> None:
        def fill(folder: pathlib.Path) -> None:
            self.times += 1
            folder.mkdir()
            (folder / "version").write_text(version)
            if fails:
                raise toolchain.ToolError("the download was cut")

        def is_there() -> bool:
            return self.version() == version

        with contextlib.redirect_stdout(io.StringIO()):
            toolchain.install(self.home, f"thing {version}", is_there, fill)

    def version(self) -> str | None:
        stamp = self.home / "version"
        return stamp.read_text() if stamp.is_file() else None

    def test_it_is_made_once_a_version(self):
        for version in ("1", "1", "2"):
            self.install(version)
            self.assertEqual(self.version(), version)
        self.assertEqual(self.times, 2)

    def test_what_was_there_stays_where_the_next_fails(self):
        self.install("1")
        with self.assertRaisesRegex(toolchain.ToolError, "cut"):
            self.install("2", fails=True)
        self.assertEqual(self.version(), "1")
        left = sorted(path.name for path in self.home.parent.iterdir())
        self.assertEqual(left, ["thing", "thing.lock"])


if __name__ == "__main__":
    unittest.main()
