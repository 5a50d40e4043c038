"""Features in a file: tab-separated columns, a mention or a document per line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from corefeval.diagnostics import excerpt
from corefeval.files import PathLike
from corefeval.formats.source import Source, read_source

DOCUMENT, MENTION, START, END = "document", "mention", "start", "end"
_PLACES = (DOCUMENT, MENTION, START, END)
_PLACE_COLUMNS = [
    sorted(names) for names in ((DOCUMENT, START, END), (DOCUMENT, MENTION), (DOCUMENT,))
]
_NUMBER = re.compile(r"[0-9]{1,15}")
_HEADER = (
    "a first line that names the columns, with tabs between them: document, then start and end, or "
    "mention, or neither for documents; then features, such as kind"
)

# The values of a feature by document and mention (start and end, or an id), or by document.
FeatureValues = dict[str, dict[str, Any]]


def read_features(
    path: PathLike,
    *,
    encoding: str = "utf-8",
    choices: Mapping[str, Collection[str]] | None = None,
) -> FeatureValues:
    """Read features of mentions or documents, as `features=` of `score` takes them.

    The first line names the columns: `document`; `start` and `end` (exclusive, counted from 0) or
    `mention` (the id that the key has for it), or neither for features of documents; every other
    column is a feature. An empty cell states nothing. `choices` are the values that a feature may
    have. Anything else is an `InputError` with file and line.
    """
    source = read_source(path, encoding=encoding)
    names, rows = read_table(source)
    features = _check_header(source, names)
    values: FeatureValues = {name: {} for name in features}
    seen: dict[tuple[str, Hashable], int] = {}
    for number, row in rows:
        place = _place(source, row, number)
        if (first := seen.setdefault((row[DOCUMENT], place), number)) != number:
            raise source.error(
                "a mention that appears twice" if place else "a document that appears twice",
                number,
                found=f"what line {first} is about: {excerpt(' '.join(row.values()))}",
                expected="one line for each",
                fix="remove one of the two",
            )
        for name in features:
            _check_value(source, name, row[name], (choices or {}).get(name), number)
            value = row[name] or None
            if place is None:
                values[name][row[DOCUMENT]] = value
            else:
                values[name].setdefault(row[DOCUMENT], {})[place] = value
    if not seen:
        raise source.error("a file without features", expected="lines of mentions")
    return values


def read_table(
    source: Source, names: Sequence[str] = (), *, may_be_csv: bool = False
) -> tuple[Sequence[str], Iterator[tuple[int, dict[str, str]]]]:
    """The names of columns, and each line that is not empty, with its number.

    Tabs separate columns, quotes mean nothing, and blanks around cells do not count. What
    `may_be_csv` is so if its first line has no tab, and blanks count. The names are in the first
    line, unless they are passed.
    """
    text, blanks = source.text, "" if may_be_csv else " "
    is_csv = may_be_csv and "\t" not in text.lstrip().partition("\n")[0]
    dialect: Any = {} if is_csv else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    csv.field_size_limit(2**31 - 1)  # a cell may be a text
    reader = csv.reader(io.StringIO(text, newline=""), **dialect)
    lines = (cells for cells in reader if "".join(cells).strip())
    columns = names or [name.strip() for name in next(lines, [""])]
    expected = f"{len(columns)} columns, with tabs between them: {', '.join(columns)}"

    def list_rows() -> Iterator[tuple[int, dict[str, str]]]:
        for cells in lines:
            if len(cells) != len(columns):
                problem, found = f"a line of {len(cells)} columns", excerpt(" ".join(cells))
                raise source.error(problem, reader.line_num, found=found, expected=expected)
            yield reader.line_num, dict(zip(columns, (c.strip(blanks) for c in cells), strict=True))

    return columns, list_rows()


def _check_header(source: Source, names: Sequence[str]) -> list[str]:
    features = [name for name in names if name not in _PLACES]
    places = [name for name in names if name in _PLACES]
    if (
        sorted(places) not in _PLACE_COLUMNS
        or not features
        or "" in features
        or len(set(features)) < len(features)
    ):
        raise source.error(
            "not the header of a feature file", 1, found=excerpt("\t".join(names)), expected=_HEADER
        )
    return features


def _place(source: Source, row: Mapping[str, str], number: int) -> Hashable:
    """The mention that a line is about: its span or its id; None for a document."""
    if row[DOCUMENT]:
        if row.get(MENTION):
            return row[MENTION]
        if MENTION not in row and START not in row:
            return None
        start, end = row.get(START, ""), row.get(END, "")
        if _NUMBER.fullmatch(start) and _NUMBER.fullmatch(end) and int(start) < int(end):
            return int(start), int(end)
    raise source.error(
        "a line about nothing",
        number,
        found=excerpt(" ".join(row[name] for name in _PLACES if name in row)),
        expected="a document, and the id of a mention"
        if MENTION in row
        else "a document, and start and end in tokens from 0, the end after the start (exclusive)"
        if START in row
        else "a document",
    )


def _check_value(
    source: Source, name: str, value: str, choices: Collection[str] | None, number: int
) -> None:
    if choices is not None and value and value not in choices:
        raise source.error(
            f"an unknown {name}",
            number,
            found=excerpt(value),
            expected=f"one of {', '.join(choices)}",
        )
