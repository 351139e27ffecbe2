#!/usr/bin/env python3
"""Runs notebooks, and compares what their cells print with what is stored in them; `--write` stores it.

    .ci/notebook.py [--write] NOTEBOOK…
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient


def said(cell):
    """What a cell has printed and returned, as text."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", []))


def main():
    write = "--write" in sys.argv
    wrong, cells = [], 0
    for path in map(pathlib.Path, (argument for argument in sys.argv[1:] if not argument.startswith("-"))):
        stored = nbformat.read(path, as_version=4)
        fresh = nbformat.read(path, as_version=4)
        NotebookClient(fresh, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
        for number, (was, now) in enumerate(zip(stored.cells, fresh.cells)):
            if was.cell_type == "code":
                cells += 1
                if said(was) != said(now):
                    wrong.append(f"{path}: cell {number} prints something else:\n{said(now)}")
        if write:
            for cell in fresh.cells:
                cell.metadata = {}
            fresh.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
            nbformat.write(fresh, path)
            wrong = []
    print(f"{cells} cells")
    if wrong or cells == 0:
        raise SystemExit("\n".join(wrong) or "no cells")


main()
