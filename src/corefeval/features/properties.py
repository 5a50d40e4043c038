"""What formats state about single mentions: properties such as `etype`, and heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corefeval.features.kinds import KINDS
from corefeval.features.spans import find_spans
from corefeval.features.texts import BLANK
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories

# What LitBank and ACE call kinds.
_KIND_NAMES = {
    "PROP": "name", "NAM": "name", "NAME": "name", "NOM": "nominal", "NOMINAL": "nominal",
    "PRON": "pronoun", "PRO": "pronoun", "PRONOUN": "pronoun",
}  # fmt: skip
# CorefUD's name of it, and that of LitBank and brat.
_CLASS = ("etype", "entity_type")


def stated_property(corpus: Corpus, texts: Sequence[Corpus], *names: str) -> Categories | None:
    """A property of each mention, from the first corpus that states it of this span.

    The texts come first, then the corpus itself; None where nobody states it of anything. Of
    several names the first that a corpus has counts.
    """
    numbers: dict[str, int] = {}
    codes = np.full(corpus.n_mentions, -1, dtype=np.int64)
    owners = [
        (owner, name)
        for owner in dict.fromkeys((*texts, corpus))
        for name in names
        if name in owner.features
    ]
    for owner, name in owners:
        cells = [str(value) for value in owner.features[name].tolist()]
        stated = [-1 if c in BLANK else numbers.setdefault(c, len(numbers)) for c in cells]
        _adopt(codes, np.array(stated, dtype=np.int64), corpus, owner)
    return Categories(codes, tuple(numbers)) if owners else None


def stated_kinds(corpus: Corpus, texts: Sequence[Corpus]) -> Categories | None:
    """The kinds that `mention_type` states (PROP, NOM, PRON); None where it states none."""
    found = stated_property(corpus, texts, "mention_type")
    kinds = None if found is None else found.renamed(lambda text: _KIND_NAMES.get(text.upper()))
    return kinds.recoded(KINDS) if kinds is not None and kinds.names else None


def stated_classes(corpus: Corpus, texts: Sequence[Corpus]) -> Categories | None:
    """The classes that `etype` or `entity_type` state; None where they state none."""
    found = stated_property(corpus, texts, *_CLASS)
    return found if found is not None and found.names else None


def stated_heads(corpus: Corpus, texts: Sequence[Corpus]) -> IntArray:
    """The position of each mention's head that a corpus states; −1 where none does."""
    heads = np.full(corpus.n_mentions, -1, dtype=np.int64)
    for owner in dict.fromkeys((*texts, corpus)):
        if owner.mention_head is not None:
            _adopt(heads, np.asarray(owner.mention_head), corpus, owner)
    return heads


def _adopt(values: IntArray, stated: IntArray, corpus: Corpus, owner: Corpus) -> None:
    """Take what a corpus states (not −1) of the spans of mentions that have no value yet."""
    rows = np.flatnonzero(stated >= 0)
    place = _rows_of(corpus, owner, rows)
    wanted = np.flatnonzero((place >= 0) & (values < 0))
    values[wanted] = stated[rows[place[wanted]]]


def _rows_of(corpus: Corpus, owner: Corpus, rows: IntArray) -> IntArray:
    """For each mention of a corpus the place in `rows` of the owner's mention of the same span."""
    if corpus is owner:
        place = np.full(corpus.n_mentions, -1, dtype=np.int64)
        place[rows] = np.arange(rows.size)
        return place
    spans = [_numbered(one) for one in (corpus, owner)]
    if spans[0] is None or spans[1] is None:
        return np.full(corpus.n_mentions, -1, dtype=np.int64)
    (start, end), (their_start, their_end) = spans[0], spans[1]
    found = find_spans(their_start[rows], their_end[rows], (start, end))
    # A mention with a gap is not the one that fills it.
    interrupted = np.isin(rows, owner.gaps[:, 0])
    found[np.append(interrupted, False)[found]] = -1
    found[corpus.gaps[:, 0]] = -1
    return found


_STRIDE = 1 << 32


def _numbered(corpus: Corpus) -> tuple[IntArray, IntArray] | None:
    """Spans with the document in them."""
    if corpus.mention_start is None or corpus.mention_end is None:
        return None
    shift = corpus.mention_document * _STRIDE
    return corpus.mention_start + shift, corpus.mention_end + shift
