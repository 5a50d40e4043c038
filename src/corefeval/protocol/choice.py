"""What a declaration of a choice is. No numpy here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NUMBER = r"[1-9]\d{0,8}"  # what choices allow that take a number
_NO_SHARES: Mapping[str, float] = {}


class Choice(NamedTuple):
    """The declaration of a choice.

    `summary` is its line of help, `values` says of each value in a few words what it does, and
    `at` names the step at which it acts. Values in `shares` take a number above 0 and up to 1 in
    parentheses, and have the one that is said there without it. A choice without values takes any
    text that `pattern` allows, or a regular expression where it `is_expression`. The signature has
    it `always`, or where it is not at its default.
    `flag` is an option without a value, as people write it for the value `flagged`; a choice that
    is no `option` is for Python alone. `accidents` are values that only `emulation` can do (of a
    choice that acts there: all but the default), and `example` is the smallest pair of key and
    response that shows what values do.
    """

    default: str
    summary: str
    at: str
    values: Mapping[str, str] | None = None
    shares: Mapping[str, float] = _NO_SHARES
    pattern: str = ".+"
    is_expression: bool = False
    always: bool = False
    flag: str = ""
    flagged: str = ""
    option: bool = True
    accidents: tuple[str, ...] = ()
    example: str = ""

    def is_accident(self, value: str) -> bool:
        """Whether a value is an accident of some program."""
        return value in self.accidents or (self.at == "emulation" and value != self.default)

    @property
    def spellings(self) -> dict[str, str]:
        """The meaning of each value, by the value as it is written: `overlap(0.5)`."""
        return {
            f"{value}({self.shares[value]:g})" if value in self.shares else value: meaning
            for value, meaning in (self.values or {}).items()
        }
