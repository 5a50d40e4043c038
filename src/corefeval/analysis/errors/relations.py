"""Errors beyond coreference: sets of antecedents and bridging that are missed, spurious or wrong.

They have no points: what is wrong with them is not in the entities that errors are fixed in. Sets
are aligned as B³ aligns them. An anaphor of bridging is wrong where an antecedent of it is neither
one that the key has for it nor a mention of the same entity.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corefeval.alignment import Alignment
from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.listing import ErrorInstance, Lookup
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray

_LONGEST = 24  # characters of an antecedent


def list_relations(errors: Classification, kind: str) -> Iterator[ErrorInstance]:
    """All errors of a kind, in the order of the text, with the antecedents of either side.

    The mention is the anaphor: of an entity with a set, its first mention.
    """
    alignment = errors.alignment
    if alignment.aside is None:
        return
    beyond, lookup = alignment.beyond, Lookup(errors)
    find = _sets if kind.endswith("set") else _bridging
    corpora = beyond.key.corpus, beyond.response.corpus
    for side, row, mine, theirs in sorted(find(alignment, kind.split()[0])):
        texts = [
            " + ".join(_short(lookup.mention(corpus, one).text) for one in rows) or None
            for corpus, rows in zip(corpora, (mine, theirs), strict=True)
        ]
        document = lookup.document(int(corpora[side].mention_document[row]))
        place = lookup.mention(corpora[side], row)
        yield ErrorInstance(kind, document, (place,), texts[0], texts[1])


# The side of an anaphor, its row there, and the antecedents of both sides.
_Found = tuple[int, int, list[int], list[int]]


def _sets(alignment: Alignment, outcome: str) -> Iterator[_Found]:
    from corefeval.metrics.set_alignment import align_sets

    beyond, aligned = alignment.beyond, align_sets(alignment, "b3")
    sides = beyond.key, beyond.response
    if outcome == "wrong":
        for key, response, f1 in zip(aligned.key, aligned.response, aligned.f1, strict=True):
            if f1 < 1:
                mine = _elements(beyond.key.corpus, int(key))
                theirs = _elements(beyond.response.corpus, int(response))
                yield 0, int(beyond.key.sets.first[key]), mine, theirs
        return
    at = int(outcome == "spurious")
    known = (aligned.key, aligned.response)[at]
    sets = sides[at].sets
    for number in np.setdiff1d(np.arange(len(sets)), known).tolist():
        elements = _elements(sides[at].corpus, number)
        mine, theirs = ([], elements) if at else (elements, [])
        yield at, int(sets.first[number]), mine, theirs


def _elements(corpus: Corpus, number: int) -> list[int]:
    """The first mentions of the elements of a set."""
    from corefeval.model.sets import find_sets

    sets = find_sets(corpus)
    leaves = sets.leaf[sets.leaf_set == number]
    return sorted(int(np.argmax(corpus.mention_entity == leaf)) for leaf in leaves)


def _bridging(alignment: Alignment, outcome: str) -> Iterator[_Found]:
    from corefeval.metrics.bridging import right_pairs
    from corefeval.model.bridging import bridging_pairs

    beyond = alignment.beyond
    key, response = (bridging_pairs(side.corpus) for side in beyond)
    back = beyond.swapped.partner
    right = right_pairs(alignment)

    def antecedents(anaphors: IntArray, ends: IntArray, row: int) -> list[int]:
        return [int(end) for end in ends[anaphors == row]]

    there = back[np.unique(response.anaphor)] if response.anaphor.size else back[:0]
    if outcome == "missed":
        for row in np.setdiff1d(key.anaphor, there).tolist():
            yield 0, row, antecedents(key.anaphor, key.antecedent, row), []
        return
    known = np.isin(back[response.anaphor], key.anaphor)
    for row in np.unique(response.anaphor[~known if outcome == "spurious" else known & ~right]):
        own = antecedents(response.anaphor, response.antecedent, int(row))
        theirs = antecedents(key.anaphor, key.antecedent, int(back[row]))
        yield 1, int(row), theirs if outcome == "wrong" else [], own


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
