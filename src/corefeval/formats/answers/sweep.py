"""A sweep through the text that gives places to listed strings, for all clusters together.

A place goes to a cluster that waits for such a string, or to none. A beam of the cheapest ways to
do so is kept: a string without a place costs something, so does a place that is not used, a cluster
that begins before the one listed above it, and a long silence between mentions of a cluster.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Place = tuple[int, int]

BEAM = 48  # ways that are kept, fewer in a long text
_EFFORT = 400_000  # more chances than these, and nothing is swept
_LEFT_OUT, _UNUSED, _SURE, _TOO_EARLY, _WITHIN, _CASE, _FAR = 3.0, 1.0, 5.0, 5.0, 4.0, 1.5, 0.05


@dataclass(slots=True)
class Wanted:
    """A listed string: its places, the last of them, and those of the same case.

    `distance` says what a place costs that is not where the answer says, where it says anything.
    """

    row: int
    places: frozenset[Place]
    last: Place
    exact: frozenset[Place]
    distance: Callable[[Place], float] | None = None


@dataclass(slots=True)
class _Way:
    """A way up to some place: its cost, what each cluster has placed, and where the last of it is.

    What is placed is a set of bits, one for each string of the cluster; `state` is a hash of it.
    """

    cost: float
    placed: dict[int, int]
    last: dict[int, Place]
    trail: tuple[object, int, Place] | None = None
    state: int = 0

    def put(self, number: int, bits: int) -> None:
        """Say that a cluster has placed some strings."""
        old = self.placed.get(number, 0)
        self.state ^= hash((number, old)) ^ hash((number, old | bits))
        self.placed = {**self.placed, number: old | bits}


@dataclass(slots=True)
class _Task:
    """What a sweep is given, and for each place the clusters that may use it."""

    clusters: Sequence[Sequence[Wanted]]
    ordered: bool
    firsts_in_order: bool
    users: dict[Place, set[int]] = field(default_factory=lambda: defaultdict(set))
    sure: set[Place] = field(default_factory=set)
    expiring: dict[Place, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, cluster in enumerate(self.clusters):
            for wanted in {id(one.places): one for one in cluster}.values():
                for place in wanted.places:
                    self.users[place].add(number)
            for index, wanted in enumerate(cluster):
                self.expiring[wanted.last].append((number, index))
                if len(wanted.places) == 1:
                    self.sure.add(wanted.last)

    def steps(self, way: _Way, place: Place) -> list[_Way]:
        """The ways on from one: without the place, and with it in each cluster that takes it."""
        taken = [step for number in self.users[place] for step in self._take(way, number, place)]
        unused = (_SURE if place in self.sure else _UNUSED) if taken else 0.0
        idle = _Way(way.cost + unused, way.placed, way.last, way.trail, way.state)
        steps = [idle, *taken]
        for number, index in self.expiring.get(place, ()):
            for step in steps:
                if not step.placed.get(number, 0) >> index & 1:
                    step.put(number, 1 << index)
                    step.cost += _LEFT_OUT
        return steps

    def _take(self, way: _Way, number: int, place: Place) -> list[_Way]:
        """The way on which a cluster takes a place for the next of its strings that it fits."""
        cluster, done = self.clusters[number], way.placed.get(number, 0)
        low = done.bit_length() if self.ordered else 0
        for index in range(low, min(low + 3, len(cluster)) if self.ordered else len(cluster)):
            wanted = cluster[index]
            if done >> index & 1 or place not in wanted.places:
                continue
            cost = way.cost + (wanted.distance(place) if wanted.distance else 0.0)
            cost += 0.0 if place in wanted.exact else _CASE
            last = way.last.get(number)
            if last is not None:
                cost += _FAR * math.log2(1 + max(place[0] - last[0], 0))
                cost += _WITHIN if place[1] <= last[1] else 0.0
            elif self.firsts_in_order and number and number - 1 not in way.last:
                cost += _TOO_EARLY
            bits = 1 << index
            if self.ordered:  # what is passed over has no place any more
                cost += _LEFT_OUT * (index - low)
                bits = (2 << index) - 1
            trail = (way.trail, wanted.row, place)
            step = _Way(cost, way.placed, {**way.last, number: place}, trail, way.state)
            step.put(number, bits)
            return [step]
        return []


def sweep(
    clusters: Sequence[Sequence[Wanted]], *, ordered: bool, firsts_in_order: bool
) -> dict[int, Place]:
    """The place of each row that gets one.

    `ordered` says that the strings of a cluster stand in textual order, `firsts_in_order` that the
    clusters do, by their first mentions.
    """
    task = _Task(clusters, ordered, firsts_in_order)
    ways = [_Way(0.0, {}, {})]
    chances = sum(map(len, task.users.values())) + 1
    if chances > _EFFORT:
        return {}
    width = max(min(BEAM, _EFFORT // chances), 4)
    for place in sorted(task.users, key=lambda one: (one[0], -one[1])):
        best: dict[int, _Way] = {}
        for way in ways:
            for step in task.steps(way, place):
                if step.state not in best or step.cost < best[step.state].cost:
                    best[step.state] = step
        ways = sorted(best.values(), key=lambda way: way.cost)[:width]
    found: dict[int, Place] = {}
    trail: object = ways[0].trail
    while isinstance(trail, tuple):
        trail, row, place = trail
        found[row] = place
    return found
