"""Where answers come from: records of chat interfaces and harnesses, folders of texts, one text."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from corefeval.archives import list_samples
from corefeval.checks import check_count
from corefeval.diagnostics import InputError, Notice, UsageError, note, plural
from corefeval.formats import files_of
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.answers.record_kinds import (
    FINISH,
    IDS,
    KINDS,
    PLAIN,
    REQUEST,
    Kind,
    check_path,
    find_all,
    find_first,
)
from corefeval.formats.json.records import Record, show, values_of
from corefeval.formats.source import Source, read_source
from corefeval.formats.standoff import document_id

_NOWHERE = Source(np.zeros(0, dtype=np.uint8), "answers")
_DEEP = 12  # levels of an unknown record that are looked at
_NO_LIST = re.compile(r"\[\s*\]|\{\s*\}")
_ENDS = 300  # characters at both ends, where a refusal is said; inside of a text it is a story
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|cannot|can['’]t|unable|won['’]t|lo siento|désolée?|leider)\b"
    r"|抱歉|无法|申し訳|не могу",
    re.IGNORECASE,
)


Reply = tuple[str, str]  # the text of a choice, and why it ended


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote: the id of its document where it is said, and why the answer ended.

    `choices` is how many answers there were, of which this is one; `record` is the kind of record
    that had it.
    """

    identifier: str | None
    text: str
    finish: str = ""
    line: int | None = None
    choices: int = 1
    record: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether it is empty, a refusal or an empty list, each of which a model may mean."""
        text = self.text.strip()
        if not text or self.finish in ("refusal", "error") or _NO_LIST.search(text):
            return True
        return any(_REFUSAL.search(end) for end in (text[:_ENDS], text[-_ENDS:]))


def answers_of(
    source: object,
    *,
    encoding: str = "utf-8",
    choice: int = 1,
    answer_at: str | None = None,
    id_at: str | None = None,
) -> tuple[list[Answer], str]:
    """All answers of a path or of a mapping from ids to texts (or records), and what to call them.

    `choice` is which of several answers to take; `answer_at` and `id_at` are paths in records of a
    kind that nobody declared. Raises an InputError for files that cannot be read, and a UsageError
    for what is neither.
    """
    check_count("the choice", choice)
    reader = _Reader(_list_kinds(answer_at, id_at), id_at)
    if isinstance(source, Mapping):
        for name, value in source.items():
            reader.read_value(str(name), value)
        return reader.choose(choice), "answers"
    if not isinstance(source, str | os.PathLike):
        raise UsageError(
            f"answers are a path, or a mapping from document ids to texts, not {source!r:.60}"
        )
    path = os.fspath(source)
    samples = _samples_of(path)
    if samples is not None:
        reader.read_record(Record({"samples": list(samples)}, Source(_NOWHERE.data, path), 0))
        return reader.choose(choice), path
    files, several = files_of(source)
    root = Path(path) if os.path.isdir(path) else None
    for file in files:
        content = read_source(file, encoding=encoding)
        values = _json_in(content)
        if values is not None:
            reader.read_values(values, content)
            continue
        name = Path(file).relative_to(root) if root else Path(Path(file).name)
        stem = str(document_id(name.with_suffix("").as_posix())) if several else None
        reader.add(stem, [(content.text, "")], Record({}, content, 0))
    return reader.choose(choice), path


def _list_kinds(answer_at: str | None, id_at: str | None) -> Sequence[Kind]:
    """The kinds of records to choose from, with the paths that somebody names."""
    for path in (answer_at, id_at):
        if path is not None:
            check_path(path)
    if answer_at is not None:
        kind = PLAIN._replace(name="--answer-at", needs=answer_at, choices=answer_at, text="")
        return [kind._replace(ids=id_at or IDS)]
    return KINDS if id_at is None else [kind._replace(ids=id_at) for kind in KINDS]


def about_records(answers: Sequence[Answer], whose: str, choice: int) -> Iterator[Notice]:
    """Notices on the kinds of records that answers came from, and on choices that do not count."""
    kinds = Counter(answer.record for answer in answers if answer.record)
    for kind, count in kinds.items():
        yield from note("llm-records", count, "record", f"of the kind: {kind}", whose=whose)
    left_out = sum(answer.choices - 1 for answer in answers)
    yield from note(
        "llm-choices", left_out, "answer", f"left out: choice {choice} counts", whose=whose
    )


_PIECE = re.compile(r"(.*)#(\d{1,6})/(\d{1,6})", re.DOTALL)


def join_pieces(answers: Sequence[Answer], texts: KeyTexts) -> list[Answer]:
    """Answers about pieces of a document (`ID#1/3`) put together, in the order of the pieces."""
    joined: list[Answer] = []
    pieces: dict[str, list[tuple[int, Answer]]] = {}
    for answer in answers:
        piece = _PIECE.fullmatch(answer.identifier or "")
        if piece is None or texts.find(piece[0]) is not None or texts.find(piece[1]) is None:
            joined.append(answer)
        else:
            pieces.setdefault(piece[1], []).append((int(piece[2]), answer))
    for name, parts in pieces.items():
        parts.sort(key=lambda part: part[0])
        reasons = (answer.finish for _, answer in parts)
        text = "\n\n".join(answer.text for _, answer in parts)
        joined.append(Answer(name, text, next(filter(None, reasons), "")))
    return joined


_JSON = re.compile(r"\s*[\[{]")
_RECORD = re.compile(r'\s*(\[\s*)*\{\s*"')


def _json_in(source: Source) -> list[tuple[Any, int]] | None:
    """The JSON values of a file and their lines; None where it is a text.

    Raises an InputError for what begins as a record does, and is no JSON.
    """
    if not source.data.size:
        raise source.error("the file is empty", fix="check the path")
    if not _JSON.match(source.text):
        return None
    try:
        return list(values_of(source))
    except InputError:
        if _RECORD.match(source.text):
            raise
        return None


def _samples_of(path: str) -> Iterator[Any] | None:
    """The samples in a log of Inspect (`.eval`); None for any other path."""
    members = list_samples(path)
    if members is None:
        return None
    if members:
        sources = (read_source(member) for member in members)
        return (value for source in sources for value, _ in values_of(source))
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise InputError(
            "this log of Inspect is packed with zstd, which this version of Python cannot unpack",
            file=path,
            fix=f"inspect log dump {path} > log.json, and name that; or install inspect_ai",
        ) from None
    return (sample.model_dump(mode="json") for sample in read_eval_log(path).samples or ())


@dataclass(slots=True)
class _Reader:
    """Reads records, and keeps what they say: for each answer its id, all choices, and whence."""

    kinds: Sequence[Kind]
    id_at: str | None
    rows: dict[object, tuple[str | None, list[Reply], Record, str]] = field(default_factory=dict)

    def add(
        self, identifier: str | None, replies: Sequence[Reply], record: Record, kind: str = ""
    ) -> None:
        """Keep an answer; the epochs of a sample of Inspect are choices."""
        place = identifier if kind.startswith("Inspect") else len(self.rows)
        self.rows.setdefault(place, (identifier, [], record, kind))[1].extend(replies)

    def read_value(self, name: str, value: Any) -> None:
        """Add the answer that a mapping has for an id: a text, a record or parsed JSON."""
        record = Record(value, _NOWHERE, len(self.rows))
        if isinstance(value, Mapping) and self._kind_of(value) not in (None, PLAIN):
            self.read_record(record, name)
        else:
            self.add(name, [(_text_of(value), "")], record)

    def read_values(self, values: Iterable[tuple[Any, int]], source: Source) -> None:
        """Add the answers of a file of records, or of lists of them."""
        for value, line in values:
            elements = value if isinstance(value, list) else [value]
            lists = (element if isinstance(element, list) else [element] for element in elements)
            place = None if isinstance(value, list) else line - 1
            for number, element in enumerate([e for inner in lists for e in inner] or [None]):
                record = Record(element, source, number, place)
                if not isinstance(element, Mapping):
                    raise _unknown_error(record, "a list" if place is None else show(element))
                self.read_record(record)

    def _kind_of(self, values: Mapping[str, Any]) -> Kind | None:
        """The first kind that fits a record."""
        return next((kind for kind in self.kinds if _fits(kind, values)), None)

    def read_record(self, record: Record, identifier: str | None = None, name: str = "") -> None:
        """Add the answers of a record, or of those in it."""
        values = record.values
        kind = self._kind_of(values)
        if kind is None:
            raise _unknown_error(record, record.list_keys())
        speakers = find_all(values, kind.speaker) if kind.speaker else []
        if speakers and speakers[-1] in ("user", "human", "system"):
            raise record.error(
                "the last message is not one of the assistant",
                found=f"one of the {speakers[-1]}",
                fix="name the file with the answers of the model",
            )
        ids = [str(value) for value in find_first(values, kind.ids) if type(value) in (str, int)]
        if kind.ids != self.id_at:
            ids = [value for value in ids if not REQUEST.fullmatch(value)]
        identifier, name = identifier or next(iter(ids), None), name or kind.name
        inner = find_all(values, kind.inner) if kind.inner else []
        if kind.parsed:  # a plain record may have an unchanged one of an interface as its answer
            objects = [v for v in find_first(values, kind.text)[:1] if isinstance(v, Mapping)]
            inner = [value for value in objects if self._kind_of(value) not in (None, PLAIN)]
        replies = _replies(kind, values)
        if inner and not any(finish == "error" for _, finish in replies):
            for value in sorted(inner, key=_epoch):
                inner_record = Record(value, record.source, record.number, record.place)
                self.read_record(inner_record, identifier, name)
        elif len(ids) == len(replies) > 1:
            for single, reply in zip(ids, replies, strict=True):
                self.add(single, [reply], record, name)
        else:
            self.add(identifier, replies, record, name)

    def choose(self, choice: int) -> list[Answer]:
        """The answers, each with this choice; an InputError for one that has not so many."""
        answers = []
        for identifier, replies, record, kind in self.rows.values():
            if choice > len(replies):
                raise record.error(
                    f"there is no choice {choice}",
                    found=plural(len(replies), "choice"),
                    fix="take a choice that all answers have",
                )
            text, finish = replies[choice - 1]
            answers.append(Answer(identifier, text, finish, record.line, len(replies), kind))
        return answers


def _epoch(values: Any) -> int:
    epoch = values.get("epoch") if isinstance(values, Mapping) else None
    return epoch if isinstance(epoch, int) else 0


def _fits(kind: Kind, values: Mapping[str, Any]) -> bool:
    """Whether a record has all that a kind needs; a plain one may have nothing in its place."""
    if not kind.needs:
        return any(name in values for name in (*kind.text.split(), kind.error))
    return all(
        any(find_all(values, need) for need in needs.split("|")) for needs in kind.needs.split()
    )


def _replies(kind: Kind, values: Mapping[str, Any]) -> list[Reply]:
    """The text and the finish reason of each choice; a record without any has an empty one."""
    if find_first(values, kind.error):
        return [("", "error")]
    choices = find_first(values, kind.choices) if kind.choices else [values]
    replies = []
    for choice in choices or [{}]:
        parts = [find_all(choice, path) for path in kind.text.split()] or [[choice]]
        texts = [found for found in parts if found and (kind.parsed or isinstance(found[0], str))]
        text = "".join(map(_text_of, texts[0])) if texts else ""
        if not text.strip():
            text = "\n".join(map(_text_of, find_first(choice, kind.tools)))
        replies.append((text, _finish(kind, choice, values)))
    return replies


def _finish(kind: Kind, choice: Any, values: Mapping[str, Any]) -> str:
    """Why an answer ended: `length`, `refusal`, `error`, nothing, or what else was said."""
    if find_first(choice, kind.refusal) or find_first(values, kind.refusal):
        return "refusal"
    places = [(side, path) for side in (choice, values) for path in kind.finish.split()]
    reasons = [reason for side, path in places for reason in find_all(side, path)]
    spoken = [reason for reason in reasons if isinstance(reason, str) and reason.isidentifier()]
    return next(filter(None, (FINISH.get(reason.lower(), reason) for reason in spoken)), "")


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Where requests have what a model was asked.
_ASKED = re.compile(r"\b(messages|system|user|prompt|input|instructions)\b")


def _unknown_error(record: Record, found: str) -> InputError:
    """The error for a record of no known kind, with the paths where its answer may be."""
    strings = [(path, text) for path, text in _strings(record.values) if not _ASKED.search(path)]
    answer = max(strings, key=lambda item: len(item[1]), default=("", ""))
    ids = [path for path, text in strings if len(text.split()) == 1]
    path = answer[0] if len(answer[1].split()) > 1 else "PATH"
    return record.error(
        "not a record of a known kind",
        found=found,
        expected=f"one of {', '.join(kind.name for kind in KINDS)}",
        fix=f"--answer-at {path} --id-at {next(iter(ids), 'PATH')}",
    )


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The paths of all strings in a value, of lists that of the first element."""
    if isinstance(value, str):
        yield path, value
    elif path.count(".") + path.count("[") < _DEEP:
        if isinstance(value, Mapping):
            for name, inner in value.items():
                yield from _strings(inner, f"{path}.{name}".removeprefix("."))
        elif isinstance(value, list) and value:
            yield from _strings(value[0], f"{path}[*]")
