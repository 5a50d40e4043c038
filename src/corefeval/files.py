"""Files: opened here or elsewhere, written whole or not at all, and unpacked up to a limit.

Every room may import this one; it imports no numpy.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from corefeval.archives import MARK, read_member, split_member
from corefeval.diagnostics import InputError, UsageError

PathLike = str | os.PathLike[str]

GZIP_MAGIC = b"\x1f\x8b"
_PACKINGS = {
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"PK\3\4": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
}
PACKING_START = 10  # bytes that tell how a file is packed
UNPACK_LIMIT = "1GB"  # several times the largest files that are published
LIMIT_VARIABLE = "COREFEVAL_UNPACK_LIMIT"

_CANNOT = "the file cannot be written"
_PIECE = 1 << 20  # bytes that are unpacked at a time
_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_limits: list[int] = []  # those that are in force, the innermost last

# Errors of folders in which no file can be created, and of files that are mounted alone.
_IRREPLACEABLE = (errno.EACCES, errno.EPERM, errno.EBUSY)


def write_file(path: PathLike, data: bytes | str, *, problem: str = _CANNOT) -> None:
    """Write a file, whole or not at all: an earlier one is there until the new one is complete.

    Text is written as UTF-8. An earlier file's permissions are kept and links are followed. What is
    no ordinary file, such as a pipe or `/dev/stdout`, is written to directly. A failure is an
    InputError that begins with `problem`.
    """
    place = os.fspath(path)
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with _report_failure(path, problem):
        try:
            _write_all({place: content})
        except OSError as error:
            is_writable = os.path.isfile(place) and os.access(place, os.W_OK)
            if error.errno not in _IRREPLACEABLE or not is_writable:
                raise
            with open(place, "wb") as stream:
                stream.write(content)


def write_folder(
    folder: PathLike,
    contents: Mapping[str, bytes],
    *,
    problem: str = _CANNOT,
    follow_links: bool = True,
) -> None:
    """Write files by their names into a folder, which is made if need be.

    A folder that is not there yet appears with all its files or not at all. In one that is there,
    no file is touched before all new ones are complete; then they take their places one by one,
    each whole. Without `follow_links`, files also take the places of links, pipes and devices, so
    that nothing outside the folder is written. A failure is an InputError that begins with
    `problem`.
    """
    with _report_failure(folder, problem):
        place = os.path.realpath(folder)
        if os.path.lexists(place):
            files = {os.path.join(place, name): data for name, data in contents.items()}
            _write_all(files, follow_links=follow_links)
        else:
            _make_folder(place, contents)


def check_writable(path: PathLike, *, problem: str = _CANNOT) -> None:
    """Raise the error that writing a file would end in, if it shows beforehand."""
    place = os.fspath(path)
    with _report_failure(path, problem):
        if is_stream(place):
            return
        with suppress(FileNotFoundError):
            os.stat(place)  # which knows names that are too long
        folder, name = os.path.split(os.path.realpath(place))
        os.stat(folder)
        exists = os.path.exists(place)
        if os.path.isdir(place) or not os.path.basename(place):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(os.path.join(folder, name) if exists else folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _write_all(contents: Mapping[str, bytes], *, follow_links: bool = True) -> None:
    """Write all files under temporary names, then rename them; remove what is left on failure."""
    staged: dict[str, str] = {}
    try:
        for path, data in contents.items():
            stream = _direct_stream(path) if follow_links else None
            if stream is not None:
                with stream:
                    stream.write(data)
                continue
            target = os.path.realpath(path) if follow_links and os.path.islink(path) else path
            staged[target] = _temporary_path(target)
            # Thousands of files would take minutes if each had to reach the disk on its own.
            _stage(staged[target], data, target, sync=len(contents) == 1)
        for target, new in staged.items():
            os.replace(new, target)
    finally:
        for new in staged.values():
            with suppress(OSError):
                os.unlink(new)


def _stage(new: str, data: bytes, target: str, *, sync: bool) -> None:
    """Write a file that is to replace `target`, with the permissions of that file."""
    earlier = os.stat(target) if is_ordinary(target) else None
    if earlier is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
    with open(new, "xb") as stream:
        stream.write(data)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())
    if earlier is not None:
        staged = os.stat(new)
        with suppress(OSError, AttributeError):  # not every system knows owners
            if (staged.st_uid, staged.st_gid) != (earlier.st_uid, earlier.st_gid):
                os.chown(new, earlier.st_uid, earlier.st_gid)
        with suppress(OSError):
            os.chmod(new, stat.S_IMODE(earlier.st_mode))


def _make_folder(place: str, contents: Mapping[str, bytes]) -> None:
    """Make a folder with files, under another name until it is complete."""
    first = place  # of the folders on the way, the first that is not there
    while not os.path.lexists(os.path.dirname(first)):
        first = os.path.dirname(first)
    staged = _temporary_path(first)
    folder = os.path.join(staged, os.path.relpath(place, first))
    try:
        os.makedirs(folder)
        for name, data in contents.items():
            with open(os.path.join(folder, name), "xb") as stream:
                stream.write(data)
        os.rename(staged, first)
    except BaseException:
        import shutil

        shutil.rmtree(staged, ignore_errors=True)
        raise


def _temporary_path(path: str) -> str:
    """A new hidden path in the folder of a file, for contents that are not complete yet."""
    return os.path.join(os.path.dirname(path), f".corefeval-{os.urandom(8).hex()}.tmp")


def _direct_stream(path: str) -> IO[bytes] | None:
    """A stream to what cannot be replaced because it is no ordinary file; None for files."""
    number = _descriptor(path)
    if number is not None:
        if number == 1:
            sys.stdout.flush()
        return open(os.dup(number), "wb")
    names_folder = os.path.isdir(path) or not os.path.basename(path)  # the system refuses these
    return open(path, "wb") if names_folder or is_stream(path) else None


def is_ordinary(path: str) -> bool:
    """Whether a path is a file itself, and no link to one, folder, pipe or device."""
    return os.path.isfile(path) and not os.path.islink(path)


def is_stream(path: str) -> bool:
    """Whether what is written to a path cannot be read from there, as with pipes and devices."""
    special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return special or _descriptor(path) is not None


def _descriptor(path: str) -> int | None:
    """The number of the open file that a path such as `/dev/stdout` or `/dev/fd/3` stands for.

    It may lead to an ordinary file that others are writing to as well, so it is not to be followed.
    """
    if not os.path.islink(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return None
    descriptor_folder = f"/proc/{os.getpid()}/fd"
    for _ in range(40):  # links that go round in circles are for the system to refuse
        folder, name = os.path.split(os.path.abspath(path))
        folder = os.path.realpath(folder)
        if folder == descriptor_folder and name.isdecimal():
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


@contextmanager
def _report_failure(path: PathLike, problem: str) -> Iterator[None]:
    """A context in which whatever keeps a file from being written is an InputError."""
    if not os.fspath(path):
        raise UsageError(f"{problem}: its path is empty")
    if is_remote(os.fspath(path)):  # which would be a folder here, called `s3:`
        message = f"{problem}: it is an address, and files are only read from addresses"
        raise InputError(message, file=os.fspath(path), fix="write a local file, and copy it")
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        file = error.filename2 or os.fspath(path)  # the one of a folder that found no place
        raise InputError(f"{problem}: {reason}", file=file) from None
    except ValueError:  # a NUL in the path, or half a character
        message = f"{problem}: no file can have this name"
        raise InputError(message, file=repr(os.fspath(path))) from None


@contextmanager
def unpack_limit(limit: str | int) -> Iterator[None]:
    """A context in which a packed file may unpack to this many bytes, in the whole process.

    The limit is a number of bytes or a size such as `"20GB"`. Outside it is the environment's
    `COREFEVAL_UNPACK_LIMIT`, or 1GB.

    >>> with unpack_limit("20GB"):
    ...     print(current_limit())
    20000000000
    """
    _limits.append(parse_size(limit))
    try:
        yield
    finally:
        _limits.pop()


def current_limit() -> int:
    """How many bytes a packed file may unpack to now."""
    return _limits[-1] if _limits else parse_size(os.environ.get(LIMIT_VARIABLE) or UNPACK_LIMIT)


def parse_size(size: str | int, label: str = f"a limit (--unpack-limit, {LIMIT_VARIABLE})") -> int:
    """The number of bytes that a size names; `label` says in the error what it is the size of.

    >>> parse_size("20GB"), parse_size("1.5 MB"), parse_size("2GiB"), parse_size("700")
    (20000000000, 1500000, 2147483648, 700)
    """
    parts = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)(I?)B?\s*", str(size), re.I | re.A)
    if isinstance(size, bool) or parts is None or len(parts[1]) > 20:
        raise UsageError(f"{label} is a size such as 500MB or 20GB, not {size!r:.60}")
    unit = _UNITS[parts[2].upper()]
    return int(float(parts[1]) * (1024 ** list(_UNITS.values()).index(unit) if parts[3] else unit))


def show_size(size: int) -> str:
    """A number of bytes for people.

    >>> show_size(700), show_size(1_500_000), show_size(2 * 10**9)
    ('700 B', '1.5 MB', '2 GB')
    """
    letter = next((letter for letter in "TGMK" if size >= _UNITS[letter]), "")
    return f"{size / _UNITS[letter]:.3g} {letter}B"


def unpack(data: bytes | memoryview, file: str) -> bytearray:
    """Unpack gzip data, of one member or several, up to the limit.

    Damaged data, and data that unpacks to more, is an InputError that names the file.
    """
    blocks = (bytes(data[start : start + _PIECE]) for start in range(0, len(data), _PIECE))
    unpacked = bytearray()
    for block in unpack_blocks(blocks, file, len(data)):
        unpacked += block
    return unpacked


def unpack_blocks(blocks: Iterable[bytes], file: str, packed: int) -> Iterator[bytes]:
    """Unpack gzip data block by block, up to the limit; `packed` is its size in bytes.

    Raises an InputError for damaged data and for data that unpacks to more than the limit.
    """
    limit, size = current_limit(), 0
    try:
        unpacker, done = zlib.decompressobj(wbits=31), False
        for block in blocks:
            data = block
            while data := data.lstrip(b"\0") if done else data:  # members may be padded
                if done:
                    unpacker = zlib.decompressobj(wbits=31)
                part = unpacker.decompress(data, min(limit - size + 1, sys.maxsize))
                size += len(part)
                if size > limit:
                    raise too_large_error(file, packed, limit)
                yield part
                data, done = unpacker.unused_data, unpacker.eof
        if not done:
            raise EOFError("it ends too early")
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"the gzip data is damaged: {error}", file=file, fix="unpack or copy the file again"
        ) from None


def unpack_file(file: str, target: str) -> int:
    """Unpack a file into a temporary one, and return the number of bytes written."""
    packed = file_size(file)
    with open_file(file) as stream, open(target, "wb") as unpacked:
        blocks = iter(lambda: stream.read(_PIECE), b"")
        for block in unpack_blocks(blocks, file, packed):
            try:
                unpacked.write(block)
            except OSError as error:
                raise InputError(
                    f"the file cannot be unpacked into {target}: {error.strerror or error}",
                    file=file,
                    fix="point TMPDIR to a folder with more room",
                ) from None
        return unpacked.tell()


def is_remote(path: str) -> bool:
    """Whether a path is an address, such as `s3://bucket/key.conll`, that fsspec opens."""
    return re.match(r"[A-Za-z][\w+.-]*://", path) is not None


def remote_files(address: str) -> tuple[Any, str]:
    """The file system of an address (of fsspec), and the path there."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(
            f"{address}: addresses are opened by fsspec, which is not installed: pip install fsspec"
        ) from None
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:  # s3 and others need packages of their own
        raise UsageError(f"{address}: {error}") from None
    return system, str(path)


@contextmanager
def open_file(path: PathLike) -> Iterator[IO[bytes]]:
    """A file to be read, here or elsewhere; what cannot be opened or read is an InputError."""
    name = os.fspath(path)
    try:
        if is_remote(name):
            system, place = remote_files(name)
            with system.open(place, "rb") as stream:
                yield stream
        elif MARK in name and (place_in_zip := split_member(name)):
            yield io.BytesIO(read_member(*place_in_zip, current_limit()))
        else:
            with open(name, "rb", buffering=0) as stream:
                yield stream
    except OSError as error:
        raise InputError(
            f"the file cannot be read: {error.strerror or error}",
            file=name,
            fix="check the path and its permissions",
        ) from None
    except ValueError:  # a NUL in the path
        if "\0" not in name:
            raise
        raise InputError("no file can have this name", file=repr(name)) from None


def file_size(path: PathLike) -> int:
    """The number of bytes of a file, here or elsewhere; an InputError where there is none."""
    name = os.fspath(path)
    if MARK in name and split_member(name):
        with open_file(name) as stream:
            return len(stream.read())
    if is_remote(name):
        with open_file(name):  # which says what is wrong with it
            system, place = remote_files(name)
            return int(system.info(place)["size"])
    try:
        return os.stat(name).st_size
    except (OSError, ValueError):
        with open_file(name):
            raise


def file_digest(path: PathLike) -> str:
    """A digest of all bytes of a file, here or elsewhere."""
    import hashlib

    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def check_unpacked(size: int, packed: int, file: str) -> None:
    """Raise an InputError where a file says that it unpacks to more than the limit."""
    if size > current_limit():
        raise too_large_error(file, packed, current_limit())


def refuse_packing(start: bytes, file: str) -> None:
    """Raise an InputError where a file begins as those of another packing than gzip do."""
    name = next((name for magic, name in _PACKINGS.items() if start.startswith(magic)), None)
    if name is None or (name == "bzip2" and start[4:10] not in (b"1AY&SY", b"\x17rE8P\x90")):
        return  # three letters alone may begin a text
    raise InputError(
        f"the file is packed with {name}",
        file=file,
        expected="text, or text packed with gzip",
        fix="unpack the file, or pack it with gzip",
    )


def too_large_error(file: str, packed: int, limit: int) -> InputError:
    """The error of a file that unpacks to more bytes than the limit."""
    return InputError(
        f"the packed file unpacks to more than {show_size(limit)}",
        file=file,
        found=f"{show_size(packed)} packed",
        fix="if you trust the file, raise the limit with --unpack-limit 20GB, "
        f"corefeval.unpack_limit('20GB') or {LIMIT_VARIABLE}=20GB",
    )
