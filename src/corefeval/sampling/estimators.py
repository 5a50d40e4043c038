"""Estimators: recall, precision and F1 of each system, with their linear parts, from judgements.

Every rate is a ratio of sums over draws. Its linear part has a number for each draw, whose variance
is that of the rate. What cannot be counted is not a number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import note
from corefeval.model.arrays import IntArray, integers
from corefeval.sampling.judgements import Judgements
from corefeval.sampling.sheets import NO_MENTION, list_ids, list_incomplete

LEAST_FOR_MUC = 100  # draws: with fewer, intervals of MUC are too short
_MUC, _PRECISION = ("muc.recall", "muc.precision"), ("b3.precision", "lea.precision")


class Part(NamedTuple):
    """A rate: its value, how many draws count, and its linear part without and with the factor.

    The factor is the one for a finite frame.
    """

    value: float
    counted: int
    linear: Array


Array = NDArray[Any]
Parts = dict[str, dict[str, dict[str, Part]]]  # by system, metric and rate


class _Ratio(NamedTuple):
    """A number for each draw to be summed above and below the line, and the factor of each.

    `change` is added above the line in the linear part, and `spread` widens that part.
    """

    y: Array
    d: Array
    finite: float | Array
    change: float | Array = 0
    spread: float | Array = 1

    def estimate(self) -> Part:
        total = np.float64(self.d.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.float64(self.y.sum()) / total
            linear = self.y + self.change - value * self.d
            linear = linear * self.spread * (self.y.size / total)
        return Part(float(value), int((self.d > 0).sum()), np.stack((linear, linear * self.finite)))


def _combine(parts: Sequence[Part], value: float, *weights: float) -> Part:
    """A function of rates: its value, and its linear part by the weights of theirs."""
    linear = sum(weight * part.linear for weight, part in zip(weights, parts, strict=True))
    return Part(value, min(part.counted for part in parts), np.asarray(linear))


def subtract(*parts: Part) -> Part:
    """The difference of two rates."""
    return _combine(parts, parts[0].value - parts[1].value, 1, -1)


def _make_f1(*parts: Part) -> Part:
    r, p = (part.value for part in parts)
    total = r + p or inf  # both are 0: so is F1, whatever it is divided by
    return _combine(parts, 2 * r * p / total, 2 * p * p / total**2, 2 * r * r / total**2)


def measure(person: Judgements, metrics: Sequence[str], refused: Collection[str]) -> Parts:
    """The rates of all systems by metrics, with F1 where recall and precision are there.

    Sentences also tell about the frame, as if it were a system that has all mentions.
    """
    design, parts = person.sheet.design, Parts()
    for system in (*person.frame.titles, *["frame"] * (design == "sentences")):
        ratios = _RATIOS[design](person, (*person.frame.names, "frame").index(system))
        parts[system] = {}
        for metric in metrics:
            rates = parts[system][metric] = {
                rate: ratios[f"{metric}.{rate}"].estimate()
                for rate in ("recall", "precision")
                if f"{metric}.{rate}" in ratios.keys() - refused
            }
            if len(rates) == 2:
                rates["f1"] = _make_f1(*rates.values())
    return parts


class _Overlaps(NamedTuple):
    """Key entities of draws, and response entities that share mentions with them.

    Cells are pairs of key and response entities: `c` mentions are in both, `size` in the response
    entity. `sizes` are those of key entities.
    """

    entity_of_draw: IntArray
    entity_of_cell: IntArray
    sizes: IntArray
    c: IntArray
    size: IntArray

    @property
    def a(self) -> IntArray:
        """The size of each draw's key entity."""
        return self.sizes[self.entity_of_draw]

    def sum(self, weights: Array) -> Array:
        """For each draw, the sum of weights over cells of its entity, divided by the size."""
        sums = np.bincount(self.entity_of_cell, weights, self.sizes.size) / self.sizes
        return np.asarray(sums[self.entity_of_draw])

    @property
    def together(self) -> Array:
        """The share of pairs of mentions that one response entity has; 0 without a pair."""
        return np.asarray(self.sum(self.c * (self.c - 1)) / np.maximum(self.a - 1, 1))

    @property
    def lea(self) -> Array:
        """`together`, with the entities of one mention that are right."""
        return np.where(self.a == 1, self.sum(self.size == 1), self.together)


def _find_overlaps(person: Judgements, system: int) -> _Overlaps:
    """The overlaps of a system; what has no members counts as an entity of its own."""
    frame, members = person.frame, person.members
    draws = zip(person.rows, person.names, strict=True)
    keys: list[Any] = [name if name in members else draw for draw, name in draws]
    lists = {key: members.get(key, {key}) for key in keys}
    numbers = {key: number for number, key in enumerate(lists)}
    sizes = integers([*map(len, lists.values())])
    mentions = integers([*chain.from_iterable(lists.values())])
    owner = np.repeat(np.arange(sizes.size), sizes)
    is_shared = frame.entity[system, mentions] >= 0
    mentions, owner = mentions[is_shared], owner[is_shared]
    pairs = _pair(owner, frame.entity[system, mentions])
    _, first, c = np.unique(pairs, return_index=True, return_counts=True)
    entity_of_draw = integers([numbers[key] for key in keys])
    return _Overlaps(entity_of_draw, owner[first], sizes, c, frame.sizes[system, mentions[first]])


def _pair(first: IntArray, second: IntArray) -> Array:
    """A number for each pair of two numbers, of which the second may be −1."""
    return np.asarray(first * (second.max(initial=0) + 2) + second)


def _count_entities(person: Judgements, system: int) -> dict[str, _Ratio]:
    """MUC, B³ and LEA: each draw has the sums of its entity, divided by the entity's size."""
    overlaps, is_named = _find_overlaps(person, system), person.codes >= 0
    c, size, covered = overlaps.c, overlaps.size, overlaps.sum(overlaps.c)
    is_single = overlaps.sizes[overlaps.entity_of_cell] == 1
    lea = np.where(size > 1, c * (c - 1) / np.maximum(size - 1, 1), is_single)
    sums = {
        "muc.recall": (overlaps.sum(c - 1), 1 - 1 / overlaps.a),
        "muc.precision": (overlaps.sum(c - 1), overlaps.sum(c * (size - 1) / size)),
        "b3.recall": (overlaps.sum(c * c) / overlaps.a, is_named),
        "b3.precision": (overlaps.sum(c * c / size), covered),
        "lea.recall": (overlaps.lea, is_named),
        "lea.precision": (overlaps.sum(lea), covered),
        "mentions.precision": (covered, covered),
    }
    return {name: _Ratio(y * is_named, d, person.finite) for name, (y, d) in sums.items()}


class _Groups(NamedTuple):
    """For each draw, the `size` of its group, and the share `q` of pairs of it with one label.

    `change` is what the derivative adds to q, and `spread` how much wider the spread of the group
    is than it looks.
    """

    size: IntArray
    q: Array
    change: Array
    spread: Array

    @staticmethod
    def of(group: IntArray, label: IntArray) -> _Groups:
        """Groups and labels below 0 are none: such a draw is together with no other."""
        size = np.bincount(group + 1)[group + 1]
        _, cell, counts = np.unique(_pair(group, label), return_inverse=True, return_counts=True)
        alike = np.where((group >= 0) & (label >= 0), counts[cell] - 1, 0)
        share = alike / np.maximum(size - 1, 1)
        q = np.bincount(group + 1, share)[group + 1] / size
        spread = np.sqrt(np.where(size > 1, (size + 2) / size, 1))
        return _Groups(size, q, 2 * (share - q), spread)


def _count_names(person: Judgements, system: int) -> dict[str, _Ratio]:
    """B³ and LEA: pairs of draws with one name, and of draws or companions in one entity."""
    name, overlaps = person.codes, _find_overlaps(person, system)
    entity, size = (
        person.frame.entity[system, person.draws],
        person.frame.sizes[system, person.draws],
    )
    is_named, n, frame_size = name >= 0, name.size, person.sheet.signature.frame
    by_name, by_entity, a = _Groups.of(name, entity), _Groups.of(entity, name), overlaps.a
    is_alone = by_name.size == 1
    has_share = np.bincount(name + 1, entity >= 0)[name + 1] / by_name.size
    phi = np.where(is_alone, overlaps.sum(overlaps.c), has_share)
    rest_weight = np.where(is_alone, (frame_size - n - a + 1) / (a * frame_size), 0)
    weight = n / frame_size / by_name.size + rest_weight
    q = np.where(is_alone, overlaps.together, by_name.q)
    sums = {
        "b3.recall": q + weight * (phi - q),
        "lea.recall": np.where(is_alone, overlaps.lea, by_name.q),
    }
    linear = person.finite, by_name.change, by_name.spread
    recall = {metric: _Ratio(y * is_named, is_named, *linear) for metric, y in sums.items()}
    names = [person.companions.get((draw, system), ()) for draw in person.rows]
    is_like = [c is not None and c == n for c, n in zip(names, person.names, strict=True)]
    has_companion = (by_entity.size == 1) & (size > 1)
    is_silent = has_companion & np.array([name == () for name in names], dtype=bool)
    q = np.where(has_companion, is_like, by_entity.q)
    q = np.where(size == 1, is_named & is_alone & (a == 1), q)
    finite = np.where(has_companion & (size > 2), 1.0, person.finite)
    lea = _Ratio(q, (size > 0) & ~is_silent, finite, by_entity.change, by_entity.spread)
    return recall | _count_precision(person, size, is_named, lea)


def _count_precision(
    person: Judgements, size: IntArray, is_mention: Array, lea: _Ratio
) -> dict[str, _Ratio]:
    """Precision of B³, LEA and mentions, from the share of pairs that are right, which is LEA's."""
    share = 1 / np.maximum(size, 1)
    b3 = lea._replace(y=share * is_mention + (1 - share) * lea.y, change=(1 - share) * lea.change)
    ratios = {"b3.precision": b3, "lea.precision": lea}
    ratios = {name: ratio._replace(y=ratio.y * ratio.d) for name, ratio in ratios.items()}
    has = size > 0
    return {**ratios, "mentions.precision": _Ratio(is_mention & has, has, person.finite)}


def _count_pairs(person: Judgements, system: int) -> dict[str, _Ratio]:
    """Precision of B³ and LEA, from one other mention of each draw's entity."""
    size = person.frame.sizes[system, person.draws]
    names = [person.companions.get((draw, system)) for draw in person.rows]
    answer = np.array([NO_MENTION if name is None else name[1] for name in names], dtype=str)
    lea = _Ratio(answer == "y", size > 0, np.where(size > 2, 1.0, person.finite))
    return _count_precision(person, size, answer != NO_MENTION, lea)


def _count_sentences(person: Judgements, system: int) -> dict[str, _Ratio]:
    """Recall and precision of mentions; the frame itself is the last system, and has its reach."""
    frame, counts = person.frame, []
    is_system = system < len(frame.names)
    has = frame.entity[system] >= 0 if is_system else np.ones(len(frame.ids), dtype=bool)
    for draw, row in person.rows.items():
        mentions, wrong = frame.list_mentions(frame.sentences[draw]), list_ids(row.cells, "answer")
        right = [mention for mention in mentions if frame.ids[mention] not in wrong]
        counts.append((has[right].sum(), has[mentions].sum(), len(right) + row.answer[1]))
    correct, response, expected = np.array(counts, dtype=float).reshape(-1, 3).T
    ratios = {"mentions.recall": _Ratio(correct, expected, person.finite)}
    if is_system:
        ratios["mentions.precision"] = _Ratio(correct, response, person.finite)
    return ratios


_RATIOS = {
    "names": _count_names,
    "entities": _count_entities,
    "pairs": _count_pairs,
    "sentences": _count_sentences,
}


def refuse(person: Judgements) -> dict[str, str]:
    """Why rates cannot be had, by their names, from sheets of names and entities."""
    design, refused, rates = person.sheet.design, dict[str, str](), ["b3.recall", "lea.recall"]
    if design not in ("names", "entities"):
        return refused
    lacking = list_incomplete(person.rows.values(), design, person.members)
    if design == "entities":
        rates += [*_PRECISION, *_MUC]
    elif (person.frame.sizes[:, [person.find(row, "id") for row in lacking]] == 1).any():
        rates += ["lea.precision"]
    if lacking:
        reason = "some entities lack their list of mentions: fill in members in rows "
        refused = dict.fromkeys(rates, reason + _list_numbers([row.row for row in lacking]))
    if design == "entities" and len(person.rows) < LEAST_FOR_MUC:
        reason = f"intervals of MUC are too short with fewer than {LEAST_FOR_MUC} answered draws"
        refused |= dict.fromkeys(_MUC, reason)
    if design == "names":
        systems = [_count_names(person, number) for number in range(len(person.frame.names))]
        has, is_counted = (
            np.array([ratios[f"{metric}.precision"].d for ratios in systems])
            for metric in ("mentions", "lea")
        )
        silent = has & ~is_counted
        outcome = "left out of precision, as a companion has no answer"
        person.notices += note("companions", int(silent.any(axis=0).sum()), "draw", outcome)
        if (silent.sum(axis=1) * 10 > has.sum(axis=1)).any():
            rows = [row.row for row in person.sheet if not (row.is_draw or row.is_answered)]
            reason = f"too many companions have no answer: answer rows {_list_numbers(rows)}"
            refused |= dict.fromkeys(_PRECISION, reason)
    return refused


def _list_numbers(numbers: Collection[int]) -> str:
    """The lowest of some numbers, with commas."""
    return ", ".join(map(str, sorted(numbers)[:20])) + ", …" * (len(numbers) > 20)
