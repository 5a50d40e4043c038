"""Units of a consensus: where mentions match by more than their tokens, spans are united."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from corefeval.analysis.units import Units
from corefeval.checks import split_call
from corefeval.matching import Mentions, TokenSets, matcher
from corefeval.matching.candidates import common_share, find_overlaps
from corefeval.matching.evidence import gather
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks
from corefeval.model.joining import strip_details


def unite(units: Units, match: str, tagset: object) -> Units:
    """Units of which those of different annotators that match are one; the leader stands for all.

    Spans that more annotators marked come first, then earlier and longer ones. Each joins the
    leader it shares most with, the oldest of several, or else leads a group.
    """
    candidates: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for leader, span, share in zip(*_matching_pairs(units.corpus, match, tagset), strict=True):
        candidates[span].append((share, leader))
    start, end = np.asarray(units.corpus.mention_start), np.asarray(units.corpus.mention_end)
    marked = (units.entity >= 0).T
    leader_of, age = np.arange(units.row.size), dict[int, int]()
    members: dict[int, BoolArray] = {}
    for row in np.lexsort((-end, start, -units.votes)).tolist():
        possible = [
            (-share, age[leader], leader)
            for share, leader in candidates[row]
            if leader in age and not (members[leader] & marked[row]).any()
        ]
        leader = min(possible)[2] if possible else row
        leader_of[row] = leader
        members[leader] = members.get(leader, marked[row]) | marked[row]
        age.setdefault(leader, len(age))
    rank, leaders = dense_ranks(leader_of)
    return replace(units, unit=rank[units.unit], row=units.row[leaders])


def _matching_pairs(
    spans: Corpus, match: str, tagset: object
) -> tuple[list[int], list[int], list[float]]:
    """All pairs of spans of which the first as key matches the second, and their Dice overlap.

    Matchers make matches one-to-one, so that each pair is given to them in a document of its own.
    """
    side = Mentions(spans, np.arange(spans.n_mentions))
    overlaps = find_overlaps(side, side.codes, side, side.codes)
    differ = overlaps.key != overlaps.response
    left, right = overlaps.key[differ], overlaps.response[differ]
    evidence = gather(side, side, split_call(match)[0], tagset)
    pairs = _isolate(evidence.key, left, 0), _isolate(evidence.response, right, 1)
    rows = matcher(match)(*pairs).rows(left.size)[0]
    left, right = left[rows], right[rows]
    return left.tolist(), right.tolist(), common_share(spans, left, spans, right).tolist()


def _isolate(side: Mentions, rows: IntArray, parity: int) -> Mentions:
    """These mentions of a side, each in a document of its own."""
    number = np.arange(rows.size)
    corpus = replace(
        strip_details(side.corpus.take_mentions(rows)),
        documents=side.corpus.documents[:1] * rows.size,
        entity_document=number,
        mention_entity=number,
    )
    cores, minima = side.cores, side.minima
    if cores is not None:
        cores = TokenSets(cores.counts[rows], cores.of(rows)[0])
    if minima is not None:
        width = int(minima.max(initial=0)) + 1
        minima = np.where(minima[rows] >= 0, minima[rows] + number * width, -1)
    heads = None if side.heads is None else side.heads[rows]
    return Mentions(corpus, 2 * number + parity, heads, cores, minima)
