"""Intervals: how far a score would move with other documents of the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import Notice, plural
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.checks import check_documents, chosen_metrics, unit_of
from corefeval.stats.resampling import bootstrap, stack

FEW_DOCUMENTS = 5


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)


@dataclass(frozen=True, slots=True)
class Intervals(Mapping[str, Mapping[str, Interval]]):
    """An interval for each rate of each metric: `intervals["muc"]["f1"].low`."""

    values_by_metric: Mapping[str, Mapping[str, Interval]]
    level: float
    samples: int
    seed: int
    documents: int
    notices: tuple[Notice, ...] = ()

    def __getitem__(self, metric: str) -> Mapping[str, Interval]:
        return self.values_by_metric[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_metric)

    def __len__(self) -> int:
        return len(self.values_by_metric)

    @property
    def signature(self) -> str:
        """How the intervals were made, to be quoted with them."""
        return f"ci:{self.level:g}|bootstrap:{self.samples}|seed:{self.seed}"


def intervals(
    result: Result,
    *,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
    metrics: Iterable[object] | None = None,
) -> Intervals:
    """Percentile bootstrap over documents, for every rate of every metric.

    Documents are drawn with replacement, as many as there are, `samples` times; the interval holds
    the middle `level` of the scores of these samples. Micro and macro scores and means of metrics
    are all worked out anew for every sample. With few documents the intervals are too narrow, and
    a notice says so; one document alone is a `UsageError`. (Efron 1979.)

    >>> import corefeval
    >>> key = {"one": [["a", "b"]], "two": [["c", "d", "e"]], "three": [["f", "g"]]}
    >>> response = {"one": [["a", "b"]], "two": [["c", "d"]], "three": [["f"], ["g"]]}
    >>> found = intervals(corefeval.score(key, response, metrics="muc"))
    >>> found["muc"]["recall"]
    Interval(low=0.0, high=1.0)
    """
    check_probability("the level of an interval", level)
    check_count("the number of samples", samples)
    check_seed(seed)
    check_documents(result)
    chosen = chosen_metrics({"result": result}, metrics)
    rates = bootstrap(stack([result], chosen), samples, seed)
    return Intervals(
        {
            metric: {name: middle(values[0], level) for name, values in by_name.items()}
            for metric, by_name in rates.items()
        },
        level,
        samples,
        seed,
        len(result.document_ids),
        few_documents(result),
    )


def middle(values: Numbers, level: float) -> Interval:
    """Where the middle `level` of the values lies."""
    low, high = np.quantile(values, ((1 - level) / 2, (1 + level) / 2))
    return Interval(float(low), float(high))


def few_documents(result: Result) -> tuple[Notice, ...]:
    """A notice where there are too few documents for the bootstrap to be trusted."""
    count = len(result.document_ids)
    if count >= FEW_DOCUMENTS:
        return ()
    units = plural(count, unit_of(result))
    message = f"intervals from {units} alone are too narrow: do not trust them"
    return (Notice("few-documents", message, count, result.document_ids),)
