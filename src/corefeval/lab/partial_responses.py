"""Responses in which a part is resolved: what a share of the links or entities is worth."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from corefeval.lab.additions import Growth, resolve_links
from corefeval.lab.declarations import count_totals, drop_repeats
from corefeval.lab.editing import regroup
from corefeval.lab.experiments import (
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Row,
    Setup,
    Statement,
    check_claims,
    find_number,
    percent,
)
from corefeval.lab.measurement import SHARES, THE_SIX, Measurement, moosavi_strube_key
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
_SECTION_1 = "Moosavi and Strube 2016, Section 7.1"
_SECTION_2 = "Moosavi and Strube 2016, Section 7.2"


def correct_links(setup: Setup) -> ExperimentResult:
    """Figures 2 and 3 of Moosavi and Strube: a share of the key's links is resolved.

    Without wrong links only mentions that are resolved are in the response; with them all other
    key mentions are there too, each with mentions of other entities. The paper does not say which
    links are resolved first: here all entities grow together, or one after the other from the
    largest on.
    """
    key = setup.key_or(moosavi_strube_key)
    measurement = Measurement(setup)
    cases = [(panel, growth) for panel in (WITHOUT, WITH) for growth in GROWTHS]
    for done, (panel, growth) in enumerate(cases):
        setup.report(f"{panel}, {GROWTHS[growth]}", done, len(cases))
        for share in SHARES:
            output = resolve_links(
                key, key, share=share, wrong=panel == WITH, growth=growth, seed=setup.seed
            )
            totals = count_totals(key, output)
            where = {"panel": panel, "growth": GROWTHS[growth]}
            measurement.add(key, output, **where, share=share, **totals)
    setup.report("done", len(cases), len(cases))
    claims = [
        partial(claim, measurement.rows, growth)
        for growth in GROWTHS.values()
        for claim in (_zero, _ceafe_drops, _blanc_low, _blanc_high)
    ]
    axis = Encoding("share", "share of the key's links that are resolved")
    charts = [
        Chart(f"Resolved links, {growth}", axis, facet="panel", where={"growth": growth})
        for growth in GROWTHS.values()
    ]
    return measurement.finish(
        "correct-links",
        "Correct links",
        statements=check_claims(claims, _SECTION_1),
        charts=charts,
        key=key.name,
    )


def _zero(rows: list[Row], growth: str) -> Statement:
    f1 = _find_curves(rows, WITH, growth, 0.0)
    return Statement(
        f"MUC and LEA alone are 0 for a response without a correct link ({growth})",
        {metric for metric, value in f1.items() if value < TINY} == {"muc", "lea"},
        f1,
    )


def _ceafe_drops(rows: list[Row], growth: str) -> Statement:
    at = {f"{share:.0%}": _find_curves(rows, WITH, growth, share)["ceafe"] for share in (0.0, 0.2)}
    return Statement(
        f"with wrong links CEAFe drops from no correct links to 20% of them ({growth})",
        at["20%"] < at["0%"],
        at,
        f"F1 {percent(at['0%'])}, then {percent(at['20%'])}",
    )


def _blanc_low(rows: list[Row], growth: str) -> Statement:
    gaps = {}
    for share in (*_PRINTED, 1.0):
        f1 = _find_curves(rows, WITHOUT, growth, share)
        gaps[f"{share:.0%}"] = min(f1["b3"], f1["lea"]) - f1["blanc"]
    share_of_least = min(gaps, key=gaps.__getitem__)
    return Statement(
        f"without wrong links BLANC is at most as high as B³ and LEA ({growth})",
        gaps[share_of_least] >= -TINY,
        gaps,
        f"least distance {percent(gaps[share_of_least])}, at {share_of_least} of the links",
    )


def _blanc_high(rows: list[Row], growth: str) -> Statement:
    ratios = {}
    for share in _PRINTED:
        f1 = _find_curves(rows, WITH, growth, share)
        others = max(value for metric, value in f1.items() if metric != "blanc")
        ratios[f"{share:.0%}"] = f1["blanc"] / max(others, TINY)
    return Statement(
        "with wrong links BLANC is at least 20% higher than all others, "
        f"up to 80% of the links ({growth})",
        min(ratios.values()) >= 1.2,
        ratios,
        ", ".join(f"{ratio - 1:.0%} higher at {share}" for share, ratio in ratios.items()),
    )


def _find_curves(rows: list[Row], panel: str, growth: str, share: float) -> dict[str, float]:
    """The six metrics' F1 at one point."""
    find = partial(find_number, rows, "f1", panel=panel, growth=growth, share=share)
    return {metric: find(metric=metric) for metric in THE_SIX}


def correct_entities(setup: Setup) -> ExperimentResult:
    """Figures 4 and 5 of Moosavi and Strube: whole entities are resolved, the others are missing.

    Entities come in the order of their size, the largest or the smallest first. A key of many
    entities is resolved in twenty steps.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    measurement = Measurement(setup)
    total_links = max(count_totals(key, key)["correct_links"], 1)
    for order, ranks in _orders(key).items():
        for entities in _steps(key.n_entities):
            setup.report(order, entities, key.n_entities)
            output = regroup(key, key.mention_entity, ranks[key.mention_entity] < entities)
            links = count_totals(key, output)["correct_links"]
            share = links / total_links
            measurement.add(key, output, order=order, entities=entities, share_of_links=share)
    rows = measurement.rows
    number = Encoding("entities", "number of entities that are resolved")
    return measurement.finish(
        "correct-entities",
        "Correct entities",
        statements=check_claims(
            [partial(c, rows) for c in (_ceafe_blind, _three_alike, _blanc_sensitive)], _SECTION_2
        ),
        charts=[Chart("Resolved entities", number, facet="order")],
        key=key.name,
    )


def _orders(key: Corpus) -> dict[str, IntArray]:
    """The place of each entity, when entities come by size."""
    orders = {}
    for name, sizes in ((DECREASING, -key.entity_sizes), (INCREASING, key.entity_sizes)):
        ranks = np.empty(key.n_entities, dtype=np.int64)
        ranks[np.argsort(sizes, kind="stable")] = np.arange(key.n_entities)
        orders[name] = ranks
    return orders


def _steps(entities: int) -> list[int]:
    steps = min(entities, _STEPS)
    return [round(entities * step / max(steps, 1)) for step in range(steps + 1)]


def _points(rows: list[Row], order: str, metric: str) -> list[float]:
    f1 = [row["f1"] for row in rows if (row["order"], row["metric"]) == (order, metric)]
    points = [value for value in f1 if isinstance(value, float)]
    if len(points) < 2:  # the metric was not asked for, or the key has no entities
        raise LookupError(metric)
    return points


def _between_orders(rows: list[Row], metric: str) -> float:
    """The largest distance between the two orders, for the same number of entities."""
    pairs = zip(_points(rows, DECREASING, metric), _points(rows, INCREASING, metric), strict=True)
    return max(abs(one - other) for one, other in pairs)


def _ceafe_blind(rows: list[Row]) -> Statement:
    distance = _between_orders(rows, "ceafe")
    return Statement(
        "CEAFe is the same whichever entities are resolved, large or small",
        distance < TINY,
        {"distance": distance},
        f"largest distance between the orders {percent(distance)}",
    )


def _three_alike(rows: list[Row]) -> Statement:
    distance = 0.0
    for order in (DECREASING, INCREASING):
        curves = [_points(rows, order, metric) for metric in ("b3", "ceafm", "lea")]
        distance = max(distance, *(max(point) - min(point) for point in zip(*curves, strict=True)))
    return Statement(
        "B³, CEAFm and LEA are the same for whole entities",
        distance < TINY,
        {"distance": distance},
        f"largest distance {percent(distance)}",
    )


def _blanc_sensitive(rows: list[Row]) -> Statement:
    distances = {metric: _between_orders(rows, metric) for metric in THE_SIX}
    steps = {
        metric: max(abs(b - a) for a, b in pairwise(_points(rows, DECREASING, metric)))
        for metric in THE_SIX
    }
    return Statement(
        "BLANC follows the number of links most: its largest distance between the orders, or its "
        "largest step from one entity to the next, is the largest",
        "blanc" in (max(distances, key=distances.__getitem__), max(steps, key=steps.__getitem__)),
        {
            **{f"{m} distance": d for m, d in distances.items()},
            **{f"{m} step": d for m, d in steps.items()},
        },
        ", ".join(f"{m} {percent(d)} and {percent(steps[m])}" for m, d in distances.items()),
    )
