"""JSON and JSON lines with the line of each record, and the values in them checked."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats.source import Source

_BLANKS = re.compile(r"[ \t\n\r]*")
_SHORT = reprlib.Repr()


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
        more = ", …" if len(self.values) > 12 else ""
        return "the keys " + ", ".join(map(excerpt, list(self.values)[:12])) + more


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
    found: list[Record] = []
    for value, line in _values(source):
        several = isinstance(value, list)
        for element in value if several else [value]:
            record = Record(element, source, len(found), None if several else line - 1)
            if not isinstance(element, dict):
                raise record.error(
                    "a record is no object",
                    found=show(element),
                    expected='an object with keys, such as {"doc_key": …, "sentences": …}',
                    fix="each document is an object: one per line, or all of them in one list",
                )
            found.append(record)
    if not found:
        raise source.error(
            "there is no record in the file",
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
        value, end = _decode(source.file, decoder, text, position, line)
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
    fix = None
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        here = text[error.pos : error.pos + 40].strip()
        what = error.msg.removesuffix(" at").removesuffix(" starting")
        if text[error.pos : error.pos + 1] in ("\n", "\r"):  # to Python a control character
            what = "a string does not end on its line"
            fix = "write the record again, or leave it out"
        problem = f"this is no JSON: {what[:1].lower()}{what[1:]}"
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


Cluster = list[tuple[int, int]]  # spans with the end excluded


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a document and the lengths of its sentences."""

    words: list[str]
    lengths: list[int]

    @property
    def sentence_starts(self) -> list[int]:
        """Where sentences begin; those without words are nothing."""
        starts = accumulate(self.lengths, initial=0)
        return [start for start, length in zip(starts, self.lengths, strict=False) if length]


def sentences_in(record: Record, key: str) -> Words:
    """The words of a list of sentences, each a list of words."""
    sentences = record.value(key)
    if not isinstance(sentences, list):
        raise _no_words(record, key, show(sentences))
    words: list[str] = []
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, list):
            raise _no_words(record, key, f"{show(sentence)} as sentence {number}")
        for position, word in enumerate(sentence):
            if not isinstance(word, str):
                found = f"{show(word)} as word {position} of sentence {number}"
                raise _no_words(record, key, found)
        words += sentence
    return Words(words, [len(sentence) for sentence in sentences])


def tokens_in(record: Record, key: str) -> Words:
    """The words of a flat list, or of a list of sentences."""
    tokens = record.value(key)
    if not isinstance(tokens, list):
        raise _no_words(record, key, show(tokens))
    if tokens and all(isinstance(token, list) for token in tokens):
        return sentences_in(record, key)
    for position, word in enumerate(tokens):
        if not isinstance(word, str):
            raise _no_words(record, key, f"{show(word)} as word {position}")
    return Words(tokens, [len(tokens)])


def _no_words(record: Record, key: str, found: str) -> InputError:
    flat = ", or a list of words" if key == "tokens" else ""
    return record.error(
        f"‘{key}’ does not hold words",
        found=found,
        expected=f"a list of sentences, each a list of words (strings){flat}",
    )


def clusters_in(
    record: Record, value: Any, key: str, count: int, *, inclusive: bool = True, unit: str = "token"
) -> list[Cluster]:
    """Clusters of [start, end] as spans with the end excluded; each must lie in the document."""
    beyond = 1 if inclusive else 0
    clusters = []
    for number, cluster in enumerate(cluster_list(record, value, key)):
        spans = []
        for span in cluster:
            if type(span) is list and len(span) == 2:
                start, end = span
                # `True` is an int too, but no offset
                if type(start) is int and type(end) is int and 0 <= start < end + beyond <= count:
                    spans.append((start, end + beyond))
                    continue
            raise _bad_span(record, f"cluster {number} of ‘{key}’", span, count, beyond, unit)
        clusters.append(spans)
    return clusters


def cluster_list(record: Record, value: Any, key: str) -> list[list[Any]]:
    """A list of lists, whatever is in these."""
    if not isinstance(value, list):
        raise record.error(
            f"‘{key}’ is no list", found=show(value), expected="a list of clusters of mentions"
        )
    for number, cluster in enumerate(value):
        if not isinstance(cluster, list):
            raise record.error(
                f"cluster {number} of ‘{key}’ is no list",
                found=show(cluster),
                expected="a list of mentions",
            )
    return value


def whole_numbers(values: Any, length: int) -> bool:
    """Whether this is a list of so many whole numbers."""
    return (
        isinstance(values, list)
        and len(values) == length
        and all(type(value) is int for value in values)
    )


def _bad_span(
    record: Record, where: str, span: Any, count: int, beyond: int, unit: str
) -> InputError:
    ends = "inclusive" if beyond else "exclusive"
    pair = f"[start, end] with 0 ≤ start {'≤' if beyond else '<'} end, the end {ends}"
    fix = None
    if not whole_numbers(span, 2):
        problem = "a mention is no pair of whole numbers"
    elif span[0] < 0 or span[1] < 0:
        problem = "a mention begins before the document"
    elif span[0] >= span[1] + beyond:
        problem = "a mention ends before it begins" if beyond else "a mention spans nothing"
        if not beyond:
            fix = "ends are exclusive here: add 1 to them if yours are inclusive"
    else:
        problem = "a mention goes beyond the document"
        pair += f", in a document of {plural(count, unit)}"
        if span[1] + beyond == count + 1:
            fix = (
                "ends are inclusive here: take 1 from them if yours are exclusive"
                if beyond
                else "check that positions are counted from 0"
            )
    return record.error(f"{problem} in {where}", found=show(span), expected=pair, fix=fix)


def strings(values: Any, length: int | None = None) -> bool:
    """Whether this is a list of strings (and of so many)."""
    return (
        isinstance(values, list)
        and (length is None or len(values) == length)
        and all(isinstance(value, str) for value in values)
    )


def unique_names(names: Sequence[str | None]) -> list[str]:
    """A name for each entity of a document: its own where nobody else has it, else a new one.

    >>> unique_names(["Ada", None, "Ada"])
    ['Ada', '1', 'Ada (2)']
    """
    taken = {name for name in names if name is not None}
    result: list[str] = []
    used: set[str] = set()
    for number, name in enumerate(names):
        chosen, again = (str(number), 1) if name is None else (name, 1)
        base = chosen
        while chosen in used or (name is None and chosen in taken):
            again += 1
            chosen = f"{base} ({again})"
        used.add(chosen)
        result.append(chosen)
    return result
