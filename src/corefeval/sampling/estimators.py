"""Estimators: recall, precision and F1 of each system, with their linear parts, from judgements.

Every rate is a ratio of sums over draws. Its linear part has a number for each draw, whose variance
is that of the rate. What cannot be counted is not a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import note
from corefeval.model.arrays import IntArray, integers
from corefeval.sampling.judgements import Judgements
from corefeval.sampling.sheets import NO_MENTION, list_incomplete

_MUC = ("muc.recall", "muc.precision")
LEAST_FOR_MUC = 100  # draws: with fewer, intervals of MUC are too short


class Part(NamedTuple):
    """A rate: its value, how many draws count, and its linear part without and with the factor.

    The factor is the one for a finite frame.
    """

    value: float
    counted: int
    linear: Array

    def combine(self, part: Part, value: float, weight: float, part_weight: float) -> Part:
        """A function of two rates: its value, and its linear part by the weights of theirs."""
        linear = weight * self.linear + part_weight * part.linear
        return Part(value, min(self.counted, part.counted), linear)

    def minus(self, part: Part) -> Part:
        """The difference of two rates."""
        return self.combine(part, self.value - part.value, 1, -1)


Array = NDArray[Any]
Rates = Iterator[tuple[str, Part]]
Parts = dict[str, dict[str, dict[str, Part]]]  # by system, metric and rate


def _make_ratio(
    y: Array, d: Array, finite: float | Array, change: float | Array = 0, spread: float | Array = 1
) -> Part:
    """The ratio of two sums; `change` is added to y in the linear part, and `spread` widens it."""
    total = np.float64(d.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.float64(y.sum()) / total
        linear = (y + change - value * d) * spread * (y.size / total)
    return Part(float(value), int((d > 0).sum()), np.stack((linear, linear * finite)))


def _make_f1(recall: Part, precision: Part) -> Part:
    r, p = recall.value, precision.value
    total = r + p or inf  # both are 0: so is F1, whatever it is divided by
    return recall.combine(precision, 2 * r * p / total, 2 * p * p / total**2, 2 * r * r / total**2)


def measure(person: Judgements, metrics: Sequence[str], refused: Collection[str]) -> Parts:
    """The rates of all systems by metrics, with F1 where recall and precision are there.

    Sentences also tell about the frame, as if it were a system that has all mentions.
    """
    design, frame = person.sheet.design, person.frame
    parts: Parts = {}
    for system in (*frame.titles, *["frame"] * (design == "sentences")):
        ratios = dict(_RATES[design](person, (*frame.names, "frame").index(system)))
        for name in refused:
            ratios.pop(name, None)
        parts[system] = {}
        for metric in metrics:
            rates = ("recall", "precision")
            names = {rate: f"{metric}.{rate}" for rate in rates if f"{metric}.{rate}" in ratios}
            parts[system][metric] = {rate: ratios[name] for rate, name in names.items()}
            if len(names) == 2:
                parts[system][metric]["f1"] = _make_f1(**parts[system][metric])
    return parts


class _Overlaps(NamedTuple):
    """Key entities of draws, and response entities that share mentions with them.

    `a` is the size of each draw's key entity. Cells of key and response entities have `size`, the
    size of the response entity, `a_of_cell`, and `c`, the number of mentions that they share.
    """

    entity_of_draw: IntArray
    entity_of_cell: IntArray
    sizes: IntArray
    c: IntArray
    size: IntArray

    @property
    def a(self) -> IntArray:
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
    members, frame = person.members, person.frame
    names = zip(person.rows, (row.name for row in person.first_rows), strict=True)
    keys = [name if name in members else draw for draw, name in names]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    lists = [[*members.get(key, (key,))] for key in numbers]  # type: ignore[call-overload]
    sizes, mentions = (
        integers([*map(len, lists)]),
        integers([m for listed in lists for m in listed]),
    )
    entity = frame.entity[system, mentions]
    has = entity >= 0
    owner = np.repeat(np.arange(sizes.size), sizes)
    _, first, c = np.unique(_pair(owner, entity)[has], return_index=True, return_counts=True)
    entity_of_draw = integers([numbers[key] for key in keys])
    return _Overlaps(
        entity_of_draw, owner[has][first], sizes, c, frame.sizes[system, mentions][has][first]
    )


def _pair(first: IntArray, second: IntArray) -> Array:
    """A number for each pair of two numbers, of which the second may be −1."""
    return np.asarray(first * (second.max(initial=0) + 2) + second)


def _rate_entities(person: Judgements, system: int) -> Rates:
    """MUC, B³ and LEA: each draw has the sums of its entity, divided by the entity's size."""
    overlaps, is_named = _find_overlaps(person, system), person.codes >= 0
    c, size, covered = overlaps.c, overlaps.size, overlaps.sum(overlaps.c)
    is_single = overlaps.sizes[overlaps.entity_of_cell] == 1
    lea = np.where(size > 1, c * (c - 1) / np.maximum(size - 1, 1), is_single)
    ratios = {
        "muc.recall": (overlaps.sum(c - 1), 1 - 1 / overlaps.a),
        "muc.precision": (overlaps.sum(c - 1), overlaps.sum(c * (size - 1) / size)),
        "b3.recall": (overlaps.sum(c * c) / overlaps.a, is_named),
        "b3.precision": (overlaps.sum(c * c / size), covered),
        "lea.recall": (overlaps.lea, is_named),
        "lea.precision": (overlaps.sum(lea), covered),
        "mentions.precision": (covered, covered),
    }
    for name, (y, d) in ratios.items():
        yield name, _make_ratio(y * is_named, d, person.finite)


def _compare_pairs(group: IntArray, label: IntArray) -> tuple[IntArray, Array, Array, Array]:
    """For each draw, the size of its group, and the share q of pairs of the group with one label.

    Then what the derivative adds to q, and how much wider the spread of the group is than it looks.
    Groups and labels below 0 are none: such a draw is together with no other.
    """
    size = np.bincount(group + 1)[group + 1]
    _, cell, counts = np.unique(_pair(group, label), return_inverse=True, return_counts=True)
    alike = np.where((group >= 0) & (label >= 0), counts[cell] - 1, 0)
    share = alike / np.maximum(size - 1, 1)
    q = np.bincount(group + 1, share)[group + 1] / size
    return size, q, 2 * (share - q), np.sqrt(np.where(size > 1, (size + 2) / size, 1))


def _rate_names(person: Judgements, system: int) -> Rates:
    """B³ and LEA: pairs of draws with one name, and of draws or companions in one entity."""
    frame, name, overlaps = person.frame, person.codes, _find_overlaps(person, system)
    entity, size = frame.entity[system, person.draws], frame.sizes[system, person.draws]
    is_named, n, frame_size = name >= 0, name.size, person.sheet.signature.frame
    s, q, change, spread = _compare_pairs(name, entity)
    a, is_group = overlaps.a, s > 1
    has_share = np.bincount(name + 1, entity >= 0)[name + 1] / s
    phi = np.where(is_group, has_share, overlaps.sum(overlaps.c))
    rest_weight = (frame_size - n - a + 1) / (a * frame_size)
    weight = np.where(is_group, n / frame_size / s, n / frame_size + rest_weight)
    together = np.where(is_group, q, overlaps.together)
    for metric, y in (
        ("b3", together + weight * (phi - together)),
        ("lea", np.where(is_group, q, overlaps.lea)),
    ):
        yield f"{metric}.recall", _make_ratio(y * is_named, is_named, person.finite, change, spread)
    is_single = is_named & ~is_group & (a == 1)
    s, q, change, spread = _compare_pairs(entity, name)
    has_companion, is_silent = (s == 1) & (size > 1), _find_silent(person, system)
    names = [
        (person.companions.get((draw, system)), row.name)
        for draw, row in zip(person.rows, person.first_rows, strict=True)
    ]
    is_like = np.array(
        [companion is not None and companion == name for companion, name in names], bool
    )
    q = np.where(size == 1, is_single, np.where(has_companion, is_like, q))
    yield from _rate_precision(person, size, is_named, q, ~is_silent, has_companion, change, spread)


def _rate_precision(
    person: Judgements,
    size: IntArray,
    is_mention: Array,
    q: Array,
    is_counted: bool | Array = True,
    has_companion: bool | Array = True,
    change: float | Array = 0,
    spread: float | Array = 1,
) -> Rates:
    """Precision of B³, LEA and mentions, from the share q of pairs that are right."""
    has, share = size > 0, 1 / np.maximum(size, 1)
    d, finite = has & is_counted, np.where(has_companion & (size > 2), 1.0, person.finite)
    b3, b3_change = share * is_mention + (1 - share) * q, (1 - share) * change
    yield "b3.precision", _make_ratio(b3 * d, d, finite, b3_change, spread)
    yield "lea.precision", _make_ratio(q * d, d, finite, change, spread)
    yield "mentions.precision", _make_ratio(is_mention & has, has, person.finite)


def _rate_pairs(person: Judgements, system: int) -> Rates:
    """Precision of B³ and LEA, from one other mention of each draw's entity."""
    title = person.frame.names[system]
    rows = [[row for row in rows if title in row.systems] for rows in person.rows.values()]
    answer = np.array([listed[-1].answer if listed else NO_MENTION for listed in rows], str)
    size = person.frame.sizes[system, person.draws]
    return _rate_precision(person, size, answer != NO_MENTION, answer == "y")


def _rate_sentences(person: Judgements, system: int) -> Rates:
    """Recall and precision of mentions; the frame itself is the last system, and has its reach."""
    frame, is_system, counts = person.frame, system < len(person.frame.names), []
    has = frame.entity[system] >= 0 if is_system else np.ones(len(frame.ids), dtype=bool)
    for draw, row in zip(person.rows, person.first_rows, strict=True):
        mentions, wrong = frame.list_mentions(frame.sentences[draw]), row.list_ids("answer")
        right = [mention for mention in mentions if frame.ids[mention] not in wrong]
        counts.append((has[right].sum(), has[mentions].sum(), len(right) + row.answer[1]))
    correct, response, expected = np.array(counts, dtype=float).reshape(-1, 3).T
    yield "mentions.recall", _make_ratio(correct, expected, person.finite)
    if is_system:
        yield "mentions.precision", _make_ratio(correct, response, person.finite)


_RATES = {
    "names": _rate_names,
    "entities": _rate_entities,
    "pairs": _rate_pairs,
    "sentences": _rate_sentences,
}


def refuse(person: Judgements) -> dict[str, str]:
    """Why rates cannot be had, by their names, from sheets of names and entities."""
    design, refused = person.sheet.design, dict[str, str]()
    if design not in ("names", "entities"):
        return refused
    rates = ["b3.recall", "lea.recall"]
    lacking = list_incomplete(person.first_rows, design, person.members)
    if design == "entities":
        rates += ["b3.precision", "lea.precision", *_MUC]
    elif (person.frame.sizes[:, [person.find(row, "id") for row in lacking]] == 1).any():
        rates += ["lea.precision"]
    if lacking:
        reason = "not all mentions are known of what some rows name: fill in members of rows "
        refused = dict.fromkeys(rates, reason + _list_numbers([row.row for row in lacking]))
    if design == "names":
        refused |= _refuse_silent(person)
    elif len(person.rows) < LEAST_FOR_MUC:
        reason = f"intervals of MUC are too short with fewer than {LEAST_FOR_MUC} answered draws"
        refused |= dict.fromkeys(_MUC, reason)
    return refused


def _find_silent(person: Judgements, system: int) -> Array:
    """Which draws need a companion in the entity of a system, and have none with an answer."""
    entity, size = (
        table[system, person.draws] for table in (person.frame.entity, person.frame.sizes)
    )
    is_alone = np.bincount(entity + 1)[entity + 1] == 1
    is_silent = np.array([(draw, system) not in person.companions for draw in person.rows], bool)
    return is_silent & is_alone & (size > 1)


def _refuse_silent(person: Judgements) -> dict[str, str]:
    """Refuse precision where many companions have no answer; a notice tells of any."""
    silent = np.array([_find_silent(person, system) for system in range(len(person.frame.names))])
    outcome = "whose companion has no answer left out of precision"
    person.notices += note("companions", int(silent.any(axis=0).sum()), "draw", outcome)
    n_counted = (person.frame.sizes[:, person.draws] > 0).sum(axis=1)
    if (silent.sum(axis=1) * 10 <= n_counted).all():
        return {}
    rows = [row.row for row in person.sheet if not (row.is_draw or row.is_answered)]
    reason = f"too many companions have no answer: answer rows {_list_numbers(rows)}"
    return {"b3.precision": reason, "lea.precision": reason}


def _list_numbers(numbers: Collection[int]) -> str:
    """The lowest of some numbers, with commas."""
    return ", ".join(map(str, sorted(numbers)[:20])) + ", …" * (len(numbers) > 20)
