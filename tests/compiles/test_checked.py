"""Tests of what says that a workspace is as it was when it was checked."""

import pathlib
import subprocess
import tempfile
import unittest

import checked
import run

# A workspace `out` beside ours, which uses a crate of ours that uses another.
TREE = {
    "Cargo.toml": '[workspace.dependencies]\nlow = { path = "crates/low" }\n',
    "crates/low/Cargo.toml": "[package]\n",
    "crates/low/src/lib.rs": 'const A: &str = include_str!("../../../docs/a.md");\n',
    "crates/mid/Cargo.toml": "[dependencies]\nlow.workspace = true\n",
    "crates/mid/src/lib.rs": "",
    "crates/other/Cargo.toml": "[package]\n",
    "crates/other/src/lib.rs": "",
    "docs/a.md": "text\n",
    "docs/b.md": "text\n",
    "lent/loan.rs": '#[path = "deeper.rs"]\nmod deeper;\n',
    "lent/deeper.rs": "",
    "lent/main.rs": "",
    "out/Cargo.toml": '[target."cfg(unix)".dev-dependencies]\nmid = { path = "../crates/mid" }\n'
                      '[[bin]]\nname = "m"\npath = "../lent/main.rs"\n[workspace]\n',
    "out/Cargo.lock": "",
    "out/src/lib.rs": '#[path = "../../lent/loan.rs"]\nmod loan;\n',
    "out/target/made.rs": "",
    "out/.gitignore": "target\n",
}
NOT_READ = {"crates/other/Cargo.toml", "crates/other/src/lib.rs", "docs/b.md", "out/target/made.rs"}


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in TREE.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)
        self.checked = checked.Checked(self.root / "checked.toml", self.root)

    def digest(self):
        return checked.digest("out", root=self.root)

    def test_inputs_are_all_that_is_read(self):
        read = {str(file.relative_to(self.root)) for file in checked.inputs("out", self.root)}
        self.assertEqual(read, set(TREE) - NOT_READ)

    def test_a_change_of_each_of_them_is_seen(self):
        before = self.digest()
        for name in TREE:
            file = self.root / name
            whole = file.read_text()
            file.write_text(whole + "# \n")
            self.assertEqual(self.digest() == before, name in NOT_READ, name)
            file.write_text(whole)
        self.assertEqual(self.digest(), before)
        (self.root / "crates/low/src/new.rs").write_text("")
        self.assertNotEqual(self.digest(), before)

    def test_what_was_checked_is_known_until_it_changes(self):
        self.assertFalse(self.checked.has("out"))
        self.checked.add("out", self.digest())
        self.checked.add("crates/other", checked.digest("crates/other", root=self.root))
        self.assertTrue(self.checked.has("out"))
        (self.root / "lent/deeper.rs").write_text("fn f() {}\n")
        self.assertFalse(self.checked.has("out"))
        self.assertTrue(self.checked.has("crates/other"))

    def test_what_changed_while_it_was_checked_is_not_known(self):
        before = self.digest()
        (self.root / "docs/a.md").write_text("other\n")
        self.checked.add("out", before)
        self.assertFalse(self.checked.has("out"))

    def test_a_damaged_list_says_nothing(self):
        self.checked.file.write_text('"out" = ')
        self.assertFalse(self.checked.has("out"))

    def test_a_crate_that_is_not_there_is_an_error(self):
        (self.root / "out/Cargo.toml").write_text('[dependencies]\nx = { path = "../gone" }\n')
        with self.assertRaisesRegex(FileNotFoundError, "gone is no folder"):
            self.digest()


class Ours(unittest.TestCase):
    def test_the_engine_is_read_by_what_depends_on_it(self):
        engine = checked.ROOT / "crates/engine/src/lib.rs"
        for part, of in sorted(run.SLOW.items()):
            depends = part in ("sql", "sql/guest", "fuzz", "engines/wasmtime/beside")
            self.assertEqual(engine in of(part), depends, part)
            workspace = "sql" if part.startswith("sql/") else part
            self.assertIn(checked.ROOT / workspace / "Cargo.lock", of(part))

    def test_tests_of_functions_in_sql_are_about_their_workspace(self):
        files = {str(file.relative_to(checked.ROOT)) for file in run.SLOW["sql/tests"]("sql/tests")}
        self.assertLessEqual({"sql/src/main.rs", "sql/tests/piped.rs", "sql/operators/gcd.c"}, files)
        self.assertFalse([file for file in files if file.startswith("crates/")])

    def test_only_what_can_be_checked_is_listed(self):
        self.assertEqual(set(checked.Checked().all()) - set(run.SLOW), set())
        self.assertEqual(set(run.SLOW) - set(run.PARTS), set())


if __name__ == "__main__":
    unittest.main()
