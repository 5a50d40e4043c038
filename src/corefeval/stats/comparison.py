"""A comparison of systems on one corpus: scores, tests of pairs, how far the metrics agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import Comparable, Row, Tabular
from corefeval.results import Result
from corefeval.stats.bootstraps import Interval
from corefeval.stats.pairs import Differences, Power, differences, documents_needed
from corefeval.stats.resampling import check_comparable, choose_metrics, name_results, unit_of
from corefeval.stats.significance import TOLERANCE, ComparisonOptions, Effects
from corefeval.stats.standings import PairDifference, Standing, Standings

Table = Literal["scores", "differences"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Comparable, Standings[PairDifference]):
    """Systems by metrics: scores, their intervals, the test of every pair, and what follows.

    `scores` and `intervals` are by metric, then system; `pairs` are all pairs of systems for each
    metric in turn. `results` are what was compared, and `by` the features by whose values `slices`
    compares them. Of a grid, `effects` has what levels are worth, and `strict` the results under
    the other rule for lost mentions. Where results are of segments of a single document, `scores`
    are those of the whole document; intervals and differences belong to the scores of its segments,
    `segment_scores`. `slices`, `agreement`, `differences()` and `power()` are worked out on use.
    """

    standings: tuple[Standing[PairDifference], ...]
    results: Mapping[str, Result]
    options: ComparisonOptions
    by: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    segment_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    effects: Effects = field(default_factory=dict)
    strict: Mapping[str, Result] = field(default_factory=dict)

    @cached_property
    def scores(self) -> dict[str, Mapping[str, float]]:
        """The rate that was compared, by metric and system."""
        return {standing.metric: standing.scores for standing in self.standings}

    @cached_property
    def intervals(self) -> dict[str, Mapping[str, Interval]]:
        """The intervals of the scores, by metric and system."""
        return {standing.metric: standing.intervals for standing in self.standings}

    @cached_property
    def pairs(self) -> tuple[PairDifference, ...]:
        """The differences of all pairs of systems, by each metric in turn."""
        return tuple(pair for standing in self.standings for pair in standing.pairs)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of what was compared."""
        return tuple(self.results)

    @property
    def rate(self) -> str:
        """Which rate of each metric was compared."""
        return self.options.rate

    @property
    def alpha(self) -> float:
        """The p-value up to which a difference is significant."""
        return self.options.alpha

    @property
    def level(self) -> float:
        """The share of samples that an interval covers."""
        return self.options.level

    @property
    def baseline(self) -> str | None:
        """The only system that the others were compared with, if there was one."""
        return self.options.baseline

    @property
    def settings(self) -> dict[str, str]:
        """How the differences were tested."""
        return self.options.settings

    @property
    def _first(self) -> Result:
        return next(iter(self.results.values()))

    @property
    def unit(self) -> str:
        """What was swapped and resampled: documents, or segments of one."""
        return unit_of(self._first)

    @property
    def signatures(self) -> dict[str, str]:
        """How each system was scored."""
        results = self.results.items()
        return {name: result.without_intervals().signature for name, result in results}

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Names of the documents, or of the segments."""
        return self._first.document_ids

    @property
    def documents(self) -> list[DocumentComparison]:
        """The scores on each document alone."""
        return [DocumentComparison(self, index) for index in range(len(self.document_ids))]

    def title(self, metric: str) -> str:
        """What tables call a metric."""
        return self._first.titles.get(metric, metric)

    def difference(self, metric: str, first: str, second: str) -> PairDifference:
        """How `first` differs from `second`, in whatever order they were given."""
        pair = self.standing(metric).by_names.get((first, second))
        if pair is None:
            raise UsageError(
                f"{first!r} and {second!r} were not compared by {metric!r}: there are "
                f"{', '.join(self.systems)}"
            )
        return pair

    def is_better(self, metric: str, first: str, second: str) -> bool:
        """Whether `first` is significantly better than `second`; not if they were not compared."""
        return self.standing(metric).is_better(first, second)

    def better_than(self, metric: str, system: str) -> tuple[str, ...]:
        """The systems that one is significantly better than."""
        return self.standing(metric).better_than(system)

    def rates_of(self, metric: str, system: str) -> Mapping[str, float]:
        """All rates of a system by a metric, of whole documents, as `scores` are."""
        result = self.results[system]
        return result.whole_rates.get(metric) or result[metric].rates

    def best(self, metric: str) -> tuple[str, ...]:
        """The system with the highest score, or several where they are equal."""
        top = max(self.scores[metric].values())
        return tuple(s for s, score in self.scores[metric].items() if score >= top - TOLERANCE)

    @cached_property
    def slices(self) -> dict[str, dict[str, Comparison]]:
        """A comparison within each value of each feature of `by`, tested alike.

        Values of fewer than two documents are left out, and so are those that a system lacks.
        """
        from corefeval.stats import compare_slice

        comparisons: dict[str, dict[str, Comparison]] = {}
        for feature, value, parts in self._slice_parts():
            if len(next(iter(parts.values())).document_ids) >= 2:
                comparisons.setdefault(feature, {})[value] = compare_slice(parts, self)
        return comparisons

    def _slice_parts(self) -> Iterator[tuple[str, str, dict[str, Result]]]:
        """Feature, value, and the results of a slice that all systems have."""
        for feature in self.by:
            for value in self._first.slices[feature]:
                parts = {
                    name: result.slices[feature][value]
                    for name, result in self.results.items()
                    if value in result.slices[feature]
                }
                if len(parts) == len(self.results) and self.metrics_of(parts):
                    yield feature, value, parts

    def metrics_of(self, parts: Mapping[str, Result]) -> list[str]:
        """The metrics of the comparison that all parts of results have."""
        tables = [part.tables for part in parts.values()]
        return [metric for metric in self.metrics if all(metric in table for table in tables)]

    def order_by(self, metric: object = None) -> Comparison:
        """The comparison with the best system first, by one metric (see `main_metric`).

        Pairs are then differences of a better system and a worse one, or of one and the baseline.
        Those with equal scores stay as they were; what has no number comes last.
        """
        scores = self.scores[self.main_metric(metric)]
        order = sorted(self.systems, key=lambda name: (math.isnan(scores[name]), -scores[name]))
        turn = self.baseline is None
        return replace(
            self,
            standings=tuple(standing.sort(order, turn=turn) for standing in self.standings),
            results={name: self.results[name] for name in order},
            segment_scores={
                metric: {name: by_name[name] for name in order}
                for metric, by_name in self.segment_scores.items()
            },
        )

    def main_metric(self, metric: object = None) -> str:
        """The metric that is named; otherwise `conll` where it was compared, or the first."""
        if metric is None:
            return "conll" if "conll" in self.metrics else self.metrics[0]
        [name] = choose_metrics(self.results, [metric], rate=self.rate)
        if name not in self.metrics:
            raise UsageError(f"{name} was not compared: there are {', '.join(self.metrics)}")
        return name

    def differences(self, metric: object = None) -> tuple[Differences, ...]:
        """In which documents and slices systems differ, by one metric (see `main_metric`).

        The best system against each other one; all against the baseline, where there is one.
        """
        name = self.main_metric(metric)
        if self.baseline is not None:
            pairs = [(system, self.baseline) for system in self.systems]
        else:
            best = self.systems[0] if len(self.systems) == 2 else self.best(name)[0]
            pairs = [(best, system) for system in self.systems]
        results = self.results
        return tuple(
            differences(results[a], results[b], metric=name, rate=self.rate, names=(a, b))
            for a, b in pairs
            if a != b
        )

    @cached_property
    def agreement(self) -> Concordance:
        """How far the metrics agree on the order of the systems."""
        return concordance(self.results, metrics=self.metrics, rate=self.rate)

    def power(self, metric: object = None) -> tuple[Power, ...]:
        """How many documents would make differences significant that are not, by one metric."""
        name = self.main_metric(metric)
        pairs = self.standing(name).pairs
        unclear = [pair for pair in pairs if not pair.significant]
        ordered = [pair if pair.difference >= 0 else pair.reversed for pair in unclear]
        return tuple(
            documents_needed(
                self.results[pair.first],
                self.results[pair.second],
                metric=name,
                rate=self.rate,
                alpha=self.alpha,
                seed=self.options.seed,
                names=(pair.first, pair.second),
                tests=self.options.count_tests(len(pairs)),
            )
            for pair in ordered
        )

    def rows(self, table: Table = "scores") -> list[Row]:
        """One row for each system and metric; or for each pair of systems and metric."""
        check_choice("table", table, get_args(Table))
        if table == "differences":
            return [self._pair_row(pair) for pair in self.pairs]
        return [row for metric in self.metrics for row in self._score_rows(metric)]

    def _score_rows(self, metric: str) -> Iterator[Row]:
        """A row for each system by one metric."""
        ranks, best = self.ranks(metric), self.best(metric)
        segments = self.segment_scores.get(metric)
        for system in self.systems:
            low, high = self.intervals[metric][system]
            yield {
                "system": system,
                "metric": metric,
                "rate": self.rate,
                "score": self.scores[metric][system],
                # Intervals of a single document are those of this score.
                **({} if segments is None else {"segments_score": segments[system]}),
                "low": low,
                "high": high,
                "rank": ranks[system],
                "best": system in best,
                "better_than": list(self.better_than(metric, system)),
                "signature": f"{metric}|{self.signatures[system]}",
            }

    def _pair_row(self, pair: PairDifference) -> Row:
        """A pair as a row; an infinite effect is None."""
        return {
            "first": pair.first,
            "second": pair.second,
            "metric": pair.metric,
            "rate": self.rate,
            **pair.as_row(),
            "mean_difference": pair.effect.mean,
            "d": pair.effect.d if math.isfinite(pair.effect.d) else None,
            "win_rate": pair.effect.win_rate,
            "signature": self.signature,
        }

    def as_dict(self) -> Row:
        """Scores and differences, in slices too, for JSON."""
        slices = {
            feature: {
                value: {"scores": part.rows(), "differences": part.rows("differences")}
                for value, part in values.items()
            }
            for feature, values in self.slices.items()
        }
        return {
            "systems": list(self.systems),
            "metrics": list(self.metrics),
            "documents": len(self.document_ids),
            **({} if self.baseline is None else {"baseline": self.baseline}),
            "settings": self.settings,
            "signatures": self.signatures,
            "scores": self.rows(),
            "differences": self.rows("differences"),
            "notices": [str(notice) for notice in self.notices],
            **({"slices": slices} if slices else {}),
        }

    def __repr__(self) -> str:
        units = plural(len(self.document_ids), self.unit)
        metric = self.main_metric()
        order = sorted(self.scores[metric].items(), key=lambda pair: -pair[1])
        scores = ", ".join(f"{system} {100 * score:.2f}" for system, score in order)
        return f"<Comparison of {units}, by {metric}: {scores}>"


@dataclass(frozen=True, slots=True, repr=False)
class DocumentComparison:
    """One document of a comparison."""

    comparison: Comparison
    index: int

    @property
    def id(self) -> str:
        """Name and part of the document."""
        return self.comparison.document_ids[self.index]

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The rate of each system on this document alone, by metric and system."""
        compared = self.comparison
        return {
            metric: {
                name: float(result.document_rates[metric][compared.rate][self.index])
                for name, result in compared.results.items()
            }
            for metric in compared.metrics
        }

    def __repr__(self) -> str:
        return f"<{self.id}: {self.scores}>"


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Kendall's τ-b between the orders in which two metrics put the systems.

    1 for equal orders, −1 for reverse ones, NaN where a metric holds all systems equal.
    `disagreements` are the pairs of systems (the one that the first metric holds better, the one
    that the second does).
    """

    first: str
    second: str
    tau: float
    disagreements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Concordance(Tabular):
    """How far metrics agree on the order of systems."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    pairs: tuple[MetricAgreement, ...]

    def tau(self, first: str, second: str) -> float:
        """τ-b of two metrics, in any order."""
        if first == second and first in self.metrics:
            return 1.0
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair.tau
        raise UsageError(
            f"{first!r} and {second!r} were not compared: there are {', '.join(self.metrics)}"
        )

    def __repr__(self) -> str:
        taus = ", ".join(f"{pair.first}–{pair.second} {pair.tau:.2f}" for pair in self.pairs)
        return f"<Concordance of {plural(len(self.systems), 'system')}: τ {taus}>"

    def rows(self) -> list[Row]:
        """One row for each pair of metrics; None where τ is not defined."""
        return [
            {
                "first": pair.first,
                "second": pair.second,
                "tau": None if math.isnan(pair.tau) else pair.tau,
                "disagreements": [list(systems) for systems in pair.disagreements],
            }
            for pair in self.pairs
        ]


def concordance(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
) -> Concordance:
    """Kendall's τ-b between the rankings that metrics give to systems (Kendall 1945).

    >>> import corefeval
    >>> key = {name: [list("abcd"), list("efgh")] for name in ("one", "two")}
    >>> systems = {"merged": [list("abcdefgh")], "split": [list("ab"), list("cd"), list("efgh")]}
    >>> order = concordance({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, ceafe")
    ...     for name, entities in systems.items()
    ... })
    >>> order.tau("muc", "ceafe"), order.pairs[0].disagreements
    (-1.0, (('merged', 'split'),))
    """
    systems = name_results(results)
    check_comparable(systems)
    chosen = choose_metrics(systems, metrics, rate=rate)
    names = tuple(systems)
    scores = np.array(
        [[result[metric].rates[rate] for result in systems.values()] for metric in chosen]
    )
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    gaps = scores[:, first] - scores[:, second]
    # A score that is no number (NaN) ties with every other.
    signs = np.where(np.abs(gaps) > TOLERANCE, np.sign(gaps), 0).astype(np.int64)
    products = signs @ signs.T
    agreements = []
    for a, b in combinations(range(len(chosen)), 2):
        scale = math.sqrt(products[a, a] * products[b, b])
        tau = float(products[a, b] / scale) if scale else math.nan
        turned = np.flatnonzero(signs[a] * signs[b] < 0)
        ordered = (
            (first[pair], second[pair]) if signs[a, pair] > 0 else (second[pair], first[pair])
            for pair in turned
        )
        disagreements = tuple((names[better], names[worse]) for better, worse in ordered)
        agreements.append(MetricAgreement(chosen[a], chosen[b], tau, disagreements))
    return Concordance(names, tuple(chosen), tuple(agreements))
