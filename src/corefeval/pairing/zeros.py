"""Empty nodes that only one side knows of: left out, and what stood on them told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefeval.diagnostics import Notice, plural
from corefeval.model import Corpus, DocumentTokens, TokenTable
from corefeval.model.arrays import IntArray


def on_equal_terms(key: Corpus, response: Corpus) -> tuple[Corpus, Corpus, tuple[Notice, ...]]:
    """Both corpora, without their empty nodes if they do not have the same ones."""
    if key.labels is not None or response.labels is not None or _same_lengths(key, response):
        return key, response, ()
    key, of_key = _without_empty_nodes(key)
    response, of_response = _without_empty_nodes(response)
    return key, response, (*of_key, *of_response)


def _same_lengths(key: Corpus, response: Corpus) -> bool:
    """Whether documents are as long as they are, empty nodes or not."""
    if key.tokens is None or response.tokens is None:
        return True
    there = response.tokens.counts > 0
    return bool((key.tokens.counts[there] == response.tokens.counts[there]).all())


def _without_empty_nodes(corpus: Corpus) -> tuple[Corpus, tuple[Notice, ...]]:
    tokens, start, end = corpus.tokens, corpus.mention_start, corpus.mention_end
    if tokens is None or "empty" not in tokens.columns or start is None or end is None:
        return corpus, ()
    n_documents = len(corpus.documents)
    marks = [[not mark for mark in tokens.column(d, "empty")] for d in range(n_documents)]
    if all(all(mark) for mark in marks):
        return corpus, ()
    # How many real tokens stand before each position, through all documents.
    places = [np.concatenate(([0], np.cumsum(mark, dtype=np.int64))) for mark in marks]
    shift = np.concatenate(([0], np.cumsum([place.size for place in places])))
    before = np.concatenate(places)
    base = shift[corpus.mention_document]
    new_start, new_end = before[base + start], before[base + end]
    gaps = corpus.gaps.copy()
    if gaps.size:
        gaps[:, 1:] = before[base[gaps[:, 0]][:, None] + gaps[:, 1:]]
        gaps = gaps[gaps[:, 2] > gaps[:, 1]]
    kept = replace(
        corpus,
        mention_start=new_start,
        mention_end=new_end,
        mention_head=None,
        gaps=gaps,
        tokens=TokenTable([_real(corpus, d, marks[d], places[d]) for d in range(n_documents)],
                          tokens.source),
    ).keep_mentions(new_end > new_start)  # fmt: skip
    dropped = corpus.n_mentions - kept.n_mentions
    n_nodes = sum(mark.count(False) for mark in marks)
    message = f"{corpus.name or 'corpus'}: {plural(n_nodes, 'empty node')} left out, as the other "
    message += "side has not the same ones"
    message += f", and {plural(dropped, 'mention')} of nothing else" if dropped else ""
    return kept, (Notice("empty-nodes", message, n_nodes),)


def _real(corpus: Corpus, document: int, real: list[bool], place: IntArray) -> DocumentTokens:
    tokens = corpus.tokens
    if tokens is None:
        return DocumentTokens()
    rows = [position for position, is_real in enumerate(real) if is_real]
    names = [name for name in tokens.columns if name == "word"]
    cells = {name: tokens.column(document, name) for name in names}
    columns = {name: [column[row] for row in rows] for name, column in cells.items()}
    starts = sorted({int(place[start]) for start in tokens.sentence_starts(document)})
    lines = [tokens.line(document, row) for row in rows]
    known = [line for line in lines if line is not None]
    return DocumentTokens(
        columns,
        len(rows),
        [s for s in starts if s < len(rows)],
        known if len(known) == len(rows) else None,
    )
