"""What mentions earn that are found and resolved wrongly, and what those cost that nobody wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from corefeval.lab.additions import link_missing_pairwise, link_missing_together, resolve_links
from corefeval.lab.declarations import compose, count_totals, find_twins
from corefeval.lab.editing import fresh_mentions, join
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
    percents,
)
from corefeval.lab.measurement import (
    RATES,
    SHARES,
    THE_SIX,
    Measurement,
    moosavi_strube_key,
    noisy_response,
)
from corefeval.lab.perturbations import drop_mentions, drop_twinless, remove_incorrectly_resolved
from corefeval.metrics import REGISTRY, Metric
from corefeval.model import Corpus
from corefeval.preparation import prepare

BASE, MORE, PAIRS, LARGE = "base", "more precise", "less precise (pairs)", "less precise (large)"
OUTPUTS = (BASE, MORE, PAIRS, LARGE)
CHANGES, NOTHING = "changes", "nothing correct"
# What detection measures are mentions, so that no one expects it to stay.
_NO_COREFERENCE = ("mentions",)
_MOOSAVI_STRUBE = "Moosavi and Strube 2016"


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
        totals = count_totals(key, output)
        measurement.add(key, output, panel=CHANGES, output=name, share=None, **totals)
    nothing = drop_mentions(key, response, share=1.0)
    for done, share in enumerate(SHARES):
        setup.report(f"{share:.0%} of the mentions", len(OUTPUTS) + done, total)
        output = link_missing_pairwise(key, nothing, share=share, seed=setup.seed)
        totals = count_totals(key, output)
        measurement.add(key, output, panel=NOTHING, output="wrong pairs", share=share, **totals)
    setup.report("done", total, total)
    return measurement.finish(
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


def _statements(rows: list[Row]) -> tuple[Statement, ...]:
    titles = {str(row["metric"]): str(row["title"]) for row in rows}
    metrics = [metric for metric in titles if metric not in _NO_COREFERENCE]
    claims = [
        partial(claim, rows, metric, titles[metric])
        for claim in (_recall_stays, _better_is_not_worse, _worse_is_not_better)
        for metric in metrics
    ]
    claims += [partial(_nothing_is_zero, rows, metric, titles[metric]) for metric in metrics]
    claims.append(partial(_only_muc_and_lea, rows))
    return check_claims(claims)


def _rates(rows: list[Row], metric: str, rate: str) -> dict[str, float]:
    if rate not in RATES:
        raise LookupError(rate)
    return {
        name: find_number(rows, rate, panel=CHANGES, output=name, metric=metric) for name in OUTPUTS
    }


def _moves(rates: dict[str, float], *outputs: str) -> str:
    return percents({name: rates[name] for name in (BASE, *outputs)})


def _recall_stays(rows: list[Row], metric: str, title: str) -> Statement:
    rates = _rates(rows, metric, "recall")
    return Statement(
        f"{title}: recall stays the same while no correct link changes",
        all(abs(rate - rates[BASE]) < TINY for rate in rates.values()),
        rates,
        _moves(rates, MORE, PAIRS, LARGE),
    )


def _better_is_not_worse(rows: list[Row], metric: str, title: str) -> Statement:
    rates = _rates(rows, metric, "f1")
    return Statement(
        f"{title}: F1 does not fall when incorrectly resolved mentions are removed",
        rates[MORE] >= rates[BASE] - TINY,
        rates,
        _moves(rates, MORE),
    )


def _worse_is_not_better(rows: list[Row], metric: str, title: str) -> Statement:
    rates = _rates(rows, metric, "f1")
    return Statement(
        f"{title}: F1 does not rise when wrong entities are added",
        max(rates[PAIRS], rates[LARGE]) <= rates[BASE] + TINY,
        rates,
        _moves(rates, PAIRS, LARGE),
    )


def _nothing_is_zero(rows: list[Row], metric: str, title: str) -> Statement:
    f1 = find_number(rows, "f1", panel=NOTHING, share=1.0, metric=metric)
    return Statement(
        f"{title}: F1 is 0 for all mentions without one correct link",
        f1 < TINY,
        {"f1": f1},
        f"F1 {percent(f1)}",
    )


def _only_muc_and_lea(rows: list[Row]) -> Statement:
    f1 = {m: find_number(rows, "f1", panel=NOTHING, share=1.0, metric=m) for m in THE_SIX}
    zero = {metric for metric, value in f1.items() if value < TINY}
    return Statement(
        "without a correct link MUC and LEA are 0, and B³, CEAF and BLANC are not",
        zero == {"muc", "lea"},
        f1,
        source=f"{_MOOSAVI_STRUBE}, Section 7.5",
    )


SINGLETONS = 40  # of the papers' own key: ACE, on which the paper's figures are, has them
_LINKS = "links alone"
_CAI_STRUBE = "Cai and Strube 2010, Section 3.2"


def mention_tagger(setup: Setup) -> ExperimentResult:
    """Figures 1 and 2 of Cai and Strube: twinless response mentions are removed step by step.

    Every metric that has policies for twinless mentions is measured under each of them, and MUC
    beside them. Unlike in the paper no resolver is trained anew: mentions go, and all else stays.
    """
    key = setup.key_or(partial(moosavi_strube_key, SINGLETONS))
    response = setup.response_or(partial(_tagger_response, key, setup.seed))
    measurement = Measurement(setup, metrics=["muc", *_with_policies()], lenient=True)
    for done, share in enumerate(SHARES):
        setup.report(f"{share:.0%} removed", done, len(SHARES))
        output = drop_twinless(key, response, share=share, seed=setup.seed)
        twinless = int((find_twins(prepare(key, output)) < 0).sum())
        measurement.add(key, output, removed=share, twinless=twinless)
    setup.report("done", len(SHARES), len(SHARES))
    measurement.describe(_family_and_policy)
    removed = Encoding("removed", "share of the twinless mentions that are removed")
    return measurement.finish(
        "mention-tagger",
        "Twinless mentions",
        statements=check_claims(_claims_about_twinless(measurement.rows), _CAI_STRUBE),
        charts=[Chart("Twinless mentions removed", removed, series="policy", facet="family")],
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


def _claims_about_twinless(rows: list[Row]) -> list[Callable[[], Statement]]:
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
    return [find_number(rows, "f1", metric=name, removed=share) for share in SHARES]


def _title(metric: str) -> str:
    return Metric.parse(metric).title


def _gain(rows: list[Row], metric: str) -> float:
    """What is gained when all twinless mentions go."""
    curve = _curve(rows, metric)
    return curve[-1] - curve[0]


def _rises(rows: list[Row], metric: str) -> Statement:
    curve = _curve(rows, metric)
    never_falls = all(b >= a - TINY for a, b in pairwise(curve))
    return Statement(
        f"{_title(metric)} rises as twinless mentions go",
        never_falls and curve[-1] > curve[0] + TINY,
        {"first": curve[0], "last": curve[-1]},
        f"from {percent(curve[0])} to {percent(curve[-1])}",
    )


def _constant(rows: list[Row]) -> Statement:
    curve = _curve(rows, "b3-0")
    return Statement(
        "B³-0 is constant: it does not see twinless mentions",
        max(curve) - min(curve) < TINY,
        {"lowest": min(curve), "highest": max(curve)},
        f"from {percent(min(curve))} to {percent(max(curve))}",
    )


def _flatter(rows: list[Row], other: str) -> Statement:
    gains = {name: _gain(rows, name) for name in ("b3-all", other)}
    return Statement(
        f"B³-all gains less than {_title(other)}: many singletons trick it",
        gains["b3-all"] < gains[other],
        gains,
        f"{percent(gains['b3-all'])} points against {percent(gains[other])}",
    )


def _sensitive(rows: list[Row]) -> Statement:
    gains = {name: _gain(rows, name) for name in ("ceafm", "ceafm-sys", "b3-sys", "muc")}
    return Statement(
        "CEAF without a policy is the most sensitive to twinless mentions",
        max(gains, key=gains.__getitem__) == "ceafm",
        gains,
        percents({_title(name): gain for name, gain in gains.items()}),
    )


def _parallel(rows: list[Row]) -> Statement:
    one, other = _curve(rows, "b3-sys"), _curve(rows, "ceafm-sys")
    distances = [a - b for a, b in zip(one, other, strict=True)]
    spread = max(distances) - min(distances)
    return Statement(
        "CEAFm-sys runs parallel to B³-sys, to within 3 points",
        spread < 0.03,
        {"least": min(distances), "largest": max(distances)},
        f"distance from {percent(min(distances))} to {percent(max(distances))}",
    )
