"""How walks are read, applied and compared, without compiling anything."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run

PAGE = """# Page

```sh
not of a walk
```

## Walk: add a thing

```toml things/one.toml
name = "one"
```

```diff
--- a/list
+++ b/list
@@ -1,1 +1,2 @@
 zero
+one
```

```console
$ cat things/one.toml list
name = "one"
one
```

## Not one

```sh
nothing
```
"""


class Walks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        (self.folder / "list").write_text("zero\n")

    def run_page(self, page: str) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = run.run(run.walks(page), False, self.folder)
        return status, said.getvalue()

    def test_a_walk_makes_files_and_changes_and_sees_what_is_printed(self):
        self.assertEqual([walk.name for walk in run.walks(PAGE)], ["thing"])
        status, said = self.run_page(PAGE)
        self.assertEqual(status, 0, said)
        self.assertEqual((self.folder / "list").read_text(), "zero\none\n")

    def test_what_is_not_printed_or_does_not_fit_fails(self):
        wrong = [(PAGE.replace('```console\n$ cat things/one.toml list\nname = "one"\none', "```console\n$ cat list\ntwo"),
                  "does not print 'two'"),
                 (PAGE.replace("$ cat things/one.toml list\n", "$ false\n"), "ends with 1"),
                 (PAGE.replace(" zero\n+one", " three\n+one"), "does not fit"),
                 (PAGE.replace("toml things/one.toml", "toml ../one.toml"), "outside the checkout")]
        for page, why in wrong:
            with self.subTest(why=why):
                (self.folder / "list").write_text("zero\n")
                status, said = self.run_page(page)
                self.assertEqual(status, 1)
                self.assertIn(why, said)

    def test_lines_come_in_their_order_and_dots_stand_for_anything(self):
        printed = "one 12 ms\ntwo\nthree\n"
        self.assertIsNone(run.missing(("one … ms", "three"), printed))
        self.assertEqual(run.missing(("three", "two"), printed), "two")
        self.assertEqual(run.missing(("one",), printed), "one")

    def test_blocks_without_an_end_and_output_without_a_command_are_said(self):
        with self.assertRaisesRegex(run.Broken, "without an end"):
            run.walks("## Walk: add x\n```console\n$ true\n")
        with self.assertRaisesRegex(run.Broken, "output without a command"):
            run.commands(run.Block(1, "console", "", "words\n$ true\n"))


class Copies(unittest.TestCase):
    def test_a_copy_is_what_the_checkout_is_and_is_only_written_where_it_differs(self):
        with tempfile.TemporaryDirectory() as name:
            root, to = pathlib.Path(name, "root"), pathlib.Path(name, "to")
            root.mkdir()
            run.subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            (root / "kept").write_text("kept")
            (root / "changed").write_text("as it is")
            run.copy(root, to)
            before = (to / "kept").stat().st_mtime_ns
            (to / "changed").write_text("as a walk left it")
            (to / "added").write_text("by a walk")
            (to / "target").mkdir()
            (to / "target" / "compiled").write_text("stays")
            run.copy(root, to)
            self.assertEqual((to / "changed").read_text(), "as it is")
            self.assertFalse((to / "added").exists())
            self.assertTrue((to / "target" / "compiled").exists())
            self.assertEqual((to / "kept").stat().st_mtime_ns, before)


class OurPage(unittest.TestCase):
    def test_it_has_the_walks_of_what_grows(self):
        names = [walk.name for walk in run.walks((run.ROOT / run.PAGE).read_text())]
        self.assertEqual(names, ["engine", "workload", "strategy", "setting", "experiment"])


if __name__ == "__main__":
    unittest.main()
