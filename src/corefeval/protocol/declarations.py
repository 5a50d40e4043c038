"""Every choice of a protocol, declared once, and the named bundles of them. No numpy here."""

# No `annotations` from __future__ here: to read types from text takes longer than to make them.

from typing import (
    Annotated,
    Literal,
    TypedDict,
)

from corefeval.protocol.accidents import NUMBER, Accidents, Choice

Singletons = Literal["keep", "drop", "drop-response", "double-response"]
Duplicates = Literal["first", "last", "error"]
Layer = Literal["identity", "deixis"]
Split = Literal["off", "score"]
Zeros = Literal["align", "place", "drop"]
Missing = Literal["empty", "skip", "error"]
Extra = Literal["ignore", "count", "error"]
TokenRule = Literal["same", "align", "ignore"]
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
Names = Literal["span", "string"]


# The steps that take part where key and response are compared; errors and agreement have more.
STEPS = ("reading", "pairing", "policies", "matching", "features", "rates", "emulation")


class SoundChoices(TypedDict, total=False):
    """The choices whose values are all sound ways to score, but for those in `accidents`."""

    match: Annotated[
        str,
        Choice(
            "exact",
            "When a key mention and a response mention match.",
            at="matching",
            always=True,
        ),
    ]
    singletons: Annotated[
        Singletons,
        Choice(
            "keep",
            "What to do with singletons (entities of one mention).",
            at="policies",
            values={
                "keep": "count them",
                "drop": "leave them out on both sides",
                "drop-response": "leave them out of the response only",
                "double-response": "count the mention of each response singleton twice",
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
            "Which one to keep of mentions that occur more than once.",
            at="policies",
            values={
                "first": "the one that opens first",
                "last": "the one that opens last",
                "error": "refuse to score",
            },
            always=True,
        ),
    ]
    layer: Annotated[
        Layer,
        Choice(
            "identity",
            "Which entities to score where a corpus annotates more than coreference.",
            at="policies",
            values={
                "identity": "those of identity coreference",
                "deixis": "those of discourse deixis: text segments and mentions of them",
            },
        ),
    ]
    split: Annotated[
        Split,
        Choice(
            "off",
            "Whether to score split antecedents (they = Ann + Bob).",
            at="policies",
            values={
                "off": "ignore them",
                "score": "a set is one more element of its entity, with credit for correct parts",
            },
            example="ab,cd,fg{ab+cd} / ab,cd,fg: MUC R off 100, score 75",
        ),
    ]
    zeros: Annotated[
        Zeros,
        Choice(
            "align",
            "Which empty nodes (zeros) of key and response correspond.",
            at="pairing",
            values={
                "align": "those with the most similar dependencies, else those in the same place",
                "place": "those in the same place in a sentence",
                "drop": "none: drop zeros, and mentions whose head or only token is one",
            },
        ),
    ]
    pairing: Annotated[
        Pairing,
        Choice(
            "name",
            "Which documents of key and response belong together.",
            at="pairing",
            values={
                "name": "those with the same id",
                "position": "the first with the first and so on, up to the end of the shorter side",
                "one": "all are one text; entities with the same number become one",
            },
            accidents=("one",),
            example="documents 1: ab / ab and 2: ab,cd / ab,cd, the response in reverse order: "
            "name MUC 100, position 66.7",
        ),
    ]
    documents: Annotated[
        str, Choice("*", "Score only the documents whose id matches this pattern.", at="pairing")
    ]
    missing: Annotated[
        Missing,
        Choice(
            "empty",
            "What to do with key documents that the response lacks.",
            at="pairing",
            values={
                "empty": "count them as if the response had no mentions",
                "skip": "leave them out",
                "error": "refuse to score",
            },
            example="ab / ab and ab / –: empty MUC 66.7, skip 100, error no number",
        ),
    ]
    extra: Annotated[
        Extra,
        Choice(
            "ignore",
            "What to do with response documents that the key lacks.",
            at="pairing",
            values={
                "ignore": "leave them out",
                "count": "count everything in them as spurious",
                "error": "refuse to score",
            },
            example="ab / ab and – / ab: ignore MUC 100, count 66.7, error no number",
        ),
    ]
    across: Annotated[
        str,
        Choice(
            "none",
            "Join entities with the same id across documents: none, all, or among "
            "documents whose ids give the same match for a regular expression.",
            at="pairing",
            is_expression=True,
        ),
    ]
    tokens: Annotated[
        TokenRule,
        Choice(
            "same",
            "What to do where the response's tokens differ from the key's.",
            at="pairing",
            values={
                "same": "it is an error",
                "align": "align the texts, and compare mentions by the text that both have",
                "ignore": "compare the numbers of tokens, whatever the words are",
            },
            flag="ignore_tokens",
            flagged="ignore",
        ),
    ]
    spans: Annotated[
        Spans,
        Choice(
            "auto",
            "How to read the end of plain (start, end) mentions if the other side has tokens.",
            at="pairing",
            values={
                "auto": "inclusive if any span has start = end, else exclusive",
                "inclusive": "end is the last token",
                "exclusive": "end is the token after the last",
            },
            option=False,
        ),
    ]
    occurrences: Annotated[
        Occurrences,
        Choice(
            "in-order",
            "Which occurrence a string in a language model's list refers to.",
            at="reading",
            values={
                "in-order": "the one that fits the order of the list and the neighbours best",
                "first": "the first in the text",
                "all": "every occurrence that is not taken yet",
            },
        ),
    ]
    choice: Annotated[
        str,
        Choice(
            "auto",
            "Which answer counts where a language model gave several to a prompt; the first by "
            "default.",
            at="reading",
            pattern=NUMBER,
        ),
    ]
    pieces: Annotated[
        Literal["auto", "apart", "joined"],
        Choice(
            "auto",
            "What to do with entities of different pieces of a document in a language model's "
            "answers.",
            at="reading",
            values={
                "auto": "keep them apart, if there are pieces",
                "apart": "keep them apart: in every piece, numbers start anew",
                "joined": "join those with equal numbers, for a model that saw its earlier answers",
            },
        ),
    ]
    lost: Annotated[
        Lost,
        Choice(
            "drop",
            "What to do with a language model's mentions that are not in the text.",
            at="policies",
            values={
                "drop": "leave them out, which raises precision",
                "strict": "keep them in their entities, where they match nothing",
            },
        ),
    ]
    candidate: Annotated[
        str,
        Choice(
            "cover",
            "When a mention of the target's entity chooses a candidate of a probe.",
            at="probes",
            values={
                "cover": "it holds the candidate's head, and no other candidate's",
                "exact": "it has the candidate's tokens",
                "nested": "it lies inside of the candidate, or the candidate inside of it",
                "overlap": "tokens in common, with a Dice coefficient of at least this",
            },
            shares={"overlap": 0.5},
        ),
    ]
    names: Annotated[
        Names,
        Choice(
            "span",
            "Where a candidate of a probe stands.",
            at="probes",
            values={
                "span": "at its own places",
                "string": "wherever its words stand, if no other candidate or the target does",
            },
        ),
    ]
    pair: Annotated[
        str,
        Choice(
            "none",
            "The groups of a probe, separated by commas, in which twins have the same values.",
            at="probes",
        ),
    ]
    tagset: Annotated[
        object,
        Choice(
            "auto",
            "The tagset (penn, upos, stts, or your own JSON file), if the tags do not show it.",
            at="features",
        ),
    ]
    wrong_spans: Annotated[
        WrongSpans,
        Choice(
            "auto",
            "When an extra mention counts as an overlapping missing one with a wrong span.",
            at="errors",
            values={
                "auto": "same head where heads are known, else overlap",
                "head": "when both have the same head",
                "overlap": "always",
            },
        ),
    ]
    unmarked: Annotated[
        Unmarked,
        Choice(
            "singleton",
            "How α treats a mention that an annotator did not mark.",
            at="agreement",
            values={"singleton": "as a chain of its own", "missing": "as a missing value"},
        ),
    ]
    quorum: Annotated[
        str,
        Choice(
            "half",
            "How many annotators must mark a mention that a consensus keeps: a number, or half.",
            at="merge",
            pattern=NUMBER,
        ),
    ]
    undefined: Annotated[
        Undefined,
        Choice(
            "0",
            "The value of a recall or precision of 0/0.",
            at="rates",
            values={
                "0": "0, as in the official scorer",
                "1": "1, so that F1 is 1 where both sides have nothing",
                "epsilon": "0, with 1e-7 added to every denominator",
                "nan-ceafe": "as epsilon, but CEAFe is nan where the key has no entity",
                "error": "refuse to score",
            },
            accidents=("error",),
            example="ab / ab and – / ab, macro-rates: CEAFe 0 50, epsilon 50, nan-ceafe no number",
        ),
    ]
    aggregate: Annotated[
        Aggregate,
        Choice(
            "micro",
            "Sum the counts of all documents (micro), or take means over documents (macro).",
            at="rates",
            values={
                "micro": "rates of summed counts",
                "macro": "means over the documents with anything to count",
                "macro-f": "means over all documents",
                "macro-rates": "mean recall and mean precision over all documents, and F1 of these",
                "weighted": "means weighted by mentions of the key (R), response (P) or both (F1)",
                "pool": "rates of summed counts, including pairs of mentions across documents",
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
                "f1": "the three F1",
                "rates": "the three F1, and likewise the three recalls and precisions",
                "truncated": "the three F1 in percent, each cut to two decimals",
            },
            example="F1 of 46.429, 70.6 and 70.204: f1 62.411, truncated 62.407",
        ),
    ]
    rounding: Annotated[
        str,
        Choice(
            "none",
            "How to print numbers as text: truncate(2) cuts after two decimals, round(1) rounds to "
            "one.",
            at="rates",
            pattern=r"(truncate|round)\([0-9]\)",
            example="70.209: truncate(2) 70.20, round(2) 70.21, round(1) 70.2",
        ),
    ]
    emulate: Annotated[
        Emulate,
        Choice(
            "none",
            "The program whose numbers to reproduce, quirks included.",
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
