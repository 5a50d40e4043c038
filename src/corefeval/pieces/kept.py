"""Records that a run leaves in a folder, and the finished pieces of an interrupted run among them.

Nothing in such a file can run, whoever wrote it: it is JSON, and what is made of it is checked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from corefeval._version import __version__
from corefeval.diagnostics import InputError, Notice, UsageError, note
from corefeval.files import PathLike, is_ordinary, is_remote, write_folder
from corefeval.metrics import spell
from corefeval.pairing import Suspects
from corefeval.pieces.planning import Share
from corefeval.results.saved import notice_of_record, result_of_record, result_record

T = TypeVar("T")

_RUN = "run.json"


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


class Kept(Store):
    """The finished pieces of a run in a folder.

    `run` says what the run is: files, protocol and metrics. A folder of another run is a
    UsageError; a piece that cannot be used is scored again, and `notices` says so.
    """

    def __init__(self, folder: PathLike, run: Mapping[str, object]) -> None:
        text = json.dumps({"version": __version__, **run}, indent=1).encode()
        super().__init__(folder, text)
        place = f"--resume {self.folder}"
        if is_remote(self.folder):
            raise UsageError(f"{place}: it must be a local folder, not an address")
        try:
            os.makedirs(folder, exist_ok=True)
            names = os.listdir(folder)
            earlier = self.read(_RUN) if _RUN in names else None
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror or error}") from None
        if earlier is None and names:
            raise UsageError(f"{place}: it has other files in it: use an empty folder")
        if earlier is None:
            self._put(_RUN, text)
        elif earlier != text:
            changes = _find_changes(earlier, text)
            raise UsageError(
                f"{place}: it belongs to another run{changes}: use another folder, or empty it"
            )

    def find_piece(self, number: int) -> Share | None:
        """The share of a piece from an earlier run; None where none is kept that can be used."""
        return self.find(_name_piece(number), _share_of)

    def keep_piece(self, number: int, share: Share) -> None:
        """Write the share of a finished piece into the folder."""
        name = _name_piece(number)
        self._put(name, self.pack(name, _share_record(share)))

    def _put(self, name: str, data: bytes) -> None:
        try:
            self.write({name: data}, "the pieces cannot be kept")
        except InputError as error:  # which is not about the files that are scored
            raise UsageError(str(error)) from None


def _name_piece(number: int) -> str:
    return f"{number:06d}.piece"


def _find_changes(earlier: bytes, text: bytes) -> str:
    """The names of what differs between two descriptions of runs, as text for the error."""
    try:
        before = json.loads(earlier)
        names = [name for name, fact in json.loads(text).items() if before.get(name) != fact]
    except (ValueError, AttributeError, RecursionError):
        return ""
    return f" (another {', '.join(names)})" if names else ""


def _share_record(share: Share) -> dict[str, Any]:
    suspects = share.suspects
    return {
        "digest": share.digest,
        "of_key": [*map(asdict, share.of_key)],
        "of_response": [*map(asdict, share.of_response)],
        "result": None if share.result is None else result_record(share.result),
        "suspects": None if suspects is None else suspects._asdict(),
        "has_mentions": share.has_mentions,
    }


def _share_of(record: Mapping[str, Any]) -> Share:
    """The share of a record; raises a ValueError, KeyError or the like for a damaged record."""
    result, suspects = record["result"], record["suspects"]
    return Share(
        str(record["digest"]),
        tuple(map(notice_of_record, record["of_key"])),
        tuple(map(notice_of_record, record["of_response"])),
        None if result is None else result_of_record(result, spell),
        None if suspects is None else _suspects_of(suspects),
        record["has_mentions"] is True,
    )


def _suspects_of(record: Mapping[str, Any]) -> Suspects:
    documents, sizes, common = (_numbers(record[name]) for name in ("documents", "sizes", "common"))
    names, examples = ([*map(str, record[name])] for name in ("names", "examples"))
    if not len(documents) == len(sizes) == len(common) == len(names):
        raise ValueError("the columns of suspects differ in length")
    n_documents, n_common = _numbers([record["n_documents"], record["n_common"]])
    n_key, n_response = _numbers(record["n_mentions"])
    first, second = examples
    counts = n_documents, (n_key, n_response), n_common
    return Suspects(documents, names, sizes, common, *counts, (first, second))


def _numbers(values: list[object]) -> list[int]:
    """Whole numbers from 0; a ValueError for anything else."""
    numbers = [value for value in values if type(value) is int and value >= 0]
    if len(numbers) < len(values):
        raise ValueError(f"these are not whole numbers: {values!r:.40}")
    return numbers
