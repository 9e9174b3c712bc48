"""What goes into the book, and what is found in it, without mdBook."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run

PAGES = {
    "README.md": "# A\n[guide](docs/GUIDE.md#b-c) [all](docs/SUMMARY.md) [x](https://example.org/README.md)\n",
    "docs/SUMMARY.md": "# Summary\n\n[A](../README.md)\n- [Guide](GUIDE.md)\n- [Figures](measured/README.md)\n",
    "docs/GUIDE.md": "# Guide\n## B c\n[up](../README.md) [source](../src/main.rs) [figures](measured/README.md)\n",
    "docs/measured/README.md": "# Figures\n![one](one.svg) [guide](../GUIDE.md) [here](#figures)\n",
    "docs/measured/one.svg": "<svg/>",
    "docs/measured/two.svg": "<svg/>",
    "docs/book.toml": "[book]\n",
    "src/main.rs": "//! A.\n",
}


def write(folder: pathlib.Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Staged(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root, self.to = pathlib.Path(place.name, "root"), pathlib.Path(place.name, "to")
        write(self.root, PAGES)
        self.pages = run.stage(self.root, self.to)

    def test_pages_and_what_they_link_to_are_there_and_nothing_else(self):
        self.assertEqual(self.pages, ["README.md", "docs/GUIDE.md", "docs/measured/README.md"])
        files = sorted(path.relative_to(self.to).as_posix() for path in self.to.rglob("*") if path.is_file())
        self.assertEqual(files, ["SUMMARY.md", "book.toml", "docs/GUIDE.md", "docs/measured/index.md",
                                 "docs/measured/one.svg", "index.md", "src/main.rs"])

    def test_links_lead_to_the_same_pages(self):
        self.assertEqual((self.to / "SUMMARY.md").read_text(),
                         "# Summary\n\n[A](index.md)\n- [Guide](docs/GUIDE.md)\n- [Figures](docs/measured/index.md)\n")
        self.assertIn("(docs/GUIDE.md#b-c) [all](index.md) [x](https://example.org/README.md)",
                      (self.to / "index.md").read_text())
        self.assertIn("(../index.md) [source](../src/main.rs) [figures](measured/index.md)",
                      (self.to / "docs/GUIDE.md").read_text())
        self.assertIn("(one.svg) [guide](../GUIDE.md) [here](#figures)", (self.to / "docs/measured/index.md").read_text())


class Dead(unittest.TestCase):
    def test_a_link_that_leads_nowhere_is_found(self):
        with tempfile.TemporaryDirectory() as place:
            write(pathlib.Path(place), {
                "index.html": '<h1 id="a"></h1><a href="b/c.html#d">x</a><a href="b/c.html#e">x</a><a href="#a">x</a>'
                              '<a href="#f">x</a><img src="none.svg"><a href="https://example.org">x</a>',
                "b/c.html": '<h1 id="d"></h1><a href="../index.html">x</a><a href="../README.html">x</a>'})
            self.assertEqual(run.dead_links(pathlib.Path(place)),
                             ["b/c.html: ../README.html", "index.html: b/c.html#e", "index.html: #f", "index.html: none.svg"])


if __name__ == "__main__":
    unittest.main()
