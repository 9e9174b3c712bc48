#!/usr/bin/env python3
"""Runs the code cells of a notebook in their order, in its folder, without Jupyter.

    tests/notebook.py NOTEBOOK

What the last line of a cell comes to is printed, as a notebook shows it. The first cell that
raises ends it. What must stay true: nothing but Python is needed, and what the cells import.
"""

import ast
import json
import os
import pathlib
import sys


def cells(notebook: pathlib.Path) -> list[str]:
    """The sources of a notebook's code cells."""
    found = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def run(source: str, name: str, names: dict) -> None:
    """Runs a cell among the names of those before it."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)
        if value is not None:
            print(value, flush=True)


def main() -> None:
    notebook = pathlib.Path(sys.argv[1]).resolve()
    os.chdir(notebook.parent)
    names = {"__name__": "__main__"}
    for number, source in enumerate(cells(notebook), 1):
        run(source, f"{notebook.name}, cell {number}", names)


if __name__ == "__main__":
    main()
