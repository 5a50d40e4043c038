"""Estimators: recall, precision and F1 of each system, with their linear parts, from judgements.

Every rate is a ratio of sums over draws. Its linear part has a number for each draw, whose variance
is that of the rate; `weighted` has it with the factor for a finite frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from corefeval.diagnostics import note
from corefeval.model.arrays import BoolArray, FloatArray, IntArray
from corefeval.sampling.judgements import Judgements
from corefeval.sampling.sheets import NO_MENTION

LEAST_FOR_MUC = 100  # draws: with fewer, intervals of MUC are too short


class Part(NamedTuple):
    """A rate: its value (None where there is nothing to count), and its linear part."""

    value: float | None
    counted: int
    linear: FloatArray
    weighted: FloatArray


Parts = dict[str, dict[str, Part]]  # by metric and rate


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
    linear = ((y if derivative is None else derivative) - value * d) * (y.size / total) * spread
    return Part(value, int((d > 0).sum()), linear, linear * finite)


def add_f1(rates: dict[str, Part]) -> dict[str, Part]:
    """Recall and precision with their F1, which needs both."""
    if len(rates) < 2:
        return rates
    recall, precision = rates["recall"], rates["precision"]
    counted = min(recall.counted, precision.counted)
    nothing = np.zeros_like(recall.linear)
    if recall.value is None or precision.value is None:
        return {**rates, "f1": Part(None, counted, nothing, nothing)}
    r, p = recall.value, precision.value
    if not r + p:
        return {**rates, "f1": Part(0.0, counted, nothing, nothing)}
    linear, weighted = (
        2 * (p * p * of_recall + r * r * of_precision) / (r + p) ** 2
        for of_recall, of_precision in (
            (recall.linear, precision.linear),
            (recall.weighted, precision.weighted),
        )
    )
    return {**rates, "f1": Part(2 * r * p / (r + p), counted, linear, weighted)}


class Draws(NamedTuple):
    """The draws that all people answered: their numbers, and the factor of a finite frame."""

    numbers: list[int]
    frame_size: int

    @property
    def finite(self) -> float:
        """The square root of the share of the frame that is not drawn."""
        return sqrt(max(1 - len(self.numbers) / self.frame_size, 0))


def estimate_entities(
    judgements: Judgements, draws: Draws, refused: dict[str, str]
) -> dict[str, Parts]:
    """MUC, B³ and LEA: each draw has the sums of its entity, divided by the entity's size."""
    names = [judgements.answers[number] for number in draws.numbers]
    incomplete = [n for n in dict.fromkeys(names) if n and n not in judgements.members]
    if incomplete:
        reason = _list_rows(judgements, incomplete)
        refused |= {f"{m}.{rate}": reason for m in _METRICS for rate in ("recall", "precision")}
    if len(names) < LEAST_FOR_MUC:
        reason = f"intervals of MUC are too short with fewer than {LEAST_FOR_MUC} answered draws"
        refused |= {"muc.recall": reason, "muc.precision": reason}
    frame, scores = judgements.frame, {}
    for system, title in enumerate(frame.names):
        entity, sizes = frame.entity[system], frame.sizes[system]
        sums: dict[Any, FloatArray] = {}
        rows = []
        for number, name in zip(draws.numbers, names, strict=True):
            key = name or number
            if key not in sums and name in judgements.members:
                mentions = [*judgements.members[name]]
                sums[key] = _sum_entity(entity[mentions], sizes[mentions])
            elif key not in sums:
                size = sizes[number]
                wrong = [0, 0, 0, 1 - 1 / size if size else 0]
                sums[key] = np.array([*wrong, *([0, 0, 0, size > 0] * 3)], dtype=float)
            rows.append(sums[key])
        table = np.array(rows).reshape(len(rows), -1).T
        ratios = [make_ratio(*table[k : k + 2], draws.finite) for k in range(0, 16, 2)]
        parts: Parts = {"mentions": {"precision": ratios[-1]}}
        for place, metric in enumerate(_METRICS):
            rates = dict(zip(("recall", "precision"), ratios[2 * place :], strict=False))
            if metric != "muc" or len(names) >= LEAST_FOR_MUC:
                parts[metric] = rates
        scores[title] = parts
    return scores


_METRICS = ("muc", "b3", "lea")


def _sum_entity(entity: IntArray, sizes: IntArray) -> FloatArray:
    """Numerators and denominators of all rates, for the mentions of a key entity."""
    a, has = entity.size, entity >= 0
    _, first, c = np.unique(entity[has], return_index=True, return_counts=True)
    size = sizes[has][first]
    together = c * (c - 1)
    muc, found = (c - 1).sum(), c.sum()
    lea_recall = together.sum() / (a - 1) if a > 1 else float((size == 1).any())
    lea_precision = np.where(size > 1, together / np.maximum(size - 1, 1), a == 1).sum()
    sums = [muc, a - 1, muc, (c * (size - 1) / size).sum()]
    sums += [(c * c).sum() / a, a, (c * c / size).sum(), found]
    sums += [lea_recall, a, lea_precision, found]
    return np.array([*sums, 0, 0, found, found], dtype=float) / a


def _list_rows(judgements: Judgements, names: Iterable[object]) -> str:
    rows = list_numbers([judgements.row_of[name].row for name in names])
    return f"not all mentions are known of what some rows name: fill in members of rows {rows}"


def list_numbers(numbers: Sequence[int]) -> str:
    """The first of some numbers, with commas."""
    return ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")


def _share_together(group: IntArray, label: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """How far draws of a group have one label: for each draw, the mean of its group, group sizes.

    Groups and labels below 0 are none: such a draw is together with no other.
    """
    sizes = np.bincount(group + 1)[group + 1]
    _, cell, counts = np.unique(
        np.stack((group, label)), axis=1, return_inverse=True, return_counts=True
    )
    alike = np.where((group >= 0) & (label >= 0), counts[cell.reshape(-1)] - 1, 0)
    share = alike / np.maximum(sizes - 1, 1)
    mean = np.bincount(group + 1, share)[group + 1] / sizes
    return share, mean, sizes


def estimate_names(
    judgements: Judgements, draws: Draws, refused: dict[str, str]
) -> dict[str, Parts]:
    """B³ and LEA: pairs of draws with one name, and of draws or companions in one entity."""
    frame, members = judgements.frame, judgements.members
    names: list[Any] = [judgements.answers[number] for number in draws.numbers]
    codes = {name: code for code, name in enumerate(dict.fromkeys(filter(None, names)))}
    name = np.array([codes.get(n, -1) for n in names], dtype=np.int64)
    times = Counter(names)
    lacking = [n for n in codes if times[n] == 1 and n not in members]
    sizes, entities = frame.sizes[:, draws.numbers], frame.entity[:, draws.numbers]
    if lacking:
        refused |= dict.fromkeys(("b3.recall", "lea.recall"), _list_rows(judgements, lacking))
        if (sizes[:, [n in lacking for n in names]] == 1).any():
            refused["lea.precision"] = refused["lea.recall"]
    alone = [n if times[n] == 1 and n in members else None for n in names]
    is_single = np.array([n is not None and len(members[n]) == 1 for n in alone], dtype=bool)
    scores, missing = {}, dict[int, None]()
    for system, title in enumerate(frame.names):
        entity, size = entities[system], sizes[system]
        mentions = [None if n is None else frame.entity[system][[*members[n]]] for n in alone]
        recall = _estimate_recall(draws, name, entity, mentions, is_single & (size == 1))
        companions = [judgements.companions.get((number, system), "") for number in draws.numbers]
        same = np.array([a == b for a, b in zip(names, companions, strict=True)], dtype=bool)
        is_asked = np.array([companion != "" for companion in companions], dtype=bool)
        asked = is_asked, same & (name >= 0), is_single
        precision, silent = _estimate_precision(draws, name, entity, size, *asked)
        scores[title] = {m: {"recall": recall[m], "precision": precision[m]} for m in precision}
        has = entity >= 0
        scores[title]["mentions"] = {"precision": make_ratio(has & (name >= 0), has, draws.finite)}
        missing |= dict.fromkeys(np.array(draws.numbers)[silent].tolist())
        if silent.sum() * 10 > has.sum():
            refused |= {"b3.precision": "", "lea.precision": ""}
    _tell_missing(judgements, missing, refused)
    return scores


def _estimate_recall(
    draws: Draws,
    name: IntArray,
    entity: IntArray,
    mentions: Sequence[IntArray | None],
    is_right_singleton: BoolArray,
) -> dict[str, Part]:
    """Recall of B³ and LEA; `mentions` has the entities of the members of names drawn once."""
    n, frame_size = name.size, draws.frame_size
    share, q, s = _share_together(name, entity)
    derivative = np.where(s > 1, 2 * share - q, q)
    phi = np.bincount(name + 1, entity >= 0)[name + 1] / s
    weight = n / frame_size / s
    lea = q.copy()
    for place, of_members in enumerate(mentions):
        if of_members is not None:
            a = of_members.size
            c = np.unique(of_members[of_members >= 0], return_counts=True)[1]
            q[place] = derivative[place] = (c * (c - 1)).sum() / max(a * (a - 1), 1)
            phi[place] = c.sum() / a
            weight[place] = n / frame_size + (frame_size - n - a + 1) / (a * frame_size)
            lea[place] = 1.0 if is_right_singleton[place] else q[place]
    is_named = name >= 0
    spread = np.where(s > 1, np.sqrt((s + 2) / s), 1)
    parts = {}
    for metric, y, of_draw in (
        ("b3", q + weight * (phi - q), derivative + weight * (phi - q)),
        ("lea", lea, np.where(s > 1, derivative, lea)),
    ):
        y, of_draw = y * is_named, of_draw * is_named
        parts[metric] = make_ratio(y, is_named, draws.finite, of_draw, spread)
    return parts


def _estimate_precision(
    draws: Draws,
    name: IntArray,
    entity: IntArray,
    size: IntArray,
    is_asked: BoolArray,
    is_same: BoolArray,
    is_single: BoolArray,
) -> tuple[dict[str, Part], BoolArray]:
    """Precision of B³ and LEA, and the draws that lack the answer of a companion.

    A companion `is_asked` about where it has an answer, and `is_same` where it has the draw's name.
    """
    share, q, s = _share_together(entity, name)
    is_alone = (s == 1) & (size > 1)
    q = np.where(is_alone, is_same, q)
    derivative = np.where((s > 1) & (size > 1), 2 * share - q, q)
    silent = is_alone & ~is_asked
    is_counted = (size > 0) & ~silent
    spread = np.where((s > 1) & (size > 1), np.sqrt((s + 2) / s), 1)
    finite = np.where(is_alone & (size > 2), 1.0, draws.finite)
    part = 1 / np.maximum(size, 1)
    parts = {}
    for metric, y, of_draw in (
        ("b3", *(part * (name >= 0) + (1 - part) * pairs for pairs in (q, derivative))),
        ("lea", *(np.where(size == 1, is_single, pairs) for pairs in (q, derivative))),
    ):
        y, of_draw = y * is_counted, of_draw * is_counted
        parts[metric] = make_ratio(y, is_counted, finite, of_draw, spread)
    return parts, silent


def _tell_missing(
    judgements: Judgements, missing: Collection[int], refused: dict[str, str]
) -> None:
    """A notice on draws whose companions have no answers, and the reason where they are many."""
    ids = {judgements.frame.ids[number] for number in missing}
    rows = [row.row for row in judgements.sheet if row.cells["of"] in ids and not row.is_answered]
    reason = f"too many companions have no answer: answer rows {list_numbers(rows)}"
    refused |= {key: reason for key, text in refused.items() if not text}
    outcome = "whose companion has no answer left out of precision"
    judgements.notices += note("companions", len(missing), "draw", outcome)


def estimate_pairs(
    judgements: Judgements, draws: Draws, refused: dict[str, str]
) -> dict[str, Parts]:
    """Precision of B³ and LEA, from one other mention of each draw's entity."""
    scores = {}
    for system, title in enumerate(judgements.frame.names):
        size = judgements.frame.sizes[system][draws.numbers]
        answers: list[Any] = [judgements.answers[number] for number in draws.numbers]
        answer = np.array([a.get(system, NO_MENTION) for a in answers], dtype=str)
        has, x, yes = size > 0, answer != NO_MENTION, answer == "y"
        part = 1 / np.maximum(size, 1)
        finite = np.where(size > 2, 1.0, draws.finite)
        b3 = (part * x + (1 - part) * yes) * has
        scores[title] = {
            "b3": {"precision": make_ratio(b3, has, finite)},
            "lea": {"precision": make_ratio(yes & has, has, finite)},
            "mentions": {"precision": make_ratio(x & has, has, draws.finite)},
        }
    return scores


def estimate_sentences(
    judgements: Judgements, draws: Draws, refused: dict[str, str]
) -> dict[str, Parts]:
    """Recall and precision of mentions, and the share of mentions that the frame has."""
    frame = judgements.frame
    answers: list[Any] = [judgements.answers[number] for number in draws.numbers]
    right = np.array([len(correct) for correct, _, _ in answers], dtype=float)
    wanted = right + [missed for _, _, missed in answers]
    scores: dict[str, Parts] = {}
    for system, title in enumerate(frame.names):
        has = frame.entity[system] >= 0
        correct = np.array([has[[*c]].sum() if c else 0 for c, _, _ in answers], dtype=float)
        held = np.array([has[[*h]].sum() if h else 0 for _, h, _ in answers], dtype=float)
        recall = make_ratio(correct, wanted, draws.finite)
        precision = make_ratio(correct, held, draws.finite)
        scores[title] = {"mentions": {"recall": recall, "precision": precision}}
    scores["frame"] = {"mentions": {"recall": make_ratio(right, wanted, draws.finite)}}
    return scores


ESTIMATORS = {
    "names": estimate_names,
    "entities": estimate_entities,
    "pairs": estimate_pairs,
    "sentences": estimate_sentences,
}
