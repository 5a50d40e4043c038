"""Where answers come from: records of chat interfaces and harnesses, folders of texts, one text."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corefeval.archives import list_samples
from corefeval.checks import check_count
from corefeval.diagnostics import InputError, Notice, UsageError, note, plural
from corefeval.formats import files_of
from corefeval.formats.json.records import Record, values_of
from corefeval.formats.source import Source, read_source
from corefeval.formats.standoff import document_id

_NOWHERE = Source(np.zeros(0, dtype=np.uint8), "answers")
_DEEP = 12  # levels of an unknown record that are looked at


_IDS = "custom_id id doc_id document_id doc_key document docid doc key name"
# Ids of requests, which are no documents.
_REQUEST = re.compile(r"(chatcmpl-|cmpl-|msg_|resp_|batch_req_).*", re.DOTALL)


class Kind(NamedTuple):
    """A kind of record, as `records.toml` declares it and says what its fields are."""

    name: str
    needs: str = ""
    text: str = ""
    tools: str = ""
    finish: str = ""
    ids: str = _IDS
    choices: str = ""
    inner: str = ""
    refusal: str = ""
    error: str = ""
    speaker: str = ""
    parsed: bool = False


_TABLE = tomllib.loads(Path(__file__).with_name("records.toml").read_text(encoding="utf-8"))
KINDS = tuple(Kind(name, **paths) for name, paths in _TABLE["kinds"].items())
_PLAIN = KINDS[-1]
_FINISH = {word: reason for reason, words in _TABLE["finish"].items() for word in words.split()}

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*|-1|\?[^\[\]=]+=[^\[\]]*)\]")


def check_path(path: str) -> None:
    """Raise a UsageError for what is no path."""
    if not isinstance(path, str) or not path or _STEP.sub("", path) or re.search(r"[\s|]", path):
        raise UsageError(f"{path!r:.60} is not a path in a record: write it like choices[*].text")


def find_all(value: Any, path: str) -> list[Any]:
    """All values at a path, such as `choices[*].message.content` or `parts[?type=text].text`.

    >>> find_all({"a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y"}]}, "a[?c=y].b")
    [2]
    """
    values = [value]
    for name, index in _STEP.findall(path):
        if name:
            values = [
                value[name] for value in values if isinstance(value, Mapping) and name in value
            ]
        else:
            lists = [value for value in values if isinstance(value, list)]
            values = [element for elements in lists for element in _pick(elements, index)]
    return [value for value in values if value is not None]


def _pick(elements: list[Any], index: str) -> list[Any]:
    """The elements of a list that an index in brackets stands for."""
    if index.startswith("?"):
        name, _, value = index[1:].partition("=")
        objects = (element for element in elements if isinstance(element, Mapping))
        return [element for element in objects if str(element.get(name) or "") == value]
    return elements[-1:] if index == "-1" else elements


def _find_first(value: Any, paths: str) -> list[Any]:
    """What stands at the first of some paths at which there is anything."""
    return next(filter(None, (find_all(value, path) for path in paths.split())), [])


Reply = tuple[str, str]  # the text of a choice, and why it ended


class Replies(NamedTuple):
    """What a record says of one document: its id, all choices, and where that stands."""

    identifier: str | None
    choices: list[Reply]
    record: Record
    kind: str = ""


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
    kinds = _list_kinds(answer_at, id_at)
    if isinstance(source, Mapping):
        return _choose(_read_mapping(source, kinds), choice), "answers"
    if not isinstance(source, str | os.PathLike):
        raise UsageError(
            f"answers are a path, or a mapping from document ids to texts, not {source!r:.60}"
        )
    path = os.fspath(source)
    samples = _samples_of(path)
    if samples is not None:
        log = Record({"samples": list(samples)}, Source(_NOWHERE.data, path), 0)
        return _choose(_read(log, kinds), choice), path
    files, several = files_of(source)
    root = Path(path) if os.path.isdir(path) else None
    replies = []
    for file in files:
        content = read_source(file, encoding=encoding)
        records = _records_in(content)
        if records is not None:
            replies += [reply for r in records for reply in _read_json(r, kinds, documents)]
            continue
        name = Path(file).relative_to(root) if root else Path(Path(file).name)
        stem = str(document_id(name.with_suffix("").as_posix())) if several else None
        replies.append(Replies(stem, [(content.text, "")], Record({}, content, 0)))
    return _choose(replies, choice), path


def _list_kinds(answer_at: str | None, id_at: str | None) -> Sequence[Kind]:
    """The kinds of records to choose from, with the paths that somebody names."""
    for path in (answer_at, id_at):
        if path is not None:
            check_path(path)
    kinds: Sequence[Kind] = KINDS
    if answer_at is not None:
        kinds = [_PLAIN._replace(name="--answer-at", needs=answer_at, choices=answer_at, text="")]
    return kinds if id_at is None else [kind._replace(ids=id_at) for kind in kinds]


def about_records(answers: Sequence[Answer], whose: str, choice: int) -> Iterator[Notice]:
    """Notices on the kinds of records that answers came from, and on choices that do not count."""
    kinds = Counter(answer.record for answer in answers if answer.record not in ("", _PLAIN.name))
    for kind, count in kinds.items():
        yield from note("llm-records", count, "record", f"read as {kind}", whose=whose)
    left_out = sum(answer.choices - 1 for answer in answers)
    yield from note(
        "llm-choices",
        left_out,
        "answer",
        f"left out: only choice {choice} of each record is read",
        whose=whose,
    )


_JSON = re.compile(r"\s*[\[{]")
_RECORD = re.compile(r'\s*(\[\s*)*\{\s*"')


def _records_in(source: Source) -> list[Record] | None:
    """The records of a file, or of lists and lists of lists in it; None where it is a text.

    Raises an InputError for what begins as a record does, and is no JSON.
    """
    if not source.data.size:
        raise source.error("the file is empty", fix="check the path")
    if not _JSON.match(source.text):
        return None
    records: list[Record] = []
    try:
        for value, line in values_of(source):
            lists = value if isinstance(value, list) else [value]
            lists = [inner if isinstance(inner, list) else [inner] for inner in lists]
            elements = [element for inner in lists for element in inner]
            if not elements or not all(isinstance(element, Mapping) for element in elements):
                elements = [value]
            place = line - 1 if len(elements) == 1 else None
            records += [Record(each, source, n, place) for n, each in enumerate(elements)]
    except InputError:
        if _RECORD.match(source.text):
            raise
        return None
    return records


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


def _choose(answers: Iterable[Replies], choice: int) -> list[Answer]:
    """The answers with one of their choices; the epochs of a sample of Inspect are choices."""
    joint: dict[object, Replies] = {}
    for place, replies in enumerate(answers):
        name = replies.identifier if replies.kind.startswith("Inspect") else place
        joint.setdefault(name, replies._replace(choices=[])).choices.extend(replies.choices)
    chosen = []
    for identifier, choices, record, kind in joint.values():
        if choice > len(choices):
            number = plural(len(choices), "choice")
            raise record.error(
                f"there is no choice {choice}",
                found=number,
                fix=f"use --choice N, with N at most {len(choices)}",
            )
        text, finish = choices[choice - 1]
        chosen.append(Answer(identifier, text, finish, record.line, len(choices), kind))
    return chosen


def _read_json(
    record: Record, kinds: Sequence[Kind], documents: Collection[str]
) -> Iterator[Replies]:
    """The answers of a record, or of a mapping from ids of documents to answers."""
    values = record.values
    is_known = not isinstance(values, Mapping) or _kind_of(values, kinds) is not None
    if is_known or values.keys().isdisjoint(documents):
        return _read(record, kinds)
    return _read_mapping(values, kinds)


def _read_mapping(answers: Mapping[Any, Any], kinds: Sequence[Kind]) -> Iterator[Replies]:
    """The answers of a mapping from ids to texts, records or parsed JSON."""
    for name, value in answers.items():
        yield from _read_value(str(name), value, kinds)


def _read_value(name: str, value: Any, kinds: Sequence[Kind]) -> Iterator[Replies]:
    """The answer that a mapping has for an id: a text, a record or parsed JSON."""
    if isinstance(value, Mapping) and _kind_of(value, kinds) not in (None, _PLAIN):
        yield from _read(Record(dict(value), _NOWHERE, 0), kinds, name)
    else:
        text = "" if value is None else _text_of(value)
        yield Replies(name, [(text, "")], Record({}, _NOWHERE, 0))


def _read(
    record: Record, kinds: Sequence[Kind], identifier: str | None = None, name: str = ""
) -> Iterator[Replies]:
    """The answers of a record, or of those in it, with all of their choices."""
    values = record.values
    kind = _kind_of(values, kinds)
    if kind is None:
        raise _unknown_error(record)
    speaker = "".join(map(str, _find_first(values, kind.speaker)))
    if speaker in ("user", "human", "system"):
        raise record.error(
            "the last message is not from the assistant",
            found=f"one from the {speaker}",
            fix="name the file with the answers of the model",
        )
    ids = next(filter(None, (_ids_at(values, path) for path in kind.ids.split())), [])
    identifier, name = identifier or next(iter(ids), None), name or kind.name
    inner = _find_first(values, kind.inner)
    if kind.parsed:  # a plain record may have an unchanged one of an interface as its answer
        inner = [
            v for v in _find_first(values, kind.text) if _kind_of(v, kinds) not in (None, _PLAIN)
        ]
    choices = _choices_of(kind, values)
    if inner and choices[0][1] != "error":
        for value in sorted(inner, key=_epoch):
            yield from _read(replace(record, values=value), kinds, identifier, name)
    elif len(ids) == len(choices) > 1:
        for single, reply in zip(ids, choices, strict=True):
            yield Replies(single, [reply], record, name)
    else:
        yield Replies(identifier, choices, record, name)


def _ids_at(values: Mapping[str, Any], path: str) -> list[str]:
    """The ids of documents at a path; those of requests are none."""
    ids = [str(value) for value in find_all(values, path) if type(value) in (str, int)]
    return [value for value in ids if not _REQUEST.fullmatch(value)]


def _epoch(values: Any) -> list[int]:
    return [epoch for epoch in find_all(values, "epoch") if isinstance(epoch, int)]


def _kind_of(values: Any, kinds: Sequence[Kind]) -> Kind | None:
    """The first kind that fits a record, if any does."""
    return next((k for k in kinds if isinstance(values, Mapping) and _fits(k, values)), None)


def _fits(kind: Kind, values: Mapping[str, Any]) -> bool:
    """Whether a record has all that a kind needs; a plain one may have nothing in its place."""
    if not kind.needs:
        return any(name in values for name in (*kind.text.split(), kind.error))
    return all(
        any(find_all(values, need) for need in needs.split("|")) for needs in kind.needs.split()
    )


def _choices_of(kind: Kind, values: Mapping[str, Any]) -> list[Reply]:
    """The text and the finish reason of each choice; a record without any has an empty one."""
    if _find_first(values, kind.error):
        return [("", "error")]
    replies = []
    for choice in (_find_first(values, kind.choices) if kind.choices else [values]) or [{}]:
        parts = [find_all(choice, path) for path in kind.text.split()] or [[choice]]
        texts = [part for part in parts if part and (kind.parsed or isinstance(part[0], str))]
        text = "".join(map(_text_of, texts[0])) if texts else ""
        if not text.strip():
            text = "\n".join(map(_text_of, _find_first(choice, kind.tools)))
        sides = (choice, values)
        reasons = [
            r for side in sides for path in kind.finish.split() for r in find_all(side, path)
        ]
        words = [
            _FINISH.get(r.lower(), r) for r in reasons if isinstance(r, str) and r.isidentifier()
        ]
        if any(_find_first(side, kind.refusal) for side in sides):
            words = ["refusal"]
        replies.append((text, next((word for word in words if word != "normal"), "")))
    return replies


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
