"""What twinless mentions cost, under every policy for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from corefeval.lab.data import moosavi_strube_key, tagger_response
from corefeval.lab.experiments import Setup
from corefeval.lab.findings import (
    F1,
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Finding,
    Row,
    findings,
    number,
    percent,
    percents,
)
from corefeval.lab.measurement import SHARES, Measurement
from corefeval.lab.removals import drop_twinless
from corefeval.lab.sides import pair_sides
from corefeval.metrics import REGISTRY, Metric

SINGLETONS = 40  # of the papers' own key: ACE, on which the paper's figures are, has them
_LINKS = "links alone"
_SOURCE = "Cai and Strube 2010, Section 3.2"


def mention_tagger(setup: Setup) -> ExperimentResult:
    """Figures 1 and 2 of Cai and Strube: twinless response mentions are removed step by step.

    Every metric that has policies for twinless mentions is measured under each of them, and MUC
    beside them. Unlike in the paper no resolver is trained anew: mentions go, and all else stays.
    """
    key = setup.key_or(partial(moosavi_strube_key, SINGLETONS))
    response = setup.response_or(partial(tagger_response, key, setup.seed))
    measurement = Measurement(setup, metrics=["muc", *_with_policies()], lenient=True)
    for done, share in enumerate(SHARES):
        setup.report(f"{share:.0%} removed", done, len(SHARES))
        output = drop_twinless(key, response, share=share, seed=setup.seed)
        twinless = int((pair_sides(key, output).twin < 0).sum())
        measurement.add(key, output, removed=share, twinless=twinless)
    setup.report("done", len(SHARES), len(SHARES))
    measurement.describe(_family_and_policy)
    return measurement.finished(
        "mention-tagger",
        "Twinless mentions",
        statements=findings(_claims(measurement.rows)),
        charts=[
            Chart(
                "Twinless mentions removed",
                Encoding("removed", "share of the twinless mentions that are removed"),
                F1,
                series="policy",
                facet="family",
            )
        ],
        key=key.name,
        response=response.name,
    )


def _with_policies() -> list[Metric]:
    """Each metric that has policies for twinless mentions, under each of them."""
    return [
        Metric.of(name, **{parameter.name: choice})
        for name, declaration in REGISTRY.items()
        for parameter in declaration.parameters
        if parameter.name == "twinless"
        for choice in parameter.choices
    ]


def _family_and_policy(metric: str) -> Row:
    parsed = Metric.parse(metric)
    has_policies = any(p.name == "twinless" for p in parsed.declaration.parameters)
    policy = str(dict(parsed.parameters).get("twinless", "none")) if has_policies else _LINKS
    return {"family": parsed.declaration.title, "policy": policy}


def _claims(rows: list[Row]) -> list[Callable[[], Finding]]:
    return [
        *(partial(_rises, rows, metric) for metric in ("muc", "b3-sys", "ceafm-sys")),
        partial(_constant, rows),
        partial(_flatter, rows, "b3-sys"),
        partial(_flatter, rows, "muc"),
        partial(_sensitive, rows),
        partial(_parallel, rows),
    ]


def _curve(rows: list[Row], metric: str) -> list[float]:
    name = str(Metric.parse(metric))
    return [number(rows, "f1", metric=name, removed=share) for share in SHARES]


def _title(metric: str) -> str:
    return Metric.parse(metric).title


def _gain(rows: list[Row], metric: str) -> float:
    """What is gained when all twinless mentions go."""
    curve = _curve(rows, metric)
    return curve[-1] - curve[0]


def _rises(rows: list[Row], metric: str) -> Finding:
    curve = _curve(rows, metric)
    never_falls = all(b >= a - TINY for a, b in pairwise(curve))
    return Finding(
        f"{_title(metric)} rises as twinless mentions go",
        never_falls and curve[-1] > curve[0] + TINY,
        {"first": curve[0], "last": curve[-1]},
        f"from {percent(curve[0])} to {percent(curve[-1])}",
        _SOURCE,
    )


def _constant(rows: list[Row]) -> Finding:
    curve = _curve(rows, "b3-0")
    return Finding(
        "B³-0 is constant: it does not see twinless mentions",
        max(curve) - min(curve) < TINY,
        {"lowest": min(curve), "highest": max(curve)},
        f"from {percent(min(curve))} to {percent(max(curve))}",
        _SOURCE,
    )


def _flatter(rows: list[Row], other: str) -> Finding:
    gains = {name: _gain(rows, name) for name in ("b3-all", other)}
    return Finding(
        f"B³-all gains less than {_title(other)}: many singletons trick it",
        gains["b3-all"] < gains[other],
        gains,
        f"{percent(gains['b3-all'])} points against {percent(gains[other])}",
        _SOURCE,
    )


def _sensitive(rows: list[Row]) -> Finding:
    gains = {name: _gain(rows, name) for name in ("ceafm", "ceafm-sys", "b3-sys", "muc")}
    return Finding(
        "CEAF without a policy is the most sensitive to twinless mentions",
        max(gains, key=gains.__getitem__) == "ceafm",
        gains,
        percents({_title(name): gain for name, gain in gains.items()}),
        _SOURCE,
    )


def _parallel(rows: list[Row]) -> Finding:
    one, other = _curve(rows, "b3-sys"), _curve(rows, "ceafm-sys")
    distances = [a - b for a, b in zip(one, other, strict=True)]
    spread = max(distances) - min(distances)
    return Finding(
        "CEAFm-sys runs parallel to B³-sys, to within 3 points",
        spread < 0.03,
        {"least": min(distances), "largest": max(distances)},
        f"distance from {percent(min(distances))} to {percent(max(distances))}",
        _SOURCE,
    )
