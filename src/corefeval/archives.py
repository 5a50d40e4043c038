"""Zip archives as folders: the files in them have paths such as `export.zip!/a.xmi`.

Nothing is written to disk, and names in an archive are only names: no such path is ever opened.
"""

from __future__ import annotations

import os
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

from corefeval.diagnostics import InputError, excerpt

if TYPE_CHECKING:
    from zipfile import ZipFile

MARK = "!/"  # between the path of an archive and the name of a file in it
_MAGIC = (b"PK\3\4", b"PK\5\6")
_PIECE = 1 << 20  # bytes that are unpacked at a time
_TOTAL = "/"  # which no file is called, but a folder might be
_UNPACK = "unpack it, and name the file of one annotator"


def is_archive(path: str) -> bool:
    """Whether a path is a zip on this machine, whatever it is called."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb", buffering=0) as stream:
            return stream.read(4) in _MAGIC
    except (OSError, ValueError):  # which is told when the file is read
        return False


def split_member(path: str) -> tuple[str, str] | None:
    """The archive and the name in it of a path such as `export.zip!/a.xmi`; None for any other."""
    place = path.find(MARK)
    while place >= 0:
        if os.path.isfile(path[:place]):
            return path[:place], path[place + len(MARK) :]
        place = path.find(MARK, place + 1)
    return None


def list_members(path: str) -> list[str]:
    """The names of the files in an archive, in order, without hidden ones.

    A zip in a zip is an InputError, and so is the log of an evaluation, which is no folder.
    """
    names = sorted(name for name in _open_archive(path).namelist() if not name.endswith("/"))
    if list_samples(path) is not None:
        raise InputError(
            "this is a log of Inspect (.eval), with answers of a language model",
            file=path,
            expected="a zip of annotated documents",
            fix="score KEY LOG, or check LOG --against KEY",
        )
    visible = [name for name in names if not any(_is_hidden(part) for part in name.split("/"))]
    for name in visible:
        if name.lower().endswith(".zip"):
            raise InputError(f"there is a zip in the zip: {excerpt(name)}", file=path, fix=_UNPACK)
    return visible


def _is_hidden(part: str) -> bool:
    return part == "__MACOSX" or (part.startswith(".") and part not in (".", ".."))


def list_samples(path: str) -> list[str] | None:
    """The paths of the samples in a log of Inspect (`.eval`); None for any other file.

    They are none where they are packed with zstd, which zipfile has learnt only in Python 3.14.
    """
    if not is_archive(path):
        return None
    import zipfile

    members = _open_archive(path).infolist()
    folders = {member.filename.partition("/")[0] for member in members}
    if "samples" not in folders or folders.isdisjoint(("_journal", "header.json")):
        return None
    samples = [member for member in members if member.filename.startswith("samples/")]
    if not hasattr(zipfile, "ZIP_ZSTANDARD") and any(s.compress_type == 93 for s in samples):
        return []
    return [f"{path}{MARK}{sample.filename}" for sample in samples]


def read_member(path: str, name: str, limit: int) -> bytes:
    """The content of a file in an archive; all files read so far may unpack to `limit` bytes.

    Raises an InputError where it is not there, damaged, has a password, or goes beyond the limit.
    """
    archive = _open_archive(path)
    unpacked = _unpacked_sizes(archive)
    earlier = unpacked.get(name, 0)
    remaining = limit - unpacked[_TOTAL] + earlier
    pieces, size = [], 0
    try:
        if archive.getinfo(name).flag_bits & 1:
            raise InputError("the file has a password", file=f"{path}{MARK}{name}", fix=_UNPACK)
        with archive.open(name) as stream:
            while size <= remaining and (piece := stream.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
    except KeyError:
        raise InputError(f"there is no {excerpt(name)} in the zip", file=path) from None
    except Exception as error:  # zipfile has many ways to fail at what is damaged
        if isinstance(error, InputError | MemoryError):
            raise
        raise _damage_error(f"{path}{MARK}{name}", error) from None
    unpacked[_TOTAL] += size - earlier
    unpacked[name] = size
    if size > remaining:
        from corefeval.files import too_large_error

        raise too_large_error(f"{path}{MARK}{name}", os.path.getsize(path), limit)
    return b"".join(pieces)


def _damage_error(file: str, error: Exception) -> InputError:
    problem = f"the zip is damaged: {error or type(error).__name__}"
    return InputError(problem, file=file, fix="copy or export the file again")


def _open_archive(path: str) -> ZipFile:
    """An archive that is open; the last one stays so, as its files are read one by one."""
    from zipfile import BadZipFile

    try:
        state = os.stat(path)
        return _open_once(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"the file cannot be read: {reason}", file=path) from None
    except (BadZipFile, ValueError, EOFError, NotImplementedError, zlib.error) as error:
        raise _damage_error(path, error) from None


@lru_cache(maxsize=2)  # a key and a response
def _open_once(path: str, changed: int, size: int) -> ZipFile:
    from zipfile import ZipFile

    archive = ZipFile(path)
    for member in archive.infolist():  # some programs write names as Windows does
        member.filename = member.filename.replace("\\", "/")
    archive.NameToInfo = {member.filename: member for member in archive.infolist()}
    return archive


def _unpacked_sizes(archive: ZipFile) -> dict[str, int]:
    """How many bytes each file of an archive unpacked to, of those that were read, and all."""
    sizes: dict[str, int] = archive.__dict__.setdefault("unpacked_sizes", {_TOTAL: 0})
    return sizes
