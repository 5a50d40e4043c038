"""The scorecard: which metric has which desirable property, each cell measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corefeval.lab.experiments import Setup
from corefeval.lab.findings import Chart, Encoding, ExperimentResult, Finding, Row, percent
from corefeval.lab.measurement import EVERYTHING
from corefeval.lab.properties import PROPERTIES, Property, Situation
from corefeval.lab.search import (
    KIND_OF_PLACE,
    Documents,
    Rates,
    document_rates,
    notation,
    random_documents,
    smaller,
)
from corefeval.metrics import Metric, requested
from corefeval.model.arrays import BoolArray, FloatArray

DOCUMENTS = 4000
_COPIES = 4  # of each candidate, as a perturbation does something else to each
_EXAMPLE = ("key", "first", "second", "kinds", "first_value", "second_value")
COLUMNS = ("property", "statement", "metric", "title", "holds", "cases", "failures", *_EXAMPLE)


def trust(setup: Setup) -> ExperimentResult:
    """Every metric against every property, on small random documents.

    A metric has a property if no document is found that breaks it. Where there is one, it is made
    smaller, mention by mention, as long as it still breaks the property: what is left is shown,
    with the kinds of its mentions. No key has singletons (but in `perfect`).
    """
    wanted = EVERYTHING if setup.metrics is None else setup.metrics
    metrics = [request.metric for request in requested(wanted)]
    rows: list[Row] = []
    for done, one in enumerate(PROPERTIES):
        setup.report(one.text, done, len(PROPERTIES))
        rows += _measured(one, metrics, setup.seed)
    setup.report("done", len(PROPERTIES), len(PROPERTIES))
    return ExperimentResult(
        name="trust",
        title="Which metric do you trust?",
        columns=COLUMNS,
        data=tuple(rows),
        statements=tuple(_finding(row) for row in rows if row["holds"] is not None),
        charts=(
            Chart(
                "Properties of metrics",
                Encoding("statement", "property", "nominal"),
                Encoding("title", "metric", "nominal"),
                series="holds",
                mark="cell",
            ),
        ),
        settings={"documents": DOCUMENTS, "seed": setup.seed},
    )


def _finding(row: Row) -> Finding:
    failures, cases = row["failures"], row["cases"]
    numbers = {
        name: float(value)
        for name in ("cases", "failures", "first_value", "second_value")
        if isinstance(value := row[name], int | float)
    }
    return Finding(
        f"{row['title']}: {row['statement']}",
        bool(row["holds"]),
        numbers,
        f"{cases} cases" if row["holds"] else f"{failures} of {cases} cases; {_shown(row)}",
    )


def _shown(row: Row) -> str:
    """The counterexample in words."""
    said = f"key {row['key']}: {row['first']} scores {percent(_number(row['first_value']))}"
    if row["second"] is not None:
        said += f", {row['second']} {percent(_number(row['second_value']))}"
    return said


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


@dataclass(frozen=True, eq=False)
class _Trial:
    """A property's situation in many documents, scored."""

    documents: Documents
    situation: Situation
    rates: list[Rates]

    @staticmethod
    def of(one: Property, documents: Documents, metrics: list[Metric], seed: int) -> _Trial:
        key, response = documents.corpora()
        situation = one.make(key, response, seed)
        rates = [document_rates(*pair, metrics) for pair in situation.pairs]
        if situation.order is not None:
            back = np.argsort(situation.order)
            rates[-1] = {
                metric: {name: values[back] for name, values in known.items()}
                for metric, known in rates[-1].items()
            }
        return _Trial(documents, situation, rates)

    def values(self, one: Property, metric: str) -> list[FloatArray] | None:
        """The rates that the rule is about; None where the metric does not have them."""
        wanted = list(zip(self.rates, one.rates, strict=False))
        if any(rate not in rates[metric] for rates, rate in wanted):
            return None
        return [rates[metric][rate] for rates, rate in wanted]

    def failing(self, one: Property, metric: str) -> BoolArray:
        """In which documents the metric breaks the rule."""
        values = self.values(one, metric)
        if values is None:
            return np.zeros(self.situation.applies.size, dtype=np.bool_)
        return self.situation.applies & one.broken(values)


def _measured(one: Property, metrics: list[Metric], seed: int) -> list[Row]:
    documents = random_documents(DOCUMENTS, seed, singletons=one.singletons)
    if not one.response:
        documents = Documents(documents.key, np.full_like(documents.response, -1))
    trial = _Trial.of(one, documents, metrics, seed)
    cases = int(trial.situation.applies.sum())
    rows: list[Row] = []
    for metric in metrics:
        failing = trial.failing(one, str(metric))
        failures = int(failing.sum())
        defined = trial.values(one, str(metric)) is not None
        example = dict.fromkeys(_EXAMPLE)
        if failures:
            example = _shrunk(one, trial, metric, seed)
        rows.append(
            {
                "property": one.name,
                "statement": one.text,
                "metric": str(metric),
                "title": metric.title,
                "holds": failures == 0 if defined else None,
                "cases": cases if defined else 0,
                "failures": failures,
                **example,
            }
        )
    return rows


def _shrunk(one: Property, trial: _Trial, metric: Metric, seed: int) -> dict[str, Any]:
    """The smallest document that one finds by taking mentions away while the rule stays broken."""
    parts = [Metric.parse(part) for part in metric.declaration.parts]
    row = _smallest(trial, trial.failing(one, str(metric)))
    while True:
        fewer = smaller(trial.documents, row, singletons=one.singletons, response=one.response)
        if not len(fewer.key):
            break
        copies = fewer.take(np.repeat(np.arange(len(fewer.key)), _COPIES))
        attempt = _Trial.of(one, copies, [*parts, metric], seed)
        failing = attempt.failing(one, str(metric))
        if not failing.any():
            break
        trial, row = attempt, _smallest(attempt, failing)
    return _example(one, trial, metric, row)


def _smallest(trial: _Trial, failing: BoolArray) -> int:
    rows = np.flatnonzero(failing)
    return int(rows[np.argmin(trial.documents.sizes[rows])])


def _example(one: Property, trial: _Trial, metric: Metric, row: int) -> dict[str, Any]:
    values = trial.values(one, str(metric)) or []
    pairs = trial.situation.pairs
    last = row if trial.situation.order is None else int(np.argsort(trial.situation.order)[row])
    shown = [notation(pairs[0][0], row), notation(pairs[0][1], row)]
    second = notation(pairs[-1][1], last) if len(pairs) > 1 else None
    places = sorted(set("".join([*shown, second or ""])) - set("{} "))
    kinds = [KIND_OF_PLACE[ord(place) - 97, ord(place) - 96] for place in places]
    # The letters of the example are a, b, c … in textual order, wherever its mentions stood.
    letters = {ord(place): chr(97 + number) for number, place in enumerate(places)}
    return {
        "key": shown[0].translate(letters),
        "first": shown[1].translate(letters),
        "second": second.translate(letters) if second is not None else None,
        "kinds": ", ".join(f"{chr(97 + number)} {kind}" for number, kind in enumerate(kinds)),
        "first_value": float(values[0][row]),
        "second_value": float(values[-1][row]) if len(pairs) > 1 else None,
    }
