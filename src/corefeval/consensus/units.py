"""Units of a consensus: where mentions match by more than their tokens, spans are united."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from corefeval.analysis.units import Units
from corefeval.checks import split_call
from corefeval.matching import Mentions, find_candidates
from corefeval.matching.evidence import gather
from corefeval.model.arrays import BoolArray, dense_ranks, find_places, plain_rows


def unite(units: Units, match: str, tagset: object) -> Units:
    """Units of which those of different annotators that match are one; the leader stands for all.

    Spans that more annotators marked come first, then earlier and longer ones. Each joins the
    leader it shares most with, the oldest of several, or else leads a group.
    """
    rows = np.arange(units.row.size)
    # No two codes are the same, so that everything is matched by more than its tokens.
    sides = Mentions(units.stated, 2 * rows), Mentions(units.stated, 2 * rows + 1)
    evidence = gather(*sides, split_call(match)[0], tagset)
    candidates = find_candidates(match, evidence.key, evidence.response)
    leaders_of = defaultdict[int, list[tuple[float, int]]](list)
    for leader, span, share in plain_rows(*candidates):
        leaders_of[span].append((-share, leader))
    start, end = np.asarray(units.corpus.mention_start), np.asarray(units.corpus.mention_end)
    order = np.lexsort((-end, start, -units.votes))
    age, marked, leader_of = find_places(order, rows.size), (units.entity >= 0).T, rows.copy()
    members: dict[int, BoolArray] = {}
    for row in order.tolist():
        possible = [
            (share, age[leader], leader)
            for share, leader in leaders_of[row]
            if leader in members and not (members[leader] & marked[row]).any()
        ]
        *_, leader = min(possible, default=(row,))
        leader_of[row] = leader
        members[leader] = members.get(leader, marked[row]) | marked[row]
    rank, leaders = dense_ranks(leader_of)
    return replace(units, unit=rank[units.unit], row=units.row[leaders])
