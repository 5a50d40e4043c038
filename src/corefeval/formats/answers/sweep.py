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

BEAM = 16  # ways that are kept, fewer in a long text
_EFFORT = 400_000  # more chances than these, and nothing is swept
_LEFT_OUT, _UNUSED, _SURE, _TOO_EARLY, _INSIDE, _CASE, _FAR = 3.0, 0.7, 5.0, 5.0, 4.0, 1.5, 0.05


@dataclass(slots=True)
class ListedString:
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
    Only clusters that are under way are kept: `begun` and `done` have a bit for each cluster.
    """

    cost: float
    placed: dict[int, int]
    last: dict[int, Place]
    trail: tuple[object, int, Place] | None = None
    state: int = 0
    begun: int = 0
    done: int = 0


@dataclass(slots=True)
class _Step:
    """What a way may do at a place: nothing, or take it for a string; and what changes thereby.

    A step is cheap: most of them are not taken, and only for the others a new way is made.
    """

    way: _Way
    cost: float
    state: int
    taken: tuple[int, int, Place] | None = None  # cluster, row, place
    changes: dict[int, int] = field(default_factory=dict)

    def put(self, number: int, bits: int) -> None:
        """Say that a cluster has placed some strings, beside those that it had."""
        old = self.changes.get(number, self.way.placed.get(number, 0))
        self.state ^= hash((number, old)) ^ hash((number, old | bits))
        self.changes[number] = old | bits


@dataclass(slots=True)
class _Task:
    """What a sweep is given, and for each place the clusters that may use it."""

    clusters: Sequence[Sequence[ListedString]]
    ordered: bool
    firsts_in_order: bool
    users: dict[Place, set[int]] = field(default_factory=lambda: defaultdict(set))
    sure: set[Place] = field(default_factory=set)
    expiring: dict[Place, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, cluster in enumerate(self.clusters):
            for string in {id(string.places): string for string in cluster}.values():
                for place in string.places:
                    self.users[place].add(number)
            for index, string in enumerate(cluster):
                self.expiring[string.last].append((number, index))
                if len(string.places) == 1:
                    self.sure.add(string.last)

    def steps(self, way: _Way, place: Place) -> list[_Step]:
        """The steps on from a way: without the place, and with it in clusters that take it."""
        taken = [step for number in self.users[place] for step in self._take(way, number, place)]
        unused = (_SURE if place in self.sure else _UNUSED) if taken else 0.0
        steps = [_Step(way, way.cost + unused, way.state), *taken]
        for number, index in self.expiring.get(place, ()):
            if way.done >> number & 1:
                continue
            placed = way.placed.get(number, 0)
            for step in steps:
                if not step.changes.get(number, placed) >> index & 1:
                    step.put(number, 1 << index)
                    step.cost += _LEFT_OUT
        return steps

    def go(self, step: _Step) -> _Way:
        """The way that a step leads to."""
        way = step.way
        if not step.changes:
            return _Way(step.cost, way.placed, way.last, way.trail, way.state, way.begun, way.done)
        placed, last = {**way.placed, **step.changes}, way.last
        trail, begun, done = way.trail, way.begun, way.done
        if step.taken is not None:
            number, row, place = step.taken
            last, trail = {**last, number: place}, (trail, row, place)
            begun |= 1 << number
        for number, bits in step.changes.items():
            if bits.bit_count() == len(self.clusters[number]):
                done |= 1 << number
                del placed[number]
                last = {
                    other_number: where
                    for other_number, where in last.items()
                    if other_number != number
                }
        return _Way(step.cost, placed, last, trail, step.state, begun, done)

    def _take(self, way: _Way, number: int, place: Place) -> list[_Step]:
        """The step by which a cluster takes a place for the next of its strings that it fits."""
        if way.done >> number & 1:
            return []
        cluster, done = self.clusters[number], way.placed.get(number, 0)
        low = done.bit_length() if self.ordered else 0
        for index in range(low, min(low + 3, len(cluster)) if self.ordered else len(cluster)):
            string = cluster[index]
            if done >> index & 1 or place not in string.places:
                continue
            cost = way.cost + (string.distance(place) if string.distance else 0.0)
            cost += 0.0 if place in string.exact else _CASE
            last = way.last.get(number)
            if last is not None:
                cost += _FAR * math.log2(1 + max(place[0] - last[0], 0))
                cost += _INSIDE if place[1] <= last[1] else 0.0
            elif self.firsts_in_order and number and not way.begun >> number - 1 & 1:
                cost += _TOO_EARLY
            bits = 1 << index
            if self.ordered:  # what is passed over has no place any more
                cost += _LEFT_OUT * (index - low)
                bits = (2 << index) - 1
            step = _Step(way, cost, way.state, (number, string.row, place))
            step.put(number, bits)
            return [step]
        return []


def sweep(
    clusters: Sequence[Sequence[ListedString]], *, ordered: bool, firsts_in_order: bool
) -> dict[int, Place] | None:
    """The place of each row that gets one; None where there are too many places to weigh.

    `ordered` says that the strings of a cluster stand in textual order, `firsts_in_order` that the
    clusters do, by their first mentions.
    """
    chances = 1 + sum(
        len(string.places)
        for cluster in clusters
        for string in {id(string.places): string for string in cluster}.values()
    )
    if chances > _EFFORT:
        return None
    task = _Task(clusters, ordered, firsts_in_order)
    ways = [_Way(0.0, {}, {})]
    width = max(min(BEAM, _EFFORT // chances), 4)
    for place in sorted(task.users, key=lambda span: (span[0], -span[1])):
        best: dict[int, _Step] = {}
        for way in ways:
            for step in task.steps(way, place):
                if step.state not in best or step.cost < best[step.state].cost:
                    best[step.state] = step
        ways = [task.go(step) for step in sorted(best.values(), key=lambda step: step.cost)[:width]]
    places: dict[int, Place] = {}
    trail: object = ways[0].trail
    while isinstance(trail, tuple):
        trail, row, place = trail
        places[row] = place
    return places
