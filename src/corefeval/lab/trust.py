"""The scorecard: which metric has which desirable property, each cell measured.

Random documents are a table (documents × sides × places): for each of twelve places in the text,
the number of the entity there in the key and in the response, −1 for none. Thousands are scored at
once, and the smallest of those that break a property is made smaller still.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corefeval.evaluation import score
from corefeval.features.kinds import KINDS
from corefeval.lab import (
    Chart,
    Encoding,
    ExperimentResult,
    Row,
    Setup,
    Statement,
    percent,
)
from corefeval.lab.measurement import EVERYTHING
from corefeval.lab.properties import PROPERTIES, Property, Situation
from corefeval.metrics import Metric, parse_metrics
from corefeval.model import Corpus, corpus_from_arrays
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, integers, stable_order, unset
from corefeval.results import Result

DOCUMENTS = 4000
PLACES = 12
_MOST_EXTRA = 12  # mentions that perturbations add stand behind the others
# What a mention is depends on its place alone, so that documents need not say it.
KIND_OF_PLACE = {(place, place + 1): KINDS[place % 3] for place in range(PLACES + _MOST_EXTRA)}
_COPIES = 4  # of each candidate: a perturbation is random, and changes each copy differently
_EXAMPLE = ("key", "first", "second", "kinds", "first_value", "second_value")
COLUMNS = ("property", "statement", "metric", "title", "holds", "cases", "failures", *_EXAMPLE)
Rates = dict[str, dict[str, FloatArray]]


def _make_documents(number: int, seed: int, *, singletons: bool) -> IntArray:
    """Random keys, and responses that have something to do with them, more or less.

    Keys have singletons only if `singletons` says so; responses may always have them.
    """
    generator = np.random.default_rng(seed)
    shape = (number, PLACES)
    # Short documents and long ones, with mentions anywhere, so that any kind may come first.
    filled = generator.random(shape) < generator.uniform(0.2, 1.0, size=(number, 1))
    entities = generator.integers(1, 6, size=(number, 1))
    key = generator.integers(0, entities, size=shape)
    noise = generator.choice([0.0, 0.2, 0.5, 1.0], size=(number, 1))
    wrong = generator.random(shape) < noise
    response = np.where(wrong, generator.integers(0, 5, size=shape), key)
    missing = generator.choice([0.0, 0.15, 0.4, 0.8], size=(number, 1))
    key = np.where(filled & (generator.random(shape) >= 0.1), key, -1)
    response = np.where(filled & (generator.random(shape) >= missing), response, -1)
    if not singletons:
        key[_is_singleton(key)] = -1
    return np.stack((key, response), axis=1)


def _is_singleton(entity: IntArray) -> BoolArray:
    """Which places have an entity that has no other place."""
    members = (entity[:, :, None] == entity[:, None, :]).sum(axis=2)
    singleton: BoolArray = (members == 1) & (entity >= 0)
    return singleton


def _corpus(entity: IntArray, name: str) -> Corpus:
    document, place = np.nonzero(entity >= 0)
    return corpus_from_arrays(
        document=document,
        entity=entity[document, place],
        start=place,
        document_ids=[str(number) for number in range(len(entity))],
        name=name,
    )


def _find_smaller(document: IntArray, *, singletons: bool, response: bool) -> IntArray:
    """The documents that lack one mention of a document: on both sides, or on one.

    Without `response` only the key counts, and the response is empty.
    """
    smaller = []
    for place in np.flatnonzero((document >= 0).any(axis=0)).tolist():
        for sides in ([0, 1], [0], [1]) if response else ([0],):
            if (document[sides, place] >= 0).all():
                attempt = document.copy()
                attempt[sides, place] = -1
                if not singletons:
                    attempt[0, _is_singleton(attempt[:1])[0]] = -1
                smaller.append(attempt)
    return integers(smaller).reshape(-1, *document.shape)


def _write_entities(corpus: Corpus, document: int) -> str:
    """A document's entities as people write them: `{a b} {c}`; letters are places."""
    if not corpus.n_mentions:
        return "{}"
    entities = [
        " ".join(chr(ord("a") + mention.start) for mention in entity.mentions)
        for entity in corpus[str(document)].entities
    ]
    return " ".join(f"{{{entity}}}" for entity in entities if entity) or "{}"


def trust(setup: Setup) -> ExperimentResult:
    """Every metric against every property, on small random documents.

    A metric has a property if no document is found that breaks it. Where there is one, it is made
    smaller, mention by mention, as long as it still breaks the property: what is left is shown,
    with the kinds of its mentions. No key has singletons (but in `perfect`).
    """
    requests = parse_metrics(EVERYTHING if setup.metrics is None else setup.metrics)
    metrics = [request.metric for request in requests]
    rows: list[Row] = []
    for _, rule in setup.watch({rule.text: rule for rule in PROPERTIES}):
        rows += _measure(rule, metrics, setup.seed)
    return ExperimentResult(
        name="trust",
        title="Which metric do you trust?",
        columns=COLUMNS,
        data=tuple(rows),
        statements=tuple(_state(row) for row in rows if row["holds"] is not None),
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


def _state(row: Row) -> Statement:
    failures, cases = row["failures"], row["cases"]
    numbers = {
        name: float(value)
        for name in ("cases", "failures", "first_value", "second_value")
        if isinstance(value := row[name], int | float)
    }
    return Statement(
        f"{row['title']}: {row['statement']}",
        bool(row["holds"]),
        numbers,
        f"{cases} cases" if row["holds"] else f"{failures} of {cases} cases; {_describe(row)}",
    )


def _describe(row: Row) -> str:
    """The counterexample in words."""
    text = f"key {row['key']}: {row['first']} scores {percent(_number(row['first_value']))}"
    if row["second"] is not None:
        text += f", {row['second']} {percent(_number(row['second_value']))}"
    return text


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


@dataclass(frozen=True, eq=False)
class _Trial:
    """A property's situation in many documents, scored."""

    rule: Property
    documents: IntArray
    situation: Situation
    rates: list[Rates]

    @staticmethod
    def of(rule: Property, documents: IntArray, metrics: list[Metric], seed: int) -> _Trial:
        key, response = _corpus(documents[:, 0], "key"), _corpus(documents[:, 1], "response")
        situation = rule.make(key, response, seed)
        kinds = {"kind": KIND_OF_PLACE}
        results = [score(*pair, metrics=metrics, features=kinds) for pair in situation.pairs]
        return _Trial(rule, documents, situation, list(map(_rates_by_number, results)))

    def values(self, metric: Metric) -> list[FloatArray]:
        """The rates that the rule is about; empty where the metric does not have them."""
        sides = zip(self.rates, self.rule.rates, strict=False)
        pairs = [(rates[str(metric)], rate) for rates, rate in sides]
        has_rates = all(rate in rates for rates, rate in pairs)
        return [rates[rate] for rates, rate in pairs] if has_rates else []

    def failures(self, metric: Metric) -> IntArray:
        """The documents in which the metric breaks the rule, the smallest first."""
        values = self.values(metric)
        if not values:
            return unset(0)
        failing = np.flatnonzero(self.situation.applies & self.rule.is_broken(values))
        mentions = (self.documents >= 0).sum(axis=(1, 2))
        return failing[stable_order(mentions[failing])]


def _rates_by_number(result: Result) -> Rates:
    """The rates of each document, by the number that is its id."""
    order = np.argsort(integers(result.document_ids))
    return {
        metric: {name: values[order] for name, values in rates.items()}
        for metric, rates in result.document_rates.items()
    }


def _measure(rule: Property, metrics: list[Metric], seed: int) -> list[Row]:
    """A row for each metric: in how many random documents it breaks a property, with an example."""
    documents = _make_documents(DOCUMENTS, seed, singletons=rule.singletons)
    if not rule.response:
        documents[:, 1] = -1
    trial = _Trial.of(rule, documents, metrics, seed)
    cases = int(trial.situation.applies.sum())
    rows: list[Row] = []
    for metric in metrics:
        failures = trial.failures(metric)
        defined = bool(trial.values(metric))
        rows.append(
            {
                "property": rule.name,
                "statement": rule.text,
                "metric": str(metric),
                "title": metric.title,
                "holds": failures.size == 0 if defined else None,
                "cases": cases if defined else 0,
                "failures": failures.size,
                **(_shrink(trial, metric, seed) if failures.size else dict.fromkeys(_EXAMPLE)),
            }
        )
    return rows


def _shrink(trial: _Trial, metric: Metric, seed: int) -> dict[str, Any]:
    """A document from which no mention can be taken while the rule stays broken."""
    rule = trial.rule
    parts = [Metric.parse(part) for part in metric.declaration.parts]
    while True:
        row = int(trial.failures(metric)[0])
        document = trial.documents[row]
        smaller = _find_smaller(document, singletons=rule.singletons, response=rule.response)
        if not len(smaller):
            break
        copies = np.repeat(smaller, _COPIES, axis=0)
        attempt = _Trial.of(rule, copies, [*parts, metric], seed)
        if not attempt.failures(metric).size:
            break
        trial = attempt
    return _example(trial, metric, row)


def _example(trial: _Trial, metric: Metric, row: int) -> dict[str, Any]:
    """The document of a row as text, with the values that break the property."""
    values = trial.values(metric)
    pairs = trial.situation.pairs
    shown = [_write_entities(side, row) for side in pairs[0]]
    second = _write_entities(pairs[-1][1], row) if len(pairs) > 1 else None
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
