"""Run the notebooks of this folder and keep what they show: part of `make docs`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a fresh run; a cell that fails raises CellExecutionError."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, record_timing=False, resources=place).execute()
    return notebook


def main() -> int:
    """Run all of them in their places."""
    for path in sorted(HERE.glob("*.ipynb")):
        nbformat.write(execute(path), path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
