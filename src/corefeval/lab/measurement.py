"""Scores as tidy rows, what they say, and a key and a response for users who bring none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from corefeval.diagnostics import Notice
from corefeval.evaluation import score
from corefeval.lab import (
    Cell,
    Chart,
    ExperimentResult,
    Row,
    Setup,
    Statement,
    find_number,
    percents,
)
from corefeval.lab.perturbations import (
    add_extra_mentions,
    compose,
    link_missing_pairwise,
    merge_entities,
    resolve_links,
    split_entities,
)
from corefeval.metrics import Metric, MetricRequest
from corefeval.model import Corpus, corpus_from_arrays

EVERYTHING = "all"  # the preset that follows the registry and skips what the data does not define
RATES = ("recall", "precision", "f1")
SCORE_COLUMNS = ("metric", "title", *RATES)
SHARES = tuple(step / 10 for step in range(11))  # the points of curves over links or mentions

# The six of Moosavi and Strube's analysis, of which their sentences speak.
THE_SIX = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea")

# `with IF_MEASURED:` leaves a claim out whose metrics or entities were not measured, because the
# user chose other ones.
IF_MEASURED = suppress(LookupError)


class Measurement:
    """Scores outputs, keeps a row for each metric, and states what the rows say.

    `metrics` are those of the experiment, for users who name none. `source` says whose claims the
    statements are.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        metrics: Sequence[Metric | MetricRequest] = (),
        features: Mapping[str, object] | None = None,
        source: str = "",
    ) -> None:
        chosen: Any = setup.metrics if setup.metrics is not None else metrics or EVERYTHING
        self.metrics = chosen if isinstance(chosen, str | Metric) else list(chosen)
        self.setup = setup
        self.features = {**(features or {}), **(setup.features or {})}
        self.source = source
        self.rows: list[Row] = []
        self.statements: list[Statement] = []
        self.notices: dict[Notice, None] = {}  # in order, without repetitions

    def add(self, key: Corpus, response: Corpus, /, **fields: Cell) -> None:
        """Score one output and keep its rows, with fields that say what it is."""
        features, tagset = self.features or None, self.setup.tagset
        result = score(key, response, metrics=self.metrics, features=features, tagset=tagset)
        skipped = (notice for notice in result.notices if notice.kind == "skipped-metric")
        self.notices |= dict.fromkeys(skipped)
        for metric, measured in result.scores.items():
            rates = {rate: measured.rates.get(rate) for rate in RATES}
            title = result.titles.get(metric, metric)
            self.rows.append({**fields, "metric": metric, "title": title, **rates})

    def describe(self, fields: Callable[[str], Row]) -> None:
        """Put fields that follow from the metric alone in front of every row."""
        self.rows = [{**fields(str(row["metric"])), **row} for row in self.rows]

    def value(self, rate: str, /, **fields: Cell) -> float:
        """A rate of the only row that has these values; a LookupError where there is none."""
        return find_number(self.rows, rate, **fields)

    def f1(self, metric: str, **fields: Cell) -> float:
        """F1 by a metric in the only row that has these values, or a LookupError."""
        return self.value("f1", metric=metric, **fields)

    def f1_by(self, column: str, metric: str) -> dict[str, float]:
        """F1 by a metric for each value of a column; a LookupError where nothing was measured."""
        cases = dict.fromkeys(str(row[column]) for row in self.rows)
        if not cases:
            raise LookupError(column)
        return {case: self.f1(metric, **{column: case}) for case in cases}

    def title(self, metric: str) -> str:
        """What tables call a metric; a LookupError where it was not measured."""
        for row in self.rows:
            if row["metric"] == metric:
                return str(row["title"])
        raise LookupError(metric)

    def state(
        self,
        text: str,
        holds: bool,
        numbers: Mapping[str, float],
        detail: str = "",
        source: str = "",
    ) -> None:
        """Keep a statement; without a `detail` it shows its numbers in percent."""
        detail = detail or percents(numbers)
        self.statements.append(Statement(text, holds, numbers, detail, source or self.source))

    def finish(
        self,
        name: str,
        title: str,
        *,
        charts: Sequence[Chart] = (),
        **settings: Cell,
    ) -> ExperimentResult:
        """The experiment's result."""
        columns = dict.fromkeys(column for row in self.rows for column in row)
        fields = [column for column in columns if column not in SCORE_COLUMNS]
        return ExperimentResult(
            name=name,
            title=title,
            columns=(*fields, *SCORE_COLUMNS),
            data=tuple(self.rows),
            statements=tuple(self.statements),
            charts=tuple(charts),
            settings={**settings, "seed": self.setup.seed},
            notices=tuple(self.notices),
        )


# Moosavi and Strube 2016, Section 7: the sizes of the entities of the key.
MOOSAVI_STRUBE_SIZES = (20, 10, 10, 5, 5, 5, 4, *(2,) * 10)


def moosavi_strube_key(singletons: int = 0) -> Corpus:
    """The key of Moosavi and Strube's analysis, with this many singletons added.

    >>> moosavi_strube_key()
    <Corpus 'key': 1 document, 17 entities, 79 mentions>
    """
    sizes = (*MOOSAVI_STRUBE_SIZES, *(1,) * singletons)
    entity = np.repeat(np.arange(len(sizes)), sizes)
    # Entities are interleaved, as in a text.
    order = np.random.default_rng(2016).permutation(entity.size)
    return corpus_from_arrays(entity=entity[order], start=np.arange(entity.size), name="key")


def noisy_response(key: Corpus, seed: int = 0) -> Corpus:
    """A response with errors of every sort: missing links, wrong links, missing and extra mentions.

    About as good as a resolver on newspaper text.
    """
    make = compose(
        partial(resolve_links, share=0.6, seed=seed),
        partial(split_entities, share=0.2, seed=seed),
        partial(merge_entities, share=0.3, seed=seed),
        partial(link_missing_pairwise, share=0.4, seed=seed),
        partial(add_extra_mentions, where="document", number=1, size=0, seed=seed),
    )
    return make(key, key.with_details(name="response"))
