"""Tests of what compiles all that is outside the workspace: nothing is left out of it."""

import contextlib
import io
import pathlib
import re
import unittest
import unittest.mock

import run

# Compiled elsewhere in `make test`, or no code of ours: manifests that fetch sources.
FETCHED_ONLY = {"workloads/programs", "workloads/libsodium", "workloads/large", "tests/spec/sources", "engines/wasmtime"}


def said(parts: dict, words: list[str] = ()) -> tuple[int, str]:
    """The status and the lines of a run over other parts."""
    whole, run.PARTS = run.PARTS, parts
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            return run.main(list(words)), shown.getvalue()
    finally:
        run.PARTS = whole


class Parts(unittest.TestCase):
    def test_every_workspace_is_one(self):
        outside = set()
        for manifest in run.tracked("**/Cargo.toml"):
            folder = manifest.parent.relative_to(run.ROOT).as_posix()
            if re.search(r"^\[workspace\]", manifest.read_text(), re.MULTILINE) and folder != ".":
                outside.add(folder)
        self.assertIn("fuzz", outside)
        self.assertEqual(outside - FETCHED_ONLY - set(run.PARTS), set())

    def test_every_runner_is_one(self):
        """A folder of engines/ with sources that must be compiled."""
        folders = set()
        for file in run.tracked(*(f"engines/**/*.{end}" for end in ("rs", "c", "cpp", "go", "java"))):
            parts = file.relative_to(run.ROOT / "engines").parts
            folders.add(f"engines/{parts[0]}")
        # What several share is compiled with each of them.
        shared = {"engines/common-java", "engines/common-js"}
        self.assertIn("engines/wazero", folders)
        self.assertEqual(folders - shared - set(run.PARTS), set())

    def test_make_test_leaves_none_out(self):
        makefile = (run.ROOT / "Makefile").read_text()

        def recipe(target):
            return re.search(rf"^{target}: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]

        self.assertIn("$(BESIDE) >", recipe("test"))
        self.assertIn("wait $$beside || failed=yes", recipe("test"))
        self.assertRegex(makefile, r"(?m)^BESIDE := .* beside$")
        for part in (" tests/compiles/run.py --changed || failed=yes", "walks python-tests", "$$part || failed=yes"):
            self.assertIn(part, recipe("beside"))

    def test_names_are_folders(self):
        for name in set(run.PARTS) - {"python", "javascript", "shell"}:
            self.assertTrue((run.ROOT / name).is_dir(), name)


class Lines(unittest.TestCase):
    def test_each_part_has_one(self):
        def skipped():
            raise run.Skipped("needs the moon")

        status, lines = said({"one": lambda: None, "two": skipped})
        self.assertEqual(status, 0)
        self.assertRegex(lines, r"check: one +0 s\ncheck: two +0 s  SKIPPED: needs the moon\ncheck: all together +0 s\n")

    def test_what_fails_is_named_and_the_rest_is_compiled(self):
        def failing():
            raise run.Failure("cc one.c\none.c:1: error")

        status, lines = said({"one": failing, "two": lambda: None})
        self.assertEqual(status, 1)
        self.assertRegex(lines, r"one +0 s  FAILED\ncc one.c\none.c:1: error\ncheck: two")
        self.assertIn("failed: one", lines)

    def test_what_is_unchanged_is_left_out_where_that_is_asked_for(self):
        done = []

        class Known:
            def has(self, name, of):
                return name == "sql"

            def add(self, name, before, of):
                done.append(f"{name} is known")

        parts = {name: lambda name=name: done.append(name) for name in ("shell", "engines/wasmi", "sql")}
        with unittest.mock.patch.object(run, "Checked", Known):
            status, lines = said(parts, ["--changed"])
            self.assertEqual((status, done), (0, ["shell", "engines/wasmi", "engines/wasmi is known"]))
            self.assertRegex(lines, r"check: sql +\d+ s  unchanged since it was checked\n")
            said(parts, ["sql"])
        self.assertEqual(done[3:], ["sql", "sql is known"])

    def test_one_that_is_unknown(self):
        status, lines = said({"one": lambda: None}, ["two"])
        self.assertEqual((status, lines), (2, "no part two; there are: one\n"))

    def test_a_command_that_fails_is_shown(self):
        with self.assertRaisesRegex(run.Failure, "exit 3"):
            run.run(["sh", "-c", "echo why; exit 3"])


class Sources(unittest.TestCase):
    def test_python_and_shell_that_do_not_parse(self):
        here = pathlib.Path(__file__).resolve().parent
        for name, text, check in [("wrong.py", "def\n", run.python), ("wrong.sh", "#!/bin/sh\nif\n", run.shell)]:
            file = here / name
            file.write_text(text)
            try:
                with self.assertRaisesRegex(run.Failure, name):
                    check()
            finally:
                file.unlink()


if __name__ == "__main__":
    unittest.main()
