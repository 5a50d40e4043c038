"""Metrics of mentions alone, without coreference: mention detection, and the overlap of tokens."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from corefeval.alignment import Alignment, Side, is_zero
from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import UndefinedMetricError
from corefeval.matching import Mentions
from corefeval.matching.candidates import common_tokens, find_overlaps, sizes
from corefeval.matching.matchers import common_rows
from corefeval.metrics.counting import Counts, Ratio, both_directions, ratio_counts
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray
from corefeval.model.identity import mention_codes

Zeros = Literal["all", "only", "none"]


def mentions(alignment: Alignment, *, zeros: Zeros = "all") -> Counts:
    """Mention detection: matched mentions over all, over zeros, or over all but zeros."""
    recall = matched_recall if zeros == "all" else partial(_count_zeros, are_zeros=zeros == "only")
    return both_directions(recall, alignment)


def matched_recall(alignment: Alignment) -> Ratio:
    """The number of matched mentions, and of all mentions of the key."""
    shared, in_key = alignment.shares, alignment.key.shares
    return alignment.sums(shared.group, shared.count), alignment.sums(in_key.group, in_key.count)


def _count_zeros(alignment: Alignment, *, are_zeros: bool) -> Ratio:
    """Matched mentions and mentions of the key: zeros alone, or all but zeros."""
    counted: BoolArray = is_zero(alignment.key) == are_zeros
    matched = counted & (alignment.partner >= 0)
    group = alignment.key.group
    return alignment.sums(group[matched]), alignment.sums(group[counted])


def mor(alignment: Alignment) -> Counts:
    """Mention overlap ratio: tokens that mentions share, paired one to one at best, over all.

    Mentions of the same tokens may always be paired first. Let a and b be such, and a be paired
    with d, and c with b, instead: |a ∩ d| + |c ∩ a| ≤ |a| + |c ∩ d|, so that a with b and c with d
    is as good.
    """
    key, response = alignment.key, alignment.response
    if key.corpus is None or response.corpus is None:
        raise UndefinedMetricError("mor: the tokens of the mentions are not known here")
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return both_directions(matched_recall, alignment)
    rows, shared = _overlaps(key.corpus, response.corpus)
    common = alignment.sums(key.group[rows], shared)
    return ratio_counts((common, _tokens(alignment, key)), (common, _tokens(alignment, response)))


def _tokens(alignment: Alignment, side: Side) -> FloatArray:
    rows = np.arange(side.mention_entity.size)
    return alignment.sums(side.group, rows if side.corpus is None else sizes(side.corpus, rows))


def _overlaps(key: Corpus, response: Corpus) -> tuple[IntArray, IntArray]:
    """Key mentions that are paired with a response mention, and how many tokens they share."""
    codes = mention_codes(key, response)
    sides = [Mentions(key, codes[0]), Mentions(response, codes[1])]
    twins = common_rows(sides[0].codes, sides[1].codes)
    alone = [np.ones(side.codes.size, dtype=np.bool_) for side in sides]
    alone[0][twins[0]] = alone[1][twins[1]] = False
    overlaps = find_overlaps(sides[0], alone[0].nonzero()[0], sides[1], alone[1].nonzero()[0])
    shared = common_tokens(key, overlaps.key, response, overlaps.response)
    best = heaviest_matching(overlaps.key, overlaps.response, shared.astype(np.float64))
    rows = np.concatenate((twins[0], overlaps.key[best]))
    return rows, np.concatenate((sizes(key, twins[0]), shared[best]))
