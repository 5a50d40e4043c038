"""Where answers come from: records of chat interfaces and harnesses, folders of texts, one text."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, filterfalse
from pathlib import Path
from typing import Any, NamedTuple

from corefeval.archives import list_samples
from corefeval.checks import check_count
from corefeval.diagnostics import InputError, Notice, UsageError, note, plural
from corefeval.formats import files_of
from corefeval.formats.json.records import Record, values_of
from corefeval.formats.source import Source, read_source, source_of
from corefeval.formats.standoff import document_id

_DEEP = 12  # levels of an unknown record that are looked at


# Ids of requests, which are no documents.
_REQUEST = re.compile("chatcmpl-|cmpl-|msg_|resp_|batch_req_")


class Kind(NamedTuple):
    """A kind of record, as `records.toml` declares it and says what its fields are."""

    name: str
    needs: str = ""
    text: str = "."
    tools: str = ""
    finish: str = ""
    ids: str = "custom_id id doc_id document_id doc_key document docid doc key name"
    choices: str = "."
    inner: str = ""
    refusal: str = ""
    error: str = ""
    speaker: str = ""
    parsed: bool = False

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Whether a record has all that is needed; a plain one may have nothing in its place."""
        if not self.needs:
            return not values.keys().isdisjoint((*self.text.split(), self.error))
        return all(find_all(values, need.replace("|", " ")) for need in self.needs.split())

    def replies(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The text and the finish reason of each choice; a record without any has an empty one."""
        if any(find_all(values, self.error)):
            yield "", "error"
            return
        for choice in find_all(values, self.choices) or [{}]:
            texts = [t for t in find_all(choice, self.text) if self.parsed or isinstance(t, str)]
            text = "".join(map(_text_of, texts))
            if not text.strip():
                text = "\n".join(map(_text_of, find_all(choice, self.tools)))
            around = {**values, **choice} if isinstance(choice, Mapping) else values
            finish = [
                _FINISH.get(reason.lower(), reason)
                for reason in find_all(around, self.finish)
                if isinstance(reason, str) and reason.isidentifier()
            ]
            if any(find_all(around, self.refusal)):
                finish = ["refusal"]
            yield text, next((word for word in finish if word != "normal"), "")


_TABLE = tomllib.loads(Path(__file__).with_name("records.toml").read_text(encoding="utf-8"))
KINDS = tuple(Kind(name, **paths) for name, paths in _TABLE["kinds"].items())
_PLAIN = KINDS[-1]
_FINISH = {word: reason for reason, words in _TABLE["finish"].items() for word in words.split()}

_STEP = re.compile(r"\.?([^.\[\]\s|]+)|\[(?:\*|(-1)|\?([^\[\]=\s|]+)=([^\[\]\s|]*))\]")


def check_path(path: str) -> None:
    """Raise a UsageError for what is no path."""
    if not isinstance(path, str) or not path or _STEP.sub("", path):
        raise UsageError(f"{path!r:.60} is not a path in a record: write it like choices[*].text")


def find_all(value: Any, paths: str) -> list[Any]:
    """All values at the first of some paths, separated by blanks, at which there is anything.

    >>> find_all({"a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y"}]}, "parts[*].text a[?c=y].b")
    [2]
    """
    for path in paths.split():
        values = [value]
        for name, last, field_name, expected in _STEP.findall(path):
            if name:
                values = [v.get(name) for v in values if isinstance(v, Mapping)]
                continue
            lists = [v for v in values if isinstance(v, list)]
            values = [element for v in lists for element in (v[-1:] if last else v)]
            if field_name:
                objects = [v for v in values if isinstance(v, Mapping)]
                values = [v for v in objects if str(v.get(field_name) or "") == expected]
        if values := [v for v in values if v is not None]:
            return values
    return []


@dataclass(slots=True)
class Answer:
    """What a model wrote: the id of its document where it is said, and why the answer ended.

    `n_choices` is how many answers there were, of which this is one; `record` is the kind of record
    that had it. `parts` are the documents of the key that it is about, and where each begins in the
    text; `piece` is which piece of its document it is about (0 for all of it), of `n_pieces`. `raw`
    is the text as it was written, before it was cleaned.
    """

    identifier: str | None
    text: str
    finish: str = ""
    record: str = ""
    n_choices: int = 1
    parts: list[tuple[int, int]] = field(default_factory=list)
    piece: int = 0
    n_pieces: int = 0
    raw: str = ""


_Replies = tuple[Record, list[Answer]]  # a record, and all choices that it has for a document


def answers_of(
    source: object,
    *,
    encoding: str = "utf-8",
    choice: int = 1,
    answer_at: str | None = None,
    id_at: str | None = None,
    documents: Collection[str] = (),
) -> tuple[list[Answer], str]:
    """All answers of a path or of a mapping from ids to texts (or records), and what to call them.

    `choice` is which of several answers to take; `answer_at` and `id_at` are paths in records of a
    kind that nobody declared. JSON with ids of `documents` as keys is a mapping, unless it is a
    record of a known kind. Raises an InputError for files that cannot be read, and a UsageError
    for what is neither.
    """
    check_count("the choice", choice)
    reader = _Reader(answer_at, id_at)
    if isinstance(source, Mapping):
        return list(_choose(reader.read_mapping(source), choice)), "answers"
    if not isinstance(source, str | os.PathLike):
        raise UsageError(
            f"answers are a path, or a mapping from document ids to texts, not {source!r:.60}"
        )
    path = os.fspath(source)
    return list(_choose(reader.read_files(path, encoding, documents), choice)), path


def about_records(answers: Sequence[Answer], whose: str, choice: int) -> Iterator[Notice]:
    """Notices on the kinds of records that answers came from, and on choices that do not count."""
    kinds = Counter(answer.record for answer in answers if answer.record not in ("", _PLAIN.name))
    for kind, count in kinds.items():
        yield from note("llm-records", count, "record", f"read as {kind}", whose=whose)
    left_out = sum(answer.n_choices - 1 for answer in answers)
    outcome = f"left out: only choice {choice} of each record is read"
    yield from note("llm-choices", left_out, "answer", outcome, whose=whose)


def _records_in(source: Source) -> list[Record] | None:
    """The records of a file, or of lists and lists of lists in it; None where it is a text.

    Raises an InputError for what begins as a record does, and is no JSON.
    """
    if not source.data.size:
        raise source.error("the file is empty", fix="check the path")
    if not re.match(r"\s*[\[{]", source.text):
        return None
    records = []
    try:
        for value, line in values_of(source):
            elements = [value]
            while {*map(type, elements)} == {list}:
                elements = [*chain.from_iterable(elements)]
            if {*map(type, elements)} != {dict}:
                elements = [value]
            place = line - 1 if len(elements) == 1 else None
            records += [Record(each, source, n, place) for n, each in enumerate(elements)]
    except InputError:
        if re.match(r'\s*(\[\s*)*\{\s*"', source.text):
            raise
        return None
    return records


def _samples_of(path: str) -> list[Any] | None:
    """The samples in a log of Inspect (`.eval`); None for any other path."""
    members = list_samples(path)
    if members is None:
        return None
    if members:
        return [value for member in members for value, _ in values_of(read_source(member))]
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise InputError(
            "this log of Inspect is packed with zstd, which this version of Python cannot unpack",
            file=path,
            fix=f"inspect log dump {path} > log.json, and name that; or install inspect_ai",
        ) from None
    return [sample.model_dump(mode="json") for sample in read_eval_log(path).samples or ()]


def _choose(replies: Iterable[_Replies], choice: int) -> Iterator[Answer]:
    """One choice of each record; the epochs of a sample of Inspect count as its choices."""
    joint: dict[object, _Replies] = {}
    for place, (record, choices) in enumerate(replies):
        is_sample = choices[0].record.startswith("Inspect")
        name = choices[0].identifier if is_sample else place
        joint.setdefault(name, (record, []))[1].extend(choices)
    for record, choices in joint.values():
        if choice > len(choices):
            raise record.error(
                f"there is no choice {choice}",
                found=plural(len(choices), "choice"),
                fix=f"use --choice N, with N at most {len(choices)}",
            )
        yield replace(choices[choice - 1], n_choices=len(choices))


class _Reader:
    """Reads records of the declared kinds, or with the paths that somebody names."""

    def __init__(self, answer_at: str | None, id_at: str | None) -> None:
        self.kinds = KINDS
        if answer_at is not None:
            check_path(answer_at)
            self.kinds = (Kind("--answer-at", answer_at, choices=answer_at, parsed=True),)
        if id_at is not None:
            check_path(id_at)
            self.kinds = tuple(kind._replace(ids=id_at) for kind in self.kinds)

    def kind_of(self, values: Any) -> Kind | None:
        """The first kind that fits a record, if any does."""
        kinds = self.kinds if isinstance(values, Mapping) else ()
        return next((kind for kind in kinds if kind.fits(values)), None)

    def is_record(self, value: Any) -> bool:
        """Whether a value is a record of an interface or a harness."""
        return self.kind_of(value) not in (None, _PLAIN)

    def read_files(
        self, path: str, encoding: str, documents: Collection[str]
    ) -> Iterator[_Replies]:
        """The answers of a log of Inspect, or of a file or several: records, mappings or texts."""
        samples = _samples_of(path)
        if samples is not None:
            yield from self.read(Record({"samples": samples}, source_of("", path), 0))
            return
        files, several = files_of(path)
        root = path if os.path.isdir(path) else os.path.dirname(path)
        for file in files:
            content = read_source(file, encoding=encoding)
            records = _records_in(content)
            if records is None:
                name = Path(os.path.relpath(file, root)).with_suffix("").as_posix()
                stem = str(document_id(name)) if several else None
                yield Record({}, content, 0), [Answer(stem, content.text)]
            for record in records or ():
                values = record.values
                is_unknown = isinstance(values, Mapping) and self.kind_of(values) is None
                if is_unknown and not values.keys().isdisjoint(documents):
                    yield from self.read_mapping(values)
                else:
                    yield from self.read(record)

    def read_mapping(self, answers: Mapping[Any, Any]) -> Iterator[_Replies]:
        """The answers of a mapping from ids to texts, records or parsed JSON."""
        for name, value in answers.items():
            record = Record(value, source_of("", "answers"), 0)
            if self.is_record(value):
                yield from self.read(record, str(name))
            else:
                text = "" if value is None else _text_of(value)
                yield record, [Answer(str(name), text)]

    def read(
        self, record: Record, identifier: str | None = None, name: str = ""
    ) -> Iterator[_Replies]:
        """The answers of a record, or of those in it, with all of their choices."""
        values = record.values
        kind = self.kind_of(values)
        if kind is None:
            raise _unknown_error(record)
        speaker = next(iter(find_all(values, kind.speaker)), "")
        if speaker in ("user", "human", "system", "tool"):
            raise record.error(
                "the last message is not from the assistant",
                found=f"one from the {speaker}",
                fix="name the file with the answers of the model",
            )
        ids = _ids_of(values, kind.ids)
        identifier, name = identifier or next(iter(ids), None), name or kind.name
        choices = [Answer(identifier, *reply, name) for reply in kind.replies(values)]
        inner = find_all(values, kind.inner) if choices[0].finish != "error" else []
        if kind.parsed:  # a plain record may have an unchanged one of an interface as its answer
            inner = [*filter(self.is_record, inner)]
        for value in sorted(inner, key=lambda value: find_all(value, "epoch")):
            yield from self.read(replace(record, values=value), identifier, name)
        if len(ids) == len(choices) > 1:
            for single, answer in zip(ids, choices, strict=True):
                answer.identifier = single
                yield record, [answer]
        elif not inner:
            yield record, choices


def _ids_of(values: Mapping[str, Any], paths: str) -> list[str]:
    """The ids at the first of some paths that has ids of documents; those of requests are none."""
    for path in paths.split():
        ids = (str(value) for value in find_all(values, path) if type(value) in (str, int))
        if documents := list(filterfalse(_REQUEST.match, ids)):
            return documents
    return []


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# Where requests have what a model was asked.
_ASKED = re.compile(r"\b(messages|system|user|prompt|input|instructions)\b")


def _unknown_error(record: Record) -> InputError:
    """The error for a record of no known kind, with the paths where its answer may be."""
    values = record.values
    strings = [(path, text) for path, text in _strings(values) if not _ASKED.search(path)]
    path, text = max(strings, key=lambda item: len(item[1]), default=("", ""))
    names = [path for path, text in strings if len(text.split()) == 1]
    return record.error(
        "not a record of a known kind",
        found=record.list_keys() if isinstance(values, dict) else "a list",
        expected=f"one of {', '.join(kind.name for kind in KINDS)}",
        fix="say where answers and ids are: --answer-at "
        f"{path if ' ' in text else 'PATH'} --id-at {(*names, 'PATH')[0]}",
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
