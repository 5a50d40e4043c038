"""Standings: systems by metrics over documents or corpora, with their differences and ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Generic, TypeVar

from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import Row, Tabular
from corefeval.results.rates import Numbers
from corefeval.results.saved import notice_of_record
from corefeval.stats.bootstraps import Interval, middle
from corefeval.stats.significance import (
    CorporaOptions,
    Effect,
    Replication,
    TestingOptions,
    adjust,
)

EVERYTHING = ""  # the group of all corpora


@dataclass(frozen=True, slots=True)
class Difference:
    """The score of a system less that of a second one, its interval, and how sure it is."""

    first: str
    second: str
    difference: float
    interval: Interval
    p: float
    adjusted_p: float
    significant: bool

    def _reverse(self: Pair, **evidence: Any) -> Pair:
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=-self.interval,
            **evidence,
        )

    @property
    def reversed(self: Pair) -> Pair:
        """The difference, seen from the second system."""
        return self._reverse()

    def as_row(self) -> Row:
        """Systems, difference, interval and p-values."""
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "p": self.p,
            "adjusted_p": self.adjusted_p,
            "significant": self.significant,
        }


Pair = TypeVar("Pair", bound=Difference)


@dataclass(frozen=True, slots=True)
class PairDifference(Difference):
    """A difference by one metric on the documents of a corpus, and how large it is among these."""

    metric: str
    effect: Effect

    @property
    def reversed(self) -> PairDifference:
        """The difference, seen from the second system."""
        return self._reverse(effect=-self.effect)


@dataclass(frozen=True, slots=True)
class CorporaDifference(Difference):
    """The average of one system less that of another, over the corpora that both have.

    `p` is that of the hierarchical bootstrap. `better` says on how many corpora the first is better
    than the second, and `worse` on how many it is worse.
    """

    better: Replication
    worse: Replication

    @property
    def reversed(self) -> CorporaDifference:
        """The difference, seen from the second system."""
        return self._reverse(better=self.worse, worse=self.better)


@dataclass(frozen=True, slots=True)
class CorpusDifference:
    """One corpus: first − second, and how likely so much is by chance.

    `p_better` and `p_worse` are one-sided, `adjusted_p` is two-sided and corrected for the pairs of
    systems. Where systems have several seeds, documents have the mean of the counts of their runs.
    """

    difference: float
    p_better: float
    p_worse: float
    adjusted_p: float

    @property
    def reversed(self) -> CorpusDifference:
        """The difference, seen from the second system."""
        return CorpusDifference(-self.difference, self.p_worse, self.p_better, self.adjusted_p)


Tests = Mapping[tuple[str, str], CorpusDifference]  # by pair of systems


def conclude(
    make: Callable[..., Pair],
    names: Sequence[tuple[str, str]],
    observed: Sequence[float] | Numbers,
    samples: Sequence[Numbers],
    p_values: Sequence[float] | Numbers,
    evidence: Sequence[tuple[Any, ...]],
    options: TestingOptions,
) -> tuple[Pair, ...]:
    """The difference of each pair of systems, with the interval of its samples.

    P-values are corrected for the number of pairs. `evidence` is what else `make` takes.
    """
    adjusted = adjust(p_values, options.correction)
    columns = zip(names, observed, samples, p_values, adjusted, evidence, strict=True)
    return tuple(
        make(
            *pair,
            float(difference),
            middle(drawn, options.level),
            float(p),
            float(corrected),
            bool(corrected <= options.alpha),
            *further,
        )
        for pair, difference, drawn, p, corrected, further in columns
    )


def rank_systems(
    scores: Mapping[str, float], is_better: Callable[[str, str], bool]
) -> dict[str, int]:
    """Ranks 1, 2, 2, 4 …: systems without a significant difference share one.

    Going down the scores, a system joins the group above it unless one of the group is
    significantly better (`is_better(first, second)`); then a new group begins, and its rank is one
    more than the number of systems above it. Systems with equal scores go together. This gives
    Table 5 of Moosavi & Strube (2016). No two systems of the same rank differ significantly. The
    reverse cannot be had: where a is not better than b, nor b than c, but a is better than c, some
    two of different rank do not differ.

    >>> scores = {"chen": 46.24, "xu": 46.83, "chunyuang": 45.84, "shou": 43.97}
    >>> rank_systems(scores, lambda first, second: scores[first] - scores[second] > 0.5)
    {'xu': 1, 'chen': 2, 'chunyuang': 2, 'shou': 4}
    """
    ranks: dict[str, int] = {}
    group: list[str] = []
    rank = 1
    order = sorted(scores, key=lambda name: -scores[name])
    for _, equals in groupby(order, key=scores.__getitem__):
        systems = list(equals)
        if any(is_better(member, system) for member in group for system in systems):
            group = []
            rank = len(ranks) + 1
        group += systems
        ranks |= dict.fromkeys(systems, rank)
    return ranks


@dataclass(frozen=True, eq=False)
class Standing(Generic[Pair]):
    """Systems by one metric, on the documents of a corpus or over the corpora of a group.

    `group` is `EVERYTHING` for all corpora, and there are no `corpora` where documents of a single
    one were compared. Over corpora, `scores` and `intervals` are those of the average; a system
    without any is not there, and `pairs` are those of systems that share a corpus.
    """

    metric: str
    group: str
    corpora: tuple[str, ...]
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    pairs: tuple[Pair, ...]

    @cached_property
    def by_names(self) -> dict[tuple[str, str], Pair]:
        """Every pair in both orders."""
        pairs = (side for pair in self.pairs for side in (pair, pair.reversed))
        return {(pair.first, pair.second): pair for pair in pairs}

    def is_better(self, first: str, second: str) -> bool:
        """Whether the score of `first` is significantly higher; not if they were not compared."""
        pair = self.by_names.get((first, second))
        return pair is not None and pair.significant and pair.difference > 0

    def better_than(self, system: str) -> tuple[str, ...]:
        """The systems that one is significantly better than."""
        return tuple(name for name in self.scores if self.is_better(system, name))

    @property
    def order(self) -> list[str]:
        """The systems, best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name])

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Ranks, best first, with ties where there is no significant difference.

        Over corpora, a system that scores 0 everywhere, say because all its files are broken, ranks
        below all others, even if there are too few documents for anything to be significant.
        """

        def is_above(first: str, second: str) -> bool:
            has_more = self.scores[first] > 0 == self.scores[second]
            return self.is_better(first, second) or (bool(self.corpora) and has_more)

        return rank_systems(self.scores, is_above)

    def sort(self, order: Sequence[str], *, turn: bool) -> Standing[Pair]:
        """The standing with all systems in this order; `turn` applies it within pairs too."""
        place = {name: number for number, name in enumerate(order)}
        pairs = [
            pair.reversed if turn and place[pair.first] > place[pair.second] else pair
            for pair in self.pairs
        ]
        pairs.sort(key=lambda pair: (place[pair.first], place[pair.second]))
        return replace(
            self,
            scores={name: self.scores[name] for name in order},
            intervals={name: self.intervals[name] for name in order},
            pairs=tuple(pairs),
        )


class Standings(Tabular, Generic[Pair]):
    """Systems by metrics, over documents or corpora: a standing for each metric and group."""

    standings: tuple[Standing[Pair], ...]
    options: TestingOptions

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics by which systems were compared."""
        return tuple(dict.fromkeys(standing.metric for standing in self.standings))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of corpora, all together first."""
        return tuple(dict.fromkeys(standing.group for standing in self.standings))

    def standing(self, metric: str, group: str = EVERYTHING) -> Standing[Pair]:
        """The standing by a metric in a group."""
        for standing in self.standings:
            if (standing.metric, standing.group) == (metric, group):
                return standing
        if metric in self.metrics:
            groups = ", ".join(filter(None, self.groups)) or "none"
            raise UsageError(f"there is no group {group!r} here: there are {groups}")
        metrics = ", ".join(self.metrics)
        raise UsageError(f"systems were not compared by {metric!r}: there are {metrics}")

    def ranks(self, metric: str, group: str = EVERYTHING) -> dict[str, int]:
        """Ranks by a metric, best first, with ties where there is no significant difference."""
        return self.standing(metric, group).ranks

    @property
    def signature(self) -> str:
        """How the differences were tested, to be quoted with them."""
        return self.options.signature


@dataclass(frozen=True, eq=False, repr=False)
class CorporaComparison(Standings[CorporaDifference]):
    """Systems over corpora: a standing for each metric and group, and the tests on each corpus.

    `tests` are by metric, corpus, and pair of systems in the order of `systems`.
    """

    systems: tuple[str, ...]
    corpora: tuple[str, ...]
    standings: tuple[Standing[CorporaDifference], ...]
    tests: Mapping[str, Mapping[str, Tests]]
    options: CorporaOptions = field(default_factory=CorporaOptions)
    notices: tuple[Notice, ...] = ()

    def difference(
        self, metric: str, first: str, second: str, corpus: str
    ) -> CorpusDifference | None:
        """How `first` differs from `second` on a corpus; None where it was not tested."""
        tests = self.tests.get(metric, {}).get(corpus, {})
        if (first, second) in tests:
            return tests[first, second]
        return tests[second, first].reversed if (second, first) in tests else None

    def better_than(
        self, metric: str, system: str, corpus: str | None = None, group: str = EVERYTHING
    ) -> tuple[str, ...]:
        """The systems that one is significantly better than, on average or on a corpus."""
        if corpus is None:
            return self.standing(metric, group).better_than(system)
        tested = ((name, self.difference(metric, system, name, corpus)) for name in self.systems)
        return tuple(
            name
            for name, test in tested
            if test and test.difference > 0 and test.adjusted_p <= self.options.alpha
        )

    def rows(self) -> list[Row]:
        """One row for each metric, group and pair of systems."""
        return [
            {
                "metric": standing.metric,
                "group": standing.group,
                **pair.as_row(),
                "corpora": pair.better.tested,
                "better_on": pair.better.count,
                "better_corpora": list(pair.better.corpora),
                "worse_on": pair.worse.count,
                "worse_corpora": list(pair.worse.corpora),
                "signature": self.signature,
            }
            for standing in self.standings
            for pair in standing.pairs
        ]

    def as_dict(self) -> Row:
        """All of it, for JSON; `from_dict` takes it back."""
        return {
            "systems": list(self.systems),
            "corpora": list(self.corpora),
            "options": asdict(self.options),
            "standings": [asdict(standing) for standing in self.standings],
            "tests": {
                metric: {
                    corpus: [[*pair, *astuple(test)] for pair, test in tests.items()]
                    for corpus, tests in by_corpus.items()
                }
                for metric, by_corpus in self.tests.items()
            },
            "notices": [asdict(notice) for notice in self.notices],
        }

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> CorporaComparison:
        """What `as_dict` gave, also after JSON; KeyError, TypeError or ValueError if it is not."""
        options = {**record["options"], "resample": tuple(record["options"]["resample"])}
        comparison = CorporaComparison(
            tuple(record["systems"]),
            tuple(record["corpora"]),
            tuple(map(_read_standing, record["standings"])),
            {
                metric: {
                    corpus: {
                        (first, second): CorpusDifference(*numbers)
                        for first, second, *numbers in tests
                    }
                    for corpus, tests in by_corpus.items()
                }
                for metric, by_corpus in record["tests"].items()
            },
            CorporaOptions(**options),
            tuple(map(notice_of_record, record["notices"])),
        )
        comparison._check()
        return comparison

    def _check(self) -> None:
        """A ValueError where something is of no known system or corpus, or is no number."""
        for standing in self.standings:
            _check_standing(standing)
            _check_names(standing.scores, self.systems)
            _check_names(standing.corpora, self.corpora)
        for by_corpus in self.tests.values():
            _check_names(by_corpus, self.corpora)
            for tests in by_corpus.values():
                _check_names((name for pair in tests for name in pair), self.systems)
                _check_numbers(number for test in tests.values() for number in astuple(test))

    def __repr__(self) -> str:
        size = f"{plural(len(self.systems), 'system')} on {len(self.corpora)} corpora"
        return f"<CorporaComparison of {size}, by {', '.join(self.metrics)}>"


def _check_standing(standing: Standing[CorporaDifference]) -> None:
    if not isinstance(standing.metric, str) or not isinstance(standing.group, str):
        raise ValueError("a metric and a group are named by text")
    _check_names(standing.intervals, standing.scores)
    ends = (end for interval in standing.intervals.values() for end in interval)
    _check_numbers((*standing.scores.values(), *ends))
    for pair in standing.pairs:
        _check_names((pair.first, pair.second), standing.intervals)
        _check_numbers((pair.difference, *pair.interval, pair.p, pair.adjusted_p))
        for side in (pair.better, pair.worse):
            _check_names(side.corpora, standing.corpora)
            _check_numbers((side.count, *side.p_values))


def _check_names(names: Iterable[object], expected: Collection[str]) -> None:
    for name in names:
        if not isinstance(name, str) or name not in expected:
            raise ValueError(f"{name!r:.40} was not compared")


def _check_numbers(numbers: Iterable[object]) -> None:
    for number in numbers:
        if not isinstance(number, int | float) or not math.isfinite(number):
            raise ValueError(f"{number!r:.40} is not a number")


def _read_standing(record: Mapping[str, Any]) -> Standing[CorporaDifference]:
    """The standing of a record, as `as_dict` has it."""

    def read_pair(pair: Mapping[str, Any]) -> CorporaDifference:
        sides = {
            name: Replication(side["count"], tuple(side["corpora"]), tuple(side["p_values"]))
            for name, side in (("better", pair["better"]), ("worse", pair["worse"]))
        }
        return CorporaDifference(**{**pair, "interval": Interval(*pair["interval"]), **sides})

    fields = {
        "corpora": tuple(record["corpora"]),
        "intervals": {name: Interval(*ends) for name, ends in record["intervals"].items()},
        "pairs": tuple(map(read_pair, record["pairs"])),
    }
    return Standing(**{**record, **fields})
