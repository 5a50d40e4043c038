"""Every choice of a protocol, declared once, and the named bundles of them. No numpy here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import (
    Annotated,
    Literal,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

Singletons = Literal["keep", "drop"]
Duplicates = Literal["first", "last", "error"]
Zeros = Literal["align", "place", "drop"]
Missing = Literal["empty", "skip", "error"]
Extra = Literal["ignore", "count", "error"]
TokenCheck = Literal["check", "ignore"]
Spans = Literal["auto", "inclusive", "exclusive"]
WrongSpans = Literal["auto", "head", "overlap"]
Unmarked = Literal["singleton", "missing"]
Undefined = Literal["0", "1"]
Aggregate = Literal["micro", "macro"]
Emulate = Literal["none", "corefud-1.2"]
Occurrences = Literal["in-order", "first", "all"]
Lost = Literal["drop", "strict"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is declared of a choice.

    `summary` is its line of help, `values` says of each value in a few words what it does, and
    `at` names the step at which it acts. Values in `shares` take a number above 0 and up to 1 in
    parentheses, and have the one that is said there without it. A choice without values takes any
    text that `pattern` allows, or a regular expression where it `is_expression`. The signature has
    it `always`, or where it is not at its default.
    `flag` is an option without a value, as people write it for the value `flagged`; a choice that
    is no `option` is for Python alone.
    """

    default: str
    summary: str
    at: str
    values: Mapping[str, str] | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    pattern: str = ".+"
    is_expression: bool = False
    always: bool = False
    flag: str = ""
    flagged: str = ""
    option: bool = True

    @property
    def spellings(self) -> dict[str, str]:
        """What is said of each value, by the value as it is written: `overlap(0.5)`."""
        return {
            f"{value}({self.shares[value]:g})" if value in self.shares else value: meaning
            for value, meaning in (self.values or {}).items()
        }


# The steps that take part where key and response are compared; errors and agreement have more.
STEPS = ("reading", "pairing", "policies", "matching", "features", "rates", "emulation")


# What may have told the heads of mentions, in the order in which a signature names it.
HEADS = ("file", "dependencies", "parse", "tags")
# The same for minimum spans.
MINIMA = ("stated", "parse")


class Choices(TypedDict, total=False):
    """The choices of a protocol, in the order of the signature."""

    match: Annotated[
        str,
        Choice(
            "exact",
            "Which mentions of key and response are the same.",
            at="matching",
            values={
                "exact": "the same tokens",
                "head": "the same head token",
                "partial": "the response inside the key, with the key's head or stated minimum",
                "min": "stated minimum spans as partial, else the same minimum span in the parse",
                "overlap": "tokens in common: twice these by the tokens of both (Dice), at least",
            },
            shares={"overlap": 0.5},
            always=True,
        ),
    ]
    singletons: Annotated[
        Singletons,
        Choice(
            "keep",
            "Keep entities of one mention, or drop them on both sides.",
            at="policies",
            values={"keep": "they take part", "drop": "they are left out on both sides"},
            always=True,
        ),
    ]
    duplicates: Annotated[
        Duplicates,
        Choice(
            "first",
            "Which of repeated mentions stays, or whether they are an error.",
            at="policies",
            values={
                "first": "the one that opens first",
                "last": "the one that opens last",
                "error": "the score is refused",
            },
            always=True,
        ),
    ]
    zeros: Annotated[
        Zeros,
        Choice(
            "align",
            "What empty nodes (zeros) of key and response are to each other.",
            at="pairing",
            values={
                "align": "the same where their dependencies are most alike, else by place",
                "place": "the same where they stand at the same place of a sentence",
                "drop": "left out on both sides, and mentions whose head or only token is one",
            },
        ),
    ]
    documents: Annotated[
        str, Choice("*", "Only documents whose id matches this glob.", at="pairing")
    ]
    missing: Annotated[
        Missing,
        Choice(
            "empty",
            "What becomes of key documents that the response lacks.",
            at="pairing",
            values={
                "empty": "they count, with nothing found",
                "skip": "they are left out",
                "error": "the score is refused",
            },
        ),
    ]
    extra: Annotated[
        Extra,
        Choice(
            "ignore",
            "What becomes of response documents that the key lacks.",
            at="pairing",
            values={
                "ignore": "they are left out",
                "count": "they count, and all in them is spurious",
                "error": "the score is refused",
            },
        ),
    ]
    across: Annotated[
        str,
        Choice(
            "none",
            "Entities across documents, by their ids: none, all, or of documents in whose ids a "
            "regular expression finds the same text.",
            at="pairing",
            is_expression=True,
        ),
    ]
    tokens: Annotated[
        TokenCheck,
        Choice(
            "check",
            "Go on where a response's tokens are not the key's.",
            at="pairing",
            values={"check": "another text is an error", "ignore": "texts may differ"},
            flag="ignore_tokens",
            flagged="ignore",
        ),
    ]
    spans: Annotated[
        Spans,
        Choice(
            "auto",
            "How plain (start, end) mentions end, where the other side has tokens.",
            at="pairing",
            values={
                "auto": "inclusive if a span has start = end, else exclusive",
                "inclusive": "with their last token",
                "exclusive": "before the token at their end",
            },
            option=False,
        ),
    ]
    occurrences: Annotated[
        Occurrences,
        Choice(
            "in-order",
            "Which place a string means that a language model listed, if it has several.",
            at="reading",
            values={
                "in-order": "the one that the order of the list and its neighbours tell",
                "first": "the first of all",
                "all": "every place that nobody has yet",
            },
        ),
    ]
    lost: Annotated[
        Lost,
        Choice(
            "drop",
            "What becomes of mentions that a language model wrote and the text does not have.",
            at="policies",
            values={
                "drop": "they are left out, which raises precision",
                "strict": "they stay in their entities, and match nothing",
            },
        ),
    ]
    tagset: Annotated[
        object,
        Choice(
            "auto",
            "What tags mean (penn, upos, stts, or a JSON file of your own), if they do not tell.",
            at="features",
        ),
    ]
    wrong_spans: Annotated[
        WrongSpans,
        Choice(
            "auto",
            "When an extra mention that overlaps a missing one is that mention with a wrong span.",
            at="errors",
            values={
                "auto": "by the head where heads are known, else by overlap",
                "head": "if both have the same head",
                "overlap": "in any case",
            },
        ),
    ]
    unmarked: Annotated[
        Unmarked,
        Choice(
            "singleton",
            "What α takes a mention for that an annotator did not mark.",
            at="agreement",
            values={"singleton": "a chain of its own", "missing": "no value"},
        ),
    ]
    undefined: Annotated[
        Undefined,
        Choice(
            "0",
            "What a recall or precision of nothing (0/0) is.",
            at="rates",
            values={"0": "0, as in the official scorer", "1": "1, where both sides have nothing"},
        ),
    ]
    aggregate: Annotated[
        Aggregate,
        Choice(
            "micro",
            "Rates of all documents' counts together (micro), or means over documents (macro).",
            at="rates",
            values={"micro": "rates of summed counts", "macro": "means of documents' rates"},
            always=True,
        ),
    ]
    emulate: Annotated[
        Emulate,
        Choice(
            "none",
            "The program whose numbers are wanted, with its accidents.",
            at="emulation",
            values={"none": "corefeval's own rules", "corefud-1.2": "corefud-scorer 1.2"},
            option=False,
        ),
    ]


class Fields(Choices, total=False):
    """What a signature has: the choices, and what else was done to the data behind a number."""

    heads: Annotated[
        str,
        Choice("none", "What told the heads of mentions that were matched by them.", at="data"),
    ]
    minimum: Annotated[
        str,
        Choice("none", "What told the minimum spans that mentions were matched by.", at="data"),
    ]
    features: Annotated[
        str, Choice("none", "The features of mentions that were stated beside the data.", at="data")
    ]
    slice: Annotated[
        str, Choice("whole", "The feature and the value that a score is of.", at="slices")
    ]
    segments: Annotated[
        str,
        Choice(
            "none",
            "The number of segments of a single document, each scored as one.",
            at="segments",
            pattern=r"[1-9]\d{0,8}",
        ),
    ]
    ci: Annotated[str, Choice("none", "How intervals were made.", at="intervals")]


@cache
def fields() -> dict[str, Choice]:
    """Every field of a signature by its name, in order."""
    hints = get_type_hints(Fields, include_extras=True)
    declared = {name: get_args(hint)[1] for name, hint in hints.items()}
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


@dataclass(frozen=True, slots=True)
class NamedProtocol:
    """A bundle of choices with a name, and where it comes from."""

    name: str
    summary: str
    choices: Choices
    reference: str = ""


_COREFUD: Choices = {
    "match": "head", "singletons": "drop", "zeros": "align", "emulate": "corefud-1.2"
}  # fmt: skip
_NAMED = (
    NamedProtocol("default", "exact spans, singletons kept, summed counts", {}),
    NamedProtocol(
        "corefud-1.2",
        "corefud-scorer 1.2 as it comes: heads, zeros aligned, singletons dropped",
        _COREFUD,
        "https://github.com/ufal/corefud-scorer",
    ),
    NamedProtocol(
        "crac-2022",
        "the shared task CRAC 2022 by corefud-scorer 1.2: partial match",
        {**_COREFUD, "match": "partial", "zeros": "place"},
        "Žabokrtský et al. 2022",
    ),
    NamedProtocol(
        "crac-2024",
        "the shared tasks CRAC 2024 and later: as corefud-1.2",
        _COREFUD,
        "Novák et al. 2024",
    ),
)
NAMED: dict[str, NamedProtocol] = {one.name: one for one in _NAMED}
