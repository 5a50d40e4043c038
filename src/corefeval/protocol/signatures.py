"""The matchers, and what a signature has: the choices of a protocol, and what else was done."""

# No `annotations` from __future__ here: to read types from text takes longer than to make them.

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from corefeval.protocol.accidents import NUMBER, Choice
from corefeval.protocol.declarations import Choices

# Where heads and minimum spans of mentions may come from, in the order of a signature.
HEADS = ("file", "dependencies", "parse", "tags")
MINIMA = ("stated", "parse")


class Matcher(NamedTuple):
    """A matcher: which mentions it matches, the function that finds them, and what that needs.

    The function, or its place as text (`module:function`), is given the `Mentions` of key and
    response and returns `Matches` (see `matching`). Where a value takes a number in parentheses,
    such as `overlap(0.5)`, the function has it as `share`, whose default is here. `needs` is what
    it must know of mentions besides their tokens.
    """

    summary: str
    function: str | Callable[..., Any]
    share: float | None = None
    needs: Literal["", "heads", "cores", "minima"] = ""


MATCHERS = {
    "exact": Matcher("the same tokens", "corefeval.matching.matchers:match_exactly"),
    "head": Matcher(
        "the same head token", "corefeval.matching.matchers:match_heads", needs="heads"
    ),
    "partial": Matcher(
        "the response inside the key, with the key's head or stated minimum",
        "corefeval.matching.matchers:match_partially",
        needs="cores",
    ),
    "min": Matcher(
        "as partial by stated minimum spans, else the same minimum span by parse",
        "corefeval.matching.matchers:match_minima",
        needs="minima",
    ),
    "overlap": Matcher(
        "tokens in common, with a Dice coefficient of at least this",
        "corefeval.matching.matchers:match_overlapping",
        share=0.5,
    ),
}


class Fields(Choices, total=False):
    """What a signature has: the choices, and what else was done to the data behind a number."""

    key_layer: Annotated[
        str,
        Choice("auto", "The layer of annotation that the key was read from.", at="data"),
    ]
    response_layer: Annotated[
        str,
        Choice("auto", "The layer of annotation that the response was read from.", at="data"),
    ]
    heads: Annotated[
        str,
        Choice("none", "Where the heads used for matching came from.", at="data"),
    ]
    minimum: Annotated[
        str,
        Choice("none", "Where the minimum spans used for matching came from.", at="data"),
    ]
    stands_for: Annotated[
        str,
        Choice("none", "The program for whose rules these stand, the nearest.", at="data"),
    ]
    features: Annotated[
        str,
        Choice("none", "The mention features that were given apart from the data.", at="data"),
    ]
    slice: Annotated[
        str, Choice("whole", "The feature and the value that a score is for.", at="slices")
    ]
    segments: Annotated[
        str,
        Choice(
            "none",
            "The number of segments of a single document, each scored as one.",
            at="segments",
            pattern=NUMBER,
        ),
    ]
    ci: Annotated[str, Choice("none", "How intervals were computed.", at="intervals")]


@cache
def fields() -> dict[str, Choice]:
    """Every field of a signature by its name, in order."""
    hints = get_type_hints(Fields, include_extras=True)
    declared: dict[str, Choice] = {name: get_args(hint)[1] for name, hint in hints.items()}
    declared["match"] = declared["match"]._replace(
        values={name: matcher.summary for name, matcher in MATCHERS.items()},
        shares={name: m.share for name, m in MATCHERS.items() if m.share is not None},
    )
    for name, hint in hints.items():
        kind = get_args(hint)[0]
        if get_origin(kind) is Literal and get_args(kind) != tuple(declared[name].values or ()):
            raise TypeError(f"{name}: the values of its type and its declaration differ")
    return declared


@cache
def choices(steps: tuple[str, ...] | None = None) -> Mapping[str, Choice]:
    """Every choice that people have, or that acts at one of these steps."""
    return {
        name: choice
        for name, choice in fields().items()
        if name in Choices.__annotations__ and (steps is None or choice.at in steps)
    }


def register_matcher(name: str, matcher: Matcher) -> None:
    """Add a matcher, which is then a value of the choice `match`."""
    MATCHERS[name] = matcher
    fields.cache_clear()
    choices.cache_clear()
