"""Whether a mention is a name, a nominal or a pronoun; its class; and which one names an entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np

from corefeval.diagnostics import CorefEvalError
from corefeval.features.brackets import Nodes
from corefeval.features.tagsets import TagSet
from corefeval.features.token_columns import TokenSpans, find_spans
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    integers,
    looked_up,
    set_rows,
    unset,
)
from corefeval.model.categories import Categories

KINDS = ("name", "nominal", "pronoun")
NAME, NOMINAL, PRONOUN = range(3)

# Classes of named entities that are no names, in OntoNotes and elsewhere.
NUMERIC_CLASSES = frozenset(
    ("date", "time", "cardinal", "ordinal", "percent", "money", "quantity", "number", "duration")
)


def find_kinds(
    spans: TokenSpans,
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
    a head with a capital letter. The rest is nominal, clauses and numbers too. `words` are those of
    some tokens, `named` the named entities in mentions, `sentences` where sentences begin.
    """
    head_tag = tags.take(heads)
    noun, name = head_tag.where(tagset.is_noun), head_tag.where(tagset.is_name)
    alone = head_tag.where(tagset.is_alone)
    pronoun = head_tag.where(tagset.is_pronoun) | ((spans.length == 1) & alone)
    if empty is not None:
        pronoun |= empty[heads]
    if words is not None and (tagset.words or named is not None):
        rows = np.flatnonzero(~pronoun & ~name)
        head_words = words(heads[rows])
        if tagset.words:
            pronoun[rows] = head_words.where_lower(tagset.words) & (noun | alone)[rows]
            pairs = np.flatnonzero((spans.length == 2) & ~noun & ~pronoun)
            pronoun[pairs] = _are_phrases(spans, pairs, words, tagset)
        if named is not None:
            is_capitalized = head_words.where(lambda word: word[:1].isupper())
            # A capital at the beginning of a sentence says nothing.
            begins = np.isin(heads[rows], heads[:0] if sentences is None else sentences)
            rows = rows[is_capitalized & ~pronoun[rows] & ~begins]
            name[rows] = is_named(spans, rows, tags, tagset, named)
    kind = np.where(pronoun, PRONOUN, np.where(name, NAME, NOMINAL))
    return Categories(integers(kind), KINDS)


def _are_phrases(
    spans: TokenSpans, rows: IntArray, words: Callable[[IntArray], Categories], tagset: TagSet
) -> BoolArray:
    """Which of some mentions of two tokens are pronouns of two words: `each other`."""
    phrases = {phrase for phrase in tagset.words if " " in phrase}
    begin = {phrase.partition(" ")[0] for phrase in phrases}
    possible = np.flatnonzero(words(spans.start[rows]).where_lower(begin))
    are_phrases = all_false(rows.size)
    pairs = [words(place[rows[possible]]).values() for place in (spans.start, spans.end - 1)]
    are_phrases[possible] = [
        f"{first} {last}".lower() in phrases for first, last in zip(*pairs, strict=True)
    ]
    return are_phrases


def is_named(
    spans: TokenSpans, rows: IntArray, tags: Categories, tagset: TagSet, named: Nodes
) -> BoolArray:
    """Which of some mentions are a named entity, determiner before and ’s behind it left aside."""
    label = Categories(named.label, named.names)
    real = label.where(lambda name: name.lower() not in NUMERIC_CLASSES)
    entities = named.start[real], named.end[real]
    start, end, long = spans.start[rows], spans.end[rows], spans.length[rows] > 1
    determiner = long & tags.take(start).where(tagset.is_alone)
    possessive = long & tags.take(end - 1).where("POS".__eq__)
    nothing = are_named = all_false(rows.size)
    for first, last in product((nothing, determiner), (nothing, possessive)):
        are_named = are_named | (find_spans(*entities, (start + first, end - last)) >= 0)
    return are_named


def find_classes(spans: TokenSpans, heads: IntArray, named: Nodes) -> Categories:
    """The class of a named entity that is the mention, else of one in it that covers its head.

    Of several that do the latter the outermost counts. Heads may be unknown (−1).
    """
    equal = find_spans(named.start, named.end, (spans.start, spans.end))
    codes = looked_up(named.label, equal)
    levels = np.flatnonzero(np.diff(named.depth)) + 1
    for level in np.split(np.arange(named.start.size), levels) if named.start.size else ():
        rows = np.flatnonzero((codes < 0) & (heads >= 0))
        place = level[np.maximum(np.searchsorted(named.start[level], heads[rows], "right") - 1, 0)]
        covers = (named.start[place] <= heads[rows]) & (heads[rows] < named.end[place])
        covers &= (named.start[place] >= spans.start[rows]) & (named.end[place] <= spans.end[rows])
        codes[rows[covers]] = named.label[place[covers]]
    return Categories(codes, named.names)


def find_entity_classes(
    entity: IntArray, n_entities: int, classes: Categories, is_noun: Callable[[], BoolArray]
) -> Categories:
    """The class of each mention's entity, by its anchor.

    The anchor is the first noun of an entity. Where it has no class, the only class among the
    mentions counts. An entity whose mentions have one class between them has that class in any
    case, so nouns are asked for only where mentions differ.
    """
    classed = np.flatnonzero(classes.codes >= 0)
    lowest = np.full(n_entities, len(classes.names), dtype=np.int64)
    highest = unset(n_entities)
    np.minimum.at(lowest, entity[classed], classes.codes[classed])
    np.maximum.at(highest, entity[classed], classes.codes[classed])
    mixed = lowest < highest
    if mixed.any():
        nouns = np.flatnonzero(is_noun())
        anchors = _find_first(entity[nouns], n_entities)
        anchor_class = unset(n_entities)
        has_anchor = anchors >= 0
        anchor_class[has_anchor] = classes.codes[nouns[anchors[has_anchor]]]
        highest = np.where(mixed, anchor_class, highest)
    return Categories(highest[entity], classes.names)


def vote_for_classes(entity: IntArray, n_entities: int, classes: Categories) -> Categories:
    """The class that most mentions of an entity have; of equals the one that comes first."""
    classed = np.flatnonzero(classes.codes >= 0)
    width = max(len(classes.names), 1)
    pair = entity[classed] * width + classes.codes[classed]
    distinct, first, votes = np.unique(pair, return_index=True, return_counts=True)
    owner = distinct // width
    order = np.lexsort((first, -votes, owner))
    winner = _find_first(owner[order], n_entities)
    has_class = winner >= 0
    chosen = set_rows(has_class, (distinct % width)[order[winner[has_class]]], n_entities)
    return Categories(chosen[entity], classes.names)


def _find_first(group: IntArray, n_groups: int) -> IntArray:
    """The first place at which each group occurs; −1 where it does not.

    >>> _find_first(np.array([2, 0, 2]), 3).tolist()
    [1, -1, 0]
    """
    return set_rows(group[::-1], np.arange(group.size - 1, -1, -1), n_groups)


def name_entity(rows: IntArray, kinds: Categories | None, text: Callable[[int], str]) -> int:
    """Which of an entity's mentions names it: a row of `rows`, which are in textual order.

    That is its most frequent name, the longest of several; without any name its longest nominal,
    and else its first mention. `kinds` has the kind of every mention, `text` the words of a row.
    """
    values = [] if kinds is None else kinds.take(rows).values()
    best = next((kind for kind in ("name", "nominal") if kind in values), None)
    if best is None:
        return int(rows[0])
    candidates: list[int] = rows[[kind == best for kind in values]].tolist()
    if len(candidates) == 1:
        return candidates[0]
    texts = {row: text(row) for row in candidates}
    times = Counter(texts.values() if best == "name" else ())
    return max(candidates, key=lambda row: (times[texts[row]], len(texts[row])))


def kinds_if_known(feature: Callable[[str], Categories]) -> Categories | None:
    """The kind of every mention; None where nothing tells it."""
    try:
        return feature("kind")
    except (CorefEvalError, KeyError):
        return None
