"""What a path stands for: a file, a folder of files, or a glob."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from corefeval.diagnostics import InputError, UsageError

# Text that belongs to an annotation file beside it, and is read with it.
_COMPANIONS = {".txt": ".ann"}


def files_of(path: str | os.PathLike[str]) -> tuple[list[str], bool]:
    """The files behind a path, and whether the path names several.

    A folder stands for all files below it, a pattern with `*`, `?` or `[` for those that match,
    in the order of their names. Hidden files and the texts of annotation files are left out.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by its path, not by {path!r:.60}")
    text = os.fspath(path)
    if not text:
        raise UsageError("a path is empty: name a file, a folder or a pattern")
    if os.path.isdir(text):
        below = sorted(str(file) for file in Path(text).rglob("*") if file.is_file())
        found = [file for file in below if _is_content(Path(file).relative_to(text), Path(text))]
        if not found:
            raise InputError("there is no file in the folder", file=text, fix="check the path")
        return found, True
    if glob.has_magic(text) and not os.path.exists(text):
        found = sorted(file for file in glob.glob(text, recursive=True) if os.path.isfile(file))
        found = [file for file in found if _is_content(Path(file), Path())]
        if not found:
            raise InputError("no file matches the pattern", file=text, fix="check the pattern")
        return found, True
    return [text], False


def _is_content(file: Path, folder: Path) -> bool:
    if any(part.startswith(".") for part in file.parts if part not in (".", "..")):
        return False
    partner = _COMPANIONS.get(file.suffix)
    return partner is None or not (folder / file.with_suffix(partner)).exists()
