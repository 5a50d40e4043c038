"""`corefeval example`: files to try things out on."""

from __future__ import annotations

import sys
from pathlib import Path

from corefeval.diagnostics import InputError
from corefeval.display import visible
from corefeval.examples import NAMES
from corefeval.examples import example as path_of
from corefeval.files import write_folder


def example(folder: str = ".", /) -> None:
    """Copy the example corpus to a folder: key.conll, cautious.conll and eager.conll.

    Parameters
    ----------
    folder
        Where to put the files; the current folder by default.
    """
    sources = [Path(path_of(name)) for name in NAMES]
    targets = [Path(folder) / source.name for source in sources]
    contents = {source.name: source.read_bytes() for source in sources}
    for target in targets:
        if target.exists() and not _has(target, contents[target.name]):
            raise InputError(
                "there is another file of this name",
                file=str(target),
                fix="choose another folder: corefeval example FOLDER",
            )
    write_folder(folder, contents)
    sys.stdout.writelines(f"{visible(str(target))}\n" for target in targets)


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
