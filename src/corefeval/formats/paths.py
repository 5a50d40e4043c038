"""Which files a path stands for: a file, a folder, a pattern, a zip or an address."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from corefeval.archives import MARK, is_archive, list_members
from corefeval.checks import check_path
from corefeval.diagnostics import InputError
from corefeval.files import PathLike, is_remote, remote_files
from corefeval.formats.registry import FORMATS

# Files that belong to those of the same name that have the other ending.
COMPANIONS = [
    (companion, ending)
    for format in FORMATS.values()
    for companion in format.companions
    for ending in format.endings
]
# Files that belong to others, whatever these are called: to projects of MMAX2, to CAS documents.
_ACCESSORY = re.compile(
    r"common_paths\.xml|.*_(level|scheme|customization)\.xml|TypeSystem\.xml|.*\.(xsl|dtd)", re.I
)
_MMAX_WORDS = re.compile(r".*_words\.xml", re.I)


def files_of(path: PathLike, *, with_companions: bool = False) -> tuple[list[str], bool]:
    """The files behind a path, and whether the path names several.

    A folder stands for all files below it, a pattern with `*`, `?` or `[` for those that match, in
    the order of their names, and a zip for the files in it. Hidden files are left out, and those
    that are only read with others, such as texts of annotations, unless they are asked for.
    """
    text = check_path(path, "name a file, a folder or a pattern")
    if is_remote(text):
        return _remote_files_of(text)
    is_folder = os.path.isdir(text)
    if not is_folder and (os.path.exists(text) or not re.search(r"[*?[]", text)):
        return (_members_of(text), True) if is_archive(text) else ([text], False)
    # Most people name a file, and need not wait for these.
    import glob
    from pathlib import Path

    if is_folder:
        found = sorted(str(file) for file in Path(text).rglob("*") if os.path.isfile(file))
        problem, root, fix = "there are no files in the folder", text, "check the path"
    else:
        found = sorted(file for file in glob.glob(text, recursive=True) if os.path.isfile(file))
        problem, root, fix = "no file matches the pattern", "", "check the pattern"
    visible = [file for file in found if not _is_hidden(os.path.relpath(file, root or "."))]
    files = visible if with_companions else _leave_out_companions(visible, on_disk=True)
    if not files:
        raise InputError(problem, file=text, fix=fix)
    lists = [_members_of(file) if is_archive(file) else [file] for file in files]
    return [file for members in lists for file in members], True


def _members_of(archive: str) -> list[str]:
    """The paths of the files in a zip."""
    members = [f"{archive}{MARK}{name}" for name in list_members(archive)]
    files = _leave_out_companions(members)
    if not files:
        raise InputError("there is nothing to read in the zip", file=archive, fix="check the path")
    return files


def _remote_files_of(address: str) -> tuple[list[str], bool]:
    """The files behind an address, and whether the address names several: see `files_of`."""
    import glob

    system, place = remote_files(address)
    try:
        if glob.has_magic(place) and not system.exists(place):
            paths = [path for path in system.glob(place) if system.isfile(path)]
        elif system.isdir(place):
            paths = system.find(place)
        else:
            return [address], False
    except OSError as error:
        raise InputError(f"the address cannot be read: {error}", file=address) from None
    files = _leave_out_companions([path for path in sorted(paths) if not _is_hidden(path)])
    if not files:
        raise InputError("there is no file at the address", file=address, fix="check the address")
    return [system.unstrip_protocol(path) for path in files], True


def _is_hidden(path: str) -> bool:
    parts = path.replace(os.sep, "/").split("/")
    return any(part.startswith(".") for part in parts if part not in (".", ".."))


def _leave_out_companions(paths: Sequence[str], *, on_disk: bool = False) -> list[str]:
    """The files that are read for themselves; with `on_disk`, others beside them count, too."""
    listed = set(paths)
    has_projects = any(path.lower().endswith(".mmax") for path in paths)
    files = []
    for path in paths:
        name, plain = os.path.basename(path), path.removesuffix(".gz")
        partners = [
            plain.removesuffix(companion) + ending + packing
            for companion, ending in COMPANIONS
            for packing in ("", ".gz")
            if plain.endswith(companion)
        ]
        belongs = any(p in listed or (on_disk and os.path.exists(p)) for p in partners)
        belongs |= _ACCESSORY.fullmatch(name) is not None
        if not belongs and not (has_projects and _MMAX_WORDS.fullmatch(name)):
            files.append(path)
    return files
