"""The mention identification effect: what finding a mention earns that is resolved wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from corefeval.lab.additions import link_missing_pairwise, link_missing_together
from corefeval.lab.data import moosavi_strube_key, noisy_response
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
from corefeval.lab.measurement import RATES, SHARES, THE_SIX, Measurement
from corefeval.lab.removals import drop_mentions, remove_incorrectly_resolved
from corefeval.lab.sides import pair_sides
from corefeval.model import Corpus

BASE, MORE, PAIRS, LARGE = "base", "more precise", "less precise (pairs)", "less precise (large)"
OUTPUTS = (BASE, MORE, PAIRS, LARGE)
CHANGES, NOTHING = "changes", "nothing correct"
# What detection measures are mentions, so that no one expects it to stay.
_NO_COREFERENCE = ("mentions",)
_SOURCE = "Moosavi and Strube 2016"


def mention_identification(setup: Setup) -> ExperimentResult:
    """Table 1 and Figure 8 of Moosavi and Strube.

    The output becomes more precise (incorrectly resolved mentions are removed) and less precise
    (missing key mentions are added as wrong entities: pairs, or few large ones), while its correct
    links stay as they are. Then outputs without a single correct link, in which more and more of
    the key's mentions are found.
    """
    key = setup.key_or(moosavi_strube_key)
    response = setup.response_or(partial(noisy_response, key, setup.seed))
    measurement = Measurement(setup)
    total = len(OUTPUTS) + len(SHARES)
    for done, (name, output) in enumerate(_changes(key, response, setup.seed)):
        setup.report(name, done, total)
        totals = pair_sides(key, output).totals()
        measurement.add(key, output, panel=CHANGES, output=name, share=None, **totals)
    nothing = drop_mentions(key, response, share=1.0)
    for done, share in enumerate(SHARES):
        setup.report(f"{share:.0%} of the mentions", len(OUTPUTS) + done, total)
        output = link_missing_pairwise(key, nothing, share=share, seed=setup.seed)
        totals = pair_sides(key, output).totals()
        measurement.add(key, output, panel=NOTHING, output="wrong pairs", share=share, **totals)
    setup.report("done", total, total)
    return measurement.finished(
        "mention-identification",
        "The mention identification effect",
        statements=_statements(measurement.rows),
        charts=_charts(),
        key=key.name,
        response=response.name,
    )


def _changes(key: Corpus, response: Corpus, seed: int) -> Iterator[tuple[str, Corpus]]:
    yield BASE, response
    yield MORE, remove_incorrectly_resolved(key, response, seed=seed)
    yield PAIRS, link_missing_pairwise(key, response, seed=seed)
    yield LARGE, link_missing_together(key, response, seed=seed)


def _charts() -> tuple[Chart, ...]:
    return (
        Chart(
            "Mentions found, not one correct link",
            Encoding("share", "share of the key's mentions that are found"),
            F1,
            where={"panel": NOTHING},
        ),
        Chart(
            "The same correct links in better and worse outputs",
            Encoding("output", "output", "nominal"),
            Encoding("recall", "recall"),
            mark="point",
            where={"panel": CHANGES},
        ),
    )


def _statements(rows: list[Row]) -> tuple[Finding, ...]:
    titles = {str(row["metric"]): str(row["title"]) for row in rows}
    metrics = [metric for metric in titles if metric not in _NO_COREFERENCE]
    claims = [
        partial(claim, rows, metric, titles[metric])
        for claim in (_recall_stays, _better_is_not_worse, _worse_is_not_better)
        for metric in metrics
    ]
    claims += [partial(_nothing_is_zero, rows, metric, titles[metric]) for metric in metrics]
    claims.append(partial(_only_muc_and_lea, rows))
    return findings(claims)


def _rates(rows: list[Row], metric: str, rate: str) -> dict[str, float]:
    if rate not in RATES:
        raise LookupError(rate)
    return {name: number(rows, rate, panel=CHANGES, output=name, metric=metric) for name in OUTPUTS}


def _moves(rates: dict[str, float], *outputs: str) -> str:
    return percents({name: rates[name] for name in (BASE, *outputs)})


def _recall_stays(rows: list[Row], metric: str, title: str) -> Finding:
    rates = _rates(rows, metric, "recall")
    return Finding(
        f"{title}: recall stays the same while no correct link changes",
        all(abs(rate - rates[BASE]) < TINY for rate in rates.values()),
        rates,
        _moves(rates, MORE, PAIRS, LARGE),
    )


def _better_is_not_worse(rows: list[Row], metric: str, title: str) -> Finding:
    rates = _rates(rows, metric, "f1")
    return Finding(
        f"{title}: F1 does not fall when incorrectly resolved mentions are removed",
        rates[MORE] >= rates[BASE] - TINY,
        rates,
        _moves(rates, MORE),
    )


def _worse_is_not_better(rows: list[Row], metric: str, title: str) -> Finding:
    rates = _rates(rows, metric, "f1")
    return Finding(
        f"{title}: F1 does not rise when wrong entities are added",
        max(rates[PAIRS], rates[LARGE]) <= rates[BASE] + TINY,
        rates,
        _moves(rates, PAIRS, LARGE),
    )


def _nothing_is_zero(rows: list[Row], metric: str, title: str) -> Finding:
    f1 = number(rows, "f1", panel=NOTHING, share=1.0, metric=metric)
    return Finding(
        f"{title}: F1 is 0 for all mentions without one correct link",
        f1 < TINY,
        {"f1": f1},
        f"F1 {percent(f1)}",
    )


def _only_muc_and_lea(rows: list[Row]) -> Finding:
    f1 = {m: number(rows, "f1", panel=NOTHING, share=1.0, metric=m) for m in THE_SIX}
    zero = {metric for metric, value in f1.items() if value < TINY}
    return Finding(
        "without a correct link MUC and LEA are 0, and B³, CEAF and BLANC are not",
        zero == {"muc", "lea"},
        f1,
        percents(f1),
        f"{_SOURCE}, Section 7.5",
    )
