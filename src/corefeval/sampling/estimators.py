"""Estimators: recall, precision and F1 of each system, with their linear parts, from judgements.

Every rate is a ratio of sums over draws. Its linear part has a number for each draw, whose variance
is that of the rate. What cannot be counted is not a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import integers
from corefeval.sampling.draws import Judgements
from corefeval.sampling.sheets import NO_MENTION, Row, list_incomplete

_MUC = ("muc.recall", "muc.precision")
LEAST_FOR_MUC = 100  # draws: with fewer, intervals of MUC are too short

Array = NDArray[Any]


class Part(NamedTuple):
    """A rate: its value, how many draws count, and its linear part without and with the factor.

    The factor is the one for a finite frame, of which this is the size.
    """

    value: float
    counted: int
    linear: Array
    frame: int


Parts = dict[str, dict[str, dict[str, Part]]]  # by system, metric and rate


def _divide(
    person: Judgements,
    y: Array,
    d: Array,
    finite: float | Array | None = None,
    change: float | Array = 0,
    spread: float | Array = 1,
) -> Part:
    """The ratio of the sums of two numbers for each draw; `finite` is the factor of each.

    `change` is added to y in the linear part, and `spread` widens that part.
    """
    total = np.float64(d.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.float64(y.sum()) / total
        linear = (y + change - value * d) * spread * (y.size / total)
    factor = person.finite if finite is None else finite
    linear = np.stack((linear, linear * factor))
    return Part(float(value), int((d > 0).sum()), linear, len(person.units.spans))


def combine(parts: Iterable[Part], value: float, *weights: float) -> Part:
    """A function of rates: its value, and its linear part by the weights of theirs."""
    _, counted, linear, sizes = zip(*parts, strict=True)
    return Part(value, min(counted), np.tensordot(weights, linear, 1), sizes[0])


def measure(person: Judgements, metrics: Sequence[str], refused: Collection[str]) -> Parts:
    """The rates of all systems by metrics, with F1 where recall and precision are there.

    Sentences also tell about the frame, as if it were a system that has all mentions.
    """
    design, names, parts = person.sheet.design, (*person.frame.names, "frame"), Parts()
    for system in person.frame.titles + names[-1:] * (design == "sentences"):
        counted = _RATES[design](person, names.index(system))
        parts[system] = {}
        for metric in metrics:
            rates = {
                rate: counted[f"{metric}.{rate}"]
                for rate in ("recall", "precision")
                if f"{metric}.{rate}" in counted.keys() - refused
            }
            if len(rates) == 2:
                r, p = (part.value for part in rates.values())
                total = r + p or inf  # both are 0: so is F1, whatever it is divided by
                weights = 2 * (p / total) ** 2, 2 * (r / total) ** 2
                rates["f1"] = combine(rates.values(), 2 * r * p / total, *weights)
            parts[system][metric] = rates
    return parts


def _count_equal(*labels: Array) -> Array:
    """How many draws have the labels of each draw."""
    _, place, counts = np.unique(labels, axis=1, return_inverse=True, return_counts=True)
    return np.asarray(counts[place.reshape(-1)])


def _average(values: Array, group: Array) -> Array:
    """The mean of values over the group of each draw, from −1 on."""
    return np.asarray((np.bincount(group + 1, values))[group + 1] / _count_equal(group))


def _compare_in_groups(group: Array, label: Array) -> tuple[Array, Array, Array, Array]:
    """For each draw, the size of its group, and the share q of pairs of the group with one label.

    Third comes what the derivative adds to q, and then how much wider the spread of the group is
    than it looks. Groups and labels below 0 are none: such a draw is together with no other.
    """
    size = _count_equal(group)
    alike = np.where(np.minimum(group, label) >= 0, _count_equal(group, label) - 1, 0)
    share = alike / np.maximum(size - 1, 1)
    q = _average(share, group)
    return size, q, 2 * (share - q), np.sqrt(np.where(size > 1, 1 + 2 / size, 1))


def _sum_members(person: Judgements, system: int) -> dict[str, tuple[Array, Array]]:
    """What is summed above and below the line: for each draw, the mean over its key entity.

    For a mention, `c` are those of its key entity in its response entity, `a` and `size` those of
    the two, with 0 for no response entity. What has no members is an entity of its own.
    """
    frame, draws = person.frame, zip(person.rows, person.names, strict=True)
    keys: list[Any] = [name if name in person.members else draw for draw, name in draws]
    lists = {key: person.members.get(key, {key}) for key in keys}
    sizes = integers([*map(len, lists.values())])
    mentions = integers([*chain.from_iterable(lists.values())])
    owner = np.repeat(np.arange(sizes.size), sizes)
    entity, size, a = frame.entity[system, mentions], frame.sizes[system, mentions], sizes[owner]
    has = entity >= 0
    c = np.where(has, _count_equal(owner, entity), 0)
    further, share = np.maximum(c - 1, 0), 1 / np.maximum(size, 1)
    links, every = further / np.maximum(c, 1), np.ones(c.size)
    sums = {
        "muc.recall": (links, 1 - 1 / a),
        "muc.precision": (links, has - has * share),
        "b3.recall": (c / a, every),
        "b3.precision": (c * share, has),
        "lea.recall": (np.where(a > 1, further / np.maximum(a - 1, 1), size == 1), every),
        "lea.precision": (np.where(size == 1, a == 1, further / np.maximum(size - 1, 1)), has),
        "mentions.precision": (has, has),
    }
    numbers = {key: number for number, key in enumerate(lists)}
    of_draw = integers([numbers[key] for key in keys])

    def average(values: Array) -> Array:
        return np.asarray((np.bincount(owner, values, sizes.size) / sizes)[of_draw])

    return {name: (average(y), average(d)) for name, (y, d) in sums.items()}


def _count_entities(person: Judgements, system: int) -> dict[str, Part]:
    """MUC, B³ and LEA: what is no mention counts for precision alone."""
    is_named = person.codes >= 0
    return {
        name: _divide(person, y * is_named, d * (is_named | ("precision" in name)))
        for name, (y, d) in _sum_members(person, system).items()
    }


def _count_names(person: Judgements, system: int) -> dict[str, Part]:
    """B³ and LEA: pairs of draws with one name, and of draws or companions in one entity."""
    frame, name, n, total = person.frame, person.codes, len(person.rows), len(person.units.spans)
    entity, size = frame.entity[system, person.draws], frame.sizes[system, person.draws]
    sums, is_named = _sum_members(person, system), name >= 0
    group_size, pairs, *linear = _compare_in_groups(name, entity)
    is_lone, inverse = group_size == 1, 1 - sums["muc.recall"][1]  # 1 / a
    phi = np.where(is_lone, sums["mentions.precision"][0], _average(entity >= 0, name))
    lea = np.where(is_lone, sums["lea.recall"][0], pairs)
    q = np.where(is_lone & (inverse == 1), 0, lea)
    weight = n / total / group_size
    weight += np.where(is_lone, (total - n + 1) * inverse - 1, 0) / total
    b3 = (q + weight * (phi - q)) * is_named
    rates = {
        "b3.recall": _divide(person, b3, is_named, None, *linear),
        "lea.recall": _divide(person, lea * is_named, is_named, None, *linear),
    }
    has_companion, answers = _find_companions(person, system)
    labels = np.array([row.answer for row in person.rows.values()], dtype=str)
    _, pairs, *linear = _compare_in_groups(entity, name)
    q = np.where(has_companion, is_named & (answers == labels), pairs)
    q = np.where(size == 1, is_named & is_lone & (inverse == 1), q)
    is_counted = ~has_companion | (answers != "")
    return rates | _count_precision(person, size, is_named, q, has_companion, is_counted, *linear)


def _find_companions(person: Judgements, system: int) -> tuple[Array, Array]:
    """Which draws have a companion or a partner, and the answers on these, if there are any."""
    frame, draws = person.frame, person.draws
    is_alone = _count_equal(frame.entity[system, draws]) == 1
    answers = [person.answers.get((draw, system), "") for draw in person.rows]
    return is_alone & (frame.sizes[system, draws] > 1), np.array(answers, dtype=str)


def _count_precision(
    person: Judgements,
    size: Array,
    is_mention: Array,
    q: Array,
    is_drawn: bool | Array = True,
    is_counted: bool | Array = True,
    change: float | Array = 0,
    spread: float | Array = 1,
) -> dict[str, Part]:
    """Precision of B³, LEA and mentions, from the share of pairs that are right, which is LEA's.

    `is_drawn` says where the second mention of a pair was drawn, and `is_counted` what counts.
    """
    has, share = size > 0, 1 / np.maximum(size, 1)
    d = has & is_counted
    finite = np.where(is_drawn & (size > 2), 1, person.finite)
    b3 = (share * is_mention + (1 - share) * q) * d
    return {
        "b3.precision": _divide(person, b3, d, finite, (1 - share) * change, spread),
        "lea.precision": _divide(person, q * d, d, finite, change, spread),
        "mentions.precision": _divide(person, is_mention & has, has),
    }


def _count_pairs(person: Judgements, system: int) -> dict[str, Part]:
    """Precision of B³ and LEA, from one other mention of each draw's entity."""
    _, answers = _find_companions(person, system)
    size = person.frame.sizes[system, person.draws]
    return _count_precision(person, size, answers != NO_MENTION, answers == "y")


def _count_sentences(person: Judgements, system: int) -> dict[str, Part]:
    """Recall and precision of mentions; the frame itself is the last system, and has its reach."""
    frame, numbers, counts = person.frame, person.frame.mentions.numbers, []
    is_system = system < len(frame.names)
    has = frame.entity[system] >= 0 if is_system else np.ones(len(numbers), dtype=bool)
    for draw, row in person.rows.items():
        mentions = {*frame.begin_in(frame.sentences.spans[draw])}
        wrong = {numbers.get((row.document, name), -1) for name in row.list_ids("answer")}
        if not wrong <= mentions:
            raise person.sheet.error("an id of a mention that the sentence does not have", row.line)
        tallies = (has[[*rows]].sum() for rows in (mentions - wrong, mentions))
        counts.append((*tallies, len(mentions - wrong) + row.answer[1]))
    correct, response, expected = np.array(counts, dtype=float).reshape(-1, 3).T
    rates = {"mentions.recall": _divide(person, correct, expected)}
    precision = {"mentions.precision": _divide(person, correct, response)}
    return rates | precision if is_system else rates


_RATES = {
    "names": _count_names,
    "entities": _count_entities,
    "pairs": _count_pairs,
    "sentences": _count_sentences,
}


def refuse(person: Judgements, metrics: Collection[str]) -> dict[str, str]:
    """Why rates cannot be had, by their names, from sheets of names and entities."""
    design, frame, refused = person.sheet.design, person.frame, dict[str, str]()
    lacking = list_incomplete(person.rows.values(), design, person.members)
    if lacking:
        singles = frame.sizes[:, [person.units.numbers[row.place] for row in lacking]] == 1
        rates = ["b3.recall", "lea.recall"]
        rates += ["lea.precision"] if singles.any() or design == "entities" else []
        rates += ["b3.precision", *_MUC] if design == "entities" else []
        reason = f"entities lack their list of mentions: fill in members of {_list_rows(lacking)}"
        refused = dict.fromkeys(rates, reason)
    if design == "entities" and len(person.rows) < LEAST_FOR_MUC:
        reason = f"intervals of MUC are too short with fewer than {LEAST_FOR_MUC} answered draws"
        refused |= dict.fromkeys(_MUC, reason)
    if design == "names":
        companions = (_find_companions(person, system) for system in range(len(frame.names)))
        silent = np.array([has_one & (answers == "") for has_one, answers in companions])
        has = frame.sizes[:, person.draws] > 0
        person.counts["companions"] = int(silent.any(axis=0).sum())
        if (silent.sum(axis=1) * 10 > has.sum(axis=1)).any():
            rows = [row for row in person.sheet if not (row.is_draw or row.is_answered)]
            reason = f"too many companions have no answer: answer {_list_rows(rows)}"
            refused |= dict.fromkeys(("b3.precision", "lea.precision"), reason)
    return {name: text for name, text in refused.items() if name.split(".")[0] in metrics}


def _list_rows(rows: Iterable[Row]) -> str:
    """The first of some rows by their numbers."""
    numbers = [str(row.row) for row in rows]
    return f"rows {', '.join(numbers[:20])}{', …' * (len(numbers) > 20)}"
