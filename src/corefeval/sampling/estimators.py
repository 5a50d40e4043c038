"""Estimators: recall, precision and F1 of each system, with their linear parts, from judgements.

Every rate is a ratio of sums over draws. Its linear part has a number for each draw, whose variance
is that of the rate; `weighted` has it with the factor for a finite frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from corefeval.diagnostics import note
from corefeval.model.arrays import BoolArray, FloatArray, IntArray
from corefeval.sampling.judgements import Judgements
from corefeval.sampling.sheets import NO_MENTION

LEAST_FOR_MUC = 100  # draws: with fewer, intervals of MUC are too short
_METRICS = ("muc", "b3", "lea", "mentions")
_FEW_FOR_MUC = f"intervals of MUC are too short with fewer than {LEAST_FOR_MUC} answered draws"


class Part(NamedTuple):
    """A rate: its value (None where there is nothing to count), and its linear part."""

    value: float | None
    counted: int
    linear: FloatArray
    weighted: FloatArray

    def minus(self, part: Part) -> Part:
        """The difference of two rates."""
        values = self.value, part.value
        return Part(
            None if values[0] is None or values[1] is None else values[0] - values[1],
            min(self.counted, part.counted),
            self.linear - part.linear,
            self.weighted - part.weighted,
        )


Parts = dict[str, dict[str, Part]]  # by metric and rate
Refused = dict[str, str]  # why a rate, such as b3.recall, cannot be had


def make_ratio(
    y: FloatArray | BoolArray,
    d: FloatArray | BoolArray,
    finite: float | FloatArray,
    derivative: FloatArray | None = None,
    spread: float | FloatArray = 1.0,
) -> Part:
    """The ratio of two sums; `derivative` stands for y in the linear part, `spread` widens it."""
    total = float(d.sum())
    if not total:
        return Part(None, 0, np.zeros(y.size), np.zeros(y.size))
    value = float(y.sum()) / total
    scale = spread * np.float64(y.size / total)
    linear = np.asarray((y if derivative is None else derivative) - value * d) * scale
    return Part(value, int((d > 0).sum()), linear, np.asarray(linear * finite))


def add_f1(rates: dict[str, Part]) -> dict[str, Part]:
    """Recall and precision with their F1, which needs both."""
    if len(rates) < 2:
        return rates
    recall, precision = rates["recall"], rates["precision"]
    counted, nothing = min(recall.counted, precision.counted), np.zeros_like(recall.linear)
    if recall.value is None or precision.value is None:
        return {**rates, "f1": Part(None, counted, nothing, nothing)}
    r, p = recall.value, precision.value
    if not r + p:
        return {**rates, "f1": Part(0.0, counted, nothing, nothing)}
    linear, weighted = (
        2 * (p * p * of_recall + r * r * of_precision) / (r + p) ** 2
        for of_recall, of_precision in zip(recall[2:], precision[2:], strict=True)
    )
    return {**rates, "f1": Part(2 * r * p / (r + p), counted, linear, weighted)}


def estimate_entities(judgements: Judgements, refused: Refused) -> dict[str, Parts]:
    """MUC, B³ and LEA: each draw has the sums of its entity, divided by the entity's size."""
    answers, members, frame = judgements.answers, judgements.members, judgements.frame
    lacking = [name for name in dict.fromkeys(answers.values()) if name and name not in members]
    reasons = dict.fromkeys(_METRICS[:3], _ask_for_members(judgements, lacking)) if lacking else {}
    metrics = _METRICS if len(answers) >= LEAST_FOR_MUC else _METRICS[1:]
    reasons |= {} if "muc" in metrics else {"muc": _FEW_FOR_MUC}
    for name, reason in reasons.items():
        refused |= {f"{name}.recall": reason, f"{name}.precision": reason}
    scores = {}
    for system, title in enumerate(frame.names):
        entity, sizes = frame.entity[system], frame.sizes[system]
        sums: dict[Any, list[float]] = {}
        for number, name in answers.items():
            if name in members and name not in sums:
                mentions = [*members[name]]
                sums[name] = _sum_entity(entity[mentions], sizes[mentions])
            elif name not in members:  # no mention, or one whose rates are refused
                size = int(sizes[number])
                muc = [0, 0, 0, 1 - 1 / size if size else 0]
                sums[number] = [*muc, *[0, 0, 0, float(size > 0)] * 3]
        rows = [sums[name if name in members else number] for number, name in answers.items()]
        table = np.array(rows, dtype=float).reshape(len(rows), 4, 2, 2)
        parts = {}
        for place, metric in enumerate(_METRICS):
            columns = zip(("recall", "precision"), table[:, place].transpose(1, 2, 0), strict=True)
            parts[metric] = {rate: make_ratio(y, d, judgements.finite) for rate, (y, d) in columns}
        del parts["mentions"]["recall"]
        scores[title] = {metric: parts[metric] for metric in metrics}
    return scores


def _sum_entity(entity: IntArray, sizes: IntArray) -> list[float]:
    """Numerators and denominators of all rates, for the mentions of a key entity."""
    a, has = entity.size, entity >= 0
    _, first, c = np.unique(entity[has], return_index=True, return_counts=True)
    size = sizes[has][first]
    together = c * (c - 1)
    muc, covered = (c - 1).sum(), c.sum()
    lea_recall = together.sum() / (a - 1) if a > 1 else float((size == 1).any())
    lea_precision = np.where(size > 1, together / np.maximum(size - 1, 1), a == 1).sum()
    sums = [muc, a - 1, muc, (c * (size - 1) / size).sum()]
    sums += [(c * c).sum() / a, a, (c * c / size).sum(), covered]
    sums += [lea_recall, a, lea_precision, covered, 0, 0, covered, covered]
    return [float(number) / a for number in sums]


def _ask_for_members(judgements: Judgements, names: Iterable[object]) -> str:
    rows = list_numbers([judgements.row_of[name].row for name in names])
    return f"not all mentions are known of what some rows name: fill in members of rows {rows}"


def list_numbers(numbers: Sequence[int]) -> str:
    """The first of some numbers, with commas."""
    return ", ".join(map(str, numbers[:20])) + ", …" * (len(numbers) > 20)


def _share_together(group: IntArray, label: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """How far draws of a group have one label: for each draw, the mean of its group, group sizes.

    Groups and labels below 0 are none: such a draw is together with no other.
    """
    sizes = np.bincount(group + 1)[group + 1]
    pairs = np.stack((group, label))
    _, cell, counts = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    alike = np.where((group >= 0) & (label >= 0), counts[cell.reshape(-1)] - 1, 0)
    share = alike / np.maximum(sizes - 1, 1)
    mean = np.bincount(group + 1, share)[group + 1] / sizes
    return share, mean, sizes


def estimate_names(judgements: Judgements, refused: Refused) -> dict[str, Parts]:
    """B³ and LEA: pairs of draws with one name, and of draws or companions in one entity."""
    frame, members = judgements.frame, judgements.members
    draws, names = [*judgements.answers], [*judgements.answers.values()]
    times = Counter(names)
    codes = {name: code for code, name in enumerate(filter(None, times))}
    name = np.array([codes.get(n, -1) for n in names], dtype=np.int64)
    sizes, entities = frame.sizes[:, draws], frame.entity[:, draws]
    if lacking := [n for n in codes if times[n] == 1 and n not in members]:
        refused |= dict.fromkeys(("b3.recall", "lea.recall"), _ask_for_members(judgements, lacking))
        if (sizes[:, [n in lacking for n in names]] == 1).any():
            refused["lea.precision"] = refused["lea.recall"]
    alone = [[*members[n]] if n in members and times[n] == 1 else [] for n in names]
    is_single = np.array([len(rows) == 1 for rows in alone], dtype=bool)
    scores: dict[str, Parts] = {}
    missing: dict[int, None] = {}
    for system, title in enumerate(frame.names):
        entity, size = entities[system], sizes[system]
        mentions = [frame.entity[system][rows] for rows in alone]
        recall = _estimate_recall(judgements, name, entity, mentions, is_single & (size == 1))
        companions = [judgements.companions.get((draw, system), "") for draw in draws]
        pairs = zip(companions, names, strict=True)
        answer = np.array([0 if c == "" else 2 if c and c == n else 1 for c, n in pairs], np.int64)
        precision, silent = _estimate_precision(judgements, name, entity, size, answer, is_single)
        scores[title] = {m: {"recall": recall[m], "precision": precision[m]} for m in recall}
        right = make_ratio((entity >= 0) & (name >= 0), entity >= 0, judgements.finite)
        scores[title]["mentions"] = {"precision": right}
        missing |= dict.fromkeys(compress(draws, silent.tolist()))
        if silent.sum() * 10 > (entity >= 0).sum():
            refused |= {"b3.precision": "", "lea.precision": ""}
    _tell_missing(judgements, [*missing], refused)
    return scores


def _estimate_recall(
    judgements: Judgements,
    name: IntArray,
    entity: IntArray,
    mentions: Sequence[IntArray],
    is_right_singleton: BoolArray,
) -> dict[str, Part]:
    """Recall of B³ and LEA; `mentions` has the entities of the members of names drawn once."""
    n, frame_size = name.size, judgements.sheet.signature.frame
    share, q, s = _share_together(name, entity)
    phi = np.bincount(name + 1, entity >= 0)[name + 1] / s
    weight = n / frame_size / s
    for place, of_members in enumerate(mentions):
        if a := of_members.size:
            c = np.unique(of_members[of_members >= 0], return_counts=True)[1]
            q[place] = (c * (c - 1)).sum() / max(a * (a - 1), 1)
            phi[place] = c.sum() / a
            weight[place] = n / frame_size + (frame_size - n - a + 1) / (a * frame_size)
    is_named, is_group = name >= 0, s > 1
    spread = np.where(is_group, np.sqrt((s + 2) / s), 1)
    change = np.where(is_group, 2 * (share - q), 0) * is_named  # from q to its derivative
    b3 = (q + weight * (phi - q)) * is_named
    lea = np.where(is_right_singleton, 1.0, q) * is_named
    return {
        metric: make_ratio(y, is_named, judgements.finite, y + change, spread)
        for metric, y in (("b3", b3), ("lea", lea))
    }


def _estimate_precision(
    judgements: Judgements,
    name: IntArray,
    entity: IntArray,
    size: IntArray,
    companion: IntArray,
    is_single: BoolArray,
) -> tuple[dict[str, Part], BoolArray]:
    """Precision of B³ and LEA, and which draws lack the answer of a companion.

    A `companion` is 0 without an answer, 1 with another name than the draw, and 2 with the same.
    """
    share, q, s = _share_together(entity, name)
    is_alone, is_group = (s == 1) & (size > 1), (s > 1) & (size > 1)
    silent = is_alone & (companion == 0)
    is_counted = (size > 0) & ~silent
    q = np.where(is_alone, companion == 2, q)
    change = np.where(is_group, 2 * (share - q), 0)
    spread = np.where(is_group, np.sqrt((s + 2) / s), 1)
    finite = np.where(is_alone & (size > 2), 1.0, judgements.finite)
    part = 1 / np.maximum(size, 1)
    b3 = (part * (name >= 0) + (1 - part) * q) * is_counted
    lea = np.where(size == 1, is_single, q) * is_counted
    changes = {"b3": (b3, (1 - part) * change), "lea": (lea, change)}
    parts = {
        metric: make_ratio(y, is_counted, finite, y + step, spread)
        for metric, (y, step) in changes.items()
    }
    return parts, silent


def _tell_missing(judgements: Judgements, missing: Sequence[int], refused: Refused) -> None:
    """A notice on draws whose companions have no answers, and the reason where they are many."""
    ids = {judgements.frame.ids[number] for number in missing}
    rows = [row.row for row in judgements.sheet if row.cells["of"] in ids and not row.is_answered]
    reason = f"too many companions have no answer: answer rows {list_numbers(rows)}"
    refused |= {key: reason for key, text in refused.items() if not text}
    outcome = "whose companion has no answer left out of precision"
    judgements.notices += note("companions", len(missing), "draw", outcome)


def estimate_pairs(judgements: Judgements, refused: Refused) -> dict[str, Parts]:
    """Precision of B³ and LEA, from one other mention of each draw's entity."""
    scores = {}
    for system, title in enumerate(judgements.frame.names):
        size = judgements.frame.sizes[system][[*judgements.answers]]
        answers = [a.get(system, NO_MENTION) for a in judgements.answers.values()]
        answer, has = np.array(answers, dtype=str), size > 0
        x, yes, part = (answer != NO_MENTION) & has, (answer == "y") & has, 1 / np.maximum(size, 1)
        finite = np.where(size > 2, 1.0, judgements.finite)
        ratios = {
            "b3": make_ratio(part * x + (1 - part) * yes, has, finite),
            "lea": make_ratio(yes, has, finite),
            "mentions": make_ratio(x, has, judgements.finite),
        }
        scores[title] = {metric: {"precision": ratio} for metric, ratio in ratios.items()}
    return scores


def estimate_sentences(judgements: Judgements, refused: Refused) -> dict[str, Parts]:
    """Recall and precision of mentions, and the share of mentions that the frame has."""
    answers, frame, finite = judgements.answers.values(), judgements.frame, judgements.finite

    def count(place: int, has: BoolArray) -> FloatArray:
        return np.array([has[[*a[place]]].sum() if a[place] else 0 for a in answers], dtype=float)

    right = count(0, np.ones(len(frame.ids), dtype=bool))
    expected = right + np.array([missed for _, _, missed in answers], dtype=float)
    scores: dict[str, Parts] = {}
    for owner, title in zip(frame.entity, frame.names, strict=True):
        correct = count(0, owner >= 0)
        rates = {"recall": expected, "precision": count(1, owner >= 0)}
        scores[title] = {"mentions": {r: make_ratio(correct, d, finite) for r, d in rates.items()}}
    scores["frame"] = {"mentions": {"recall": make_ratio(right, expected, finite)}}
    return scores


ESTIMATORS: dict[str, Callable[[Judgements, Refused], dict[str, Parts]]] = {
    "names": estimate_names,
    "entities": estimate_entities,
    "pairs": estimate_pairs,
    "sentences": estimate_sentences,
}
