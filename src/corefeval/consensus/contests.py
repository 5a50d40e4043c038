"""What annotators did not agree on, in the order of what is at stake."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from corefeval.analysis.units import Units
from corefeval.consensus.decisions import Constraints
from corefeval.model.arrays import IntArray, plain_rows


class Contest(NamedTuple):
    """A decision that annotators contest: on a unit, or on a group and a consensus entity.

    `votes` of `of` are for keeping a mention, or for a link between the first mention of the group
    and the entity that `partner` (−1 for a mention) stands for. `stakes` is the number of votes
    that are overruled whatever is decided.
    """

    kind: str
    unit: int
    partner: int
    votes: int
    of: int
    size: int
    outcome: str
    stakes: int


def list_contests(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> list[Contest]:
    """All contested decisions of a consensus; the greatest stakes come first.

    `group` has the group of each unit, and `entity` its entity of the consensus, −1 where the unit
    is not kept; lone mentions are entities here.
    """
    total = units.n_annotators
    rows = plain_rows(np.arange(group.size), units.votes, np.where(entity < 0, "drop", "keep"))
    contests = [
        Contest("mention", unit, -1, votes, total, 1, outcome, min(votes, total - votes))
        for unit, votes, outcome in rows
        if votes < total and unit not in constraints.settled
    ]
    pairs = set[tuple[frozenset[int], str]]()
    for contest in _list_links(units, group, entity):
        groups = group[[contest.unit, contest.partner]]
        pair = frozenset(groups.tolist()), contest.outcome
        if pair not in pairs and not constraints.decide(groups):
            contests.append(contest)
        pairs.add(pair)
    return sorted(contests, key=lambda contest: (-contest.stakes, *contest[1:3]))


def _list_links(units: Units, group: IntArray, entity: IntArray) -> Iterator[Contest]:
    """For each group the contested link to its own entity, and to the best of all others."""
    first, sizes = dict[int, int](), Counter[int]()  # of the kept mentions of each group
    held = defaultdict[int, Counter[int]](Counter)  # mentions of entities, by label and annotator
    leaders = defaultdict[int, dict[int, list[int]]](dict)  # first mentions, by label and entity
    ballots = [
        [(label, -1 - annotator) for annotator, label in enumerate(labels) if label >= 0]
        for labels in units.entity.T.tolist()
    ]
    for unit, number, home in plain_rows(np.arange(group.size), group, entity):
        if home >= 0:
            sizes[number] += 1
            is_first = first.setdefault(number, unit) == unit
            for label, annotator in ballots[unit]:
                held[home].update((label, annotator))
                if is_first:
                    leaders[label].setdefault(home, []).append(unit)
    for number, unit in first.items():
        ballot, size, best = ballots[unit], sizes[number], dict[str, tuple[int, ...]]()
        for rival in {home for label, _ in ballot for home in leaders[label]}:
            cells, outcome = held[rival], "same" if rival == entity[unit] else "apart"
            inside = size * len(ballot) if outcome == "same" else 0
            votes = sum([cells[label] for label, _ in ballot]) - inside
            of = sum([cells[annotator] for _, annotator in ballot]) - inside
            if 0 < votes < of:
                best[outcome] = max(best.get(outcome, ()), (2 * votes - of, -rival, votes, of))
        for outcome, (_, rival, votes, of) in sorted(best.items(), reverse=True):
            linked = {m for label, _ in ballot for m in leaders[label].get(-rival, ())[:2]}
            stakes = size * min(votes, of - votes)
            yield Contest("link", unit, min(linked - {unit}), votes, of, size, outcome, stakes)
