"""JSON and JSON lines as records, each with its line in the file."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corefeval.diagnostics import InputError, excerpt, list_names
from corefeval.formats.source import Source

_BLANKS = re.compile(r"[ \t\n\r]*")
_SHORT = reprlib.Repr()
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ID_KEYS = ("doc_key", "doc_id", "id")


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file: its number and its line (from 0) where it has one, its values."""

    values: dict[str, Any]
    source: Source
    number: int
    place: int | None = None

    @property
    def line(self) -> int | None:
        """Its line in the file, counted from 1."""
        return None if self.place is None else self.source.line(self.place)

    def error(self, problem: str, **details: str | None) -> InputError:
        """A mistake in this record, for the caller to raise; details as in `Source.error`."""
        where = "" if self.place is not None else f"record {self.number + 1}: "
        return self.source.error(where + problem, self.line, **details)

    def value(self, *keys: str) -> Any:
        """The value of the first of some keys that the record has; it must have one of them."""
        for key in keys:
            if key in self.values:
                return self.values[key]
        raise self.error(
            f"there is no {' or '.join(map(excerpt, keys))}",
            found=self.list_keys(),
            fix="check the kind of the file, or add what is missing",
        )

    def list_keys(self) -> str:
        """The keys that the record has, for a message."""
        if not self.values:
            return "an object without keys"
        return f"the keys {list_names(list(self.values), 12)}"

    def stated_id(self) -> str | None:
        """The id that the record states; None where it states none."""
        for key in ID_KEYS:
            value = self.values.get(key)
            if isinstance(value, str) and not _LONE_SURROGATE.search(value):
                return value
            if type(value) is int:
                return str(value)
            if value is not None:
                expected = "a string or a number"
                raise self.error(f"‘{key}’ is not an id", found=show(value), expected=expected)
        return None


def show(value: object) -> str:
    """A foreign value for a message: what type it has in JSON, and a little of it."""
    names: dict[type, str] = {
        str: "the string",
        int: "the number",
        float: "the number",
        list: "the list",
        dict: "the object",
    }
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = value if isinstance(value, str) else _SHORT.repr(value)
    return f"{names.get(type(value), '')} {excerpt(text)}".strip()


def records_of(source: Source) -> list[Record]:
    """All records of a file, in order; there must be one."""
    records: list[Record] = []
    for value, line in _values(source):
        several = isinstance(value, list)
        for element in value if several else [value]:
            record = Record(element, source, len(records), None if several else line - 1)
            if not isinstance(element, dict):
                raise record.error(
                    "a record is not an object",
                    found=show(element),
                    expected='an object with keys, such as {"doc_key": …, "sentences": …}',
                    fix="each document is an object: one per line, or all of them in one list",
                )
            records.append(record)
    if not records:
        raise source.error(
            "there are no records in the file",
            expected="a JSON object for each document",
            fix="check that this is the right file, and its format",
        )
    return records


def _values(source: Source) -> Iterator[tuple[Any, int]]:
    """The values that stand one after the other in a file, each with the line of its beginning.

    One value after the other covers JSON lines, a single object and a list alike, and does not
    mind how they are broken into lines.
    """
    text = source.text
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    position, counted, line = _after_blanks(text, 0), 0, 1
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        value, end = _decode(source.file, decoder, text, position, line)
        yield value, line
        position = _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


class _RepeatedKeyError(Exception):
    """A key that an object has twice: json would keep only the last value."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return values


def parse_object(text: str) -> dict[str, Any] | None:
    """The object that a text is; None for any other text."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError, _RepeatedKeyError):
        return None
    return value if isinstance(value, dict) else None


def _decode(
    file: str, decoder: json.JSONDecoder, text: str, position: int, line: int
) -> tuple[Any, int]:
    """The value at a position, which is on `line`, and the position behind it."""
    fix = None
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        context = text[error.pos : error.pos + 40].strip()
        reason = error.msg.removesuffix(" at").removesuffix(" starting")
        if text[error.pos : error.pos + 1] in ("\n", "\r"):  # to Python a control character
            reason = "a string does not end on its line"
            fix = "write the record again, or leave it out"
        problem = f"this is not JSON: {reason[:1].lower()}{reason[1:]}"
        found = f"{excerpt(context) if context else 'the end of the file'} at column {error.colno}"
        if error.lineno != line:
            found += f", in the record that begins on line {line}"
            fix = "a record that is cut short may be broken on the line before"
        line = error.lineno
    except _RepeatedKeyError as error:
        problem, found = "an object has a key twice", excerpt(str(error))
        fix = "keep one of the two"
    except RecursionError:
        problem, found = "the JSON is nested too deeply", "lists in lists in lists …"
    except ValueError as error:  # a number of more digits than Python converts
        problem, found = f"a value cannot be read: {error}", excerpt(text[position : position + 60])
    raise InputError(problem, file=file, line=line, found=found, fix=fix)
