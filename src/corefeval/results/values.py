"""Values from files, which may be anything: each is given back if it is what it should be.

What is not is a ValueError, whose text says what was there instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

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
    if not isinstance(values, list):
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
