"""What wrongly resolved mentions earn, and what mentions cost that should not have been found."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from corefeval.lab import (
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Row,
    Setup,
    percent,
    percents,
)
from corefeval.lab.editing import count_totals, find_twins, fresh_mentions, join
from corefeval.lab.measurement import (
    IF_MEASURED,
    SHARES,
    THE_SIX,
    Measurement,
    moosavi_strube_key,
    noisy_response,
)
from corefeval.lab.perturbations import (
    compose,
    drop_mentions,
    drop_twinless,
    link_missing_pairwise,
    link_missing_together,
    remove_incorrectly_resolved,
    resolve_links,
)
from corefeval.metrics import REGISTRY, Metric, MetricRequest
from corefeval.model import Corpus
from corefeval.preparation import prepare

BASE, MORE, PAIRS, LARGE = "base", "more precise", "less precise (pairs)", "less precise (large)"
_CHANGES = {
    MORE: remove_incorrectly_resolved,
    PAIRS: link_missing_pairwise,
    LARGE: link_missing_together,
}
CHANGES, NOTHING = "changes", "nothing correct"
# Mention detection is not expected to stay the same when mentions come and go.
_NO_COREFERENCE = ("mentions",)


def mention_identification(setup: Setup) -> ExperimentResult:
    """Table 1 and Figure 8 of Moosavi and Strube.

    The output becomes more precise (incorrectly resolved mentions are removed) and less precise
    (missing key mentions are added as wrong entities: pairs, or few large ones), while its correct
    links stay as they are. Then outputs without a single correct link, in which more and more of
    the key's mentions are found.
    """
    key = setup.key_or(moosavi_strube_key)
    response = setup.response_or(partial(noisy_response, key, setup.seed))
    nothing = drop_mentions(key, response, share=1.0)
    measurement = Measurement(setup)
    cases: dict[str, float | None] = dict.fromkeys((BASE, *_CHANGES))
    cases |= {f"{share:.0%} of the mentions": share for share in SHARES}
    for name, share in setup.watch(cases):
        if share is not None:
            output = link_missing_pairwise(key, nothing, share=share, seed=setup.seed)
            place = {"panel": NOTHING, "output": "wrong pairs"}
        else:
            change = _CHANGES.get(name)
            output = change(key, response, seed=setup.seed) if change else response
            place = {"panel": CHANGES, "output": name}
        measurement.add(key, output, **place, share=share, **count_totals(key, output))
    _state_identification(measurement)
    axis = Encoding("share", "share of the key's mentions that are found")
    charts = (
        Chart("Mentions found, not one correct link", axis, where={"panel": NOTHING}),
        Chart(
            "The same correct links in better and worse outputs",
            Encoding("output", "output", "nominal"),
            Encoding("recall", "recall"),
            mark="point",
            where={"panel": CHANGES},
        ),
    )
    return measurement.finish(
        "mention-identification",
        "The mention identification effect",
        charts=charts,
        key=key.name,
        response=response.name,
    )


def _state_identification(measurement: Measurement) -> None:
    """State what changes where no correct link does, metric by metric."""
    titles = {str(row["metric"]): str(row["title"]) for row in measurement.rows}
    titles = {metric: title for metric, title in titles.items() if metric not in _NO_COREFERENCE}
    for metric, title in titles.items():
        with IF_MEASURED:
            recall = _find_rates(measurement, metric, "recall")
            measurement.state(
                f"{title}: recall stays the same while no correct link changes",
                all(abs(value - recall[BASE]) < TINY for value in recall.values()),
                recall,
            )
    for metric, title in titles.items():
        with IF_MEASURED:
            f1 = _find_rates(measurement, metric, "f1")
            measurement.state(
                f"{title}: F1 does not fall when incorrectly resolved mentions are removed",
                f1[MORE] >= f1[BASE] - TINY,
                f1,
                percents({name: f1[name] for name in (BASE, MORE)}),
            )
    for metric, title in titles.items():
        with IF_MEASURED:
            f1 = _find_rates(measurement, metric, "f1")
            measurement.state(
                f"{title}: F1 does not rise when wrong entities are added",
                max(f1[PAIRS], f1[LARGE]) <= f1[BASE] + TINY,
                f1,
                percents({name: f1[name] for name in (BASE, PAIRS, LARGE)}),
            )
    for metric, title in titles.items():
        with IF_MEASURED:
            value = measurement.f1(metric, panel=NOTHING, share=1.0)
            text = f"{title}: F1 is 0 for all mentions without a single correct link"
            measurement.state(text, value < TINY, {"f1": value}, f"F1 {percent(value)}")
    with IF_MEASURED:
        f1 = {metric: measurement.f1(metric, panel=NOTHING, share=1.0) for metric in THE_SIX}
        measurement.state(
            "without a correct link MUC and LEA are 0, and B³, CEAF and BLANC are not",
            {metric for metric, value in f1.items() if value < TINY} == {"muc", "lea"},
            f1,
            source="Moosavi and Strube 2016, Section 7.5",
        )


def _find_rates(measurement: Measurement, metric: str, rate: str) -> dict[str, float]:
    find = partial(measurement.value, rate, panel=CHANGES, metric=metric)
    return {name: find(output=name) for name in (BASE, *_CHANGES)}


SINGLETONS = 40  # added to the key: ACE, on which the paper's figures are based, has singletons
_LINKS = "links alone"


def mention_tagger(setup: Setup) -> ExperimentResult:
    """Figures 1 and 2 of Cai and Strube: twinless response mentions are removed step by step.

    Every metric that has policies for twinless mentions is measured under each of them, and MUC
    beside them. Unlike in the paper no resolver is trained anew: mentions go, and all else stays.
    """
    key = setup.key_or(partial(moosavi_strube_key, SINGLETONS))
    response = setup.response_or(partial(_tagger_response, key, setup.seed))
    measurement = Measurement(
        setup,
        metrics=_with_policies(),
        source="Cai and Strube 2010, Section 3.2",
    )
    for _, share in setup.watch({f"{share:.0%} removed": share for share in SHARES}):
        output = drop_twinless(key, response, share=share, seed=setup.seed)
        twinless = int((find_twins(prepare(key, output)) < 0).sum())
        measurement.add(key, output, removed=share, twinless=twinless)
    measurement.describe(_family_and_policy)
    _state_twinless(measurement)
    axis = Encoding("removed", "share of the twinless mentions that are removed")
    return measurement.finish(
        "mention-tagger",
        "Twinless mentions",
        charts=[Chart("Twinless mentions removed", axis, series="policy", facet="family")],
        key=key.name,
        response=response.name,
    )


def _tagger_response(key: Corpus, seed: int = 0) -> Corpus:
    """A response to mentions of a tagger that finds too many: more than half are twinless.

    Most of the twinless ones are singletons, some are linked to each other, some are in entities
    with key mentions.
    """
    make = compose(
        partial(resolve_links, share=0.6, seed=seed),
        partial(link_missing_pairwise, share=0.3, seed=seed),
    )
    response = make(key, key.with_details(name="response"))
    document = np.repeat(response.mention_document, 2)
    extra = fresh_mentions(key, response, document, seed)
    number = np.arange(extra.n_mentions)
    # Singletons, pairs, and members of the entity of a mention of the same document.
    entity = response.n_entities + number
    pairs = np.flatnonzero(
        (number % 10 == 3) & (extra.mention_document == extra.mention_document[number - 1])
    )
    entity[pairs] = entity[pairs - 1]
    members = np.flatnonzero(number % 10 == 7)
    entity[members] = response.mention_entity[members // 2]
    return join(response, response.mention_entity, extra, number, entity)


def _with_policies() -> list[MetricRequest]:
    """MUC, and each metric that has policies for twinless mentions, under each of them.

    What the data does not define is left out, as from a preset.
    """
    metrics = [
        Metric.of(name, **{parameter.name: choice})
        for name, declaration in REGISTRY.items()
        for parameter in declaration.parameters
        if parameter.name == "twinless"
        for choice in parameter.choices
    ]
    return [MetricRequest(metric, by_name=False) for metric in (Metric.of("muc"), *metrics)]


def _family_and_policy(metric: str) -> Row:
    parsed = Metric.parse(metric)
    has_policies = any(p.name == "twinless" for p in parsed.declaration.parameters)
    policy = str(dict(parsed.parameters).get("twinless", "none")) if has_policies else _LINKS
    return {"family": parsed.declaration.title, "policy": policy}


def _state_twinless(measurement: Measurement) -> None:
    """State what Cai and Strube say of twinless mentions, and whether it holds."""
    for metric in ("muc", "b3-sys", "ceafm-sys"):
        with IF_MEASURED:
            curve = _find_curve(measurement, metric)
            never_falls = all(after >= before - TINY for before, after in pairwise(curve))
            measurement.state(
                f"{_title(metric)} rises as twinless mentions go",
                never_falls and curve[-1] > curve[0] + TINY,
                {"first": curve[0], "last": curve[-1]},
                f"from {percent(curve[0])} to {percent(curve[-1])}",
            )
    with IF_MEASURED:
        curve = _find_curve(measurement, "b3-0")
        measurement.state(
            "B³-0 is constant: it does not see twinless mentions",
            max(curve) - min(curve) < TINY,
            {"lowest": min(curve), "highest": max(curve)},
            f"from {percent(min(curve))} to {percent(max(curve))}",
        )
    _state_gains(measurement)


def _state_gains(measurement: Measurement) -> None:
    """State which metrics gain most as twinless mentions go, and whether it holds."""
    for metric in ("b3-sys", "muc"):
        with IF_MEASURED:
            gains = _find_gains(measurement, "b3-all", metric)
            measurement.state(
                f"B³-all gains less than {_title(metric)}: many singletons trick it",
                gains["b3-all"] < gains[metric],
                gains,
                f"{percent(gains['b3-all'])} points against {percent(gains[metric])}",
            )
    with IF_MEASURED:
        gains = _find_gains(measurement, "ceafm", "ceafm-sys", "b3-sys", "muc")
        measurement.state(
            "CEAF without a policy is the most sensitive to twinless mentions",
            max(gains, key=gains.__getitem__) == "ceafm",
            gains,
            percents({_title(metric): gain for metric, gain in gains.items()}),
        )
    with IF_MEASURED:
        curves = [_find_curve(measurement, metric) for metric in ("b3-sys", "ceafm-sys")]
        distances = [b3 - ceafm for b3, ceafm in zip(*curves, strict=True)]
        measurement.state(
            "CEAFm-sys runs parallel to B³-sys, to within 3 points",
            max(distances) - min(distances) < 0.03,
            {"least": min(distances), "largest": max(distances)},
            f"distance from {percent(min(distances))} to {percent(max(distances))}",
        )


def _find_curve(measurement: Measurement, metric: str) -> list[float]:
    """F1 for each share of the twinless mentions that is removed."""
    name = str(Metric.parse(metric))
    return [measurement.f1(name, removed=share) for share in SHARES]


def _find_gains(measurement: Measurement, *metrics: str) -> dict[str, float]:
    """What each metric gains when all twinless mentions go."""
    curves = {metric: _find_curve(measurement, metric) for metric in metrics}
    return {metric: curve[-1] - curve[0] for metric, curve in curves.items()}


def _title(metric: str) -> str:
    return Metric.parse(metric).title
