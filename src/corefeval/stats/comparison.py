"""Comparison: all systems against all, for every metric, from one set of trials."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from corefeval.checks import check_choice, check_count, check_probability, check_seed
from corefeval.diagnostics import Notice, UsageError
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.cautions import hopeless, opposed, with_the_whole
from corefeval.stats.checks import named, unit_of
from corefeval.stats.correction import Correction, adjusted
from corefeval.stats.effects import Effect, document_rates, effect
from corefeval.stats.intervals import Interval, few_documents, middle
from corefeval.stats.ranking import ranks
from corefeval.stats.resampling import Stack, bootstrap, comparable
from corefeval.stats.significance import (
    TOLERANCE,
    Pairs,
    Test,
    bootstrap_p,
    exact_p,
    observed,
    randomization_p,
)

Table = Literal["scores", "differences"]


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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems by metrics: scores, their intervals, and the test of every pair.

    `scores` and `intervals` are by metric, then system; `pairs` are all pairs of systems for each
    metric in turn. `results` are what was compared. Where these are of segments of a single
    document, scores are those of the whole document, and all else is of its segments: their own
    scores are `segment_scores`, by metric and system, which intervals and differences are of.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rate: str
    scores: Mapping[str, Mapping[str, float]]
    intervals: Mapping[str, Mapping[str, Interval]]
    pairs: tuple[PairDifference, ...]
    signatures: Mapping[str, str]
    settings: Mapping[str, str]
    alpha: float
    level: float
    documents: int
    notices: tuple[Notice, ...] = ()
    results: Mapping[str, Result] = field(default_factory=dict, repr=False)
    baseline: str | None = None
    segment_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """What was swapped and resampled: documents, or segments of one."""
        return unit_of(next(iter(self.results.values()))) if self.results else "document"

    @property
    def signature(self) -> str:
        """How the differences were tested, to be quoted with them."""
        return "|".join(f"{name}:{value}" for name, value in self.settings.items())

    @cached_property
    def _by_names(self) -> dict[tuple[str, str, str], PairDifference]:
        forward = {(pair.metric, pair.first, pair.second): pair for pair in self.pairs}
        backward = {(pair.metric, pair.second, pair.first): pair.reversed for pair in self.pairs}
        return forward | backward

    def difference(self, metric: str, first: str, second: str) -> PairDifference:
        """How `first` differs from `second`, in whatever order they were given."""
        found = self._by_names.get((metric, first, second))
        if found is None:
            raise UsageError(
                f"{first!r} and {second!r} were not compared by {metric!r}: there are "
                f"{', '.join(self.systems)} and {', '.join(self.metrics)}"
            )
        return found

    def is_better(self, metric: str, first: str, second: str) -> bool:
        """Whether `first` is significantly better than `second`; not if they were not compared."""
        pair = self._by_names.get((metric, first, second))
        return pair is not None and pair.significant and pair.difference > 0

    def better_than(self, metric: str, system: str) -> tuple[str, ...]:
        """The systems than which one is significantly better."""
        return tuple(
            other
            for other in self.systems
            if other != system and self.is_better(metric, system, other)
        )

    def ranks(self, metric: str) -> dict[str, int]:
        """Ranks, best first, with ties where there is no significant difference; see `ranking`."""
        if metric not in self.scores:
            raise UsageError(f"{metric!r} was not compared: there are {', '.join(self.metrics)}")
        return ranks(self.scores[metric], lambda one, other: self.is_better(metric, one, other))

    def best(self, metric: str) -> tuple[str, ...]:
        """The system with the highest score, or several where they are equal."""
        top = max(self.scores[metric].values())
        return tuple(s for s, score in self.scores[metric].items() if score >= top - TOLERANCE)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each system and metric."""
        found: list[dict[str, Any]] = []
        for metric in self.metrics:
            standing = self.ranks(metric)
            best = self.best(metric)
            for system in self.systems:
                low, high = self.intervals[metric][system]
                found.append(
                    {
                        "system": system,
                        "metric": metric,
                        "rate": self.rate,
                        "score": self.scores[metric][system],
                        **self._of_segments(metric, system),
                        "low": low,
                        "high": high,
                        "rank": standing[system],
                        "best": system in best,
                        "better_than": list(self.better_than(metric, system)),
                        "signature": f"{metric}|{self.signatures[system]}",
                    }
                )
        return found

    def _of_segments(self, metric: str, system: str) -> dict[str, float]:
        """The score that an interval is of, where it is not that of the whole."""
        scores = self.segment_scores.get(metric)
        return {} if scores is None else {"segments_score": scores[system]}

    def pair_rows(self) -> list[dict[str, Any]]:
        """One row for each pair of systems and metric; None for an infinite effect."""
        return [
            {
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
            for pair in self.pairs
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "systems": list(self.systems),
            "metrics": list(self.metrics),
            "documents": self.documents,
            **({} if self.baseline is None else {"baseline": self.baseline}),
            "settings": dict(self.settings),
            "signatures": dict(self.signatures),
            "scores": self.rows(),
            "differences": self.pair_rows(),
            "notices": [str(notice) for notice in self.notices],
        }

    def to_frame(self, table: Table = "scores") -> Any:
        """A pandas data frame of the scores, or of the differences of all pairs."""
        check_choice("table", table, get_args(Table))
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise UsageError(
                "data frames need pandas: pip install 'corefeval[pandas]', or take rows()"
            ) from error
        return pandas.DataFrame(self.rows() if table == "scores" else self.pair_rows())


def compare(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
    test: Test = "randomization",
    trials: int = 10_000,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    level: float = 0.95,
    samples: int = 1000,
    baseline: str | None = None,
) -> Comparison:
    """Compare the results of several systems on the same documents, each with each.

    `results` may be a mapping, which names the systems; otherwise each has the name of its
    response. `test` is `randomization` (paired, approximate), `bootstrap` (paired) or `exact` (all
    swaps of at most 20 documents); `correction` is over all pairs of systems, for each metric.
    Intervals of scores and of differences are from a bootstrap of `samples` samples; the bootstrap
    test takes its own `trials` for them. With a `baseline` the others are compared with it alone.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> systems = {"full": [list("abc")], "half": [list("ab")], "none": [["a"]]}
    >>> compared = compare({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, lea")
    ...     for name, entities in systems.items()
    ... })
    >>> compared.better_than("muc", "full"), compared.ranks("lea")
    (('half', 'none'), {'full': 1, 'half': 2, 'none': 3})
    """
    options = Options(rate, test, trials, seed, correction, alpha, level, samples, baseline)
    options.check()
    systems = named(results)
    stacked = comparable(systems, metrics, rate=rate)
    if baseline is not None:
        check_choice("the baseline", baseline, systems)
    return _comparison(systems, stacked, options)


@dataclass(frozen=True, slots=True)
class Options:
    """What `compare` was asked to do."""

    rate: str
    test: Test
    trials: int
    seed: int
    correction: Correction
    alpha: float
    level: float
    samples: int
    baseline: str | None

    def check(self) -> None:
        """Raise a UsageError where an option is none that there is."""
        check_choice("test", self.test, get_args(Test))
        check_choice("correction", self.correction, get_args(Correction))
        check_count("the number of trials", self.trials)
        check_count("the number of samples", self.samples)
        check_seed(self.seed)
        check_probability("alpha", self.alpha)
        check_probability("the level of an interval", self.level)

    @property
    def settings(self) -> dict[str, str]:
        """What the numbers depend on, in the order of the signature."""
        trials = {} if self.test == "exact" else {"trials": str(self.trials)}
        samples = {} if self.test == "bootstrap" else {"samples": str(self.samples)}
        return {
            "test": self.test,
            **trials,
            **samples,
            "seed": str(self.seed),
            "correction": self.correction,
            "alpha": f"{self.alpha:g}",
            **({} if self.baseline is None else {"baseline": self.baseline}),
        }


def _comparison(systems: dict[str, Result], stacked: Stack, options: Options) -> Comparison:
    samples = options.trials if options.test == "bootstrap" else options.samples
    rates = bootstrap(stacked, samples, options.seed, rate=options.rate)
    drawn = np.stack([rates[metric][options.rate] for metric in stacked.metrics])
    first, second = _pairs(tuple(systems), options.baseline)
    p = _p_values(stacked, (first, second), options, drawn)
    names = tuple(systems)
    scores, of_segments = _scores(systems, stacked, options.rate)
    pairs = _pair_differences(stacked, names, (first, second), options, p, drawn)
    agreeing, turned = with_the_whole(pairs, scores)
    reference = next(iter(systems.values()))
    return Comparison(
        systems=names,
        metrics=stacked.metrics,
        rate=options.rate,
        scores=scores,
        intervals={
            metric: {name: middle(drawn[m, s], options.level) for s, name in enumerate(names)}
            for m, metric in enumerate(stacked.metrics)
        },
        pairs=agreeing,
        signatures={name: r.without_intervals().signature for name, r in systems.items()},
        settings=options.settings,
        alpha=options.alpha,
        level=options.level,
        documents=stacked.n_documents,
        notices=(
            *few_documents(reference),
            *hopeless(stacked.n_documents, first.size, options, unit_of(reference)),
            *turned,
            *opposed(agreeing, unit_of(reference)),
        ),
        results=systems,
        baseline=options.baseline,
        segment_scores=of_segments,
    )


def _scores(
    systems: Mapping[str, Result], stacked: Stack, rate: str
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """By metric and system: of whole documents; of segments, where the results are of these."""
    rows = stacked.rate(stacked.totals.__getitem__, rate)
    compared = {
        metric: dict(zip(systems, row.tolist(), strict=True))
        for metric, row in zip(stacked.metrics, rows, strict=True)
    }
    if not any(result.whole_rates for result in systems.values()):
        return compared, {}
    whole = {
        metric: {
            name: result.whole_rates.get(metric, {}).get(rate, compared[metric][name])
            for name, result in systems.items()
        }
        for metric in compared
    }
    return whole, compared


def _pairs(names: tuple[str, ...], baseline: str | None) -> Pairs:
    """The systems that are compared: all with all, or each with the baseline."""
    pairs = list(combinations(range(len(names)), 2))
    if baseline is not None:
        place = names.index(baseline)
        pairs = [(other, place) for other in range(len(names)) if other != place]
    first, second = np.array(pairs).T
    return first, second


def _p_values(stacked: Stack, pairs: Pairs, options: Options, drawn: Numbers) -> Numbers:
    """Metrics × pairs; `drawn` is the rate on resampled documents, metrics × systems × samples."""
    rate = options.rate
    if options.test == "randomization":
        return randomization_p(stacked, pairs, rate, options.trials, options.seed)
    if options.test == "exact":
        return exact_p(stacked, pairs, rate)
    differences = observed(stacked, pairs, rate)
    columns = [
        bootstrap_p(drawn[:, one] - drawn[:, other], differences[:, index])
        for index, (one, other) in enumerate(zip(*pairs, strict=True))
    ]
    return np.stack(columns, axis=1)


def _pair_differences(
    stacked: Stack,
    names: tuple[str, ...],
    pairs: Pairs,
    options: Options,
    p: Numbers,
    drawn: Numbers,
) -> Iterator[PairDifference]:
    differences = observed(stacked, pairs, options.rate)
    for index, metric in enumerate(stacked.metrics):
        documents = document_rates(stacked, metric, options.rate)
        corrected = adjusted(p[index], options.correction)
        for pair, (one, other) in enumerate(zip(*pairs, strict=True)):
            yield PairDifference(
                first=names[one],
                second=names[other],
                metric=metric,
                difference=float(differences[index, pair]),
                interval=middle(drawn[index, one] - drawn[index, other], options.level),
                p=float(p[index, pair]),
                adjusted_p=float(corrected[pair]),
                significant=bool(corrected[pair] <= options.alpha),
                effect=effect(
                    (documents[one] - documents[other])[stacked.counted(metric, (one, other))]
                ),
            )
