"""Empty nodes that only one side knows of: left out, and what stood on them told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefeval.diagnostics import Notice, plural
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.real_tokens import RealTokens


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
    real = tokens.coded("empty").where("".__eq__)
    if real.all():
        return corpus, ()
    # How many real tokens stand before each token, through all documents.
    before = np.concatenate(([0], np.cumsum(real)))
    base = tokens.offsets[corpus.mention_document]
    first = before[base]
    new_start, new_end = before[base + start] - first, before[base + end] - first
    gaps = corpus.gaps.copy()
    if gaps.size:
        owner = gaps[:, 0]
        gaps[:, 1:] = before[base[owner][:, None] + gaps[:, 1:]] - first[owner][:, None]
        gaps = gaps[gaps[:, 2] > gaps[:, 1]]
    kept = replace(
        corpus,
        mention_start=new_start,
        mention_end=new_end,
        mention_head=_moved_heads(corpus, real, before, base),
        gaps=gaps,
        tokens=RealTokens(tokens, np.flatnonzero(real)),
    ).keep_mentions(new_end > new_start)
    dropped = corpus.n_mentions - kept.n_mentions
    n_nodes = int((~real).sum())
    message = f"{corpus.name or 'corpus'}: {plural(n_nodes, 'empty node')} left out, as the other "
    message += "side has not the same ones"
    message += f", and {plural(dropped, 'mention')} of nothing else" if dropped else ""
    return kept, (Notice("empty-nodes", message, n_nodes),)


def _moved_heads(
    corpus: Corpus, real: BoolArray, before: IntArray, base: IntArray
) -> IntArray | None:
    """Where the heads stand now; −1 for one that is an empty node, or was not known."""
    if corpus.mention_head is None:
        return None
    heads = np.asarray(corpus.mention_head)
    token = np.where(heads >= 0, base + heads, 0)
    there = (heads >= 0) & np.append(real, False)[token]
    return np.where(there, before[token] - before[base], -1)
