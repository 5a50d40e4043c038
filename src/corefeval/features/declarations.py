"""Every feature, declared once: what parses it, lists it and documents it. No numpy here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["document", "entity", "mention"]


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

    >>> level_of("genre"), level_of("size(1, 2+)"), level_of("infstat")
    ('document', 'entity', 'mention')
    """
    name = feature.partition("(")[0].strip().lower()
    return FEATURES[name].level if name in FEATURES else "mention"


def shows_words(feature: str) -> bool:
    """Whether the values of a feature may be words of the text, or names of speakers.

    >>> shows_words("head"), shows_words("column(lemma)"), shows_words("size(1, 2+)")
    (True, True, False)
    """
    name = feature.partition("(")[0].strip().lower()
    return name not in FEATURES or name in ("head", "words", "column", "speaker")
