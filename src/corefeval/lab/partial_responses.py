"""Responses in which a part is resolved: what a share of the links or entities is worth."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from corefeval.lab.editing import count_totals, drop_repeats, regroup
from corefeval.lab.experiments import TINY, Chart, Encoding, ExperimentResult, Setup, percent
from corefeval.lab.measurement import (
    IF_MEASURED,
    SHARES,
    THE_SIX,
    Measurement,
    moosavi_strube_key,
)
from corefeval.lab.perturbations import Growth, resolve_links
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray

GROWTHS: dict[Growth, str] = {
    "together": "all entities together",
    "largest": "largest entity first",
}
WITHOUT, WITH = "without wrong links", "with wrong links"
DECREASING, INCREASING = "largest first", "smallest first"
_PRINTED = (0.0, 0.2, 0.4, 0.6, 0.8)  # where the paper's figures have points, but for the end
_STEPS = 20  # a large key has too many entities for a point each


def correct_links(setup: Setup) -> ExperimentResult:
    """Figures 2 and 3 of Moosavi and Strube: a share of the key's links is resolved.

    Without wrong links only mentions that are resolved are in the response; with them all other
    key mentions are there too, each with mentions of other entities. The paper does not say which
    links are resolved first: here all entities grow together, or one after the other from the
    largest on.
    """
    key = setup.key_or(moosavi_strube_key)
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.1")
    cases = {
        f"{panel}, {title}": (panel, growth, title)
        for panel in (WITHOUT, WITH)
        for growth, title in GROWTHS.items()
    }
    for _, (panel, growth, title) in setup.watch(cases):
        resolve = partial(resolve_links, wrong=panel == WITH, growth=growth, seed=setup.seed)
        for share in SHARES:
            output = resolve(key, key, share=share)
            totals = count_totals(key, output)
            measurement.add(key, output, panel=panel, growth=title, share=share, **totals)
    for title in GROWTHS.values():
        _state_links(measurement, title)
    axis = Encoding("share", "share of the key's links that are resolved")
    charts = [
        Chart(f"Resolved links, {title}", axis, facet="panel", where={"growth": title})
        for title in GROWTHS.values()
    ]
    return measurement.finish("correct-links", "Correct links", charts=charts, key=key.name)


def _state_links(measurement: Measurement, growth: str) -> None:
    find_point = partial(_find_point, measurement, growth)
    with IF_MEASURED:
        f1 = find_point(WITH, 0.0)
        measurement.state(
            f"MUC and LEA alone are 0 for a response without a correct link ({growth})",
            {metric for metric, value in f1.items() if value < TINY} == {"muc", "lea"},
            f1,
        )
    with IF_MEASURED:
        f1 = {f"{share:.0%}": find_point(WITH, share)["ceafe"] for share in (0.0, 0.2)}
        measurement.state(
            f"with wrong links CEAFe drops from no correct links to 20% of them ({growth})",
            f1["20%"] < f1["0%"],
            f1,
            f"F1 {percent(f1['0%'])}, then {percent(f1['20%'])}",
        )
    with IF_MEASURED:
        gaps = {}
        for share in (*_PRINTED, 1.0):
            f1 = find_point(WITHOUT, share)
            gaps[f"{share:.0%}"] = min(f1["b3"], f1["lea"]) - f1["blanc"]
        closest = min(gaps, key=gaps.__getitem__)
        measurement.state(
            f"without wrong links BLANC is at most as high as B³ and LEA ({growth})",
            gaps[closest] >= -TINY,
            gaps,
            f"least distance {percent(gaps[closest])}, at {closest} of the links",
        )
    with IF_MEASURED:
        ratios = {}
        for share in _PRINTED:
            f1 = find_point(WITH, share)
            blanc = f1.pop("blanc")
            ratios[f"{share:.0%}"] = blanc / max(*f1.values(), TINY)
        measurement.state(
            "with wrong links BLANC is at least 20% higher than all others, "
            f"up to 80% of the links ({growth})",
            min(ratios.values()) >= 1.2,
            ratios,
            ", ".join(f"{ratio - 1:.0%} higher at {share}" for share, ratio in ratios.items()),
        )


def _find_point(
    measurement: Measurement, growth: str, panel: str, share: float
) -> dict[str, float]:
    """F1 at a point of the curves, by each of the six metrics."""
    find = partial(measurement.f1, panel=panel, growth=growth, share=share)
    return {metric: find(metric) for metric in THE_SIX}


def correct_entities(setup: Setup) -> ExperimentResult:
    """Figures 4 and 5 of Moosavi and Strube: whole entities are resolved, the others are missing.

    Entities come in the order of their size, the largest or the smallest first. A key of many
    entities is resolved in twenty steps.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.2")
    total_links = max(count_totals(key, key)["correct_links"], 1)
    steps = min(key.n_entities, _STEPS)
    cases = {
        f"{order}, {number}": (order, ranks, number)
        for order, ranks in _rank_entities(key).items()
        for number in (round(key.n_entities * n / max(steps, 1)) for n in range(steps + 1))
    }
    for _, (order, ranks, number) in setup.watch(cases):
        output = regroup(key, key.mention_entity, ranks[key.mention_entity] < number)
        share = count_totals(key, output)["correct_links"] / total_links
        measurement.add(key, output, order=order, entities=number, share_of_links=share)
    _state_entities(measurement)
    axis = Encoding("entities", "number of entities that are resolved")
    chart = Chart("Resolved entities", axis, facet="order")
    return measurement.finish("correct-entities", "Correct entities", charts=[chart], key=key.name)


def _rank_entities(key: Corpus) -> dict[str, IntArray]:
    """The place of each entity, when entities come by size."""
    orders = {}
    for name, sizes in ((DECREASING, -key.entity_sizes), (INCREASING, key.entity_sizes)):
        ranks = np.empty(key.n_entities, dtype=np.int64)
        ranks[np.argsort(sizes, kind="stable")] = np.arange(key.n_entities)
        orders[name] = ranks
    return orders


def _state_entities(measurement: Measurement) -> None:
    with IF_MEASURED:
        distance = _compare_orders(measurement, "ceafe")
        measurement.state(
            "CEAFe is the same whichever entities are resolved, large or small",
            distance < TINY,
            {"distance": distance},
            f"largest distance between the orders {percent(distance)}",
        )
    with IF_MEASURED:
        distance = 0.0
        for order in (DECREASING, INCREASING):
            curves = [_find_curve(measurement, order, metric) for metric in ("b3", "ceafm", "lea")]
            gaps = (max(point) - min(point) for point in zip(*curves, strict=True))
            distance = max(distance, *gaps)
        measurement.state(
            "B³, CEAFm and LEA are the same for whole entities",
            distance < TINY,
            {"distance": distance},
            f"largest distance {percent(distance)}",
        )
    with IF_MEASURED:
        distances = {metric: _compare_orders(measurement, metric) for metric in THE_SIX}
        steps = {
            metric: max(abs(after - before) for before, after in pairwise(curve))
            for metric in THE_SIX
            for curve in [_find_curve(measurement, DECREASING, metric)]
        }
        largest = {max(numbers, key=numbers.__getitem__) for numbers in (distances, steps)}
        measurement.state(
            "BLANC follows the number of links most: its largest distance between the orders, or "
            "its largest step from one entity to the next, is the largest",
            "blanc" in largest,
            {
                **{f"{metric} distance": distance for metric, distance in distances.items()},
                **{f"{metric} step": step for metric, step in steps.items()},
            },
            ", ".join(f"{m} {percent(d)} and {percent(steps[m])}" for m, d in distances.items()),
        )


def _find_curve(measurement: Measurement, order: str, metric: str) -> list[float]:
    """F1 for each number of entities; a LookupError where there are fewer than two points."""
    rows = (row for row in measurement.rows if (row["order"], row["metric"]) == (order, metric))
    points = [row["f1"] for row in rows if isinstance(row["f1"], float)]
    if len(points) < 2:
        raise LookupError(metric)
    return points


def _compare_orders(measurement: Measurement, metric: str) -> float:
    """The largest distance between the two orders, for equal numbers of entities."""
    down = _find_curve(measurement, DECREASING, metric)
    up = _find_curve(measurement, INCREASING, metric)
    return max(abs(a - b) for a, b in zip(down, up, strict=True))
