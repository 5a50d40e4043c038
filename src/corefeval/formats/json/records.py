"""Records of the JSON family, from JSON, JSON lines and Parquet, and the kinds of them."""

from __future__ import annotations

import json
import re
import reprlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from corefeval.diagnostics import InputError, UsageError, excerpt, list_names
from corefeval.files import check_unpacked
from corefeval.formats.declarations import Format
from corefeval.formats.source import Source
from corefeval.formats.tools import TOOLS, has_keys

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

    def error(self, problem: str, line: int | None = None, **details: str | None) -> InputError:
        """A mistake in this record, for the caller to raise; details as in `Source.error`."""
        where = "" if self.place is not None else f"record {self.number + 1}: "
        return self.source.error(where + problem, line or self.line, **details)

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

    def text(self, key: str) -> str:
        """The string that the record has under a key."""
        value = self.value(key)
        if not isinstance(value, str):
            raise self.error(f"‘{key}’ is not a string", found=show(value), expected="a string")
        return value

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
    for value, line in values_of(source):
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


def values_of(source: Source) -> Iterator[tuple[Any, int]]:
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
        value, end = _decode(source, decoder, text, position, line)
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
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _RepeatedKeyError(key)
    return values


def parse_object(text: str) -> dict[str, Any] | None:
    """The object that a text is; None for any other text."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError, _RepeatedKeyError):
        return None
    return value if isinstance(value, dict) else None


def _decode(
    source: Source, decoder: json.JSONDecoder, text: str, position: int, line: int
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
    raise source.error(problem, line, found=found, fix=fix)


CHARACTERS = "characters"
BOOK = "gutenberg_key"
_OFFSETS = "clusters_token_offsets"
_CLUSTER_KEYS = ("clusters", "predicted_clusters")


class Kind(NamedTuple):
    """A kind of record.

    Words stand under the key `words`, which is `sentences` (lists of words), `tokens` (words, or
    sentences when read) or `text` (whose characters mentions count). Of the keys `clusters`, the
    first that a record has is read, and the first is written. A mention is [start, end] in the
    document, or with `by_sentence` [sentence, start, end] in the sentence, its end `inclusive` or
    not. The id is written under `id`, and the words of mentions under `mention_texts`.

    Records with clusters that also have all of the keys `signs` are of this kind.
    """

    id: str
    words: str
    clusters: tuple[str, ...]
    signs: frozenset[str] = frozenset()
    by_sentence: bool = False
    inclusive: bool = True
    mention_texts: str = ""
    has_speakers: bool = False  # under `speakers`
    has_characters: bool = False  # which name entities, and may hold the clusters
    has_zeros: bool = False  # tokens that begin with ##
    first_number: int = 0  # of nameless documents


# The order is the order in which kinds are tried.
_TOOLS = [tool for tool in TOOLS if tool.keys and tool.name != "allennlp"]
KINDS = {
    "preco": Kind("id", "sentences", ("mention_clusters",), by_sentence=True, inclusive=False),
    "crac-json": Kind(
        "doc_id",
        "tokens",
        (_OFFSETS,),
        signs=frozenset({"doc_id"}),
        mention_texts="clusters_text_mentions",
        has_zeros=True,
    ),
    "maverick": Kind("doc_key", "tokens", (_OFFSETS,), mention_texts="clusters_token_text"),
    "bookcoref": Kind(
        "doc_id",
        "sentences",
        _CLUSTER_KEYS,
        signs=frozenset({"sentences", CHARACTERS}),
        has_characters=True,
    ),
    "e2e": Kind(
        "doc_key", "sentences", _CLUSTER_KEYS, signs=frozenset({"sentences"}), has_speakers=True
    ),
    "fastcoref": Kind(
        "doc_key",
        "text",
        ("clusters",),
        signs=frozenset({"text"}),
        inclusive=False,
        mention_texts="clusters_strings",
    ),
    "allennlp": Kind(
        "doc_key", "document", ("clusters",), signs=frozenset({"document"}), first_number=1
    ),
}


def tool_of(record: Record) -> Format | None:
    """The tool whose records have such keys, and a reader of their own; None for other records."""
    return next((tool for tool in _TOOLS if has_keys(tool, record.values)), None)


def kind_of(record: Record) -> str:
    """The name of the kind that a record's keys tell; an InputError where they tell none."""
    keys = record.values.keys()
    for name, kind in KINDS.items():
        has_clusters = kind.has_characters or not keys.isdisjoint(kind.clusters)
        has_other_words = kind.words == "text" and "tokens" in keys
        if has_clusters and kind.signs <= keys and not has_other_words:
            return name
    raise record.error(
        "no known kind of JSON has these keys",
        found=record.list_keys(),
        expected="; ".join(f"{name} ({keys})" for name, keys in _expected_keys().items()),
        fix="convert the file to one of these; if it has answers of a language model, add "
        "--response-format llm",
    )


def _expected_keys() -> dict[str, str]:
    """The keys that each kind of record has, for a message."""
    kinds = {
        name: (kind.id, kind.words, kind.clusters[0], *(kind.signs - {kind.id, kind.words}))
        for name, kind in KINDS.items()
    }
    tools = {t.name: [key.partition("|")[0] for key in t.keys.split()] for t in _TOOLS}
    return {name: ", ".join(keys) for name, keys in (kinds | tools).items()}


_VALUE_SIZE = 4  # bytes that a value takes at least when it is read


def parquet_records(source: Source) -> list[Record]:
    """The rows of a Parquet file as records, whose keys are the columns; there must be one.

    A null is a key that the record does not have. UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet files need pyarrow: pip install pyarrow") from None
    try:
        rows = _read_rows(source, pyarrow)
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        raise source.error(
            "this is not a readable Parquet file",
            found=str(error).strip().split("\n")[0][:200],
            fix="write the file again",
        ) from None
    if not rows:
        raise source.error("there are no rows in the file", expected="a row for each document")
    return [
        Record({key: value for key, value in row.items() if value is not None}, source, number)
        for number, row in enumerate(rows)
    ]


def _read_rows(source: Source, pyarrow: Any) -> list[dict[str, Any]]:
    """All rows of a file; an InputError where they unpack to more than the limit."""
    data, file = source.data, source.file
    parquet = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(data)))
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    check_unpacked(sum(group.total_byte_size for group in groups), data.size, file)
    # Damaged statistics end the process where they are looked at, but not where everything is gone
    # through once, which takes little time and memory.
    parquet.scan_contents()
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    # A value that is repeated often takes next to nothing in the file, but not in memory.
    sizes = (max(c.total_uncompressed_size, _VALUE_SIZE * c.num_values) for c in chunks)
    check_unpacked(sum(sizes), data.size, file)
    table = parquet.read()
    table.validate(full=True)
    names = table.column_names
    if len({*names}) < len(names):
        raise source.error("a column appears twice", found=", ".join(map(repr, names)))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@contextmanager
def refusing(record: Record, noun: str) -> Iterator[None]:
    """A context in which whatever is wrong with a record is an error of the record."""
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        reason = error if type(error) is ValueError else "a value is missing or of a wrong kind"
        words, problem = excerpt(str(record.values)), f"this is not {noun}: {reason}"
        expected, fix = "what the page on its format shows", "correct the record, or leave it out"
        raise record.error(problem, found=words, expected=expected, fix=fix) from None
