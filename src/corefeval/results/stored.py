"""Records that a run leaves in a folder for the next one, as plain JSON.

Nothing in such a file can run, whoever wrote it: it is text, and what is made of it is checked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from corefeval._version import __version__
from corefeval.diagnostics import Notice, note
from corefeval.files import PathLike, is_ordinary, write_folder

T = TypeVar("T")


class Store:
    """A folder of records by the names of their files, all of one `run` if that is told apart.

    `unusable` is how many files were damaged, or no records of this version and run. Links are
    neither read nor written through: the next record takes their place.
    """

    def __init__(self, folder: PathLike, run: bytes = b"") -> None:
        self.folder = os.fspath(folder)
        self.run = run
        self.unusable = 0

    def find(self, name: str, make: Callable[[Any], T]) -> T | None:
        """`make` of a record; None where there is none, or where it cannot be used."""
        try:
            header, _, data = self.read(name).partition(b"\n")
            if header != self._header(name, data):
                raise ValueError("the file is damaged, or of another version or run")
            return make(json.loads(data))
        except FileNotFoundError:
            return None
        except Exception:  # whatever is wrong with it, it can be made anew
            self.unusable += 1
            return None

    def read(self, name: str) -> bytes:
        """The bytes of a file; an OSError where it is a link, or cannot be read."""
        path = os.path.join(self.folder, name)
        if os.path.lexists(path) and not is_ordinary(path):
            raise OSError(f"{name} is no ordinary file")
        with open(path, "rb") as stream:
            return stream.read()

    def pack(self, name: str, record: object) -> bytes:
        """A record as the content of a file that `find` reads under this name."""
        data = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        return self._header(name, data) + b"\n" + data

    def write(self, contents: Mapping[str, bytes], problem: str) -> None:
        """Write files, packed records among them; an InputError begins with `problem`."""
        write_folder(self.folder, contents, problem=problem, follow_links=False)

    def _header(self, name: str, data: bytes) -> bytes:
        """The first line of a file: the version that wrote it, and a sum of run, name and data."""
        sum = hashlib.sha256(b"\n".join((self.run, name.encode(), data))).hexdigest()
        return f"corefeval {__version__} {sum}".encode()

    @property
    def notices(self) -> tuple[Notice, ...]:
        """A notice on files that could not be used, if there were any."""
        why = "damaged, foreign or of another version of corefeval, and scored again"
        return note("unusable-files", self.unusable, "file", why, whose=self.folder)
