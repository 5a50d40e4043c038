"""From JSON text to records: JSON lines, one object, or a list of objects."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.source import Source

_BLANKS = re.compile(r"[ \t\n\r]*")
_SHORT = reprlib.Repr()


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file: its number (from 0), its line where it has one, its values."""

    values: dict[str, Any]
    file: str
    number: int
    line: int | None = None

    def error(
        self,
        problem: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> InputError:
        """A mistake in this record, for the caller to raise."""
        where = "" if self.line is not None else f"record {self.number + 1}: "
        return InputError(
            where + problem,
            file=self.file,
            line=self.line,
            found=found,
            expected=expected,
            fix=fix,
        )

    def value(self, *keys: str) -> Any:
        """The value of the first of some keys that the record has; it must have one of them."""
        for key in keys:
            if key in self.values:
                return self.values[key]
        raise self.error(
            f"there is no {' or '.join(map(excerpt, keys))}",
            found=self.keys_found(),
            fix="check the kind of the file, or add what is missing",
        )

    def keys_found(self) -> str:
        """The keys that the record has, for a message."""
        if not self.values:
            return "an object without keys"
        more = ", …" if len(self.values) > 12 else ""
        return "the keys " + ", ".join(map(excerpt, list(self.values)[:12])) + more


def shown(value: object) -> str:
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
    found: list[Record] = []
    for value, line in _values(source):
        several = isinstance(value, list)
        for element in value if several else [value]:
            record = Record(element, source.file, len(found), None if several else line)
            if not isinstance(element, dict):
                raise record.error(
                    "a record is no object",
                    found=shown(element),
                    expected='an object with keys, such as {"doc_key": …, "sentences": …}',
                    fix="each document is an object: one per line, or all of them in one list",
                )
            found.append(record)
    if not found:
        raise InputError(
            "there is no record in the file",
            file=source.file,
            expected="a JSON object for each document",
            fix="check that this is the file you mean, and its format",
        )
    return found


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
        value, end = _decoded(source.file, decoder, text, position, line)
        yield value, line
        position = _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


class _RepeatedKeyError(Exception):
    """A key that an object has twice: json would keep the last and lose the rest."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return values


def _decoded(
    file: str, decoder: json.JSONDecoder, text: str, position: int, line: int
) -> tuple[Any, int]:
    fix = None
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        here = text[error.pos : error.pos + 40].strip()
        problem = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        found = f"{excerpt(here) if here else 'the end of the file'} at column {error.colno}"
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
