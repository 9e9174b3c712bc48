"""How mutations are read, applied and taken back, without compiling anything."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run


def row(before: str = "a < b", after: str = "a <= b") -> run.Row:
    return run.Row("edge", "the edge is let in", pathlib.Path("f.rs"), before, after, ("-p", "x"))


class Rows(unittest.TestCase):
    def test_every_row_can_be_applied(self):
        for name, path in run.rows().items():
            with self.subTest(row=name):
                read = run.read(path)
                read.mutate((run.ROOT / read.file).read_text())

    def test_what_is_no_row_is_said(self):
        good = {"why": "w", "file": "f", "from": "a", "to": "b", "test": ["t"]}
        cases = [({"why": None}, "has the keys"), ({"test": []}, "empty or of a wrong type"),
                 ({"to": "a"}, "`to` is what `from` is"), ({"why": ""}, "empty or of a wrong type")]
        for change, message in cases:
            with self.subTest(change=change), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "row.toml"
                fields = {key: value for key, value in {**good, **change}.items() if value is not None}
                path.write_text("".join(f"{key} = {value!r}\n" for key, value in fields.items()))
                with self.assertRaisesRegex(run.Broken, message):
                    run.read(path)

    def test_a_selection_that_cargo_refuses_is_said(self):
        all_of_them = ["--workspace", "--test", "spec", "--", "--group", "own"]
        with self.assertRaisesRegex(run.Broken, "fathom-cross has a target spec behind a feature"):
            run.check_selection(all_of_them)
        for good in (["--exclude", "fathom-cross", *all_of_them], ["--workspace", "--test", "fuel"],
                     ["--workspace", "--test", "fuel", "--", "--test", "spec"]):
            run.check_selection(good)

    def test_a_text_that_stands_twice_or_never_is_refused(self):
        for text, times in [("a < b || a < b", 2), ("b > a", 0)]:
            with self.assertRaisesRegex(run.Broken, f"stands {times} times"):
                row().mutate(text)


class Restoring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.file = self.root / "f.rs"
        self.file.write_text("if a < b {}\n")
        self.file.chmod(0o640)

    def test_the_file_is_as_it_was_whatever_happens(self):
        for reason in (ValueError, KeyboardInterrupt, SystemExit):
            with self.assertRaises(reason), run.Mutated(row(), self.root):
                self.assertEqual(self.file.read_text(), "if a <= b {}\n")
                raise reason
            self.assertEqual(self.file.read_text(), "if a < b {}\n")
            self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(list((self.root / "target/mutations").iterdir()), [])

    def test_what_a_killed_run_left_is_made_good(self):
        run.Mutated(row(), self.root).__enter__()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            run.make_good(self.root)
        self.assertEqual(self.file.read_text(), "if a < b {}\n")
        self.assertIn("restoring", said.getvalue())
        self.assertEqual(list((self.root / "target/mutations").iterdir()), [])

    def test_an_edit_made_meanwhile_is_kept(self):
        with contextlib.redirect_stderr(io.StringIO()), run.Mutated(row(), self.root):
            self.file.write_text("if a <= b {} // edited\n")
        self.assertEqual(self.file.read_text(), "if a < b {} // edited\n")

    def test_an_edit_that_hides_the_mutation_is_not_overwritten(self):
        with self.assertRaisesRegex(SystemExit, "changed meanwhile"), run.Mutated(row(), self.root):
            self.file.write_text("if c {}\n")
        self.assertEqual(self.file.read_text(), "if c {}\n")


class Output(unittest.TestCase):
    def test_a_refusal_is_for_the_reason_that_the_row_names(self):
        said = "error[E0308]: mismatched types"
        self.assertIn("mismatched", run.refusal("mismatched types", 101, said))
        with self.assertRaisesRegex(AssertionError, "it compiles"):
            run.refusal("mismatched types", 0, "")
        with self.assertRaisesRegex(run.Broken, "does not say 'private'"):
            run.refusal("private", 101, said)

    def test_no_test_at_all_is_no_pass(self):
        self.assertFalse(run.ran_a_test("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out"))
        self.assertTrue(run.ran_a_test("guard --opt none   10 passed, 0 failed, 2 expected failures"))
        self.assertTrue(run.ran_a_test("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out"))


if __name__ == "__main__":
    unittest.main()
