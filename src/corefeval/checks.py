"""What arguments and values from files must be, and how calls and functions are written.

Checks of arguments (choices, numbers in range, known names) raise a UsageError. Values from files,
which may be anything, are returned if they are what they should be, or else raise a ValueError that
says what was there. Metrics and features are names with arguments in parentheses, in lists;
functions that tables name are text, `module:function`. Every room may import this one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, SupportsFloat

from corefeval.diagnostics import UsageError


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise a UsageError unless a value is one of the choices."""
    if value not in (allowed := tuple(choices)):
        raise UsageError(f"{name} is one of {', '.join(allowed)}, not {value!r}")


def check_type(function: str, value: object, expected: type, fix: str) -> None:
    """Raise a UsageError with a `fix` unless a value is of the type that a function takes."""
    if not isinstance(value, expected):
        raise UsageError(f"{function} takes a {expected.__name__}, not {value!r:.60}: {fix}")


def check_path(path: object, hint: str) -> str:
    """The path as text; a UsageError for an empty one, with a hint, and for what is no path."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by its path, not by {path!r:.60}")
    if not (text := os.fspath(path)):
        raise UsageError(f"a path is empty: {hint}")
    return text


def check_probability(name: str, value: object) -> None:
    """Raise a UsageError unless a value is strictly between 0 and 1."""
    if not isinstance(value, SupportsFloat) or not 0 < float(value) < 1:
        raise UsageError(f"{name} must be between 0 and 1, such as .05 or .95, not {value!r}")


MOST = 100_000_000  # of trials or samples: more would run for weeks, or out of memory


def check_count(name: str, value: int) -> None:
    """Raise a UsageError unless a value is a whole number from 1 to `MOST`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        shown = "more" if isinstance(value, int) and value > MOST else repr(value)
        raise UsageError(f"{name} must be a whole number from 1 to {MOST:,}, not {shown}")


def check_seed(seed: int) -> None:
    """Raise a UsageError unless a seed is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"a seed must be a whole number of at least 0, not {seed!r}")


def did_you_mean(name: str, choices: Iterable[str], shown: Iterable[str] = ()) -> str:
    """A hint for a name that is not known: the most similar one, or all that there are.

    >>> did_you_mean("mcu", ["muc", "b3"]), did_you_mean("x", ["muc", "b3"])
    ("did you mean 'muc'?", 'there are muc, b3')
    """
    names = tuple(choices)
    import difflib  # imported only for mistakes

    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(shown or names)}"


CROSS = "*"  # between features that are crossed, and between their values
_CALL = re.compile(r"\s*([^\s()=,][^()=,]*?)\s*(?:\((.*)\))?\s*", re.DOTALL)


class Call(NamedTuple):
    """A name with arguments: `distance(sentences, 0)`, and settings: `class(column=10)`."""

    name: str
    arguments: tuple[str, ...]
    settings: dict[str, str]


def parse_call(text: str, kind: str, form: str) -> Call:
    """The parts of a text; names of settings come in lower case, all else as it is written.

    `kind` is what the text should be and `form` how such arguments are written, for the UsageError
    that a text of another form or a setting that appears twice raises.

    >>> parse_call(" Distance( sentences,0, Unit = a(b=1) )", "feature", "argument")
    Call(name='Distance', arguments=('sentences', '0'), settings={'unit': 'a(b=1)'})
    """
    match = _CALL.fullmatch(text)
    inner = (match[2] or "") if match else ""
    if match is None or inner.count("(") != inner.count(")"):
        raise UsageError(f"{text!r} is not a {kind}: write name or name({form})")
    arguments, settings = [], {}
    for part in split_list(inner):
        key, equals, value = part.partition("=")
        key = key.strip().lower()
        if not equals or not re.fullmatch(r"\w+", key):
            arguments.append(part)
        elif key in settings:
            raise UsageError(f"{text!r} says {key} twice")
        else:
            settings[key] = value.strip()
    return Call(match[1], tuple(arguments), settings)


def split_list(text: str, separator: str = ",") -> Iterator[str]:
    """The parts between separators that are in no parentheses, without blanks around them.

    >>> list(split_list("muc, p-link(by=size(1,2-10), anaphor=1)"))
    ['muc', 'p-link(by=size(1,2-10), anaphor=1)']
    >>> list(split_list("genre * column(*)", CROSS))
    ['genre', 'column(*)']
    """
    depth = begin = 0
    for place, character in enumerate(text + separator):
        depth += (character == "(") - (character == ")")
        if character == separator and (depth == 0 or place == len(text)):
            if part := text[begin:place].strip():
                yield part
            begin = place + 1


def split_call(text: str) -> tuple[str, str | None]:
    """A name and what stands behind it in parentheses, if anything does.

    >>> split_call("overlap(0.5)"), split_call("head")
    (('overlap', '0.5'), ('head', None))
    """
    name, bracket, inner = text.strip().partition("(")
    return (name.strip(), inner[:-1].strip()) if bracket and inner.endswith(")") else (text, None)


def import_on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package some of whose names are imported when they are first used.

    `homes` has the module of each of these names.
    """

    def look_up(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        setattr(import_module(package), name, value)
        return value

    return look_up


def import_place(place: object, package: str = "") -> Any:
    """The object that `module:name` names, a module of `package` if that is given.

    What is no text is returned as it is.
    """
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(f"{package}.{module}" if package else module), name)


EXACT = 2.0**53  # up to here floats hold every whole number exactly


def parse_numbers(values: object, label: str) -> list[float]:
    """The values, if they are a list of numbers."""
    if not isinstance(values, list):
        raise ValueError(f"{label}: {values!r:.40} is not a list of numbers")
    if not set(map(type, values)) <= {int, float}:
        wrong = next(value for value in values if type(value) not in (int, float))
        raise ValueError(f"{label}: {wrong!r:.40} is not a number")
    return values


def parse_number(value: object, label: str, least: float, most: float) -> float:
    """The value, if it is a number between two others."""
    (number,) = parse_numbers([value], label)
    if not least <= number <= most:
        raise ValueError(f"{label}: {number!r:.40} is not between {least} and {most}")
    return float(number)


def parse_level(value: object) -> float:
    """The value, if it is a level of intervals: a number between 0 and 1."""
    level = parse_number(value, "ci", 0, 1)
    if level in (0, 1):
        raise ValueError(f"ci: {value!r} is not between 0 and 1")
    return level


def parse_interval(ends: object, label: str, most: float) -> tuple[float, float]:
    """The ends of an interval, if they are two numbers in order."""
    low, high = (parse_number(end, label, 0, most) for end in parse_numbers(ends, label))
    if low > high:
        raise ValueError(f"{label}: an interval from {low} to {high}")
    return low, high


def parse_integer(value: object, label: str) -> int:
    """The value, if it is a whole number of at least 0."""
    if type(value) is not int or not 0 <= value < EXACT:
        raise ValueError(f"{label}: {value!r:.40} is not a whole number of at least 0")
    return value


def parse_text(value: object, label: str) -> str:
    """The value, if it is text."""
    if not isinstance(value, str):
        raise ValueError(f"{label}: {value!r:.40} is not text")
    return value


def parse_texts(values: object, label: str) -> list[str]:
    """The values, if they are a list of texts."""
    if not isinstance(values, list | tuple):
        raise ValueError(f"{label}: {values!r:.40} is not a list of texts")
    return [parse_text(value, label) for value in values]


def parse_named_texts(record: Mapping[str, object]) -> dict[str, str]:
    """The record, if all of its values are texts."""
    return {name: parse_text(value, name) for name, value in record.items()}


def parse_choice(value: object, choices: Collection[str]) -> Any:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{value!r:.40} is none of {', '.join(choices)}")
    return value
