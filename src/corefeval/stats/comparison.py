"""A comparison: all systems against all, and all that can be asked about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeVar, get_args

from corefeval.checks import check_choice
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.results import Result
from corefeval.stats.differences import Differences, Effect, differences
from corefeval.stats.intervals import Interval
from corefeval.stats.power import Power, documents_needed
from corefeval.stats.ranking import Concordance, concordance, ranks
from corefeval.stats.resampling import choose_metrics, unit_of
from corefeval.stats.significance import TOLERANCE, Options
from corefeval.tabular import Row, Tabular, have_same_fields

Table = Literal["scores", "differences"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PairDifference:
    """One metric's difference between two systems (first − second), and what speaks for it."""

    first: str
    second: str
    metric: str
    difference: float
    interval: Interval
    p: float
    adjusted_p: float
    significant: bool
    effect: Effect

    @property
    def reversed(self) -> PairDifference:
        """The same, seen from the second."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=-self.interval,
            effect=-self.effect,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular):
    """Systems by metrics: scores, their intervals, the test of every pair, and what follows.

    `scores` and `intervals` are by metric, then system; `pairs` are all pairs of systems for each
    metric in turn. `results` are what was compared, and `by` the features in whose values they
    were. Where results are of segments of a single document, scores are those of the whole
    document, and all else is of its segments: their own scores are `segment_scores`, by metric and
    system, which intervals and differences are of.

    Worked out when it is asked for: `slices`, `differences()`, `agreement` and `power()`.
    """

    metrics: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]]
    intervals: Mapping[str, Mapping[str, Interval]]
    pairs: tuple[PairDifference, ...]
    results: Mapping[str, Result]
    options: Options
    by: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    segment_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

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
    def signature(self) -> str:
        """How the differences were tested, to be quoted with them."""
        return "|".join(f"{name}:{value}" for name, value in self.settings.items())

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

    @cached_property
    def _by_names(self) -> dict[tuple[str, str, str], PairDifference]:
        forward = {(pair.metric, pair.first, pair.second): pair for pair in self.pairs}
        backward = {(pair.metric, pair.second, pair.first): pair.reversed for pair in self.pairs}
        return forward | backward

    def difference(self, metric: str, first: str, second: str) -> PairDifference:
        """How `first` differs from `second`, in whatever order they were given."""
        pair = self._by_names.get((metric, first, second))
        if pair is None:
            raise UsageError(
                f"{first!r} and {second!r} were not compared by {metric!r}: there are "
                f"{', '.join(self.systems)} and {', '.join(self.metrics)}"
            )
        return pair

    def is_better(self, metric: str, first: str, second: str) -> bool:
        """Whether `first` is significantly better than `second`; not if they were not compared."""
        pair = self._by_names.get((metric, first, second))
        return pair is not None and pair.significant and pair.difference > 0

    def better_than(self, metric: str, system: str) -> tuple[str, ...]:
        """The systems that one is significantly better than."""
        others = (other for other in self.systems if other != system)
        return tuple(other for other in others if self.is_better(metric, system, other))

    def ranks(self, metric: str) -> dict[str, int]:
        """Ranks, best first, with ties where there is no significant difference; see `ranking`."""
        if metric not in self.scores:
            raise UsageError(f"{metric!r} was not compared: there are {', '.join(self.metrics)}")
        return ranks(self.scores[metric], lambda one, other: self.is_better(metric, one, other))

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
        """A comparison within each value of each feature of `by`, tested in the same way.

        Values of fewer than two documents are left out, and so are those that a system lacks.
        """
        from corefeval.stats.procedure import compare_slice

        comparisons: dict[str, dict[str, Comparison]] = {}
        for feature, value, parts in self._slice_parts():
            if len(next(iter(parts.values())).document_ids) >= 2:
                one = compare_slice(parts, self)
                comparisons.setdefault(feature, {})[value] = one
        return comparisons

    def _slice_parts(self) -> Iterator[tuple[str, str, dict[str, Result]]]:
        """Feature, value, and the results of a slice that all systems have."""
        for feature in self.by:
            for value in self._first.slices[feature]:
                parts = {name: one.slices[feature].get(value) for name, one in self.results.items()}
                known = {name: part for name, part in parts.items() if part is not None}
                if len(known) == len(parts) and self.metrics_of(known):
                    yield feature, value, known

    def metrics_of(self, results: Mapping[str, Result]) -> list[str]:
        """The metrics of the comparison that all of some results have."""
        return [m for m in self.metrics if all(m in one.tables for one in results.values())]

    def order_by(self, metric: object = None) -> Comparison:
        """The same with the best system first, by one metric (see `main_metric`), in all of it.

        Pairs are then differences of a better system and a worse one, or of one and the baseline.
        Those with equal scores stay as they were; what has no number comes last.
        """
        scores = self.scores[self.main_metric(metric)]
        order = sorted(self.systems, key=lambda name: (math.isnan(scores[name]), -scores[name]))
        place = {name: number for number, name in enumerate(order)}
        pairs = [
            pair.reversed
            if self.baseline is None and place[pair.first] > place[pair.second]
            else pair
            for pair in self.pairs
        ]
        pairs.sort(key=lambda p: (self.metrics.index(p.metric), place[p.first], place[p.second]))

        def sort(rows: Mapping[str, Mapping[str, T]]) -> dict[str, dict[str, T]]:
            return {metric: {name: row[name] for name in order} for metric, row in rows.items()}

        return replace(
            self,
            results={name: self.results[name] for name in order},
            pairs=tuple(pairs),
            scores=sort(self.scores),
            intervals=sort(self.intervals),
            segment_scores=sort(self.segment_scores),
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
        if name not in self._differences:
            self._differences[name] = tuple(
                differences(*self._two(pair), metric=name, rate=self.rate, names=pair)
                for pair in self._main_pairs(name)
            )
        return self._differences[name]

    @cached_property
    def agreement(self) -> Concordance:
        """How far the metrics agree on the order of the systems."""
        return concordance(self.results, metrics=self.metrics, rate=self.rate)

    def power(self, metric: object = None) -> tuple[Power, ...]:
        """How many documents would make the other differences significant, by one metric."""
        name = self.main_metric(metric)
        if name not in self._powers:
            mine = [pair for pair in self.pairs if pair.metric == name]
            unclear = [pair for pair in mine if not pair.significant]
            ordered = [one if one.difference >= 0 else one.reversed for one in unclear]
            self._powers[name] = tuple(
                documents_needed(
                    *self._two(names := (pair.first, pair.second)),
                    metric=name,
                    rate=self.rate,
                    alpha=self.alpha,
                    seed=self.options.seed,
                    names=names,
                    tests=1 if self.options.correction == "none" else len(mine),
                )
                for pair in ordered
            )
        return self._powers[name]

    @cached_property
    def _differences(self) -> dict[str, tuple[Differences, ...]]:
        return {}

    @cached_property
    def _powers(self) -> dict[str, tuple[Power, ...]]:
        return {}

    def _two(self, names: tuple[str, str]) -> tuple[Result, Result]:
        return self.results[names[0]], self.results[names[1]]

    def _main_pairs(self, metric: str) -> list[tuple[str, str]]:
        """All with the baseline, or the best with all others."""
        if self.baseline is not None:
            return [(one, self.baseline) for one in self.systems if one != self.baseline]
        if len(self.systems) == 2:
            return [(self.systems[0], self.systems[1])]
        best = self.best(metric)[0]
        return [(best, other) for other in self.systems if other != best]

    def rows(self, table: Table = "scores") -> list[Row]:
        """One row for each system and metric; or for each pair of systems and metric."""
        check_choice("table", table, get_args(Table))
        if table == "differences":
            return [self._pair_row(pair) for pair in self.pairs]
        return [row for metric in self.metrics for row in self._score_rows(metric)]

    def _score_rows(self, metric: str) -> Iterator[Row]:
        standing, best = self.ranks(metric), self.best(metric)
        segments = self.segment_scores.get(metric)
        for system in self.systems:
            low, high = self.intervals[metric][system]
            yield {
                "system": system,
                "metric": metric,
                "rate": self.rate,
                "score": self.scores[metric][system],
                # The score that the interval is of, where it is not that of the whole.
                **({} if segments is None else {"segments_score": segments[system]}),
                "low": low,
                "high": high,
                "rank": standing[system],
                "best": system in best,
                "better_than": list(self.better_than(metric, system)),
                "signature": f"{metric}|{self.signatures[system]}",
            }

    def _pair_row(self, pair: PairDifference) -> Row:
        """An effect that is infinite is None."""
        return {
            "first": pair.first,
            "second": pair.second,
            "metric": pair.metric,
            "rate": self.rate,
            "difference": pair.difference,
            "low": pair.interval.low,
            "high": pair.interval.high,
            "p": pair.p,
            "adjusted_p": pair.adjusted_p,
            "significant": pair.significant,
            "mean_difference": pair.effect.mean,
            "d": pair.effect.d if math.isfinite(pair.effect.d) else None,
            "win_rate": pair.effect.win_rate,
            "signature": self.signature,
        }

    def as_dict(self) -> Row:
        """Scores and differences, in slices too, for JSON."""
        slices = {
            feature: {
                value: {"scores": one.rows(), "differences": one.rows("differences")}
                for value, one in values.items()
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

    def __eq__(self, other: object) -> bool:
        return have_same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

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
