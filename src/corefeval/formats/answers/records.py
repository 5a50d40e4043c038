"""Where answers come from: JSON lines, records of chat interfaces, folders of texts, one text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats import files_of
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.json.records import Record, records_of
from corefeval.formats.registry import ANSWERS
from corefeval.formats.source import Source, read_source
from corefeval.formats.standoff import document_id

ID_FIELDS = (
    "custom_id", "id", "doc_id", "document_id", "doc_key", "document", "docid", "doc", "key",
    "name",
)  # fmt: skip
ANSWER_FIELDS = (
    "answer", "output", "response", "completion", "prediction", "generated_text", "generation",
    "choices", "candidates", "message", "body", "result", "content", "parts", "text",
)  # fmt: skip
_FINISH_FIELDS = ("finish_reason", "stop_reason", "finishReason", "done_reason", "finish", "status")
_CUT = {"length", "max_tokens", "model_length", "max_output_tokens", "incomplete", "token_limit"}
_REFUSED = {"content_filter", "refusal", "safety", "prohibited_content", "recitation", "blocklist"}
_NORMAL = {
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "complete",
    "completed",
    "success",
    "200",
    "",
}
_DEEP = 12  # levels of a record that are looked at
_NO_LIST = re.compile(r"\[\s*\]|\{\s*\}")
_ENDS = 300  # characters at both ends, where a refusal is said; inside of a text it is a story
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|cannot|can['’]t|unable|won['’]t|lo siento|désolée?|leider)\b"
    r"|抱歉|无法|申し訳|не могу",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote: the id of its document where it is said, and why the answer ended."""

    identifier: str | None
    text: str
    finish: str = ""
    line: int | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether it is empty, a refusal or an empty list, each of which a model may mean."""
        text = self.text.strip()
        if not text or self.finish in ("refusal", "error") or _NO_LIST.search(text):
            return True
        return any(_REFUSAL.search(end) for end in (text[:_ENDS], text[-_ENDS:]))


def answers_of(source: object, *, encoding: str = "utf-8") -> tuple[list[Answer], str]:
    """All answers of a path or of a mapping from ids to texts (or records), and what to call them.

    Raises an InputError for files that cannot be read, and a UsageError for what is neither.
    """
    if isinstance(source, Mapping):
        return [_answer(str(key), value) for key, value in source.items()], "answers"
    if not isinstance(source, str | os.PathLike):
        raise UsageError(
            f"answers are a path, or a mapping from document ids to texts, not {source!r:.60}"
        )
    files, several = files_of(source)
    if not several:
        return answers_in(read_source(files[0], encoding=encoding)), os.fspath(source)
    root = Path(source) if os.path.isdir(source) else None
    answers: list[Answer] = []
    for file in files:
        content = read_source(file, encoding=encoding)
        if _is_records(content):
            answers += answers_in(content)
            continue
        path = Path(file).relative_to(root) if root else Path(Path(file).name)
        stem = str(document_id(path.with_suffix("").as_posix()))
        answers.append(Answer(stem, content.text))
    return answers, os.fspath(source)


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


def answers_in(source: Source) -> list[Answer]:
    """The answers in a file: one for each record, or the whole text."""
    if not source.data.size:
        raise InputError("the file is empty", file=source.file, fix="check the path")
    if not _is_records(source):
        return [Answer(None, source.text)]
    records = records_of(source)
    first = records[0]
    if len(records) == 1 and not _has_answer(first.values):  # {"id": "text", …}
        return [_answer(str(key), value, first) for key, value in first.values.items()]
    return [_answer(None, record.values, record) for record in records]


_RECORD = re.compile(r"\s*(\[\s*)?\{")


def _is_records(source: Source) -> bool:
    """Whether a file has records with answers, and is not itself an answer in JSON."""
    head = source.data[: 1 << 16].tobytes().decode(source.encoding, "replace")
    if not _RECORD.match(head):
        return False
    try:
        records = records_of(source)
    except InputError:
        line = head.lstrip().split("\n", 1)[0]
        return re.search(ANSWERS["llm"].sign, line.encode()) is not None
    if all(_has_answer(record.values) for record in records):
        return True
    values = records[0].values
    return len(records) == 1 and bool(values) and all(isinstance(v, str) for v in values.values())


def _has_answer(values: Mapping[str, Any]) -> bool:
    return any(field in values for field in (*ANSWER_FIELDS, "error"))


def _answer(identifier: str | None, value: Any, record: Record | None = None) -> Answer:
    """The answer in a record, or in the value that a mapping has for an id."""
    if isinstance(value, str):
        return Answer(identifier, value)
    line = record.line if record is not None else None
    text = _text_in(value, 0)
    finish = _finish_in(value, 0)
    if isinstance(value, Mapping) and identifier is None:
        candidates = (value[f] for f in ID_FIELDS if isinstance(value.get(f), str | int))
        identifier = next((str(candidate) for candidate in candidates), None)
    if text is None and isinstance(value, Mapping) and value.get("error"):
        return Answer(identifier, "", "error", line)
    if text is None and isinstance(value, Mapping) and _is_empty(value):
        return Answer(identifier, "", finish, line)
    if text is None:
        expected = f"one of {', '.join(ANSWER_FIELDS[:6])}, or a record of a chat interface"
        problem = "there is no answer in the record"
        if record is not None:
            raise record.error(problem, found=record.list_keys(), expected=expected)
        raise InputError(problem, found=excerpt(repr(value)), expected=expected)
    return Answer(identifier, text, finish, line)


def _is_empty(values: Mapping[str, Any]) -> bool:
    """Whether a record has a place for an answer, and nothing in it."""
    return _has_answer(values) and all(values.get(field) is None for field in ANSWER_FIELDS)


def _text_in(value: Any, depth: int) -> str | None:
    """The text of an answer, however deep a record has it."""
    if isinstance(value, str):
        return value
    if depth > _DEEP or value is None:
        return None
    if isinstance(value, Mapping):
        named = [value[field] for field in ANSWER_FIELDS if value.get(field) is not None]
        candidates = (_text_in(inner, depth + 1) for inner in named)
        text = next((candidate for candidate in candidates if candidate is not None), None)
        # An answer that was parsed already: clusters in the place of text.
        return json.dumps(value, ensure_ascii=False) if text is None and depth and value else text
    if isinstance(value, list):
        if value and all(isinstance(part, Mapping) for part in value):
            chosen = value[:1] if "message" in value[0] or "index" in value[0] else value
            if any(_has_answer(part) or "type" in part for part in chosen):
                parts = [
                    part for part in chosen if part.get("type") not in ("reasoning", "thinking")
                ]
                texts = [_text_in(part, depth + 1) for part in parts]
                return "".join(part_text for part_text in texts if part_text is not None)
        return json.dumps(value, ensure_ascii=False)
    return None


def _finish_in(value: Any, depth: int) -> str:
    """Why an answer ended: `length`, `refusal`, `error`, or nothing where it ended by itself."""
    for raw_reason in _values_of(value, depth):
        reason = str(raw_reason).lower()
        if reason in _CUT:
            return "length"
        if reason in _REFUSED:
            return "refusal"
        if reason not in _NORMAL and reason.isidentifier():
            return reason
    return ""


def _values_of(value: Any, depth: int) -> Iterator[object]:
    if depth > _DEEP:
        return
    if isinstance(value, Mapping):
        yield from (value[f] for f in _FINISH_FIELDS if isinstance(value.get(f), str))
        if value.get("refusal"):
            yield "refusal"
    inner: Sequence[Any] = list(value.values()) if isinstance(value, Mapping) else ()
    inner = value[:1] if isinstance(value, list) else inner
    for child in inner:
        if isinstance(child, Mapping | list):
            yield from _values_of(child, depth + 1)
