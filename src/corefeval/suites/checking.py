"""Before a suite is run: a first file for it, and a verdict on every file that it is made of."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corefeval.checks import did_you_mean
from corefeval.diagnostics import CorefEvalError, UsageError, list_names, plural
from corefeval.display import Row, Tabular, distinct_names, json_text, visible
from corefeval.evaluation import score
from corefeval.files import is_remote
from corefeval.formats import files_of, read
from corefeval.linting import Finding, Inspection, inspect
from corefeval.model import Corpus, join
from corefeval.protocol import Protocol
from corefeval.suites.definition import Suite, SuiteCorpus
from corefeval.suites.running import find_path_problem, one_line

Ruling = Literal["ok", "warning", "failed"]
Named = tuple[str | None, str]  # a name, where one was given, and a path
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=_)")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ruling on a file (good, odd or failed), and a text that says why.

    `system` is empty for keys.
    """

    corpus: str
    system: str
    seed: str | None
    file: str
    ruling: Ruling
    text: str

    @property
    def line(self) -> str:
        """The verdict as a line of text."""
        who = f"{self.system}{'' if self.seed is None else f' {self.seed}'} on " * bool(self.system)
        return visible(
            f"{self.ruling:7}  {who or 'key of '}{self.corpus}: {self.file}: {self.text}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class SuiteCheck(Tabular):
    """The verdicts on all files of a suite."""

    verdicts: tuple[Verdict, ...]

    @property
    def has_failed(self) -> bool:
        """Whether any file fails."""
        return any(verdict.ruling == "failed" for verdict in self.verdicts)

    @property
    def summary(self) -> str:
        """How many files, and how many of them fail."""
        times = Counter(verdict.ruling for verdict in self.verdicts)
        counts = f"{plural(times['warning'], 'warning')}, {times['failed']} failed"
        return f"{plural(len(self.verdicts), 'file')}: {times['ok']} ok, {counts}"

    def rows(self) -> list[Row]:
        """One row for each file."""
        names = ("corpus", "system", "seed", "file", "ruling", "text")
        return [{name: getattr(verdict, name) for name in names} for verdict in self.verdicts]

    def __repr__(self) -> str:
        return f"<SuiteCheck of {self.summary}>"


def check_suite(suite: Suite, *, strict: bool = False, systems: Iterable[str] = ()) -> SuiteCheck:
    """Verdicts on all keys and responses of a suite, or on the responses of some systems.

    Files with problems that stop scoring or lose mentions fail; with `strict`, so do those with
    problems that change scores silently, such as missing documents.
    """
    suite.check()
    names = [system.name for system in suite.systems]
    chosen = list(systems)
    for name in chosen:
        if name not in names:
            raise UsageError(f"there is no system {name!r}: {did_you_mean(name, names)}")
    verdicts: list[Verdict] = []
    for corpus in suite.corpora:
        verdicts += _check_corpus(suite, corpus, strict, chosen or names)
    return SuiteCheck(tuple(verdicts))


def _check_corpus(
    suite: Suite, corpus: SuiteCorpus, strict: bool, systems: list[str]
) -> Iterator[Verdict]:
    """The verdicts on a key, and on the responses to it."""
    key: Corpus | None = None
    problem = find_path_problem(corpus.key)
    if not problem and corpus.features and (problem := find_path_problem(corpus.features)):
        problem = f"{corpus.features}: {problem}"
    ruling: Ruling = "failed"
    if not problem:
        try:
            key = read(
                corpus.key,
                format=corpus.key_format,
                encoding=corpus.encoding,
                word_column=corpus.word_column,
                layer=corpus.key_layer,
                name=corpus.name,
            )
            inspections = _inspect_side(corpus, corpus.key, None, is_key=True)
            # Those who submit responses cannot change a key, so it is never judged strictly.
            ruling, problem = _decide(inspections, strict=False)
            key = None if ruling == "failed" else key  # no response is compared with a broken key
        except CorefEvalError as error:
            key, ruling, problem = None, "failed", one_line(error)
    yield Verdict(corpus.name, "", None, corpus.key, ruling, problem)
    for system in suite.systems:
        if system.name not in systems or not system.takes_part(corpus.name):
            continue
        for seed in system.seeds or (None,):
            path = system.path(corpus.name, seed)
            yield Verdict(
                corpus.name, system.name, seed, path, *_check_response(corpus, path, key, strict)
            )


def _check_response(
    corpus: SuiteCorpus, path: str, key: Corpus | None, strict: bool
) -> tuple[Ruling, str]:
    if problem := find_path_problem(path):
        return "failed", problem
    try:
        return _decide(_inspect_side(corpus, path, key), strict)
    except CorefEvalError as error:
        return "failed", one_line(error)


def judge(
    inspections: list[Inspection], key: Corpus | None, protocol: Protocol | None
) -> list[Inspection]:
    """The inspections of a file or folder, with an error where a protocol cannot score it.

    Without a key it is scored against itself, and by corefeval's own protocol where none is named.
    A protocol that takes no heads from the file does without the warning that there are none.
    """
    if protocol is not None and (not protocol.reads_itself or protocol.match == "exact"):
        inspections = [
            replace(item, findings=tuple(f for f in item.findings if f.kind != "no-heads"))
            for item in inspections
        ]
    corpora = [item.corpus for item in inspections if item.corpus is not None]
    if not corpora or any(item.has_errors for item in inspections):
        return inspections
    try:
        corpus = corpora[0] if len(corpora) == 1 else join(corpora)
        score(corpus if key is None else key, corpus, metrics="muc", protocol=protocol)
    except CorefEvalError as error:
        first, *following = inspections
        refusal = Finding("refused-file", one_line(error), first.file)
        return [replace(first, findings=(refusal, *first.findings)), *following]
    return inspections


def _inspect_side(
    corpus: SuiteCorpus, path: str, key: Corpus | None, *, is_key: bool = False
) -> list[Inspection]:
    protocol = Protocol.of(corpus.protocol or None)
    inspections = inspect(
        path,
        against=key,
        format=corpus.key_format if is_key else corpus.response_format,
        encoding=corpus.encoding,
        word_column=corpus.word_column,
        layer=corpus.key_layer if is_key else corpus.response_layer,
        tokens=protocol.tokens,
    )
    return judge(inspections, key, protocol)


def _decide(inspections: list[Inspection], strict: bool) -> tuple[Ruling, str]:
    """The ruling on the files of a side, and the kinds of findings with the first one's message."""
    findings = [finding for inspection in inspections for finding in inspection.findings]
    errors = [finding for finding in findings if finding.severity == "error"]
    warnings = [finding for finding in findings if finding.severity == "warning"]
    if not errors and not warnings:
        contents = [
            inspection.contents for inspection in inspections if inspection.contents is not None
        ]
        documents = sum(content.documents for content in contents)
        mentions = sum(content.mentions for content in contents)
        return "ok", f"{plural(documents, 'document')}, {plural(mentions, 'mention')}"
    first = (errors or warnings)[0]
    kinds = Counter(finding.kind for finding in (*errors, *warnings))
    listed = ", ".join(f"{kind} {number}" if number > 1 else kind for kind, number in kinds.items())
    where = f"line {first.line}: " if first.line else ""
    named = f" ({first.document})" if first.document else ""
    ruling: Ruling = "failed" if errors or strict else "warning"
    where = f"the first: {where}" if kinds[first.kind] > 1 else where
    return ruling, f"{listed}; {where}{first.message}{named}"


# ── a first suite file, from folders of keys and of systems' responses ──


def write_suite(arguments: Sequence[Named], target: str = "suite.toml") -> str:
    """The text of a suite file for keys and systems, with paths relative to where it will be.

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
    for name, (_, path) in zip(names, systems, strict=True):
        pattern, seeds = find_pattern(path, list(corpora))
        responses = os.path.join(_relative_path(path, start), pattern)
        part = f"[[systems]]\nname = {_toml_text(name)}\nresponses = {_toml_text(responses)}\n"
        part += f"seeds = [{', '.join(map(_toml_text, seeds))}]\n" if seeds else ""
        parts.append(part)
    return "\n".join(parts)


_HEAD = """\
# Corpora × systems: corefeval suite run, check, table and page read this file.
title = "Leaderboard"
metrics = "muc, b3, ceafe, conll, lea"
headline = "conll"
missing = "zero"  # what a missing or broken response counts; or "leave-out"
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
