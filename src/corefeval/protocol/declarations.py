"""Every choice of a protocol, declared once, and the named bundles of them. No numpy here."""

# No `annotations` from __future__ here: to read types from text takes longer than to make them.

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, TypedDict, get_args, get_origin, get_type_hints

from corefeval.protocol.accidents import Accidents
from corefeval.protocol.choice import NUMBER, Choice

Singletons = Literal["keep", "drop", "drop-response", "double-response"]
Duplicates = Literal["first", "last", "error"]
Layer = Literal["identity", "deixis"]
Split = Literal["off", "score"]
Zeros = Literal["align", "place", "drop"]
Missing = Literal["empty", "skip", "error"]
Extra = Literal["ignore", "count", "error"]
TokenCheck = Literal["check", "ignore"]
Spans = Literal["auto", "inclusive", "exclusive"]
WrongSpans = Literal["auto", "head", "overlap"]
Unmarked = Literal["singleton", "missing"]
Undefined = Literal["0", "1", "epsilon", "nan-ceafe", "error"]
Aggregate = Literal["micro", "macro", "macro-f", "macro-rates", "weighted", "pool"]
Pairing = Literal["name", "position", "one"]
Average = Literal["f1", "rates", "truncated"]
Emulate = Literal["none", "corefud-1.2", "ua-1"]
Occurrences = Literal["in-order", "first", "all"]
Lost = Literal["drop", "strict"]


# The steps that take part where key and response are compared; errors and agreement have more.
STEPS = ("reading", "pairing", "policies", "matching", "features", "rates", "emulation")


# What may have told the heads of mentions, in the order in which a signature names it.
HEADS = ("file", "dependencies", "parse", "tags")
# The same for minimum spans.
MINIMA = ("stated", "parse")


class SoundChoices(TypedDict, total=False):
    """The choices that have something to be said for each of their values."""

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
            values={
                "keep": "they take part",
                "drop": "they are left out on both sides",
                "drop-response": "they are left out of the response",
                "double-response": "a response's one has its mention twice",
            },
            always=True,
            accidents=("double-response",),
            example="abc,d,e / ab,d,f: CEAFe keep 60, drop 80, drop-response 40, "
            "double-response 48.9",
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
    layer: Annotated[
        Layer,
        Choice(
            "identity",
            "Which entities are scored, where a corpus has more than coreference.",
            at="policies",
            values={
                "identity": "those that are coreference",
                "deixis": "those of discourse deixis: segments of text, and what refers to them",
            },
        ),
    ]
    split: Annotated[
        Split,
        Choice(
            "off",
            "Whether sets of antecedents (they = Ann + Bob) count.",
            at="policies",
            values={
                "off": "they do not",
                "score": "a set is one more element of its entity, right as far as its parts are",
            },
            example="ab,cd,fg{ab+cd} / ab,cd,fg: MUC R off 100, score 75",
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
    pairing: Annotated[
        Pairing,
        Choice(
            "name",
            "Which documents of key and response are the same.",
            at="pairing",
            values={
                "name": "those of the same id",
                "position": "those in the same place, up to the end of the shorter side",
                "one": "all are one text; entities of the same number are one entity",
            },
            accidents=("one",),
            example="documents 1: ab / ab and 2: ab,cd / ab,cd, the response in the other order: "
            "name MUC 100, position 66.7",
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
            example="ab / ab and ab / –: empty MUC 66.7, skip 100, error no number",
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
            example="ab / ab and – / ab: ignore MUC 100, count 66.7, error no number",
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
            values={
                "0": "0, as in the official scorer",
                "1": "1, where both sides have nothing",
                "epsilon": "0, and every ratio has 1e-7 more below",
                "nan-ceafe": "as epsilon, but no number for CEAFe where the key has no entity",
                "error": "the score is refused",
            },
            accidents=("error",),
            example="ab / ab and – / ab, macro-rates: CEAFe 0 50, epsilon 50, nan-ceafe no number",
        ),
    ]
    aggregate: Annotated[
        Aggregate,
        Choice(
            "micro",
            "Rates of all documents' counts together (micro), or means over documents (macro).",
            at="rates",
            values={
                "micro": "rates of summed counts",
                "macro": "means of documents' rates, where there is anything to count",
                "macro-f": "means of all documents' rates",
                "macro-rates": "means of all documents' recall and precision, and F1 of these",
                "weighted": "means by the mentions of the key, of the response, of both for F1",
                "pool": "rates of summed counts, with pairs of mentions across documents",
            },
            always=True,
            accidents=("weighted", "pool"),
            example="ab / ab and abcd,ef / ab,cdef: MUC micro 80, macro, macro-f and macro-rates "
            "87.5, weighted 81.2",
        ),
    ]
    average: Annotated[
        Average,
        Choice(
            "f1",
            "What the CoNLL score is the mean of.",
            at="rates",
            values={
                "f1": "three F1",
                "rates": "three F1; recall and precision too, each of three",
                "truncated": "three F1, each cut to two decimals of a per cent",
            },
            example="F1 of 46.429, 70.6 and 70.204: f1 62.411, truncated 62.407",
        ),
    ]
    rounding: Annotated[
        str,
        Choice(
            "none",
            "How the program prints its numbers, which the text form then does too: truncate(2) "
            "cuts, round(1) rounds to so many decimals.",
            at="rates",
            pattern=r"(truncate|round)\([0-9]\)",
            example="70.209: truncate(2) 70.20, round(2) 70.21, round(1) 70.2",
        ),
    ]
    emulate: Annotated[
        Emulate,
        Choice(
            "none",
            "The program whose numbers are wanted, with its accidents.",
            at="emulation",
            values={
                "none": "corefeval's own rules",
                "corefud-1.2": "corefud-scorer 1.2",
                "ua-1": "version 1 of the Universal Anaphora scorer",
            },
            option=False,
        ),
    ]


class Choices(SoundChoices, Accidents, total=False):
    """The choices of a protocol, in the order of the signature."""


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
            pattern=NUMBER,
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
