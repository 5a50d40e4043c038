"""A first suite file, from folders of keys and of systems' responses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from corefeval.diagnostics import UsageError, list_names
from corefeval.display import distinct_names, json_text
from corefeval.files import is_remote
from corefeval.formats import files_of
from corefeval.suites.definition import SuiteSystem

Named = tuple[str | None, str]  # a name, where one was given, and a path
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=_)")


def write_suite(arguments: Sequence[Named], target: str = "suite.toml") -> tuple[str, list[str]]:
    """The text of a suite file for keys and systems, and the files that have no place in it.

    Paths are relative to where the file will be.

    Files are keys. Where there are none, the first folder is one of keys. All other folders are of
    systems: each has a file for each corpus, whose name has the corpus in it, and where there are
    several that differ in a number these are seeds. A folder of nothing but folders is one of
    systems' folders.
    """
    for _, path in arguments:
        if is_remote(path) or not os.path.exists(path):
            raise UsageError(f"there is no file or folder {path}: name those of keys and systems")
    keys = [argument for argument in arguments if not os.path.isdir(argument[1])]
    folders = [argument for argument in arguments if os.path.isdir(argument[1])]
    if not keys and folders:
        first = folders.pop(0)[1]
        keys = [(None, path) for path in files_of(first)[0]]
    if not keys or not folders:
        raise UsageError("a suite needs keys and systems: suite init KEYS SYSTEM…, all folders")
    corpora = dict(zip(_corpus_names(keys), (path for _, path in keys), strict=True))
    systems = list(_system_folders(folders))
    start = os.path.dirname(os.path.abspath(target))
    names = distinct_names([name for name, _ in systems], [path for _, path in systems])
    parts = [_HEAD]
    has_languages = len(corpora) > 1 and all(map(_LANGUAGE.match, corpora))
    for name, path in corpora.items():
        key = _relative_path(path, start)
        part = f"[[corpora]]\nname = {_toml_text(name)}\nkey = {_toml_text(key)}\n"
        language = _LANGUAGE.match(name)
        part += f"group = {_toml_text(language[0])}\n" if language and has_languages else ""
        parts.append(part)
    unplaced: list[str] = []
    for name, (_, path) in zip(names, systems, strict=True):
        pattern, seeds = find_pattern(path, list(corpora))
        system = SuiteSystem(name=name, responses=os.path.join(path, pattern), seeds=tuple(seeds))
        expected = {system.path(corpus, seed) for corpus in corpora for seed in seeds or (None,)}
        unplaced += [file for file in files_of(path)[0] if file not in expected]
        responses = os.path.join(_relative_path(path, start), pattern)
        part = f"[[systems]]\nname = {_toml_text(name)}\nresponses = {_toml_text(responses)}\n"
        part += f"seeds = [{', '.join(map(_toml_text, seeds))}]\n" if seeds else ""
        parts.append(part)
    return "\n".join(parts), unplaced


_HEAD = """\
# Corpora × systems: corefeval suite run, check, table and page read this file.
title = "Leaderboard"
metrics = "muc, b3, ceafe, conll, lea"
headline = "conll"
missing = "zero"  # what a missing or broken response counts; or "leave-out"
# Is the order certain on these corpora? "corpora, documents, seeds": would it hold on others?
resample = "documents, seeds"
by = "kind, size"  # for each system's profile; "" where the protocol is another program's
# protocol = "singletons:drop"  # of all corpora; one may have its own, and a weight and a group
"""


def _corpus_names(keys: Sequence[Named]) -> list[str]:
    """The names of files, without extensions and without the last parts that all share.

    >>> _corpus_names([(None, "k/gum-dev.key.conll"), (None, "k/litbank-dev.key.conll")])
    ['gum', 'litbank']
    """
    paths = [os.path.basename(path) for _, path in keys]
    names = [re.sub(r"(\.\w+)+$", "", path) or path for path in paths]
    if len(names) > 1:
        parts_of_names = [re.split(r"(?=[-_.])", name) for name in names]
        while (
            min(map(len, parts_of_names)) > 1 and len({parts[-1] for parts in parts_of_names}) == 1
        ):
            parts_of_names = [parts[:-1] for parts in parts_of_names]
        names = ["".join(parts) for parts in parts_of_names]
    named = [stated_name or name for (stated_name, _), name in zip(keys, names, strict=True)]
    return distinct_names(named)


def _system_folders(folders: Sequence[Named]) -> Iterator[tuple[str, str]]:
    for name, path in folders:
        members = sorted(member for member in os.listdir(path) if not member.startswith("."))
        inside = [os.path.join(path, member) for member in members]
        if name is None and len(folders) == 1 and inside and all(map(os.path.isdir, inside)):
            yield from ((os.path.basename(member), member) for member in inside)
        else:
            yield name or os.path.basename(os.path.abspath(path)), path


def find_pattern(folder: str, corpora: Sequence[str]) -> tuple[str, list[str]]:
    """The pattern of most responses in a folder, relative to it, and the seeds that it has."""
    longest = sorted(corpora, key=len, reverse=True)
    plain: dict[str, set[str]] = {}
    seeded: dict[str, dict[str, set[str]]] = {}
    for file in files_of(folder)[0]:
        path = os.path.relpath(file, folder)
        for corpus in longest:
            pattern, number = re.subn(
                rf"(?<![^\W_]){re.escape(corpus)}(?![^\W_])", "{corpus}", path
            )
            if number:
                plain.setdefault(pattern, set()).add(corpus)
                for general, seed in _seed_patterns(pattern):
                    seeded.setdefault(general, {}).setdefault(seed, set()).add(corpus)
                break
    if not plain:
        raise UsageError(
            f"{folder}: no file name contains the name of a corpus: {list_names(list(corpora))}"
        )
    best = max(plain, key=lambda pattern: len(plain[pattern]))
    for general, seeds in sorted(seeded.items(), key=lambda item: -len(item[1])):
        if len(seeds) > 1 and max(map(len, seeds.values())) >= len(plain[best]):
            return general, sorted(seeds, key=int)
    return best, []


def _seed_patterns(pattern: str) -> Iterator[tuple[str, str]]:
    """The pattern with `{seed}` in the place of each number."""
    for number in re.finditer(r"\d+", pattern):
        yield f"{pattern[: number.start()]}{{seed}}{pattern[number.end() :]}", number[0]


def _relative_path(path: str, folder: str) -> str:
    """A path relative to a folder, with slashes, which every system reads."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return os.path.abspath(path)


def _toml_text(text: str) -> str:
    """A string in TOML, with the escapes of JSON; raises UsageError for half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{text!r} is not valid text, so it cannot be written to a text file: rename it"
        ) from None
    return json_text(text).rstrip("\n")
