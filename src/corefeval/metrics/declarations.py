"""What a declaration of a metric is: all that parses it, lists it, documents it and counts it.

Nothing here needs numpy, so that help pages cost nothing; the counting functions are named, and
imported when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from corefeval.diagnostics import UsageError

Shape = Literal["ratio", "blanc", "blanc-of-both", "antecedents", "anchors", "mean"]
Level = Literal["document", "entity", "mention"]
Value = str | float | Callable[..., object]
SAME = "same"  # of a metric that sets of antecedents make no difference to


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: one of some choices, a number, or a feature of mentions.

    In Python it may also be a function. Choices that are `suffixes` may be written behind the
    metric's name: `b3-sys` is `b3(twinless=sys)`. Numbers must be in their limits.
    """

    name: str
    default: str | float
    summary: str
    choices: tuple[str, ...] = ()
    accepts_function: bool = False
    suffixes: bool = False
    is_feature: bool = False
    above: float = -float("inf")
    at_least: float = -float("inf")
    at_most: float = 1e9  # sums of what is larger lose their digits
    shapes: tuple[tuple[str, Shape], ...] = ()  # of values that make other counts

    def check(self, value: object, metric: str) -> Value:
        """The value that a text or an object stands for."""
        if self.accepts_function and callable(value):
            return value
        if self.is_feature:
            if isinstance(value, str) and value.strip():
                return value.strip()
            expected = "the name of a feature"
        elif self.choices:
            if isinstance(value, str | int) and str(value).strip().lower() in self.choices:
                return str(value).strip().lower()
            expected = "one of " + ", ".join(self.choices)
            expected += " (in Python also a function)" if self.accepts_function else ""
        else:
            number = _finite(value)
            if number is not None and self._allows(number):
                return number
            expected = "a number" + self._limits()
        raise UsageError(f"{metric}: {self.name} is {expected}, not {value!r}")

    def _allows(self, number: float) -> bool:
        return number > self.above and self.at_least <= number <= self.at_most

    def _limits(self) -> str:
        lower = (("above", self.above), ("of at least", self.at_least))
        words = [f" {word} {limit:g}" for word, limit in lower if limit > -float("inf")]
        return "".join((*words, f" and of at most {self.at_most:g}"))


def _finite(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if abs(number) < float("inf") else None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A metric: its names, its text for people, its parameters and the function that counts.

    `function` is given an `Alignment` and the parameters by name, and gives an array for each count
    of the `shape`, with a number for each of the alignment's groups (documents, unless the metric
    is divided further). It is a function, or its place as text (`module:function`), which is
    imported when it is called. `name` is the function's by default, and `title`, the name for
    tables, is `name` by default.

    `reference` names its papers as `Luo 2005`, with semicolons between; a paper about a parameter
    follows the parameter's name and a colon. `corefeval cite` finds them in `references.bib`.
    `use` says when to report it, `edges` what happens at the edges. `needs` are the features of
    mentions that it cannot do without. `levels` are what it can be divided by: features of
    documents, of entities, of mentions. `with_sets` is the place of the function that counts where
    sets of antecedents do (`SAME` where these make no difference); without it the metric is not
    defined there. A metric that looks `beyond` coreference counts mentions that are no part of it.
    """

    name: str = ""
    title: str = ""
    summary: str = ""
    definition: str = ""
    reference: str = ""
    shape: Shape = "ratio"
    function: str | Callable[..., Mapping[str, Any]] = ""
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    parts: tuple[str, ...] = ()
    use: str = ""
    edges: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ("document",)
    with_sets: str = ""
    beyond: bool = False

    def __post_init__(self) -> None:
        if not self.name and callable(self.function):
            object.__setattr__(self, "name", getattr(self.function, "__name__", ""))


TWINLESS = Parameter(
    "twinless",
    "none",
    "what is done with mentions that only one side has",
    choices=("none", "0", "all", "rn", "sys"),
    suffixes=True,
)
