"""Name, nominal or pronoun."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from corefeval.features.brackets import Nodes
from corefeval.features.spans import Spans, find_spans
from corefeval.features.tagsets import TagSet
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories

KINDS = ("name", "nominal", "pronoun")
NAME, NOMINAL, PRONOUN = range(3)

# Classes of named entities that are no names, in OntoNotes and elsewhere.
NUMERIC_CLASSES = frozenset(
    ("date", "time", "cardinal", "ordinal", "percent", "money", "quantity", "number", "duration")
)


def kinds(
    spans: Spans,
    heads: IntArray,
    tags: Categories,
    tagset: TagSet,
    *,
    empty: BoolArray | None = None,
    words: Callable[[IntArray], Categories] | None = None,
    named: Nodes | None = None,
    sentences: IntArray | None = None,
) -> Categories:
    """The kind of each mention.

    A pronoun is a mention whose head has a pronoun's tag, a single determiner, or an empty node. A
    name is one whose head is a proper noun, or that is a named entity but for its article and has
    a head with a capital letter. The rest is nominal, clauses and numbers too.
    """
    head_tag = tags.take(heads)
    noun, name = head_tag.where(tagset.is_noun), head_tag.where(tagset.is_name)
    alone = head_tag.where(tagset.is_alone)
    pronoun = head_tag.where(tagset.is_pronoun) | ((spans.length == 1) & alone)
    if empty is not None:
        pronoun |= empty[heads]
    if tagset.words and words is not None:
        rows = np.flatnonzero((noun | alone) & ~pronoun & ~name)
        pronoun[rows] = words(heads[rows]).where(lambda word: word.lower() in tagset.words)
        pairs = np.flatnonzero((spans.length == 2) & ~noun & ~pronoun)
        pronoun[pairs] = _are_phrases(spans, pairs, words, tagset)
    if named is not None and words is not None:
        rows = np.flatnonzero(is_named(spans, tags, tagset, named) & ~pronoun & ~name)
        capital = words(heads[rows]).where(lambda word: word[:1].isupper())
        # A capital at the beginning of a sentence says nothing.
        first = np.isin(heads[rows], heads[:0] if sentences is None else sentences)
        name[rows] = capital & ~first
    kind = np.where(pronoun, PRONOUN, np.where(name, NAME, NOMINAL))
    return Categories(kind.astype(np.int64), KINDS)


def _are_phrases(
    spans: Spans, rows: IntArray, words: Callable[[IntArray], Categories], tagset: TagSet
) -> BoolArray:
    """Which of some mentions of two tokens are pronouns of two words: `each other`."""
    phrases = {phrase for phrase in tagset.words if " " in phrase}
    first, second = words(spans.start[rows]), words(spans.end[rows] - 1)
    possible = np.flatnonzero(first.where(lambda word: word.lower() in _first_words(phrases)))
    found = np.zeros(rows.size, dtype=np.bool_)
    texts = zip(first.take(possible).values(), second.take(possible).values(), strict=True)
    found[possible] = [f"{one} {other}".lower() in phrases for one, other in texts]
    return found


def _first_words(phrases: Iterable[str]) -> set[str]:
    return {phrase.partition(" ")[0] for phrase in phrases}


def is_named(spans: Spans, tags: Categories, tagset: TagSet, named: Nodes) -> BoolArray:
    """Which mentions are a named entity, a determiner before it and a ’s behind it left aside."""
    label = Categories(named.label, named.names)
    real = label.where(lambda name: name.lower() not in NUMERIC_CLASSES)
    known = named.start[real], named.end[real]
    found = find_spans(*known, (spans.start, spans.end)) >= 0
    long = spans.length > 1
    without_determiner = long & tags.take(spans.start).where(tagset.is_alone)
    without_possessive = long & tags.take(spans.end - 1).where("POS".__eq__)
    for first in (True, False):
        for last in (True, False):
            # Only mentions that have such an end, and are not found yet, need another look.
            shorter = (without_determiner if first else long) & (
                without_possessive if last else long
            )
            rows = np.flatnonzero(shorter & ~found) if first or last else known[0][:0]
            core = spans.start[rows] + first, spans.end[rows] - last
            found[rows] = find_spans(*known, core) >= 0
    return found
