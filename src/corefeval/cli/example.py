"""`corefeval example`: files to try things out on."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from corefeval.diagnostics import InputError
from corefeval.display import visible
from corefeval.examples import NAMES
from corefeval.examples import example as path_of


def example(folder: str = ".", /) -> None:
    """Copy the example corpus to a folder: key.conll, cautious.conll and eager.conll.

    Parameters
    ----------
    folder
        Where to put the files; the current folder by default.
    """
    for name in NAMES:
        source = Path(path_of(name))
        target = Path(folder) / source.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and target.read_bytes() != source.read_bytes():
                raise InputError(
                    "there is another file of this name",
                    file=str(target),
                    fix="choose another folder: corefeval example FOLDER",
                )
            shutil.copyfile(source, target)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise InputError(message, file=str(target)) from None
        sys.stdout.write(f"{visible(str(target))}\n")
