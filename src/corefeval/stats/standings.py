"""Standings: systems over several corpora, ranked, and all that can be asked about it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

from corefeval.checks import check_choice, check_count, check_probability, check_seed
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.results.saved import notice_of_record
from corefeval.stats.hierarchy import Level
from corefeval.stats.intervals import Interval
from corefeval.stats.ranking import ranks
from corefeval.stats.replicability import Combination, Replication
from corefeval.stats.significance import Correction
from corefeval.tabular import Row, Tabular

Absent = Literal["zero", "leave-out"]
LEVELS: tuple[Level, ...] = get_args(Level)
EVERYTHING = ""  # the group of all corpora

# By pair of systems
Tests = Mapping[tuple[str, str], "CorpusDifference"]


@dataclass(frozen=True, slots=True)
class CorporaOptions:
    """How systems are compared over corpora; see `compare_corpora`."""

    rate: str = "f1"
    trials: int = 10_000
    seed: int = 0
    correction: Correction = "holm"
    alpha: float = 0.05
    level: float = 0.95
    combination: Combination = "bonferroni"
    resample: tuple[Level, ...] = LEVELS
    absent: Absent = "zero"

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, get_args(Correction))
        check_choice("the combination", self.combination, get_args(Combination))
        check_choice("absent", self.absent, get_args(Absent))
        if not self.resample:
            raise UsageError(f"resample needs at least one of {', '.join(LEVELS)}")
        for one in self.resample:
            check_choice("resample", one, LEVELS)
        check_count("the number of trials", self.trials)
        check_seed(self.seed)
        check_probability("alpha", self.alpha)
        check_probability("the level of an interval", self.level)

    @property
    def signature(self) -> str:
        """What the numbers depend on, to be quoted with them."""
        fixed = {"rate": self.rate, "resample": "+".join(self.resample)}
        names = ("trials", "seed", "correction", "alpha", "level", "combination", "absent")
        return "|".join(
            f"{n}:{v}" for n, v in (fixed | {n: getattr(self, n) for n in names}).items()
        )


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
    def numbers(self) -> tuple[float, float, float, float]:
        """All of it, in the order of the fields."""
        return self.difference, self.p_better, self.p_worse, self.adjusted_p

    @property
    def reversed(self) -> CorpusDifference:
        """The same, seen from the second."""
        return CorpusDifference(-self.difference, self.p_worse, self.p_better, self.adjusted_p)


@dataclass(frozen=True, slots=True)
class CorporaDifference:
    """The average of one system less that of another, over the corpora that both have.

    `p` is that of the hierarchical bootstrap. `better` says on how many corpora the first is better
    than the second, and `worse` on how many it is worse.
    """

    first: str
    second: str
    difference: float
    interval: Interval
    p: float
    adjusted_p: float
    significant: bool
    better: Replication
    worse: Replication

    @property
    def reversed(self) -> CorporaDifference:
        """The same, seen from the second."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=-self.interval,
            better=self.worse,
            worse=self.better,
        )


@dataclass(frozen=True, eq=False)
class Standing:
    """Systems by one metric over the corpora of a group (`EVERYTHING`: all).

    `scores` and `intervals` are those of the average over corpora; a system without any is not
    there, and `pairs` are those of systems that share a corpus.
    """

    metric: str
    group: str
    corpora: tuple[str, ...]
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    pairs: tuple[CorporaDifference, ...]

    def check(self, systems: Sequence[str], corpora: Sequence[str]) -> None:
        """A ValueError where something is of no known system or corpus, or is no number."""
        _check_names([*self.intervals], self.scores)
        _check_names([*self.scores], systems)
        _check_names(self.corpora, corpora)
        _check_numbers(
            (*self.scores.values(), *(end for i in self.intervals.values() for end in i))
        )
        for pair in self.pairs:
            _check_names((pair.first, pair.second), self.intervals)
            _check_numbers((pair.difference, *pair.interval, pair.p, pair.adjusted_p))
            for side in (pair.better, pair.worse):
                _check_names(side.corpora, self.corpora)
                _check_numbers((side.count, *side.p_values))

    @cached_property
    def by_names(self) -> dict[tuple[str, str], CorporaDifference]:
        """Every pair in both orders."""
        both = (one for pair in self.pairs for one in (pair, pair.reversed))
        return {(one.first, one.second): one for one in both}

    def is_better(self, first: str, second: str) -> bool:
        """Whether the average of `first` is significantly higher."""
        pair = self.by_names.get((first, second))
        return pair is not None and pair.significant and pair.difference > 0

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Ranks, best first, with ties where there is no significant difference.

        Who has nothing on any corpus, as where all files are broken, is below all others: few
        documents, on which nothing can be significant, should not put such a system first.
        """

        def is_above(one: str, other: str) -> bool:
            return self.is_better(one, other) or self.scores[one] > 0 == self.scores[other]

        return ranks(self.scores, is_above)


@dataclass(frozen=True, eq=False, repr=False)
class CorporaComparison(Tabular):
    """Systems over corpora: a standing for each metric and group, and the tests on each corpus.

    `tests` are by metric, corpus, and pair of systems in the order of `systems`.
    """

    systems: tuple[str, ...]
    corpora: tuple[str, ...]
    standings: tuple[Standing, ...]
    tests: Mapping[str, Mapping[str, Tests]]
    options: CorporaOptions = field(default_factory=CorporaOptions)
    notices: tuple[Notice, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics by which systems were compared."""
        return tuple(dict.fromkeys(one.metric for one in self.standings))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of corpora, all together first."""
        return tuple(dict.fromkeys(one.group for one in self.standings))

    def standing(self, metric: str, group: str = EVERYTHING) -> Standing:
        """The standing by a metric in a group."""
        for one in self.standings:
            if (one.metric, one.group) == (metric, group):
                return one
        if metric in self.metrics:
            known = ", ".join(filter(None, self.groups)) or "none"
            raise UsageError(f"there is no group {group!r} here: there are {known}")
        known = ", ".join(self.metrics)
        raise UsageError(f"systems were not compared by {metric!r}: there are {known}")

    def ranks(self, metric: str, group: str = EVERYTHING) -> dict[str, int]:
        """Ranks by a metric, best first, with ties where there is no significant difference."""
        return self.standing(metric, group).ranks

    def difference(
        self, metric: str, first: str, second: str, corpus: str
    ) -> CorpusDifference | None:
        """How `first` differs from `second` on a corpus; None where it was not tested."""
        tests = self.tests.get(metric, {}).get(corpus, {})
        if (first, second) in tests:
            return tests[first, second]
        return tests[second, first].reversed if (second, first) in tests else None

    def better_than(self, metric: str, system: str, corpus: str | None = None) -> tuple[str, ...]:
        """The systems than which one is significantly better on average, or on a corpus."""
        others = [other for other in self.systems if other != system]
        if corpus is None:
            standing = self.standing(metric)
            return tuple(other for other in others if standing.is_better(system, other))
        found = ((other, self.difference(metric, system, other, corpus)) for other in others)
        alpha = self.options.alpha
        return tuple(
            other for other, d in found if d and d.difference > 0 and d.adjusted_p <= alpha
        )

    @property
    def signature(self) -> str:
        """How the differences were tested, to be quoted with them."""
        return self.options.signature

    def rows(self) -> list[Row]:
        """One row for each metric, group and pair of systems."""
        return [
            {
                "metric": standing.metric,
                "group": standing.group,
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference,
                "low": pair.interval.low,
                "high": pair.interval.high,
                "p": pair.p,
                "adjusted_p": pair.adjusted_p,
                "significant": pair.significant,
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
            "standings": [asdict(one) for one in self.standings],
            "tests": {
                metric: {
                    corpus: [[*pair, *one.numbers] for pair, one in tests.items()]
                    for corpus, tests in by_corpus.items()
                }
                for metric, by_corpus in self.tests.items()
            },
            "notices": [asdict(one) for one in self.notices],
        }

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> CorporaComparison:
        """What `as_dict` gave, also after JSON; KeyError, TypeError or ValueError if it is not."""
        options = {**record["options"], "resample": tuple(record["options"]["resample"])}
        found = CorporaComparison(
            tuple(record["systems"]),
            tuple(record["corpora"]),
            tuple(map(_standing_of, record["standings"])),
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
        for one in found.standings:
            one.check(found.systems, found.corpora)
        for by_corpus in found.tests.values():
            for corpus, tests in by_corpus.items():
                names = (name for pair in tests for name in pair)
                _check_names([*names], found.systems)
                _check_names([corpus], found.corpora)
                _check_numbers(number for one in tests.values() for number in one.numbers)
        return found

    def __repr__(self) -> str:
        size = f"{plural(len(self.systems), 'system')} on {len(self.corpora)} corpora"
        return f"<CorporaComparison of {size}, by {', '.join(self.metrics)}>"


def _check_names(names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"{name!r:.40} was not compared")


def _check_numbers(numbers: Iterable[object]) -> None:
    for number in numbers:
        if not isinstance(number, int | float) or not math.isfinite(number):
            raise ValueError(f"{number!r:.40} is not a number")


def _standing_of(record: Mapping[str, Any]) -> Standing:
    def replication(one: Mapping[str, Any]) -> Replication:
        return Replication(one["count"], tuple(one["corpora"]), tuple(one["p_values"]))

    pairs = tuple(
        CorporaDifference(
            **{
                **one,
                "interval": Interval(*one["interval"]),
                "better": replication(one["better"]),
                "worse": replication(one["worse"]),
            }
        )
        for one in record["pairs"]
    )
    intervals = {name: Interval(*ends) for name, ends in record["intervals"].items()}
    corpora = tuple(record["corpora"])
    changes = {"corpora": corpora, "intervals": intervals, "pairs": pairs}
    return Standing(**{**record, **changes})
