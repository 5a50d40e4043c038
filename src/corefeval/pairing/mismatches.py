"""Key and response with hardly a mention in common.

A score near zero does not tell that spans were counted differently, so a notice shows the first
mentions of both sides and what to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, excerpt, list_names, plural
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray

_FEW = 10  # fewer than one mention of so many in common is suspicious
ENOUGH = 5  # mentions of which, in some of many documents, one should be in common

MISMATCH = "no-common-mentions"  # the kind of the notice


class Suspects(NamedTuple):
    """Documents of a piece that may have too few mentions in common.

    For each of them `documents` has its index and `names` its name, `sizes` the number of mentions
    of the side that has fewer, and `common` how many are on both sides. The piece has `n_documents`
    in all, `n_mentions` of the key and of the response, and `n_common` on both sides. `examples`
    are the first mentions of key and response.
    """

    documents: list[int]
    names: list[str]
    sizes: list[int]
    common: list[int]
    n_documents: int
    n_mentions: tuple[int, int]
    n_common: int
    examples: tuple[str, str]


def find_suspects(key: Corpus, response: Corpus, key_rows: IntArray) -> Suspects:
    """The suspects of a piece; `key_rows` are the key's mentions that the response has."""
    sizes = np.minimum(np.diff(key.mention_offsets), np.diff(response.mention_offsets))
    common = np.bincount(key.mention_document[key_rows], minlength=sizes.size)
    places = np.flatnonzero(_FEW * common < sizes)
    return Suspects(
        places.tolist(),
        [str(key.documents[place]) for place in places.tolist()],
        sizes[places].tolist(),
        common[places].tolist(),
        sizes.size,
        (key.n_mentions, response.n_mentions),
        int(key_rows.size),
        (_show_first(key), _show_first(response)),
    )


def mismatch_notices(pieces: Sequence[Suspects], name: str) -> list[Notice]:
    """A notice where the response `name`, of all pieces, hardly has a mention of the key."""
    n_key, n_response = (sum(piece.n_mentions[side] for piece in pieces) for side in (0, 1))
    if not n_key or not n_response:
        return []
    n_common, n_documents = (
        sum(numbers) for numbers in zip(*((p.n_common, p.n_documents) for p in pieces), strict=True)
    )
    rows = [
        row
        for piece in pieces
        for row in zip(piece.names, piece.sizes, piece.common, strict=True)
        if row[1] >= ENOUGH or not n_common
    ]
    if n_common and not rows:
        return []
    names = [document for document, _, _ in rows]
    if n_common:
        share = (
            f"{sum(row[2] for row in rows):,} of {plural(sum(row[1] for row in rows), 'mention')}"
        )
        message = f"in {len(names):,} of {plural(n_documents, 'document')} "
        message += f"({list_names(names)}) only {share} are in the key"
    else:
        message = f"no mention is in the key, of {n_response:,} here and {n_key:,} there"
    message = f"{name or 'response'}: {message}: {advise(pieces)}"
    items = tuple(names) if n_common else ()
    return [Notice(MISMATCH, message, len(names) or n_documents, items)]


def advise(pieces: Sequence[Suspects]) -> str:
    """What to check, with the first mentions of both sides."""
    first_of_key, first_of_response = (
        next((piece.examples[side] for piece in pieces if piece.examples[side]), "none")
        for side in (0, 1)
    )
    return (
        f"the first mentions are {first_of_response} here and {first_of_key} in the key; check "
        "that both have the same text and number its tokens in the same way (from 0 or 1, ends "
        "inclusive or exclusive)"
    )


def _show_first(corpus: Corpus) -> str:
    """The first mention, by its label, words or positions; nothing where there is none."""
    if not corpus.n_mentions:
        return ""
    if corpus.own_text is not None:  # positions are those of an axis
        return excerpt(corpus.on_own_text[int(corpus.mention_document[0])].mentions[0].text or "")
    if corpus.labels is not None:
        return excerpt(repr(corpus.labels[0]), 40)
    starts, ends = corpus.mention_start, corpus.mention_end
    return f"{starts[0]}:{ends[0]}" if starts is not None and ends is not None else "unknown"
