"""Every feature, declared once, and how one is asked for: `kind`, `size(1, 2+)`. No numpy here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, get_args

from corefeval.checks import CROSS, parse_call, split_list
from corefeval.diagnostics import UndefinedMetricError, UsageError

Level = Literal["document", "entity", "mention"]


class MissingFeatureError(UndefinedMetricError):
    """A corpus that lacks what a feature needs: says what, where, and what to do."""

    def __init__(self, feature: str, problem: str, *, fix: str = "") -> None:
        self.feature = feature
        self.problem = problem
        self.fix = fix
        super().__init__(f"{feature} {problem}" + (f"\n  fix: {fix}" if fix else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), fix=self.fix), (self.feature, self.problem)


@dataclass(frozen=True, slots=True)
class FeatureDeclaration:
    """A feature: what it says, of what, which arguments it takes and what it needs.

    `settings` are arguments written `name=value`, `words` those written as they are; `takes_bins`
    is for numbers, `takes_name` for features that ask for one thing by its name.
    """

    name: str
    summary: str
    level: Level = "mention"
    arguments: str = ""
    needs: str = ""
    settings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    takes_bins: bool = False
    takes_name: bool = False


_BINS = "bins: `{0}(1, 2-3, 4+)`"
_NE_COLUMN = "`column=`: the token column of the named entities, by name or number"

_DECLARED = (
    FeatureDeclaration(
        "kind",
        "name, nominal or pronoun: as the format states it (`mention_type`), else by the tag of "
        "the head",
        needs="tags or `mention_type`",
    ),
    FeatureDeclaration(
        "noun",
        "yes for more than one token or a noun tag, else no (Tuggener 2014)",
        needs="tags; a kind that is given or stated will do",
    ),
    FeatureDeclaration(
        "tag",
        "NOUN for nouns in that sense, else the tag of the token",
        needs="tags",
    ),
    FeatureDeclaration("head_tag", "the tag of the head token", needs="tags"),
    FeatureDeclaration(
        "class",
        "the named-entity class: what the format states (`etype`, `entity_type`), else that of "
        "a named entity that is the mention, or lies in it and covers its head",
        arguments=_NE_COLUMN,
        needs="named entities, `etype` or `entity_type`",
        settings=("column",),
    ),
    FeatureDeclaration(
        "entity_class",
        "the class of the entity's first noun; where that has none, the only class among its "
        "mentions",
        level="entity",
        arguments="`vote`: the most frequent class, the earliest among equals; " + _NE_COLUMN,
        needs="as class; tags where mentions of an entity differ",
        settings=("column",),
        words=("vote", "anchor"),
    ),
    FeatureDeclaration(
        "zero", "yes for a mention whose head is an empty node (a zero), else no", needs="positions"
    ),
    FeatureDeclaration("head", "the head word, in lower case", needs="words"),
    FeatureDeclaration("words", "the text, in lower case", needs="words"),
    FeatureDeclaration(
        "length",
        "the number of tokens",
        arguments=_BINS.format("length"),
        needs="positions",
        takes_bins=True,
    ),
    FeatureDeclaration(
        "chain_position",
        "1 for the first mention of an entity, 2 for the second, and so on",
        arguments=_BINS.format("chain_position"),
        takes_bins=True,
    ),
    FeatureDeclaration(
        "distance",
        "how far the mention before it in its entity is, counted in mentions of the document: 1 "
        "is the one directly before; none for first mentions",
        arguments="`sentences`: counted in sentences, 0 is the same one; "
        + _BINS.format("distance"),
        needs="positions",
        words=("mentions", "sentences"),
        takes_bins=True,
    ),
    FeatureDeclaration(
        "link",
        "within where the mention before it in its entity is in the same document, across where "
        "it is in another (`--across`); none for first mentions",
        arguments="`column=`: a token column that names the document of each token, if a document "
        "contains several",
        settings=("column",),
    ),
    FeatureDeclaration(
        "nested", "yes for a mention inside another mention of its side, else no", needs="positions"
    ),
    FeatureDeclaration(
        "size",
        "the number of mentions of the entity: 1, 2–10 or 11+",
        level="entity",
        arguments=_BINS.format("size"),
        takes_bins=True,
    ),
    FeatureDeclaration(
        "speaker", "who speaks the first token", needs="a column or comments of speakers"
    ),
    FeatureDeclaration(
        "sentence_type",
        "the type of the sentence in which the mention begins (`s_type` in CoNLL-U)",
        arguments="`column=`: a token column that has it, by name or number",
        needs="`s_type` comments, or a column",
        settings=("column",),
    ),
    FeatureDeclaration(
        "relation",
        "of an anaphor of bridging the relation to its antecedent, `unlabelled` where that has no "
        "name; none for other mentions",
        needs="bridging",
    ),
    FeatureDeclaration(
        "genre",
        "the genre of the document: as the source states it, else from the document's name",
        level="document",
    ),
    FeatureDeclaration(
        "metadata",
        "what the source states about the document",
        level="document",
        arguments="the name: `metadata(author)`",
        takes_name=True,
    ),
    FeatureDeclaration(
        "column",
        "the cell of the head token in a token column",
        arguments="the name or number: `column(lemma)`, `column(7)`",
        takes_name=True,
    ),
)

FEATURES: dict[str, FeatureDeclaration] = {feature.name: feature for feature in _DECLARED}


def level_of(feature: str) -> Level:
    """Whether all mentions of a document, or of an entity, have the same value of a feature.

    Names that are not declared (given features, properties, columns) are of mentions.

    >>> level_of("genre"), level_of("genre*size(1, 2+)"), level_of("infstat")
    ('document', 'entity', 'mention')
    """
    names = _crossed_names(feature)
    levels = [FEATURES[name].level if name in FEATURES else "mention" for name in names]
    return max(levels, key=get_args(Level).index, default="mention")


def shows_words(feature: str) -> bool:
    """Whether the values of a feature may be words of the text, or names of speakers.

    >>> shows_words("head"), shows_words("column(lemma)"), shows_words("size(1, 2+)")
    (True, True, False)
    """
    of_words = ("head", "words", "column", "speaker")
    return any(name not in FEATURES or name in of_words for name in _crossed_names(feature))


def _crossed_names(feature: str) -> list[str]:
    """The names of crossed features in lower case, without their arguments."""
    parts = split_list(feature, CROSS)
    return [part.partition("(")[0].strip().lower() for part in parts]


MOST_CROSSED = 3


def split_crossed(text: str) -> list[FeatureRequest]:
    """The features that are crossed, each in its one spelling; most often it is one alone.

    UsageError: there are too many of them, or one appears twice.

    >>> [str(one) for one in split_crossed("Genre * size(1,2+)")]
    ['genre', 'size(1, 2+)']
    """
    if re.search(r"^\s*\*|\*\s*\*|\*\s*$", text):
        raise UsageError(f"{text!r}: a feature is missing beside *, as in genre*kind")
    requests = [FeatureRequest.parse(part) for part in list(split_list(text, CROSS)) or [text]]
    if len(requests) > MOST_CROSSED:
        number = len(requests)
        raise UsageError(f"{text}: at most {MOST_CROSSED} features are crossed, not {number}")
    if len(set(requests)) < len(requests):
        raise UsageError(f"{text}: a feature is crossed with others, not with itself")
    return requests


def canonical_feature(text: str) -> str:
    """The one spelling of a feature, from any; crossed ones are joined by `*`."""
    return CROSS.join(map(str, split_crossed(text)))


Bin = tuple[int, int | None]

SIZES: tuple[Bin, ...] = ((1, 1), (2, 10), (11, None))
SINGLE: tuple[Bin, ...] = (*((number, number) for number in range(11)), (11, None))


def is_bin(text: str) -> bool:
    """Whether a text is a bin of numbers: `3`, `2-10`, `11+`."""
    return re.fullmatch(r"\d{1,18}(\s*[-–]\s*\d{1,18}|\+)?", text) is not None


def parse_bins(feature: str, texts: Sequence[str]) -> tuple[Bin, ...]:
    """The bins that texts stand for, in ascending order: `1`, `2-10`, `11+`.

    >>> parse_bins("size", ["1", "2-5", "6+"])
    ((1, 1), (2, 5), (6, None))
    """
    bins: list[Bin] = []
    for text in texts:
        first, _, last = text.replace("–", "-").rstrip("+").partition("-")
        bins.append((int(first), None if text.endswith("+") else int(last or first)))
    bins.sort(key=lambda bounds: bounds[0])
    for (low, high), (after, _) in pairwise((*bins, (1 << 62, None))):
        if high is None and after < 1 << 62:
            raise UsageError(f"{feature}: the bin {bin_name((low, high))} holds {after} as well")
        if high is not None and not low <= high < after:
            problem = "is empty" if high < low else f"overlaps with the one from {after}"
            raise UsageError(f"{feature}: the bin {bin_name((low, high))} {problem}")
    return tuple(bins)


def bin_name(bounds: Bin) -> str:
    """The name of a bin, for people: `1`, `2–10`, `11+`."""
    low, high = bounds
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"


@dataclass(frozen=True, slots=True)
class FeatureRequest:
    """A feature and its arguments; its text parses back to it.

    >>> str(FeatureRequest.parse(" Distance( sentences,0,1+ ) "))
    'distance(sentences, 0, 1+)'
    >>> FeatureRequest.parse("class(column=10)").setting("column")
    '10'
    """

    name: str
    arguments: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def parse(text: str) -> FeatureRequest:
        """The request in a text; names of declared features and settings become lower case."""
        call = parse_call(text, "feature", "argument, setting=value")
        name = call.name.lower() if call.name.lower() in FEATURES else call.name
        return FeatureRequest(name, call.arguments, tuple(call.settings.items())).check()

    @property
    def declaration(self) -> FeatureDeclaration | None:
        """What is declared of the feature; None for given ones, properties and columns."""
        return FEATURES.get(self.name)

    def check(self) -> FeatureRequest:
        """The request, with words in lower case; an error where it asks for what is not there."""
        declared = self.declaration or FeatureDeclaration(self.name, "")
        for key, _ in self.settings:
            if key not in declared.settings:
                has = ", ".join(declared.settings) or "none"
                raise UsageError(f"{self.name} has no setting {key!r} (it has {has})")
        arguments = []
        for argument in self.arguments:
            if argument.lower() in declared.words:
                arguments.append(argument.lower())
            elif declared.takes_name or (declared.takes_bins and is_bin(argument)):
                arguments.append(argument)
            else:
                takes = [*declared.words, *(["bins such as 1, 2-5, 6+"] * declared.takes_bins)]
                usage = f"it takes {' or '.join(takes)}" if takes else "it takes none"
                raise UsageError(f"{self.name} takes no argument {argument!r}: {usage}")
        if declared.takes_name and len(arguments) != 1:
            raise UsageError(f"{self.name} takes one name: {self.name}(NAME)")
        return FeatureRequest(self.name, tuple(arguments), self.settings)

    def setting(self, name: str) -> str | None:
        """The value of a setting."""
        return dict(self.settings).get(name)

    @property
    def bins(self) -> tuple[Bin, ...]:
        """The bins among the arguments, in ascending order."""
        return parse_bins(self.name, [argument for argument in self.arguments if is_bin(argument)])

    def __str__(self) -> str:
        parts = (*self.arguments, *(f"{key}={value}" for key, value in self.settings))
        return f"{self.name}({', '.join(parts)})" if parts else self.name
