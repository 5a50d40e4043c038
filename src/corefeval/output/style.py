"""How tables are set: digits, which rates in which order, caption, label and width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, get_args

from corefeval.checks import check_choice, did_you_mean
from corefeval.diagnostics import UsageError

Width = Literal["column", "page"]

RATES = {"recall": "R", "precision": "P", "f1": "F1"}
MOST_DIGITS = 10
_DRAWN = ("text", "markdown", "latex")  # the formats that have tables


class Style(NamedTuple):
    """How tables are set, for a paper say; fields that are empty or None leave the usual form.

    `digits` are those behind the point of percentages, `rates` names of rates in the order of their
    columns. `caption` stands with the first table; `label` names it in LaTeX, where it then is a
    float that fits into a `width`: a column, or the page.
    """

    digits: int | None = None
    rates: tuple[str, ...] = ()
    caption: str = ""
    label: str = ""
    width: Width | None = None

    @classmethod
    def of(cls, format: str, wishes: Mapping[str, Any]) -> Style:
        """The style that options of `render` ask for; a UsageError says what cannot be had.

        >>> Style.of("latex", {"rates": "P, R, F1", "digits": 1}).rates
        ('precision', 'recall', 'f1')
        """
        chosen = {name: value for name, value in wishes.items() if value is not None}
        if chosen and format not in _DRAWN:
            raise UsageError(
                f"{next(iter(chosen))} is for tables, of text, Markdown or LaTeX: {format} has none"
            )
        for name in ("label", "width"):
            if name in chosen and format != "latex":
                raise UsageError(f"{name} is for LaTeX, not for {format}: add the format latex")
        digits, label = chosen.get("digits"), chosen.get("label", "")
        if digits is not None and not (type(digits) is int and 0 <= digits <= MOST_DIGITS):
            raise UsageError(f"digits must be from 0 to {MOST_DIGITS}, not {digits!r}")
        if not re.fullmatch(r"[\w:.+/-]*", label, re.ASCII):
            raise UsageError(f"a label has letters, digits and any of :.+/-_ in it, not {label!r}")
        check_choice("width", chosen.get("width", "page"), get_args(Width))
        return cls(**{**chosen, "rates": parse_rates(chosen.get("rates", ""))})

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """A context in which tables are set in this style."""
        before = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(before)


STYLE_OPTIONS = Style._fields
_CURRENT: ContextVar[Style] = ContextVar("style", default=Style())  # noqa: B039 (it is frozen)


def current_style() -> Style:
    """The style that is in use."""
    return _CURRENT.get()


def shown_rates() -> dict[str, str]:
    """The rates of a full table in their order, each with its heading."""
    return {rate: RATES[rate] for rate in current_style().rates or RATES}


def parse_rates(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names of rates from a list, or one with commas: whole names, or R, P, F1.

    >>> parse_rates("P,recall,f1")
    ('precision', 'recall', 'f1')
    """
    text = text if isinstance(text, str) else ",".join(map(str, text))
    names = {short.lower(): rate for rate, short in RATES.items()} | {"f": "f1"}
    rates = []
    for word in (part.strip() for part in text.split(",") if part.strip()):
        rate = names.get(word.lower(), word.lower())
        if rate not in RATES:
            raise UsageError(f"there is no rate {word!r}: {did_you_mean(word, RATES)}")
        if rate in rates:
            raise UsageError(f"the rate {rate} appears twice")
        rates.append(rate)
    if text and not rates:
        raise UsageError("rates are any of recall, precision and f1, separated by commas")
    return tuple(rates)
