"""Systems compared over several corpora: averages, where one is better, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from corefeval.diagnostics import Notice, UsageError, list_names, plural
from corefeval.results import Result
from corefeval.results.scores import LEVELS, Absent, Level
from corefeval.stats.bootstraps import FEW_DOCUMENTS, Averages, CorpusCounts, Resampling, middle
from corefeval.stats.resampling import Stack, check_alike, stack, watch_parts
from corefeval.stats.significance import (
    Combination,
    CorporaOptions,
    Correction,
    Replication,
    adjust,
    bootstrap_p,
    least_swap_p,
    observe_differences,
    one_sided_p,
    replicate,
)
from corefeval.stats.standings import (
    EVERYTHING,
    CorporaComparison,
    CorporaDifference,
    CorpusDifference,
    Standing,
    Tests,
    conclude,
)

Cells = Mapping[str, Mapping[str, Sequence[Result | None]]]


def compare_corpora(
    cells: Cells,
    *,
    metrics: Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    rate: str = "f1",
    trials: int = 10_000,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    level: float = 0.95,
    combination: Combination = "bonferroni",
    resample: Iterable[Level] = LEVELS,
    absent: Absent = "zero",
) -> CorporaComparison:
    """Compare systems over several corpora: `cells[corpus][system]` are results, one for each seed.

    A result that is not there is None. It counts 0 in averages where `absent` is `zero`; otherwise
    a system's average is over the corpora that it has, and two systems are compared on those that
    both have. `metrics` are by default those of any result that have the `rate`; a metric is
    averaged over the corpora that define it.

    On each corpus every pair of systems is tested by paired randomization; from the p-values
    follows on how many corpora one is better (`replicate`). Averages, weighted by `weights`, have
    intervals of `level` and are tested by a bootstrap that draws what `resample` says: corpora,
    documents of each, and seeds. P-values are corrected for the number of pairs. `groups` are names
    of corpora for which there are averages of their own.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> full, half = (
    ...     corefeval.score(key, dict.fromkeys(key, [list(mentions)]), metrics="muc")
    ...     for mentions in ("abc", "ab")
    ... )
    >>> cells = {corpus: {"full": [full], "half": [half]} for corpus in ("news", "novels")}
    >>> compare_corpora(cells, trials=999).ranks("muc")
    {'full': 1, 'half': 2}
    """
    options = CorporaOptions(
        rate, trials, seed, correction, alpha, level, combination, tuple(resample), absent
    )
    suite = _Suite(cells, _check_cells(cells), weights or {}, options)
    return suite.compare(_choose_metrics(cells, metrics, rate), groups or {})


def _check_cells(cells: Cells) -> tuple[str, ...]:
    """The names of all systems; a UsageError where they cannot be compared on a corpus."""
    systems = tuple(dict.fromkeys(system for row in cells.values() for system in row))
    if not cells or len(systems) < 2:
        number = plural(len(systems), "system")
        raise UsageError(f"a comparison over corpora needs a corpus and two systems, not {number}")
    for corpus, row in cells.items():
        runs = ((system, run) for system, several in row.items() for run in several)
        results = {f"{system} on {corpus}": run for system, run in runs if run is not None}
        if results:
            check_alike(results)
    return systems


def _choose_metrics(cells: Cells, metrics: Iterable[str] | None, rate: str) -> list[str]:
    """The metrics that are named, or all that have the rate; a UsageError for others."""
    runs = (run for row in cells.values() for several in row.values() for run in several)
    scores = [run.scores for run in runs if run is not None]
    scored = dict.fromkeys(
        metric for by_metric in scores for metric, score in by_metric.items() if rate in score.rates
    )
    chosen = list(scored if metrics is None else metrics)
    if not scores or not chosen:
        raise UsageError("there is no result to compare")
    for metric in chosen:
        if metric not in scored:
            names = ", ".join(scored)
            raise UsageError(f"{metric!r} was not scored with {rate}: there are {names}")
    return chosen


@dataclass(frozen=True, eq=False)
class _Suite:
    """Results by corpus and system, to be counted, tested and averaged by one metric at a time."""

    cells: Cells
    systems: tuple[str, ...]
    weights: Mapping[str, float]
    options: CorporaOptions

    @cached_property
    def plan(self) -> Resampling:
        """How averages are resampled."""
        rows = self.cells.values()
        n_runs = [max(len(row.get(system, ())) for row in rows) for system in self.systems]
        return Resampling(n_runs, self.options)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many documents each corpus has, where there is any result."""
        return {
            corpus: len(run.document_ids)
            for corpus, row in self.cells.items()
            for several in row.values()
            for run in several
            if run is not None
        }

    def compare(
        self, metrics: Sequence[str], groups: Mapping[str, Sequence[str]]
    ) -> CorporaComparison:
        """The tests on each corpus, and the standing by each metric in each group."""
        trials, cells = self.options.trials, self.cells
        scopes = {EVERYTHING: tuple(cells), **groups}
        counts = {metric: self.count(metric) for metric in metrics}
        tests: dict[str, dict[str, Tests]] = {metric: {} for metric in metrics}
        places = [
            (metric, corpus)
            for metric in metrics
            for corpus, counted in counts[metric].items()
            if counted.stack
        ]
        for metric, corpus in watch_parts(places, trials):
            tests[metric][corpus] = self.test(counts[metric][corpus])
        standings = [
            standing
            for metric in watch_parts(metrics, trials)
            for standing in self.stand(metric, counts[metric], tests[metric], scopes)
        ]
        notices = (
            *self._warn_of_few(),
            *self._warn_of_small(tests),
            *self._warn_of_hopeless(max(len(standing.pairs) for standing in standings)),
        )
        corpora = tuple(cells)
        return CorporaComparison(
            self.systems, corpora, tuple(standings), tests, self.options, notices
        )

    def _warn_of_few(self) -> list[Notice]:
        number = len(self.cells)
        if number >= FEW_DOCUMENTS or "corpora" not in self.options.resample:
            return []
        message = f"intervals from {plural(number, 'corpus')} say little about other corpora"
        return [Notice("few-corpora", message, number)]

    def _warn_of_small(self, tests: Mapping[str, Mapping[str, Tests]]) -> list[Notice]:
        """A notice on corpora whose documents can be swapped in too few ways for the pairs."""
        options, small = self.options, []
        for corpus, size in self.sizes.items():
            pairs = max(len(by_corpus.get(corpus, ())) for by_corpus in tests.values())
            if min(pairs, options.count_tests(pairs)) * least_swap_p(size) > options.alpha:
                small.append(corpus)
        if not small:
            return []
        message = f"on {plural(len(small), 'corpus')} ({list_names(small)}) no difference can be "
        message += f"significant at {options.alpha:g}: there are too few documents"
        return [Notice("few-documents", message, len(small), tuple(small))]

    def _warn_of_hopeless(self, pairs: int) -> list[Notice]:
        """A notice where no average could be significantly higher, so that all share a rank."""
        options, tests = self.options, self.options.count_tests(pairs)
        needed = math.ceil(2 * tests / options.alpha)
        units = self.plan.units(self.sizes.values())
        numbers = combinations(range(len(self.systems)), 2)
        least = min(self.plan.least_p(units, *pair) for pair in numbers)
        message = f"with {plural(tests, 'pair')} of systems no difference of averages can be "
        message += f"significant at {options.alpha:g}: "
        if least * tests > options.alpha:
            noun = "document" if "documents" in options.resample else "corpus"
            seeds_alone = options.resample == ("seeds",)
            shortage = "so few seeds" if seeds_alone else plural(units, noun)
            message += f"with {shortage}, no p-value is below {least:.2g}"
        elif options.trials + 1 < needed and pairs:
            message += f"that takes at least {needed:,} trials"
        else:
            return []
        return [Notice("hopeless-test", message)]

    def count(self, metric: str) -> dict[str, CorpusCounts]:
        """The counts of a metric on each corpus where some result has the metric.

        A corpus without any result is included if missing results count 0.
        """
        by_corpus: dict[str, CorpusCounts] = {}
        for corpus, row in self.cells.items():
            runs = [
                (system, number, run)
                for system, name in enumerate(self.systems)
                for number, run in enumerate(row.get(name, ()))
                if run is not None
            ]
            defined = [numbered for numbered in runs if metric in numbered[2].tables]
            if (runs and not defined) or (not runs and self.options.absent != "zero"):
                continue
            counts = stack([run for _, _, run in defined], [metric]) if defined else None
            owners = np.array([system for system, _, _ in defined], dtype=np.intp)
            numbers = np.array([number for _, number, _ in defined], dtype=np.intp)
            weight = self.weights.get(corpus, 1.0)
            by_corpus[corpus] = CorpusCounts(counts, owners, numbers, weight)
        return by_corpus

    def test(self, corpus: CorpusCounts) -> Tests:
        """Every pair of systems that both have a result on a corpus.

        Where a run without one counts 0, a system that lacks a run is not tested: its score has
        that 0 in it, which comes from no document.
        """
        options, counts = self.options, corpus.counts
        present, times = np.unique(corpus.systems, return_counts=True)
        if options.absent == "zero":
            present = present[times == np.array(self.plan.n_runs)[present]]
        if present.size < 2:
            return {}
        # The mean counts of a system's runs; all documents change sides with all their runs.
        means = [counts.values[:, corpus.systems == system].mean(axis=1) for system in present]
        pooled = Stack.of(counts.columns, counts.metrics, np.stack(means, axis=1))
        first, second = np.array(list(combinations(range(present.size), 2))).T
        pairs = first, second
        better, worse = one_sided_p(pooled, pairs, options.rate, options.trials, options.seed)
        two_sided = np.minimum(1.0, 2 * np.minimum(better[0], worse[0]))
        adjusted = adjust(two_sided, options.correction)
        gaps = observe_differences(pooled, pairs, options.rate)[0]
        names = [self.systems[system] for system in present]
        columns = zip(*pairs, gaps, better[0], worse[0], adjusted, strict=True)
        return {
            (names[a], names[b]): CorpusDifference(*map(float, numbers))
            for a, b, *numbers in columns
        }

    def stand(
        self,
        metric: str,
        counts: Mapping[str, CorpusCounts],
        tests: Mapping[str, Tests],
        groups: Mapping[str, Sequence[str]],
    ) -> list[Standing[CorporaDifference]]:
        """The standing in each group of corpora, as far as it has any that define the metric."""
        standings = []
        for group, members in groups.items():
            corpora = [name for name in counts if name in set(members)]
            if corpora:
                averages = self._average([counts[name] for name in corpora])
                in_group = {name: tests[name] for name in corpora if name in tests}
                standings.append(self._stand(metric, group, corpora, averages, in_group))
        return standings

    def _average(self, corpora: Sequence[CorpusCounts]) -> dict[tuple[int, int], Averages | None]:
        """The averages that each pair of systems (and each with itself) is compared by.

        They are over the corpora that both have. Where a missing result counts 0, they are over
        all corpora, for pairs that both have a result on any of them.
        """
        size, is_zero = len(self.systems), self.options.absent == "zero"
        has = np.array([np.isin(np.arange(size), corpus.systems) for corpus in corpora])
        has |= has.any(axis=0) & is_zero
        shared = {
            (a, b): has[:, a] & has[:, b] | (is_zero and a == b)
            for a in range(size)
            for b in range(a, size)
        }
        scopes = {scope.tobytes(): scope for scope in shared.values() if scope.any()}
        averages = dict(zip(scopes, self.plan.average(corpora, [*scopes.values()]), strict=True))
        return {pair: averages.get(scope.tobytes()) for pair, scope in shared.items()}

    def _stand(
        self,
        metric: str,
        group: str,
        corpora: Sequence[str],
        of_pair: Mapping[tuple[int, int], Averages | None],
        tests: Mapping[str, Tests],
    ) -> Standing[CorporaDifference]:
        """The standing in a group, from averages of pairs of systems and tests on corpora."""
        options, systems = self.options, self.systems
        averages = {  # without those that are no number, as CEAFe under some protocols
            pair: average
            for pair, average in of_pair.items()
            if average is not None and not np.isnan(average.observed[list(pair)]).any()
        }
        alone = {a: average for (a, b), average in averages.items() if a == b}
        pairs = {pair: average for pair, average in averages.items() if pair[0] != pair[1]}
        names = [(systems[a], systems[b]) for a, b in pairs]
        gaps = [average.difference(*pair) for pair, average in pairs.items()]
        p_values = [
            float(bootstrap_p(drawn, np.asarray(gap), self.plan.least_p(average.units, *pair)))
            for (pair, average), (gap, drawn) in zip(pairs.items(), gaps, strict=True)
        ]
        return Standing(
            metric,
            group,
            tuple(corpora),
            {systems[s]: float(average.observed[s]) for s, average in alone.items()},
            {systems[s]: middle(average.drawn(s), options.level) for s, average in alone.items()},
            conclude(
                CorporaDifference,
                names,
                [gap for gap, _ in gaps],
                [drawn for _, drawn in gaps],
                p_values,
                [_replicate(pair, tests, options) for pair in names],
                options,
            ),
        )


def _replicate(
    pair: tuple[str, str],
    tests: Mapping[str, Tests],
    options: CorporaOptions,
) -> tuple[Replication, Replication]:
    """On how many corpora the first is better, and on how many the second."""
    tested = {corpus: by_pair[pair] for corpus, by_pair in tests.items() if pair in by_pair}
    find = partial(replicate, alpha=options.alpha, combination=options.combination)
    return (
        find({corpus: test.p_better for corpus, test in tested.items()}),
        find({corpus: test.p_worse for corpus, test in tested.items()}),
    )
