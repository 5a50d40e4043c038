"""Files that somebody else may have put into a cache or a folder of `--resume`."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corefeval import __version__


class _Call:
    """A call that unpickling makes."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.reduced = function, arguments

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.reduced


def evil_pickles(marker: Path) -> list[bytes]:
    """Pickles that make a file where they are loaded: a plain one, and one by a dotted name."""
    plain = pickle.dumps(_Call(os.system, f"touch {marker}"))
    text = b"".join(
        pickle.SHORT_BINUNICODE + bytes([len(name)]) + name.encode()
        for name in ("corefeval.results.rates", "np.f2py.subprocess.Popen")
    )
    command = pickle.dumps((["touch", str(marker)],), protocol=2)[2:-1]
    dotted = pickle.PROTO + b"\x04" + text + pickle.STACK_GLOBAL + command + pickle.REDUCE + b"."
    return [plain, dotted]


def disguise(payload: bytes, name: str, run: bytes = b"") -> list[bytes]:
    """A payload as it is, as earlier versions kept it, and as this one does, with valid sums.

    `name` is that of the file, `run` is what `run.json` says of a run, of which pieces are.
    """
    digest = hashlib.sha256(run).hexdigest()
    former = hashlib.sha256(digest.encode() + payload).digest() + payload
    checksum = hashlib.sha256(b"\n".join((run, name.encode(), payload))).hexdigest()
    return [payload, former, f"corefeval {__version__} {checksum}\n".encode() + payload]


def rewrite(record: object, name: str, run: bytes = b"") -> bytes:
    """A record as this version keeps it, with a valid sum."""
    return disguise(json.dumps(record).encode(), name, run)[-1]


def replace_leaves(record: Any, value: object) -> Iterator[Any]:
    """The record with another value in the place of each part of it, one at a time."""
    if isinstance(record, dict | list):
        for key, part in record.items() if isinstance(record, dict) else enumerate(record):
            for changed in (value, *replace_leaves(part, value)):
                copy = record.copy()
                copy[key] = changed
                yield copy
