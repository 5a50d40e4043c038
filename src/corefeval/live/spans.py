"""Plain (start, end) pairs as token spans, where the other side has token positions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.construction import assemble
from corefeval.protocol import Spans


def spans_reading(labelled: Corpus, spans: Spans) -> Spans | None:
    """Whether the ends of a labelled corpus' spans are inclusive or exclusive.

    None if its mentions are not spans, each two whole numbers. `auto` takes ends as inclusive if
    some span starts where it ends, which with exclusive ends would have no token, and as exclusive
    otherwise.
    """
    if not all(map(_is_span, labelled.labels or ())):
        return None
    if spans != "auto":
        return spans
    return "inclusive" if any(start == end for start, end in _pairs(labelled)) else "exclusive"


def with_positions(labelled: Corpus, partner: Corpus, reading: Spans, *, guessed: bool) -> Corpus:
    """A labelled corpus with token positions instead, checked against the tokens of its partner.

    Corpus and partner (the key of a response, or the reverse) number their documents alike.
    """
    start, last = _numbers(labelled)
    end = last + 1 if reading == "inclusive" else last
    document = labelled.mention_document
    wrong = (start < 0) | (end <= start)
    if partner.tokens is not None:
        limit = partner.tokens.counts[document]
        wrong |= (limit > 0) & (end > limit)  # a document that the other side lacks has no tokens
    if wrong.any():
        raise _outside(labelled, partner, int(np.argmax(wrong)), reading)
    corpus = assemble(
        documents=labelled.documents,
        mention_document=document,
        entity=labelled.mention_entity,
        start=start,
        end=end,
        name=labelled.name,
    )
    notices = labelled.notices
    if guessed and start.size:
        notices = (*notices, _guess(labelled, reading))
    return corpus.with_details(notices=notices)


def _is_span(label: Hashable) -> bool:
    return (
        isinstance(label, tuple)
        and len(label) == 2
        and all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in label)
    )


def _pairs(labelled: Corpus) -> Sequence[tuple[int, int]]:
    return cast("Sequence[tuple[int, int]]", labelled.labels or ())


def _numbers(labelled: Corpus) -> tuple[IntArray, IntArray]:
    try:
        pairs = np.array(_pairs(labelled), dtype=np.int64).reshape(-1, 2)
    except OverflowError:
        raise InputError(
            "a span with a number too large for any text", file=labelled.name or None
        ) from None
    # Beyond any text, but so that an end may still be counted up.
    pairs = np.minimum(pairs, np.iinfo(np.int64).max - 1)
    return pairs[:, 0], pairs[:, 1]


def _guess(labelled: Corpus, reading: Spans) -> Notice:
    why = "one" if reading == "inclusive" else "none"
    message = (
        f"{labelled.name}: (start, end) spans were read with {reading} ends, as {why} of them has "
        f"start = end; use spans='inclusive' or 'exclusive', or corefeval.corpus_from_arrays, "
        "to leave nothing to guess"
    )
    return Notice("spans", message, labelled.n_mentions)


def _outside(labelled: Corpus, partner: Corpus, row: int, reading: Spans) -> InputError:
    index = int(labelled.mention_document[row])
    start, end = _pairs(labelled)[row]
    count = int(partner.tokens.counts[index]) if partner.tokens is not None else 0
    top = f", end up to {count - 1 if reading == 'inclusive' else count}" if count else ""
    relation = "<=" if reading == "inclusive" else "<"
    fix = f"ends were read as {reading}: "
    fix += (
        "if they point after the last token, use spans='exclusive'"
        if reading == "inclusive"
        else "if they point at the last token, use spans='inclusive'"
    )
    return InputError(
        f"a span outside document {excerpt(str(labelled.documents[index]))}",
        file=labelled.name or None,
        found=f"({start}, {end})" + (f" in {count:,} tokens" if count else ""),
        expected=f"0 <= start {relation} end{top}, counted in the document",
        fix=fix,
    )
