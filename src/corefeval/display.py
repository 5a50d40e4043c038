"""Results as rows and data frames, and text of any origin made fit to be seen.

Ids, names and words come from files, and may hold what moves a cursor, clears a screen, turns the
direction of writing round, or is a formula to a spreadsheet: on a screen, in a spreadsheet and in
JSON it must not act. Every room may import this one.
"""

from __future__ import annotations

import importlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, cast

from corefeval.diagnostics import UsageError

LONG = 60  # characters: more do not fit into a table

# Controls of terminals (C0, DEL, C1) and of direction, ends of lines, halves of characters, and
# other marks without a shape. Joiners stay: Persian, Hindi and emoji are written with them.
_HIDDEN = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    r"\ufeff\ufff9-\ufffb"
)
_UNSEEN = f"[\n{_HIDDEN}]"
_UNSEEN_IN_LINES = f"[{_HIDDEN}]"
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_HARMLESS = r"-|[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"


def visible(text: str, *, lines: bool = False) -> str:
    r"""The text with a plain code in place of everything that acts instead of being seen.

    Ends of lines are codes too, unless `lines` are to stay: then all but the first are indented, so
    that none can pass for a message of its own.

    >>> print(visible("a\x1b[2Jb\u202ec\n"), visible("a\nb", lines=True))
    a\x1b[2Jb\u202ec\n a
      b
    """
    if text.isprintable():  # nothing that hides is
        return text
    if lines:
        text = re.sub("\n(?![ \n])", "\n  ", text)
    pattern = _UNSEEN_IN_LINES if lines else _UNSEEN
    return re.sub(pattern, lambda match: ascii(match[0])[1:-1], text)


def shorten(text: str, limit: int = LONG) -> str:
    """The text, or its beginning and end where it has more characters than the limit.

    >>> shorten("a-long-name-of-a-file.conll", 15)
    'a-long-…e.conll'
    """
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


def json_text(value: object, *, indent: int | None = 2) -> str:
    r"""The value as JSON to be read by people too: what cannot be seen is a code of JSON's own.

    >>> print(json_text(["\u202eé"]), end="")
    [
      "\u202eé"
    ]
    """
    import json  # imported only where JSON is printed

    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:  # JSON has no word for what is no number but null
        text = json.dumps(_with_nulls(value), ensure_ascii=False, indent=indent)
    return re.sub(_UNSEEN_IN_LINES, lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def _with_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: _with_nulls(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(item) for item in value]
    return None if isinstance(value, float) and value != value else value


def csv_text(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV that is safe to open: see `csv_cell`."""
    import csv  # imported only where CSV is printed

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(csv_cell, row) for row in rows)
    return stream.getvalue()


def csv_cell(value: object) -> object:
    """A value as CSV has it: text is one line, visible, and never a formula to a spreadsheet.

    Text that begins like a formula gets an apostrophe in front, unless it is a number or a dash;
    numbers stay numbers, and nothing is an empty cell.

    >>> [csv_cell(value) for value in ("=1+1", "-3.5", "-", -3.5, "a b", None, True)]
    ["'=1+1", '-3.5', '-', -3.5, 'a b', '', 'true']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        value = ";".join(map(str, value))
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(FORMULA) and not re.fullmatch(_HARMLESS, value)
    return ("'" if is_formula else "") + visible(" ".join(value.splitlines()))


def plain_cell(text: str) -> str:
    """The text of a cell, without blanks around it and without the apostrophe of `csv_cell`."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def distinct_names(names: Sequence[str], longer: Sequence[str] | None = None) -> list[str]:
    """The names, no two of them equal: where they are, the `longer` ones, and then with a number.

    >>> distinct_names(["x.conll", "x.conll", "y"], ["a/x.conll", "b/x.conll", "y"])
    ['a/x.conll', 'b/x.conll', 'y']
    >>> distinct_names(["x", "x", "x (2)"])
    ['x', 'x (2)', 'x (2) (2)']
    """
    if longer is not None:
        times = Counter(names)
        names = [
            name if times[name] == 1 else longer_name
            for name, longer_name in zip(names, longer, strict=True)
        ]
    distinct: dict[str, None] = {}
    numbers: dict[str, int] = {}  # so that a name that comes thousands of times costs no more
    for name in names:
        unique, number = name, numbers.get(name, 1)
        while unique in distinct:
            number += 1
            unique = f"{name} ({number})"
        distinct[unique], numbers[name] = None, number
    return list(distinct)


Row = dict[str, Any]


class Tabular:
    """A result with rows: `rows()` are flat dictionaries, `to_frame()` a data frame of them."""

    __slots__ = ()

    def rows(self) -> list[Row]:
        """The numbers as flat dictionaries: text, numbers, truth values, and None for nothing."""
        raise NotImplementedError

    def to_frame(self, *args: Any, **options: Any) -> Any:
        """A pandas data frame of `rows`, which takes the same arguments."""
        rows = self.rows(*args, **options)
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise UsageError(
                "data frames need pandas: pip install pandas; or use rows()"
            ) from error
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        # By name: results know nothing of how they are shown.
        notebook = importlib.import_module("corefeval.reports.notebook")
        return str(notebook.result_html(self))


class Record:
    """A data class that JSON has as the dictionary of its fields."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(cast("Any", self))


class Comparable:
    """A data class whose instances are equal where all fields are, arrays included."""

    __slots__ = ()

    def __eq__(self, value: object) -> bool:
        return have_same_fields(self, value)

    __hash__ = None  # type: ignore[assignment]


class PlainState:
    """A data class whose fields alone are pickled; cached values are worked out again."""

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(cast("Any", self))}


def are_same(left: object, right: object) -> bool:
    """Whether two values are equal, arrays by their numbers and NaN like NaN, all the way down.

    >>> are_same({"a": (1, float("nan"))}, {"a": (1, float("nan"))}), are_same([1], [1, 2])
    (True, False)
    """
    if left is None or right is None:
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_same(left[key], right[key]) for key in left)
    if isinstance(left, tuple | list) and type(left) is type(right):
        return len(left) == len(right) and all(map(are_same, left, right))
    if hasattr(left, "dtype") and hasattr(right, "dtype"):
        numpy = importlib.import_module("numpy")
        return bool(numpy.array_equal(left, right, equal_nan=left.dtype.kind == "f"))
    if is_dataclass(left) and type(left) is type(right) and not _compares_itself(left):
        return bool(have_same_fields(left, right))
    return bool(left == right or (left != left and right != right))


def _compares_itself(value: object) -> bool:
    """Whether the class of a value defines equality itself, and not by `dataclass`."""
    written = getattr(type(value), "__eq__", None)
    params = getattr(type(value), "__dataclass_params__", None)
    return written is not object.__eq__ and not getattr(params, "eq", False)


def have_same_fields(left: Any, right: Any) -> bool:
    """Whether two instances of a data class have equal fields; NotImplemented for two types."""
    names = [field.name for field in fields(left)]
    if type(left) is not type(right):
        return NotImplemented  # type: ignore[no-any-return]
    return all(are_same(getattr(left, name), getattr(right, name)) for name in names)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of some rows, in the order of the row that has most of them.

    >>> columns_of([{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}])
    ['a', 'b', 'c']
    """
    names: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        names |= dict.fromkeys(row)
    return list(names)
