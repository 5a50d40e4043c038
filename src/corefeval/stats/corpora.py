"""Systems compared over several corpora: averages, where one is better, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from corefeval.diagnostics import Notice, UsageError, list_names, plural
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.hierarchy import Averages, CorpusCounts, Level, Resampling
from corefeval.stats.intervals import FEW_DOCUMENTS, Interval, middle
from corefeval.stats.replicability import Combination, Replication, replicate
from corefeval.stats.resampling import Stack, check_alike, stack, watch_parts
from corefeval.stats.significance import (
    Correction,
    adjust,
    bootstrap_p,
    least_swap_p,
    observe_differences,
    one_sided_p,
)
from corefeval.stats.standings import (
    EVERYTHING,
    LEVELS,
    Absent,
    CorporaComparison,
    CorporaDifference,
    CorporaOptions,
    CorpusDifference,
    Standing,
    Tests,
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

    A result that is not there is None. It counts 0 in averages where `absent` is `zero`, and a
    system without any result in a group is not tested there; where it is left out, a system's
    average is over the corpora that it has, and two systems are compared on those that both have.
    `metrics` are by default those of any result that have the `rate`; a metric is averaged over the
    corpora that define it.

    On each corpus every pair of systems is tested by paired randomization with `trials` trials, or
    all swaps where these are fewer. From the p-values follows on how many corpora one is better
    (`replicate`). Averages, weighted by `weights`, have intervals of `level` and are tested by a
    bootstrap that draws what `resample` says: corpora, documents of each, and seeds. P-values of
    averages and within each corpus are corrected for the number of pairs; ranks share ties.
    `groups` are names of corpora for which there are averages of their own.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> cells = {corpus: {
    ...     system: [corefeval.score(key, dict.fromkeys(key, [list(found)]), metrics="muc")]
    ...     for system, found in {"full": "abc", "half": "ab"}.items()
    ... } for corpus in ("news", "novels")}
    >>> found = compare_corpora(cells, trials=999)
    >>> found.ranks("muc"), found.standing("muc").pairs[0].better.corpora
    ({'full': 1, 'half': 2}, ('news', 'novels'))
    """
    options = CorporaOptions(
        rate, trials, seed, correction, alpha, level, combination, tuple(resample), absent
    )
    systems = tuple(dict.fromkeys(system for row in cells.values() for system in row))
    if not cells or len(systems) < 2:
        what = plural(len(systems), "system")
        raise UsageError(f"a comparison over corpora needs a corpus and two systems, not {what}")
    for corpus, row in cells.items():
        known = {f"{s} on {corpus}": r for s, runs in row.items() for r in runs if r is not None}
        if known:
            check_alike(known)
    suite = _Suite(cells, systems, weights or {}, options)
    wanted = _choose(cells, metrics, rate)
    scopes = {EVERYTHING: tuple(cells)}
    scopes |= {name: tuple(those) for name, those in (groups or {}).items()}
    counts = {metric: suite.count(metric) for metric in wanted}
    tests: dict[str, dict[str, Tests]] = {metric: {} for metric in wanted}
    places = [
        (metric, name) for metric in wanted for name, one in counts[metric].items() if one.stack
    ]
    for metric, name in watch_parts(places, trials):
        tests[metric][name] = suite.test(counts[metric][name])
    standings = [
        one
        for metric in watch_parts(wanted, trials)
        for one in suite.stand(metric, counts[metric], tests[metric], scopes)
    ]
    pairs = max(len(one.pairs) for one in standings)
    notices = (
        *_warn_of_few(len(cells), options),
        *_warn_of_small(suite.sizes, tests, options),
        *_warn_of_hopeless(suite, pairs),
    )
    return CorporaComparison(systems, tuple(cells), tuple(standings), tests, options, notices)


def _choose(cells: Cells, metrics: Iterable[str] | None, rate: str) -> list[str]:
    results = [r for row in cells.values() for runs in row.values() for r in runs if r is not None]
    if not results:
        raise UsageError("there is no result to compare")
    known = dict.fromkeys(
        name for one in results for name, score in one.scores.items() if rate in score.rates
    )
    wanted = list(known if metrics is None else metrics)
    for metric in wanted:
        if metric not in known:
            raise UsageError(f"{metric!r} was not scored with {rate}: there are {', '.join(known)}")
    if not wanted:
        raise UsageError("there is no result to compare")
    return wanted


def _warn_of_few(number: int, options: CorporaOptions) -> tuple[Notice, ...]:
    if number >= FEW_DOCUMENTS or "corpora" not in options.resample:
        return ()
    message = f"intervals from {plural(number, 'corpus')} say little about other "
    message += "corpora"
    return (Notice("few-corpora", message, number),)


def _warn_of_small(
    sizes: Mapping[str, int], tests: Mapping[str, Mapping[str, Tests]], options: CorporaOptions
) -> tuple[Notice, ...]:
    """A notice on corpora whose documents can be swapped in too few ways for the pairs tested."""
    small = []
    for corpus, size in sizes.items():
        pairs = max(len(by_corpus.get(corpus, ())) for by_corpus in tests.values())
        factor = min(pairs, 1) if options.correction == "none" else pairs
        if factor * least_swap_p(size) > options.alpha:
            small.append(corpus)
    if not small:
        return ()
    message = f"on {plural(len(small), 'corpus')} ({list_names(small)}) no difference can be "
    message += f"significant at {options.alpha:g}: there are too few documents"
    return (Notice("few-documents", message, len(small), tuple(small)),)


def _warn_of_hopeless(suite: _Suite, pairs: int) -> tuple[Notice, ...]:
    """A notice where no average could be significantly higher, so that all share a rank."""
    options = suite.options
    tests = 1 if options.correction == "none" else pairs
    needed = math.ceil(2 * tests / options.alpha)
    units = suite.plan.units(suite.sizes.values())
    numbers = combinations(range(len(suite.systems)), 2)
    least = min(suite.plan.least_p(units, *pair) for pair in numbers)
    message = f"with {plural(tests, 'pair')} of systems no difference of averages can be "
    message += f"significant at {options.alpha:g}: "
    if least * tests > options.alpha:
        noun = "document" if "documents" in options.resample else "corpus"
        seeds_alone = options.resample == ("seeds",)
        what = "so few seeds" if seeds_alone else plural(units, noun)
        message += f"with {what}, no p-value is below {least:.2g}"
    elif options.trials + 1 < needed and pairs:
        message += f"that takes at least {needed:,} trials"
    else:
        return ()
    return (Notice("hopeless-test", message),)


@dataclass(frozen=True, eq=False)
class _Suite:
    cells: Cells
    systems: tuple[str, ...]
    weights: Mapping[str, float]
    options: CorporaOptions

    @cached_property
    def plan(self) -> Resampling:
        """How averages are resampled."""
        options, rows = self.options, self.cells.values()
        n_runs = [max(len(row.get(system, ())) for row in rows) for system in self.systems]
        return Resampling(
            n_runs, options.rate, options.trials, options.seed, options.resample, options.absent
        )

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many documents each corpus has, where there is any result."""
        return {
            corpus: len(one.document_ids)
            for corpus, row in self.cells.items()
            for one in [next((r for runs in row.values() for r in runs if r is not None), None)]
            if one is not None
        }

    def count(self, metric: str) -> dict[str, CorpusCounts]:
        """The counts of a metric on each corpus that defines it, by any system's result.

        A corpus without any result is there if that counts 0.
        """
        found: dict[str, CorpusCounts] = {}
        for corpus, row in self.cells.items():
            runs = [
                (system, number, run)
                for system, name in enumerate(self.systems)
                for number, run in enumerate(row.get(name, ()))
                if run is not None
            ]
            those = [one for one in runs if metric in one[2].tables]
            if (runs and not those) or (not runs and self.options.absent != "zero"):
                continue
            counts = stack([run for _, _, run in those], [metric]) if those else None
            owners, numbers = (np.array([one[i] for one in those], dtype=np.intp) for i in (0, 1))
            found[corpus] = CorpusCounts(counts, owners, numbers, self.weights.get(corpus, 1.0))
        return found

    def test(self, one: CorpusCounts) -> Tests:
        """Every pair of systems that both have a result on a corpus.

        Where a run without one counts 0, a system that lacks a run is not tested: its score has
        that 0 in it, which no documents are known of.
        """
        options = self.options
        present, times = np.unique(one.systems, return_counts=True)
        if options.absent == "zero":
            present = present[times == np.array(self.plan.n_runs)[present]]
        if present.size < 2:
            return {}
        # The mean counts of a system's runs; all documents change sides with all their runs.
        means = [one.known.values[:, one.systems == system].mean(axis=1) for system in present]
        pooled = Stack.of(one.known.columns, one.known.metrics, np.stack(means, axis=1))
        pairs = np.array(list(combinations(range(present.size), 2))).T
        first, second = pairs[0], pairs[1]
        better, worse = one_sided_p(
            pooled, (first, second), options.rate, options.trials, options.seed
        )
        two_sided = np.minimum(1.0, 2 * np.minimum(better[0], worse[0]))
        adjusted = adjust(two_sided, options.correction)
        gaps = observe_differences(pooled, (first, second), options.rate)[0]
        names = [self.systems[system] for system in present]
        return {
            (names[a], names[b]): CorpusDifference(*map(float, numbers))
            for a, b, *numbers in zip(
                first, second, gaps, better[0], worse[0], adjusted, strict=True
            )
        }

    def stand(
        self,
        metric: str,
        counts: Mapping[str, CorpusCounts],
        tests: Mapping[str, Tests],
        groups: Mapping[str, Sequence[str]],
    ) -> list[Standing]:
        """The standing in each group of corpora, as far as it has any that define the metric."""
        standings = []
        for group, members in groups.items():
            names = [name for name in counts if name in set(members)]
            if names:
                corpora = [counts[name] for name in names]
                of_pair = self._average(corpora)
                own = {name: tests[name] for name in names if name in tests}
                standings.append(self._stand(metric, group, names, of_pair, own))
        return standings

    def _average(self, corpora: Sequence[CorpusCounts]) -> dict[tuple[int, int], Averages | None]:
        """The averages that each pair of systems (and each with itself) is compared by.

        They are over the corpora that both have. Where a missing result counts 0, they are over
        all corpora, for pairs that both have a result on any of them.
        """
        size, is_zero = len(self.systems), self.options.absent == "zero"
        has = np.array([np.isin(np.arange(size), one.systems) for one in corpora])
        has |= has.any(axis=0) & is_zero
        both = {
            (a, b): has[:, a] & has[:, b] | (is_zero and a == b)
            for a in range(size)
            for b in range(a, size)
        }
        scopes = {scope.tobytes(): scope for scope in both.values() if scope.any()}
        found = self.plan.average(corpora, list(scopes.values()))
        averages = dict(zip(scopes, found, strict=True))
        return {pair: averages.get(scope.tobytes()) for pair, scope in both.items()}

    def _stand(
        self,
        metric: str,
        group: str,
        corpora: Sequence[str],
        of_pair: Mapping[tuple[int, int], Averages | None],
        tests: Mapping[str, Tests],
    ) -> Standing:
        options, systems = self.options, self.systems
        known = {  # a protocol may say that a metric is no number
            pair: found
            for pair, found in of_pair.items()
            if found is not None and not np.isnan(found.observed[list(pair)]).any()
        }
        own = {first: found for (first, second), found in known.items() if first == second}
        pairs = [(pair, found) for pair, found in known.items() if pair[0] != pair[1]]
        compared = [self._compare(pair, found) for pair, found in pairs]
        adjusted = adjust([p for _, _, p in compared], options.correction)
        return Standing(
            metric,
            group,
            tuple(corpora),
            {systems[s]: float(found.observed[s]) for s, found in own.items()},
            {
                systems[s]: _middle(found.samples[s], options.level, found.observed[s])
                for s, found in own.items()
            },
            tuple(
                CorporaDifference(
                    *(names := (systems[pair[0]], systems[pair[1]])),
                    difference,
                    interval,
                    p,
                    float(corrected),
                    bool(corrected <= options.alpha),
                    *_replicate(names, tests, options),
                )
                for (pair, _), (difference, interval, p), corrected in zip(
                    pairs, compared, adjusted, strict=True
                )
            ),
        )

    def _compare(self, pair: tuple[int, int], found: Averages) -> tuple[float, Interval, float]:
        """The difference, its interval and the p-value of the bootstrap."""
        first, second = pair
        gaps = found.samples[first] - found.samples[second]
        gaps = gaps[~np.isnan(gaps)]
        observed = found.observed[first] - found.observed[second]
        least = self.plan.least_p(found.units, *pair)
        p = float(bootstrap_p(gaps, np.asarray(observed), least)) if gaps.size else 1.0
        return float(observed), _middle(gaps, self.options.level, observed), p


def _middle(samples: Numbers, level: float, observed: float) -> Interval:
    """The interval of the trials that drew anything to average; a point where none did."""
    there = samples[~np.isnan(samples)]
    return middle(there if there.size else np.array([observed]), level)


def _replicate(
    names: tuple[str, str],
    tests: Mapping[str, Tests],
    options: CorporaOptions,
) -> tuple[Replication, Replication]:
    """On how many corpora the first is better, and on how many the second."""
    mine = {corpus: found[names] for corpus, found in tests.items() if names in found}
    sides = (
        {corpus: one.p_better for corpus, one in mine.items()},
        {corpus: one.p_worse for corpus, one in mine.items()},
    )
    first, second = (
        replicate(side, alpha=options.alpha, combination=options.combination) for side in sides
    )
    return first, second
